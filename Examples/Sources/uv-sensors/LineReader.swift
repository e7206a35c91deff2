// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CUV
import ExampleSupport
import Forwarding
import SharedUV

/// Makes readings of the bytes that connections bring: a line such as `3 21.5 °C` for each.
///
/// libuv's buffer is valid during the callback only, so its address cannot be sent to
/// an actor. This subscriber reads it on the loop's thread, and forwards values.
final class LineReader: DynamicProxy.Subscriber, @unchecked Sendable {
  // Sendable: only the loop's thread uses `beginnings`.
  private let loop: EventLoop
  private let readings: DynamicProxy
  /// The first part of the line that each connection is sending.
  private var beginnings: [UnsafeMutableRawPointer: [UInt8]] = [:]

  init(_ loop: EventLoop, _ readings: DynamicProxy) {
    self.loop = loop
    self.readings = readings
  }

  static let functionTable = FunctionTable(for: LineReader.self) {
    $0.on(UVKey.received) { reader, stream, count, buffer in
      check(reader.loop.isCurrent, "bytes on another thread")
      if count > 0 {
        reader.read(UnsafeRawBufferPointer(start: buffer.pointee.base, count: count), of: stream)
      } else if count < 0 {
        reader.end(stream)
      }
    }
  }

  private func read(_ bytes: UnsafeRawBufferPointer, of stream: UnsafeMutableRawPointer) {
    var lines = (beginnings[stream] ?? []) + bytes
    while let end = lines.firstIndex(of: UInt8(ascii: "\n")) {
      forward(String(decoding: lines[..<end], as: UTF8.self))
      lines.removeSubrange(...end)
    }
    beginnings[stream] = lines
  }

  private func end(_ stream: UnsafeMutablePointer<uv_stream_t>) {
    if let rest = beginnings.removeValue(forKey: stream), !rest.isEmpty {
      forward(String(decoding: rest, as: UTF8.self))
    }
    uv_close(UnsafeMutableRawPointer(stream).assumingMemoryBound(to: uv_handle_t.self), nil)
    send { try readings.send(SensorKey.ended) }
  }

  private func forward(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 2)
    send {
      if words.count == 3, let sensor = Int32(words[0]), let value = Double(words[1]) {
        try readings.send(SensorKey.measured, sensor, value, String(words[2]))
      } else {
        try readings.send(SensorKey.misread, line)
      }
    }
  }

  /// A callback of libuv cannot throw.
  private func send(_ body: () throws -> Void) {
    do { try body() } catch { check(false, "forwarding has failed: \(error)") }
  }
}

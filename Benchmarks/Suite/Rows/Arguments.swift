// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import FwdBenchReceivers

/// The arguments of a message, as bytes. Kept until the process ends. A thread has its own.
@safe struct Arguments {
  /// Behind pointers.
  let pointers: UnsafeBufferPointer<UnsafeMutableRawPointer>
  private let bytes: UnsafeMutableRawBufferPointer
  private let message: Message

  init(_ message: Message) {
    self.message = message
    let values = unsafe bench_current_message().pointee
    switch message {
    case .large: unsafe (bytes, pointers) = unsafe Self.make(values.large, [0])
    case .mixed: unsafe (bytes, pointers) = unsafe Self.make(values.mixed, [0])
    default: unsafe (bytes, pointers) = unsafe Self.make((values.count, values.scale), [0, 8])
    }
  }

  /// In a frame. The message is loaded into it anew for each emission, as for the emissions
  /// that were written by hand.
  var frame: UnsafeRawBufferPointer {
    // SAFETY: the bytes are those of the message.
    let (values, room) = unsafe (bench_current_message(), bytes.baseAddress!)
    switch message {
    case .large: unsafe room.storeBytes(of: values.pointee.large, as: bench_large.self)
    case .mixed: unsafe room.storeBytes(of: values.pointee.mixed, as: bench_mixed.self)
    default:
      unsafe room.storeBytes(of: values.pointee.count, as: Int64.self)
      unsafe room.storeBytes(of: values.pointee.scale, toByteOffset: 8, as: Double.self)
    }
    return unsafe UnsafeRawBufferPointer(bytes)
  }

  private static func make<Values>(
    _ values: Values, _ offsets: [Int]
  ) -> (UnsafeMutableRawBufferPointer, UnsafeBufferPointer<UnsafeMutableRawPointer>) {
    // Threads do not share a cache line.
    let room = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
    unsafe room.initializeMemory(as: Values.self, to: values)
    let pointers = UnsafeMutableBufferPointer<UnsafeMutableRawPointer>.allocate(
      capacity: offsets.count)
    for (index, offset) in offsets.enumerated() {
      // SAFETY: the offsets are those of the values' parts.
      unsafe pointers.initializeElement(at: index, to: room + offset)
    }
    let size = MemoryLayout<Values>.size
    return unsafe (
      UnsafeMutableRawBufferPointer(start: room, count: size), UnsafeBufferPointer(pointers)
    )
  }
}

/// Room for a result of at most eight bytes. Kept until the process ends.
@safe final class Result8 {
  let bytes: UnsafeMutableRawBufferPointer

  init(_ message: Message) {
    let size = message.encoding.hasPrefix("B") ? 1 : 8
    let room = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
    unsafe room.initializeMemory(as: Int64.self, to: 0)
    unsafe bytes = UnsafeMutableRawBufferPointer(start: room, count: size)
  }

  /// The result as a number.
  @inline(__always)
  var value: Int64 {
    // SAFETY: there are eight bytes, of which those behind a smaller result are
    // zero.
    unsafe bytes.baseAddress!.loadUnaligned(as: Int64.self)
  }
}

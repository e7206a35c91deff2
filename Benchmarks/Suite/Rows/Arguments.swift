// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import FwdBenchReceivers

/// The arguments of a message, as bytes. Kept until the process ends.
@safe struct Arguments {
  /// In a frame.
  let frame: UnsafeRawBufferPointer
  /// Behind pointers.
  let pointers: UnsafeBufferPointer<UnsafeMutableRawPointer>

  init(_ message: Message) {
    let values = unsafe bench_current_message().pointee
    switch message {
    case .large: self.init(values.large, [0])
    case .mixed: self.init(values.mixed, [0])
    default: self.init((values.count, values.scale), [0, 8])
    }
  }

  private init<Values>(_ values: Values, _ offsets: [Int]) {
    let frame = UnsafeMutablePointer<Values>.allocate(capacity: 1)
    unsafe frame.initialize(to: values)
    let pointers = UnsafeMutableBufferPointer<UnsafeMutableRawPointer>.allocate(
      capacity: offsets.count)
    for (index, offset) in offsets.enumerated() {
      // SAFETY: the offsets are those of the values' parts.
      unsafe pointers.initializeElement(at: index, to: UnsafeMutableRawPointer(frame) + offset)
    }
    unsafe self.frame = UnsafeRawBufferPointer(start: frame, count: MemoryLayout<Values>.size)
    unsafe self.pointers = UnsafeBufferPointer(pointers)
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

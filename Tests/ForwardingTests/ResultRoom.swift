// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

/// The bytes that `body` writes to room for a result. Reports an issue if it writes beside them.
func resultBytes(
  _ size: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Void
) throws -> [UInt8] {
  let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size + 32, alignment: 16)
  defer { unsafe memory.deallocate() }
  unsafe memory.initializeMemory(as: UInt8.self, repeating: 0xEE)
  let room = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[16..<(16 + size)])
  try unsafe body(room)
  #expect(unsafe memory[..<16].allSatisfy { $0 == 0xEE })
  #expect(unsafe memory[(16 + size)...].allSatisfy { $0 == 0xEE })
  return unsafe Array(room)
}

/// The bytes of a value.
func bytes<Value>(of value: Value) -> [UInt8] {
  unsafe withUnsafeBytes(of: value) { unsafe Array($0) }
}

/// A struct of bytes that count up.
func countingRow<Row>(_ type: Row.Type, from start: UInt8) -> Row {
  let memory = UnsafeMutableRawBufferPointer.allocate(
    byteCount: MemoryLayout<Row>.size, alignment: 16)
  defer { unsafe memory.deallocate() }
  for index in memory.indices { unsafe memory[index] = start &+ UInt8(index) }
  return unsafe memory.load(as: Row.self)
}

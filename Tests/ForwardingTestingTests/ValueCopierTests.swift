// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import ForwardingTesting

@Suite struct ValueCopierTests {
  @Test func `A copy has the bytes of its value, and no more`() {
    // An optional of two numbers has 17 bytes; elements of an array of them are 24 apart.
    typealias Value = (x: Double, y: Double)?
    let size = MemoryLayout<Value>.size
    #expect(size == 17)
    let source = UnsafeMutableRawPointer.allocate(byteCount: 24, alignment: 8)
    let target = UnsafeMutableRawPointer.allocate(byteCount: 24, alignment: 8)
    unsafe source.initializeMemory(as: UInt8.self, repeating: 1, count: 24)
    unsafe target.initializeMemory(as: UInt8.self, repeating: 2, count: 24)
    unsafe source.initializeMemory(as: Value.self, to: (3, 4))
    let copier = ValueCopier.of(Value.self)
    #expect(copier.size == size)
    unsafe copier.copy(source, to: target)
    let copied = unsafe target.load(as: Value.self)
    #expect(copied?.x == 3 && copied?.y == 4)
    for offset in size..<24 {
      #expect(unsafe target.load(fromByteOffset: offset, as: UInt8.self) == 2)
    }
    unsafe copier.destroy(target)
    unsafe source.deallocate()
    unsafe target.deallocate()
  }
}

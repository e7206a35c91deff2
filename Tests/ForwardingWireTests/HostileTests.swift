// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwardingWire
import Forwarding
import ForwardingWire
import Testing

/// Bytes with a schema record and one record of each kind of pointer.
struct Sample {
  let proxy: DynamicProxy
  let schema: WireSchema
  /// The records behind the schema record.
  let string: [UInt8]
  let counted: [UInt8]
  let fixed: [UInt8]
  let named: [UInt8]

  init() throws {
    let proxy = try Log.proxy()
    self.proxy = proxy
    schema = try Log.schema(of: proxy)
    let bytes = Collected<[UInt8]>()
    let token = try proxy.record(with: WireEncoder(schema)) { record in
      unsafe record.withUnsafeBytes { unsafe bytes.append([UInt8]($0)) }
    }
    try proxy.send(Log.tick, 1, 2.5, "a string")
    try unsafe [1, 2, 3].withUnsafeBytes { try unsafe proxy.send(Log.write, $0.baseAddress, 3) }
    var place = Place(kind: 1, x: 2, y: 3)
    try unsafe withUnsafePointer(to: &place) { try unsafe proxy.send(Log.moved, $0) }
    try proxy.send(Method("named:", ((Name) -> Void).self), Name(first: "A", last: nil))
    token.cancel()
    let all = bytes.all
    (string, counted, fixed, named) = (all[0], all[1], all[2], all[3])
  }

  var all: [UInt8] { schema.bytes + string + counted + fixed + named }

  /// The error of decoding and replaying a record behind the schema record.
  func error(_ record: [UInt8]) -> WireError? { decodingError(schema.bytes + record) }

  func decodingError(_ bytes: [UInt8]) -> WireError? {
    wireError { try schema.replay(bytes, to: proxy) }
  }
}

extension [UInt8] {
  /// The record with other bytes at an offset.
  func with<Value: FixedWidthInteger>(_ value: Value, at offset: Int) -> [UInt8] {
    var copy = self
    for index in 0..<MemoryLayout<Value>.size {
      copy[offset + index] = UInt8(truncatingIfNeeded: value >> Value(8 * index))
    }
    return copy
  }

  /// The record with the right checksum, and for a schema record the right identifier.
  var sealed: [UInt8] {
    var copy = self
    if copy.count > 40 && copy[8] == 1 {
      let identifier = unsafe copy.withUnsafeBytes {
        unsafe fwd_wire_checksum(0, $0.baseAddress! + 40, copy.count - 40)
      }
      copy = copy.with(identifier, at: 12)
    }
    let length =
      UInt32(copy[0]) | UInt32(copy[1]) << 8 | UInt32(copy[2]) << 16 | UInt32(copy[3]) << 24
    let checksum = unsafe copy.withUnsafeBytes {
      unsafe fwd_wire_checksum(length, $0.baseAddress! + 8, copy.count - 8)
    }
    return copy.with(checksum, at: 4)
  }
}

@Suite struct HostileTests {
  @Test func `Bytes that end inside of a record are truncated`() throws {
    let sample = try Sample()
    let all = sample.all
    let ends = [sample.schema.bytes, sample.string, sample.counted, sample.fixed, sample.named]
      .reduce(into: [0]) { $0.append($0.last! + $1.count) }
    for count in 0...all.count {
      let error = sample.decodingError(Array(all[..<count]))
      if ends.contains(count) {
        #expect(error == nil)
      } else {
        #expect(error?.code == .truncated, "\(count)")
        #expect(error?.offset == ends.last { $0 <= count })
      }
    }
  }

  @Test func `Each flipped bit is found`() throws {
    let sample = try Sample()
    let all = sample.all
    for bit in 0..<all.count * 8 {
      var bytes = all
      bytes[bit / 8] ^= 1 << (bit % 8)
      #expect(sample.decodingError(bytes) != nil, "bit \(bit)")
    }
  }

  @Test func `Another major version is refused by its number`() throws {
    let sample = try Sample()
    let record = sample.schema.bytes.with(2 as UInt8, at: 9)
    let error = try #require(sample.decodingError(record.sealed))
    #expect(error.code == .unsupportedVersion)
    #expect(
      error.description
        == "record at byte 0: the record has version 2 of the wire form, but this library reads version 1"
    )
  }

  @Test func `Bytes of another form are told from damaged ones`() throws {
    let sample = try Sample()
    #expect(
      sample.decodingError(Array("SQLite format 3\0 and some more text so that it is long".utf8))?
        .code == .notWireForm)
    #expect(sample.decodingError(sample.string)?.code == .notWireForm)
    #expect(sample.decodingError([])?.code == nil)
  }

  @Test(arguments: [0, 8, 32, 41, 44, 0x7FFF_FFF8, 0xFFFF_FFF8] as [UInt32])
  func `A wrong length is refused`(_ length: UInt32) throws {
    let sample = try Sample()
    #expect(sample.error(sample.string.with(length, at: 0).sealed)?.code == .malformed)
    // As long as a record may be, but longer than what is there.
    let record = sample.string.with(0x10000 as UInt32, at: 0).sealed
    #expect(sample.error(record)?.code == .truncated)
  }

  @Test func `A string must lie behind the frame, and have one NUL, at its end`() throws {
    let sample = try Sample()
    let slot = 56
    for offset in [1, 40, 56, 60, 65, 72, 80, 88, 0xFFFF_FFFF, 0x8000_0000] as [UInt32] {
      let error = sample.error(sample.string.with(offset, at: slot).sealed)
      #expect(error?.code == .malformed, "\(offset)")
      #expect(error?.selector == "tick:price:symbol:")
    }
    for size in [0, 1, 8, 10, 16, 17, 0xFFFF_FFFF] as [UInt32] {
      #expect(sample.error(sample.string.with(size, at: slot + 4).sealed)?.code == .malformed)
    }
    #expect(sample.error(sample.string.with(0x41 as UInt8, at: 72).sealed)?.code == .malformed)
    #expect(sample.error(sample.string.with(0 as UInt8, at: 66).sealed)?.code == .malformed)
    // NULL leaves a heap that nothing points to.
    #expect(sample.error(sample.string.with(0 as UInt64, at: slot).sealed)?.code == .malformed)
    #expect(sample.error(sample.string.sealed) == nil)
  }

  @Test(arguments: [-1, 2, 4, 100, Int32.min, .max] as [Int32])
  func `A count must be that of the buffer`(_ count: Int32) throws {
    let sample = try Sample()
    // write:count: is (pointer, Int32); the count is at byte 48.
    let error = try #require(sample.error(sample.counted.with(count, at: 48).sealed))
    #expect(error.code == .malformed && error.selector == "write:count:")
  }

  @Test func `A heap above the limit is refused before its copies are looked at`() throws {
    let sample = try Sample()
    // `named:` has the address of a Swift value, whose JSON may have any length: its slot is at
    // byte 40, the heap begins at byte 48.
    func error(_ heapSize: Int, showing: Bool) -> WireError? {
      let record = Array(sample.named[..<48]) + [UInt8](repeating: 7, count: heapSize)
      let sealed = record.with(UInt32(record.count), at: 0).with(UInt32(heapSize), at: 44).sealed
      let bytes = sample.schema.bytes + sealed
      return wireError {
        var decoder =
          showing ? WireDecoder(showing: bytes) : WireDecoder(bytes, schema: sample.schema)
        let record = try decoder.next()
        #expect(record != nil)
      }
    }
    for showing in [false, true] {
      #expect(error(WireLimits.heapSize, showing: showing) == nil)
      for size in [WireLimits.heapSize + 8, WireLimits.recordLength - 48] {
        let error = error(size, showing: showing)
        #expect(error?.code == .malformed && error?.selector == "named:")
        #expect(error?.offset == sample.schema.bytes.count)
        #expect(
          error?.reason == "the heap of \"named:\" has \(size) bytes, expected at most 16777216")
      }
    }
  }

  @Test func `A count whose product overflows is refused`() throws {
    let proxy = try DynamicProxy(
      adopting: ProtocolTable("Q") { $0.optional("q:n:", "v@:^{P=dd}Q") })
    let schema = try WireSchema(of: proxy) { $0.rule("q:n:", argument: 0, .counted(by: 1)) }
    let invocation = try Invocation("q:n:", MethodSignature("v@:^{P=dd}Q"))
    var record: [UInt8] = []
    try WireEncoder(schema).encode(invocation, into: &record)
    for count in [1 << 60, .max, 1 << 63] as [UInt64] {
      // A pointer to nothing, with a count whose product with 16 is 0.
      let hostile = record.with(count, at: 48).with(UInt64(56), at: 40).sealed
      let error = wireError { try schema.replay(schema.bytes + hostile, to: proxy) }
      #expect(error?.code == .malformed)
    }
  }

  @Test func `A frame of another size, an unknown method, kind and schema are refused`() throws {
    let sample = try Sample()
    #expect(sample.error(sample.string.with(16 as UInt32, at: 20).sealed)?.code == .malformed)
    #expect(sample.error(sample.string.with(99 as UInt16, at: 10).sealed)?.code == .malformed)
    #expect(sample.error(sample.string.with(0 as UInt16, at: 10).sealed)?.code == .malformed)
    #expect(sample.error(sample.string.with(3 as UInt8, at: 8).sealed)?.code == .malformed)
    #expect(sample.error(sample.string.with(1 as UInt32, at: 12).sealed)?.code == .unknownSchema)
    // A kind that a later version may add is skipped.
    #expect(sample.error(sample.string.with(200 as UInt8, at: 8).sealed) == nil)
  }

  @Test func `A Swift value that is no JSON of its type is refused when it is forwarded`() throws {
    let sample = try Sample()
    let start = 48
    let error = sample.error(sample.named.with(UInt8(ascii: "!"), at: start).sealed)
    #expect(error?.code == .notDecodable && error?.selector == "named:")
  }

  @Test func `Hostile schema records are refused`() throws {
    let sample = try Sample()
    let bytes = sample.schema.bytes
    func code(_ bytes: [UInt8]) -> WireError.Code? { sample.decodingError(bytes.sealed)?.code }
    #expect(code(bytes) == nil)
    #expect(code(bytes.with(5000 as UInt32, at: 48)) == .malformed)
    #expect(code(bytes.with(UInt32.max, at: 48)) == .malformed)
    #expect(code(bytes.with(1 as UInt32, at: 48)) == .malformed)
    #expect(code(bytes.with(9 as UInt32, at: 48)) == .malformed)
    for field in [56, 60, 64, 68] {
      for size in [UInt32.max, 0x7FFF_FFFF, 10_000] {
        #expect(code(bytes.with(size, at: field)) == .malformed)
      }
    }
    // Reserved bytes.
    #expect(code(bytes.with(1 as UInt8, at: 16)) == .malformed)
    #expect(code(bytes.with(1 as UInt8, at: 52)) == .malformed)
    // A name that is no UTF-8, has a NUL, or is unknown.
    #expect(code(bytes.with(0xFF as UInt8, at: 72)) == .malformed)
    #expect(code(bytes.with(0 as UInt8, at: 72)) == .malformed)
    #expect(code(bytes.with(UInt8(ascii: "X"), at: 72)) == .unknownMethod)
    // An encoding that does not parse: "number:" is followed by "v@q".
    #expect(code(bytes.with(UInt8(ascii: "{"), at: 81)) == .malformed)
    // A wrong identifier.
    var wrong = bytes.with(1 as UInt32, at: 12)
    let checksum = unsafe wrong.withUnsafeBytes {
      unsafe fwd_wire_checksum(UInt32(wrong.count), $0.baseAddress! + 8, wrong.count - 8)
    }
    wrong = wrong.with(checksum, at: 4)
    #expect(sample.decodingError(wrong)?.code == .malformed)
    // The same method twice.
    let one = try ProtocolTable("One") { $0.optional("none", "v@:") }
    let single = try WireSchema(of: one).bytes
    let twice = (single + single[56...]).with(UInt32(single.count * 2 - 56), at: 0)
      .with(2 as UInt32, at: 48)
    let error = sample.decodingError(twice.sealed)
    #expect(error?.code == .malformed && error?.selector == "none")
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingTesting
import ForwardingWire
import Foundation
import Testing

@Suite struct RoundTripTests {
  /// Encodes the bytes of one argument, replays the record, and returns the bytes that
  /// arrive.
  private func travel(
    _ encoding: String, stating layouts: [StatedLayout] = [], _ bytes: [UInt8]
  ) throws -> [UInt8] {
    let proxy = try DynamicProxy(
      adopting: ProtocolTable("One") { $0.optional("one:", encoding, stating: layouts) })
    let schema = try WireSchema(of: proxy)
    let signature = try MethodSignature(encoding, stating: layouts)
    let invocation = try Invocation("one:", signature)
    let last = signature.arguments.count - 1
    try unsafe bytes.withUnsafeBytes { try unsafe invocation.setBytes($0.bytes, at: last) }
    let arrived = Collected<[UInt8]>()
    let token = try proxy.around("one:") { invocation, proceed in
      arrived.append(
        try invocation.withBytes(ofArgumentAt: last) { span in
          unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
        })
      try proceed()
    }
    var record = schema.bytes
    try WireEncoder(schema).encode(invocation, into: &record)
    #expect(try schema.replay(record, to: proxy) == 1)
    token.cancel()
    return try #require(arrived.all.first)
  }

  @Test(arguments: [
    "c", "C", "s", "S", "i", "I", "l", "L", "q", "Q", "t", "T", "f", "d", "jf", "jd",
  ])
  func `A number of each kind arrives with its bits`(_ letter: String) throws {
    let size = try TypeEncoding(letter).layout().size
    for filler in [0x00, 0x01, 0x7F, 0x80, 0xA5, 0xFF] as [UInt8] {
      let bytes = (0..<size).map { filler &+ UInt8($0) }
      #expect(try travel("v@:\(letter)", bytes) == bytes)
    }
  }

  @Test func `Bools arrive`() throws {
    #expect(try travel("v@:B", [0]) == [0])
    #expect(try travel("v@:B", [1]) == [1])
  }

  @Test func `The padding of a struct is written as zeros`() throws {
    let bytes = [UInt8](repeating: 0xEE, count: 24)
    let expected: [UInt8] =
      [0xEE] + .init(repeating: 0, count: 7) + .init(repeating: 0xEE, count: 12)
      + .init(repeating: 0, count: 4)
    #expect(try travel("v@:{Place=cdi}", bytes) == expected)
  }

  @Test func `Unions, arrays in structs and structs with stated layouts arrive whole`() throws {
    #expect(try travel("v@:(U=id)", Array(1...8)) == Array(1...8))
    #expect(try travel("v@:{A=[4i]}", Array(1...16)) == Array(1...16))
    let packed = StatedLayout("Packed", size: 5, alignment: 1)
    #expect(
      try travel("v@:{Packed=ci}", stating: [packed], [1, 2, 3, 4, 5]) == [1, 2, 3, 4, 5])
  }

  @Test func `Arguments beyond the registers arrive in order`() throws {
    let many = Method(
      "many:",
      ((Int64, Int32, Double, String, Int64, Int64, Int64, Int64, Int16, Float, Double)
        -> Void).self)
    let proxy = try DynamicProxy("Many") { $0.optional(many) }
    let schema = try WireSchema(of: proxy)
    let bytes = Bytes(schema)
    let spy = try Spy(proxy)
    let token = try proxy.record(with: WireEncoder(schema)) { bytes.append($0) }
    try proxy.send(many, 1, 2, 3.5, "vier", 5, 6, 7, 8, 9, 10.25, 11.5)
    token.cancel()
    try schema.replay(bytes.all, to: proxy)
    let seen = spy.calls(of: many).map { "\($0)" }
    #expect(seen == Array(repeating: #"(1, 2, 3.5, "vier", 5, 6, 7, 8, 9, 10.25, 11.5)"#, count: 2))
  }

  /// The frames of these are copied as words and halves of words.
  @Test func `Halves of words arrive in order`() throws {
    let two = Method("two:", ((Int32, Float) -> Void).self)
    let three = Method("three:", ((Int32, UInt32, Int64) -> Void).self)
    let text = Method("text:", ((String, Int32, Int32) -> Void).self)
    let proxy = try DynamicProxy("Halves") {
      $0.optional(two)
      $0.optional(three)
      $0.optional(text)
    }
    let schema = try WireSchema(of: proxy)
    let bytes = Bytes(schema)
    let spy = try Spy(proxy)
    let token = try proxy.record(with: WireEncoder(schema)) { bytes.append($0) }
    try proxy.send(two, -2, 1.5)
    try proxy.send(three, .min, .max, -3)
    try proxy.send(text, "fünf", -4, 5)
    token.cancel()
    try schema.replay(bytes.all, to: proxy)
    #expect(spy.calls(of: two).map { "\($0)" } == ["(-2, 1.5)", "(-2, 1.5)"])
    #expect(
      spy.calls(of: three).map { "\($0)" }
        == Array(repeating: "(-2147483648, 4294967295, -3)", count: 2))
    #expect(
      spy.calls(of: text).map { "\($0)" } == Array(repeating: #"("fünf", -4, 5)"#, count: 2))
  }

  /// A record of 123 words fills the room that the encoder has on the stack.
  @Test(arguments: 121...126)
  func `A record of about the size of the room on the stack arrives`(_ count: Int) throws {
    let bytes = (1...8).map { UInt8($0) }
    #expect(try travel("v@:" + String(repeating: "q", count: count), bytes) == bytes)
  }

  @Test(arguments: [
    nil, "", "a", "seven b", "eight by", "Grüße 🎉", String(repeating: "x", count: 5000),
  ])
  func `Strings of each length arrive, and NULL`(_ text: String?) throws {
    let proxy = try Log.proxy()
    let schema = try Log.schema(of: proxy)
    let bytes = Bytes(schema)
    let spy = try Spy(proxy)
    let token = try proxy.record(with: WireEncoder(schema)) { bytes.append($0) }
    try proxy.send(Log.tick, 1, 2.5, text)
    token.cancel()
    #expect(bytes.all.count % 8 == 0)
    try schema.replay(bytes.all, to: proxy)
    #expect(spy.calls(of: Log.tick).map(\.2) == [text, text])
  }

  @Test func `Strings and buffers of each length are copied, and nothing behind them is read`()
    throws
  {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let flags = MAP_PRIVATE | MAP_ANONYMOUS
    let mapped = unsafe mmap(nil, 2 * page, PROT_READ | PROT_WRITE, flags, -1, 0)
    let memory = unsafe try #require(mapped == MAP_FAILED ? nil : mapped)
    defer { unsafe munmap(memory, 2 * page) }
    // To read the second page ends the process.
    try #require(unsafe mprotect(memory + page, page, PROT_NONE) == 0)
    let text = unsafe Method("text:", ((UnsafePointer<CChar>?) -> Void).self)
    let proxy = try DynamicProxy {
      unsafe $0.optional(text)
      unsafe $0.optional(Log.write)
    }
    let schema = try WireSchema(of: proxy) {
      $0.rule("write:count:", argument: 0, .counted(by: 1))
    }
    for length in 1...80 {
      let bytes = (1...length).map { UInt8($0) }
      let padded = bytes + [UInt8](repeating: 0, count: (8 - length % 8) % 8)
      let start = unsafe memory + page - length
      unsafe start.copyMemory(from: bytes, byteCount: length)
      let records = Bytes(schema)
      let token = try proxy.record(with: WireEncoder(schema)) { records.append($0) }
      try unsafe proxy.send(Log.write, start, Int32(length))
      #expect(records.all.suffix(padded.count) == padded)
      // The last byte is the string's NUL.
      unsafe (start + length - 1).storeBytes(of: 0, as: UInt8.self)
      try unsafe proxy.send(text, start.assumingMemoryBound(to: CChar.self))
      #expect(records.all.suffix(padded.count) == padded.map { $0 == UInt8(length) ? 0 : $0 })
      token.cancel()
    }
  }

  @Test func `Counted and fixed buffers arrive, and NULL`() throws {
    let proxy = try Log.proxy()
    let schema = try Log.schema(of: proxy)
    let bytes = Bytes(schema)
    let seen = Collected<String>()
    let subscription = try proxy.subscribe {
      unsafe $0.on(Log.write) { pointer, count in
        let buffer = unsafe UnsafeRawBufferPointer(start: pointer, count: Int(count))
        unsafe seen.append(pointer == nil ? "NULL \(count)" : "\([UInt8](buffer))")
      }
      unsafe $0.on(Log.moved) { place in unsafe seen.append("\(place?.pointee.x ?? -1)") }
    }
    let token = try proxy.record(with: WireEncoder(schema)) { bytes.append($0) }
    for count in [0, 1, 7, 8, 9] {
      try unsafe (0..<count).map { UInt8($0) }.withUnsafeBytes {
        let buffer = unsafe $0.baseAddress ?? UnsafeRawPointer(bitPattern: 8)
        try unsafe proxy.send(Log.write, buffer, Int32(count))
      }
    }
    try unsafe proxy.send(Log.write, nil, 0)
    var place = Place(kind: 1, x: 2.5, y: 3)
    try unsafe withUnsafePointer(to: &place) { try unsafe proxy.send(Log.moved, $0) }
    try unsafe proxy.send(Log.moved, nil)
    token.cancel()
    let sent = seen.all
    #expect(sent.count == 8 && sent[4] == "[0, 1, 2, 3, 4, 5, 6, 7, 8]" && sent[5] == "NULL 0")
    try schema.replay(bytes.all, to: proxy)
    #expect(seen.all == sent + sent)
    subscription.cancel()
  }

  @Test func `A Swift value that is passed by address travels by Codable`() throws {
    let proxy = try Log.proxy()
    let schema = try Log.schema(of: proxy)
    let bytes = Bytes(schema)
    let seen = Collected<Name>()
    let named = Method("named:", ((Name) -> Void).self)
    let subscription = try proxy.subscribe { $0.on(named) { seen.append($0) } }
    let token = try proxy.record(with: WireEncoder(schema)) { bytes.append($0) }
    let name = Name(first: "Ada", last: "Lovelace, whose name is no small string")
    try proxy.send(named, name)
    token.cancel()
    let text = String(decoding: bytes.all, as: UTF8.self)
    #expect(text.contains(#"{"first":"Ada","last":"Lovelace,"#))
    try schema.replay(bytes.all, to: proxy)
    #expect(seen.all == [name, name])
    subscription.cancel()
  }

  @Test func `The header has the bytes that the documentation states`() throws {
    let proxy = try Log.proxy()
    let schema = try Log.schema(of: proxy)
    let invocation = try Invocation("tick:price:symbol:", MethodSignature("v@:qdr*"))
    try invocation.setArgument(Int64(0x0102), at: 2)
    try invocation.setArgument(1.0, at: 3)
    try invocation.setArgument("ACME", at: 4)
    var bytes: [UInt8] = []
    let encoder = WireEncoder(schema, producer: 7, startingAt: 0x0A0B)
    let before = Date()
    try encoder.encode(invocation, into: &bytes)
    #expect(bytes.count == 72)
    #expect(bytes[0..<4] == [72, 0, 0, 0])
    // An invocation of version 1 and the method 1.
    #expect(bytes[8..<12] == [2, 1, 1, 0])
    #expect(bytes[12..<16] == schema.bytes[12..<16])
    #expect(bytes[16..<24] == [7, 0, 0, 0, 24, 0, 0, 0])
    #expect(bytes[24..<32] == [0x0B, 0x0A, 0, 0, 0, 0, 0, 0])
    #expect(bytes[40..<56] == [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F])
    // The string is at byte 64, and has 5 bytes.
    #expect(bytes[56..<64] == [64, 0, 0, 0, 5, 0, 0, 0])
    #expect(bytes[64..<72] == [0x41, 0x43, 0x4D, 0x45, 0, 0, 0, 0])
    var decoder = WireDecoder(schema.bytes + bytes, schema: schema)
    let record = try #require(try decoder.next())
    #expect(record.selector == "tick:price:symbol:")
    #expect(record.producer == 7 && record.sequence == 0x0A0B)
    // The clock of records moves a few milliseconds at a time.
    let time = Date(timeIntervalSince1970: Double(record.time) / 1e9)
    #expect(time > before.addingTimeInterval(-0.1) && time < Date(timeIntervalSinceNow: 0.1))
    #expect(try decoder.next() == nil)
  }
}

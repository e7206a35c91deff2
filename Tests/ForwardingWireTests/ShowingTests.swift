// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import Foundation
import Testing

@testable import ForwardingWire

@Suite struct ShowingTests {
  /// The arguments of a recorded call as JSON: read with a schema, and by the recorded one.
  private func shown(
    _ encoding: String, stating: [StatedLayout] = [],
    _ rules: (inout WireSchema.Builder) -> Void = { _ in },
    _ fill: (Invocation) throws -> Void
  ) throws -> String {
    let table = try ProtocolTable("T") { $0.optional("a:", encoding, stating: stating) }
    let schema = try WireSchema(of: table, build: rules)
    let invocation = try Invocation("a:", MethodSignature(encoding, stating: stating))
    try fill(invocation)
    var bytes = schema.bytes
    try WireEncoder(schema, producer: 3).encode(invocation, into: &bytes)
    var known = WireDecoder(bytes, schema: schema)
    let record = try #require(try known.next())
    var showing = WireDecoder(showing: bytes)
    let unknown = try #require(try showing.next())
    #expect(record.json == unknown.json && record.description == unknown.description)
    #expect(
      wireError { try unknown.forward(to: DynamicProxy(adopting: table)) }?.code == .notForwarded)
    let object = try #require(
      JSONSerialization.jsonObject(with: Data(record.json.utf8)) as? [String: Any])
    #expect(object["method"] as? String == "a:" && object["producer"] as? Int == 3)
    #expect(object["sequence"] as? Int == 1 && object["arguments"] is [Any])
    return String(record.description.dropFirst(3))
  }

  @Test(arguments: [
    ("c", "-5", Int8(-5) as any Sendable), ("C", "250", UInt8(250)),
    ("s", "-300", Int16(-300)), ("S", "65535", UInt16.max), ("i", "-70000", Int32(-70000)),
    ("I", "4294967295", UInt32.max), ("q", "-9223372036854775808", Int64.min),
    ("Q", "18446744073709551615", UInt64.max),
    ("t", "\"-170141183460469231731687303715884105728\"", Int128.min),
    ("T", "\"340282366920938463463374607431768211455\"", UInt128.max), ("B", "true", true),
    ("f", "1.5", Float(1.5)), ("d", "\"nan\"", Double.nan), ("d", "\"-inf\"", -Double.infinity),
    ("d", "1e+100", 1e100), ("*", "\"a \\\"b\\\" \\\\ \\n\\u0001 ü\"", "a \"b\" \\ \n\u{1} ü"),
  ])
  func `Numbers and strings are shown as JSON`(
    _ type: String, _ text: String, _ value: any Sendable
  ) throws {
    let shown = try shown("v@:\(type)") { invocation in
      func set(_ value: some Sendable) throws { try invocation.setArgument(value, at: 2) }
      try set(value)
    }
    #expect(shown == text)
  }

  @Test func `Structs, arrays, unions and stated layouts are shown as JSON`() throws {
    let place = Place(kind: -1, x: 2.5, y: 7)
    #expect(try shown("v@:{Place=cdi}") { try $0.setArgument(place, at: 2) } == "[-1,2.5,7]")
    #expect(
      try shown("v@:{Place=\"kind\"c\"x\"d\"y\"i}") { try $0.setArgument(place, at: 2) }
        == "{\"kind\":-1,\"x\":2.5,\"y\":7}")
    #expect(try shown("v@:{A=[2s]}") { _ in } == "[[0,0]]")
    #expect(try shown("v@:(U=iC)") { _ in } == "\"00000000\"")
    let bits = StatedLayout("F", size: 4, alignment: 4, members: [.bit(0), .bit(3)])
    #expect(try shown("v@:{F=b3b5}", stating: [bits]) { _ in } == "\"00000000\"")
    let packed = StatedLayout("P", size: 5, alignment: 1, members: [.offset(0), .offset(1)])
    #expect(try shown("v@:{P=ci}", stating: [packed]) { _ in } == "[0,0]")
  }

  @Test func `What pointers point to is shown as JSON`() throws {
    #expect(try shown("v@:*") { _ in } == "null")
    let places = UnsafeMutablePointer<Place>.allocate(capacity: 2)
    defer { unsafe places.deallocate() }
    unsafe places.initialize(to: Place(kind: 1, x: 2, y: 3))
    unsafe (places + 1).initialize(to: Place(kind: 4, x: 5, y: 6))
    let address = UnsafeMutableRawPointer(places)
    let elements = try shown(
      "v@:^{Place=cdi}i", { $0.rule("a:", argument: 0, .counted(by: 1)) },
      { invocation in
        try unsafe invocation.setArgument(address, at: 2)
        try invocation.setArgument(Int32(2), at: 3)
      })
    #expect(elements == "[[1,2.0,3],[4,5.0,6]], 2")
    let bytes = try shown(
      "v@:^vi", { $0.rule("a:", argument: 0, .counted(by: 1)) },
      { invocation in
        try unsafe invocation.setArgument(address, at: 2)
        try invocation.setArgument(Int32(1), at: 3)
      })
    #expect(bytes == "\"01\", 1")
    let name = UnsafeMutablePointer<Name>.allocate(capacity: 1)
    unsafe name.initialize(to: Name(first: "Ada", last: nil))
    let value = try shown(
      "v@:^{\(String(reflecting: Name.self))}",
      { $0.rule("a:", argument: 0, .codable(Name.self)) },
      { try unsafe $0.setArgument(UnsafeMutableRawPointer(name), at: 2) })
    #expect(value == "{\"first\":\"Ada\"}")
    unsafe name.deinitialize(count: 1)
    unsafe name.deallocate()
  }

  @Test func `Recorded JSON that is none is shown as a string`() {
    func line(_ text: String) -> String? {
      unsafe Array(text.utf8).withUnsafeBytes { unsafe JSONText.line($0) }
    }
    #expect(line("{\"a\":\n1}") == "{\"a\": 1}")
    #expect(line("\"a\u{9B}b\"") == "\"a\\u009bb\"", "a terminal obeys it")
    let good = [
      "0", "-0", "12.50", "1e999", "-1.0E-3", "\"\"", "true", " false ", "null", "[]", "{}",
      "[[],{},[1,\"a\",{\"b\":[null]}]]", "{\"a\":1,\"b\":{\"c\":[true,false]}}",
      #""\" \\ \/ \b \u00e9 \ud83d\ude00""#, "\"é\"",
      String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000),
    ]
    for text in good { #expect(line(text) != nil, "\(text)") }
    let bad = [
      "", " ", "{\"a\":", "1}", "[1+2]", "01", "+1", "1.", ".5", "1e", "-", "nul", "nulls", "NaN",
      "[1,]",
      "[,1]", "[1 2]", "{\"a\"}", "{\"a\":1,}", "{1:2}", "[1}", "\"a", "\"a\u{1B}b\"", "\"a\nb\"",
      #""\x""#, #""\u12g4""#, #""\ud83d""#, #""\ud83d\u0041""#, #""\ude00""#, "[1] 2", "'a'",
      "\u{FEFF}1",
      "[1]\0", String(repeating: "[", count: 10_000),
    ]
    for text in bad { #expect(line(text) == nil, "\(text)") }
  }
}

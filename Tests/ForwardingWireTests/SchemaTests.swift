// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingWire
import Testing

@Suite struct SchemaTests {
  private func error(
    _ encoding: String, _ build: (inout WireSchema.Builder) -> Void = { _ in }
  ) throws -> WireError? {
    let table = try ProtocolTable("T") { $0.optional("a:b:", encoding) }
    return wireError { _ = try WireSchema(of: table, build: build) }
  }

  @Test(arguments: [
    ("v@:@i", 0, "@"), ("v@:i@?", 1, "@?"), ("v@:^?i", 0, "^?"), ("v@:i#", 1, "#"),
    ("v@:i:", 1, ":"), ("v@:^vi", 0, "^v"), ("v@:i^{stat}", 1, "^{stat}"),
    ("v@:{S=*i}i", 0, "{S=*i}"),
    ("v@:iD", 1, "D"), ("v@:^{Swift.String}i", 0, "^{Swift.String}"), ("v@:^^ci", 0, "^^c"),
  ])
  func `An argument that cannot be carried is named with its encoding and what to write`(
    _ encoding: String, _ index: Int, _ type: String
  ) throws {
    let error = try #require(try error(encoding))
    #expect(error.code == .notCarried && error.selector == "a:b:")
    #expect(error.description.contains("argument \(index) (\"\(type)\") of \"a:b:\""), "\(error)")
    #expect(error.description.contains("$0.leaveOut(\"a:b:\")"), "\(error)")
    #expect(try self.error(encoding) { $0.leaveOut("a:b:") } == nil)
  }

  @Test func `A rule must fit its argument`() throws {
    func code(
      _ encoding: String, _ argument: Int, _ rule: WirePointerRule
    ) throws -> WireError.Code? {
      try error(encoding) { $0.rule("a:b:", argument: argument, rule) }?.code
    }
    #expect(try code("v@:^vi", 0, .counted(by: 1)) == nil)
    #expect(try code("v@:^vi", 2, .counted(by: 1)) == .invalidRule)
    #expect(try code("v@:^vi", -1, .counted(by: 1)) == .invalidRule)
    #expect(try code("v@:^vi", 0, .counted(by: 2)) == .invalidRule)
    #expect(try code("v@:^vi", 0, .counted(by: 0)) == .invalidRule)
    #expect(try code("v@:^vd", 0, .counted(by: 1)) == .invalidRule)
    #expect(try code("v@:ii", 1, .cString) == .invalidRule)
    #expect(try code("v@:^vi", 0, .cString) == .invalidRule)
    #expect(try code("v@:^Ci", 0, .cString) == nil)
    #expect(try code("v@:^di", 0, .fixed(count: 0)) == .invalidRule)
    #expect(try code("v@:^di", 0, .fixed(count: .max)) == .invalidRule)
    #expect(try code("v@:^di", 0, .fixed(count: 3)) == nil)
    #expect(try code("v@:^{S=*}i", 0, .fixed(count: 3)) == .notCarried)
    #expect(try code("v@:^{stat}i", 0, .fixed(count: 3)) == .notCarried)
    #expect(try code("v@:^{Swift.String}i", 0, .codable(String.self)) == nil)
    #expect(try code("v@:^{Swift.String}i", 0, .codable(Int.self)) == .invalidRule)
  }

  @Test func `A rule for an unknown method, two rules, and a rule for one left out are refused`()
    throws
  {
    #expect(try error("v@:ii") { $0.rule("c:", argument: 0, .cString) }?.code == .invalidRule)
    let two = try error("v@:*i") {
      $0.rule("a:b:", argument: 0, .cString)
      $0.rule("a:b:", argument: 0, .cString)
    }
    #expect(two?.description == "argument 0 of \"a:b:\" has two rules")
    let out = try error("v@:*i") {
      $0.rule("a:b:", argument: 0, .cString)
      $0.leaveOut("a:b:")
    }
    #expect(out?.code == .invalidRule)
  }

  @Test func `More pointers than a record may have are refused`() throws {
    let encoding = "v@:" + String(repeating: "*", count: 17)
    #expect(try error(encoding)?.code == .limitExceeded)
  }

  // MARK: Changes

  private func record(_ encoding: String) throws -> [UInt8] {
    let table = try ProtocolTable("Old") { $0.optional("a:b:", encoding) }
    let schema = try WireSchema(of: table) {
      if encoding.contains("^v") { $0.rule("a:b:", argument: 0, .counted(by: 1)) }
    }
    var bytes = schema.bytes
    try WireEncoder(schema).encode(
      Invocation("a:b:", MethodSignature(encoding)), into: &bytes)
    return bytes
  }

  private func replay(
    _ bytes: [UInt8], _ encoding: String, _ build: (inout WireSchema.Builder) -> Void = { _ in }
  ) throws -> WireError? {
    let proxy = try DynamicProxy(adopting: ProtocolTable("New") { $0.optional("a:b:", encoding) })
    let schema = try WireSchema(of: proxy, build)
    return wireError { try schema.replay(bytes, to: proxy) }
  }

  @Test func `A method whose arguments have changed is named with both encodings`() throws {
    let error = try #require(try replay(record("v@:id"), "v@:qd"))
    #expect(error.code == .schemaMismatch && error.selector == "a:b:")
    #expect(
      error.description == """
        record at byte 0: "a:b:" was recorded as "v@:id", but the reader declares "v@:qd": \
        the arguments differ
        """)
    #expect(try replay(record("v@:id"), "v@:idi")?.code == .schemaMismatch)
    #expect(try replay(record("v@:i{P=dd}"), "v@:i{Q=dd}")?.code == .schemaMismatch)
  }

  @Test func `Another spelling of the same arguments is no change`() throws {
    #expect(try replay(record("v@:id"), "v@id") == nil)
    // The result is not recorded. Nobody gives this one.
    #expect(try replay(record("v@:id"), "i@:id")?.code == .notForwarded)
    #expect(try replay(record("v@:*i"), "v@:r*i") == nil)
  }

  @Test func `Other pointer rules are a change`() throws {
    let error = try replay(record("v@:^vi"), "v@:^vi") {
      $0.rule("a:b:", argument: 0, .fixed(count: 4))
    }
    #expect(error?.code == .schemaMismatch)
    #expect(
      error?.description.contains("argument 0: counted by 1 and argument 0: 4 elements") == true)
  }

  @Test func `Records of a method that the reader leaves out are skipped`() throws {
    let bytes = try record("v@:id")
    let proxy = try DynamicProxy(adopting: ProtocolTable("Empty") { $0.optional("c", "v@:") })
    let unknown = wireError { try WireSchema(of: proxy).replay(bytes, to: proxy) }
    #expect(unknown?.code == .unknownMethod)
    #expect(unknown?.description.contains("$0.leaveOut(\"a:b:\")") == true)
    let schema = try WireSchema(of: proxy) { $0.leaveOut("a:b:") }
    #expect(try schema.replay(bytes, to: proxy) == 0)
  }

  @Test func `Methods in another order, and fewer ones, are found by name`() throws {
    let old = try ProtocolTable("Old") {
      $0.optional("two:", "v@:q")
      $0.optional("one:", "v@:*")
    }
    let new = try DynamicProxy(
      adopting: ProtocolTable("New") {
        $0.optional("zero", "v@:")
        $0.optional("one:", "v@:*")
        $0.optional("two:", "v@:q")
      })
    let (writer, reader) = (try WireSchema(of: old), try WireSchema(of: new))
    var bytes = writer.bytes
    let invocation = try Invocation("two:", MethodSignature("v@:q"))
    try invocation.setArgument(Int64(42), at: 2)
    try WireEncoder(writer).encode(invocation, into: &bytes)
    let seen = Collected<Int64>()
    let token = try new.before("two:") { (number: Int64) in seen.append(number) }
    #expect(try reader.replay(bytes, to: new) == 1)
    #expect(seen.all == [42])
    token.cancel()
  }

  @Test func `Stated layouts are compared`() throws {
    func bytes(_ size: Int) throws -> WireSchema {
      let layout = StatedLayout(
        "H", size: size, alignment: 1, members: [.offset(0), .offset(size - 4)])
      return try WireSchema(
        of: ProtocolTable("T") { $0.optional("h:", "v@:^{H=ci}", stating: [layout]) }
      ) {
        $0.rule("h:", argument: 0, .fixed(count: 1))
      }
    }
    let (five, six) = (try bytes(5), try bytes(6))
    var decoder = WireDecoder(five.bytes, schema: six)
    #expect(throws: WireError.self) { try decoder.next() }
    var same = WireDecoder(five.bytes, schema: try bytes(5))
    #expect(try same.next()?.sequence == nil)
  }
}

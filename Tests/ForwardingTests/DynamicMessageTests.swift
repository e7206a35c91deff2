// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct DynamicMessageTests {
  let journal = Journal()

  private static let table = ProtocolTable.table("Messages") {
    $0.optional("finish", "v@:")
    $0.optional("visit:kind:", "i@:*i")
    $0.optional("visitPath:", "v@:*")
    $0.optional("move:by:of:", "d@:ifd")
    $0.optional("take:", "@@:@")
    $0.optional("bytes:and:", "v@:cQ")
    $0.optional("flag:", "B@:B")
    $0.optional("raw:", "v@:^v")
    $0.optional("big:", "v@:Q")
  }

  private func proxy() throws -> (DynamicProxy, SubscriptionToken) {
    let proxy = try DynamicProxy(adopting: Self.table)
    let journal = journal
    let token = try proxy.subscribe {
      $0.on("finish") { journal.note("finish") }
      unsafe $0.on("visit:kind:") { (path: UnsafePointer<CChar>, kind: Int32) -> Int32 in
        journal.note("visit \(unsafe String(cString: path)) \(kind)")
        return kind + 1
      }
      unsafe $0.on("visitPath:") { (path: UnsafePointer<CChar>?) in
        journal.note("path \(unsafe path.map { unsafe String(cString: $0) } ?? "nil")")
      }
      $0.on("move:by:of:") { (a: Int32, b: Float, c: Double) -> Double in Double(a) + Double(b) + c
      }
      $0.on("take:") { (object: AnyObject?) -> AnyObject? in object }
      $0.on("bytes:and:") { (a: Int8, b: UInt64) in journal.note("\(a) \(b)") }
      $0.on("flag:") { (flag: Bool) -> Bool in !flag }
      unsafe $0.on("raw:") { (pointer: UnsafeRawPointer?) in
        journal.note("\(unsafe pointer == nil)")
      }
      $0.on("big:") { (number: UInt64) in journal.note("\(number)") }
    }
    return (proxy, token)
  }

  // MARK: Selectors

  @Test(
    "labels make the selector",
    arguments: [
      ([], "visit"), ([""], "visit:"), (["path"], "visitPath:"), (["", "kind"], "visit:kind:"),
      (["path", "kind"], "visitPath:kind:"), (["", ""], "visit::"), (["äther"], "visitÄther:"),
      (["x", "", "z"], "visitX::z:"),
    ] as [([String], String)])
  func selectors(labels: [String], selector: String) throws {
    let message = DynamicMessage(proxy: try DynamicProxy(adopting: []), name: "visit")
    #expect(message.selector(labels) == selector)
  }

  @Test func `calls read like methods`() throws {
    let (proxy, token) = try proxy()
    let messenger = proxy.dynamic
    try messenger.finish()
    let code: Int32 = try messenger.visit("/tmp", kind: 3)
    #expect(code == 4)
    try messenger.visit(path: "/etc")
    let sum: Double = try messenger.move(1, by: 0.5, of: 2)
    #expect(sum == 3.5)
    let flag: Bool = try messenger.flag(true)
    #expect(!flag)
    // A result may be dropped.
    try messenger.visit("x", kind: 1)
    let body: () throws -> Void = { try messenger.finish() }
    try body()
    #expect(journal.take() == ["finish", "visit /tmp 3", "path /etc", "visit x 1", "finish"])
    withExtendedLifetime(token) {}
  }

  // MARK: Conversions

  @Test func `numbers are converted if their value allows`() throws {
    let (proxy, token) = try proxy()
    let messenger = proxy.dynamic
    let sums: [Double] = [
      try messenger.move(1, by: 2, of: 3), try messenger.move(Int8(1), by: UInt64(2), of: Float(3)),
      try messenger.move(1.0, by: 2.0, of: UInt8(3)), try messenger.move(Int128(1), by: 2, of: 3.0),
      try messenger.move(UInt32(1), by: Float(2), of: Int16(3)),
    ]
    #expect(sums == Array(repeating: 6, count: 5))
    try messenger.bytes(-128, and: UInt64.max)
    try messenger.bytes(127, and: 0)
    #expect(journal.take() == ["-128 18446744073709551615", "127 0"])
    withExtendedLifetime(token) {}
  }

  @Test func `numbers out of range are errors`() throws {
    let (proxy, token) = try proxy()
    let messenger = proxy.dynamic
    var errors: [ForwardingError?] = []
    errors.append(#expect(throws: ForwardingError.self) { try messenger.bytes(128, and: 0) })
    errors.append(#expect(throws: ForwardingError.self) { try messenger.bytes(0, and: -1) })
    errors.append(#expect(throws: ForwardingError.self) { try messenger.bytes(0.5, and: 0) })
    errors.append(#expect(throws: ForwardingError.self) { try messenger.bytes(0, and: 1e30) })
    errors.append(
      #expect(throws: ForwardingError.self) { try messenger.bytes(Double.nan, and: 0) })
    errors.append(
      #expect(throws: ForwardingError.self) { try messenger.big(Int128(UInt64.max) + 1) })
    // Not every integer is a Float.
    errors.append(
      #expect(throws: ForwardingError.self) {
        let _: Double = try messenger.move(0, by: 16_777_217, of: 0)
      })
    errors.append(
      #expect(throws: ForwardingError.self) { let _: Bool = try messenger.flag(1) })
    for error in errors { #expect(error?.code == .typeMismatch, "\(error?.description ?? "")") }
    #expect(errors[0]?.description.contains("argument 2 of \"bytes:and:\" is 'c'") == true)
    #expect(journal.take().isEmpty)
    withExtendedLifetime(token) {}
  }

  @Test func `strings stand for C strings only`() throws {
    let (proxy, token) = try proxy()
    let messenger = proxy.dynamic
    try messenger.visit(path: "")
    try messenger.visit(path: "größer 🙂")
    try unsafe "pointer".withCString { try unsafe messenger.visit(path: $0) }
    try unsafe messenger.visit(path: UnsafePointer<CChar>?.none as Any)
    #expect(journal.take() == ["path ", "path größer 🙂", "path pointer", "path nil"])
    #expect(throws: ForwardingError.self) { try messenger.visit(path: "a\0b") }
    #expect(throws: ForwardingError.self) { try messenger.raw("text") }
    #expect(throws: ForwardingError.self) { try messenger.bytes("1", and: 0) }
    #expect(journal.take().isEmpty)
    withExtendedLifetime(token) {}
  }

  @Test func `objects go in and out`() throws {
    let (proxy, token) = try proxy()
    let population = Population()
    do {
      let object = population.make()
      let back: Population.Tracked = try proxy.dynamic.take(object)
      #expect(back === object)
      let none: AnyObject? = try proxy.dynamic.take(AnyObject?.none as Any)
      #expect(none == nil)
    }
    #expect(population.living == 0)
    withExtendedLifetime(token) {}
  }

  // MARK: Faults

  @Test func `wrong labels are an unknown selector`() throws {
    let (proxy, token) = try proxy()
    let error = #expect(throws: ForwardingError.self) { try proxy.dynamic.visit("x", sort: 3) }
    #expect(error?.code == .unknownSelector)
    #expect(error?.selector == "visit:sort:")
    withExtendedLifetime(token) {}
  }

  @Test func `what does not fit is an error`() throws {
    let (proxy, token) = try proxy()
    let result = #expect(throws: ForwardingError.self) {
      let _: Int64 = try proxy.dynamic.visit("x", kind: 1)
    }
    #expect(result?.code == .typeMismatch)
    let argument = #expect(throws: ForwardingError.self) { try proxy.dynamic.visit(path: [1, 2]) }
    #expect(argument?.code == .typeMismatch)
    #expect(argument?.description.contains("Array<Int>") == true)
    withExtendedLifetime(token) {}
  }
}

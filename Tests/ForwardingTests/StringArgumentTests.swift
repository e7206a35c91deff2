// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A `String` stands for a C string, by copy.
@Suite struct StringArgumentTests {
  private enum Level: String { case low, high }

  private static let table = ProtocolTable.table("Logging") {
    $0.optional("log:", "v@*")
    $0.optional("log:count:", "i@*i")
  }

  @Test func `a closure gets a copy`() throws {
    let proxy = try DynamicProxy(adopting: Self.table)
    let texts = Box<[String?]>([])
    let token = try proxy.subscribe {
      $0.on("log:") { (text: String) in texts.update { $0.append(text) } }
    }
    let optional = try proxy.subscribe {
      $0.on("log:") { (text: String?) in texts.update { $0.append(text) } }
    }
    try unsafe "grün".withCString { try unsafe proxy.send("log:", $0) }
    #expect(texts.value == ["grün", "grün"])
    withExtendedLifetime((token, optional)) {}
  }

  @Test func `a send passes a copy that lives during the call`() throws {
    let proxy = try DynamicProxy(adopting: Self.table)
    let token = try proxy.subscribe {
      unsafe $0.on("log:count:") { (text: UnsafePointer<CChar>, count: Int32) -> Int32 in
        unsafe Int32(strlen(text)) + count
      }
    }
    let long = String(repeating: "x", count: 1000)
    let length: Int32 = try proxy.send("log:count:", long, Int32(3))
    #expect(length == 1003)
    let empty: Int32 = try proxy.send("log:count:", "" as String?, Int32(0))
    #expect(empty == 0)
    #expect(try proxy.collect("log:count:", as: Int32.self, "four", Int32(0)).map(\.value) == [4])
    withExtendedLifetime(token) {}
  }

  @Test func `nil is null, and null is nil`() throws {
    let errors = Journal()
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { errors.note($0.description) }
    let proxy = try DynamicProxy(adopting: Self.table, configuration: configuration)
    let texts = Box<[String?]>([])
    let token = try proxy.subscribe {
      $0.on("log:") { (text: String?) in texts.update { $0.append(text) } }
    }
    try proxy.send("log:", nil as String?)
    #expect(texts.value == [nil])
    let strict = try proxy.subscribe { $0.on("log:") { (_: String) in texts.update { $0 = [] } } }
    try proxy.send("log:", nil as String?)
    #expect(texts.value == [nil, nil])
    #expect(errors.take().joined().contains("parameter 1 of \"log:\" is null, expected String"))
    withExtendedLifetime((token, strict)) {}
  }

  @Test func `bytes that are not UTF-8 are not delivered`() throws {
    let errors = Journal()
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { errors.note($0.description) }
    let proxy = try DynamicProxy(adopting: Self.table, configuration: configuration)
    let token = try proxy.subscribe { $0.on("log:") { (_: String) in errors.note("called") } }
    let bytes: [UInt8] = [0x61, 0xff, 0]
    let error = #expect(throws: ForwardingError.self) {
      try unsafe bytes.withUnsafeBufferPointer { try unsafe proxy.send("log:", $0.baseAddress!) }
    }
    #expect(error?.code == .valueNotRepresentable && error?.argumentIndex == 1)
    let reported = errors.take().joined()
    #expect(
      reported.contains("parameter 1 of \"log:\" has bytes that are not UTF-8, which is no String"))
    withExtendedLifetime(token) {}
  }

  @Test func `a NUL in a String is an error of the sender`() throws {
    let proxy = try DynamicProxy(adopting: Self.table)
    let error = #expect(throws: ForwardingError.self) { try proxy.send("log:", "a\0b") }
    #expect(error?.code == .valueNotRepresentable && error?.selector == "log:")
    #expect(
      error?.description
        == "parameter 1 of \"log:\" has a String with a NUL in it, which is no C string")
  }

  @Test func `an enum of strings is passed as its raw value`() throws {
    let proxy = try DynamicProxy(adopting: Self.table)
    let levels = Box<[Level]>([])
    let token = try proxy.subscribe {
      $0.on("log:") { (level: Level) in levels.update { $0.append(level) } }
    }
    try proxy.send("log:", Level.high)
    try proxy.send("log:", "low")
    #expect(levels.value == [.high, .low])
    withExtendedLifetime(token) {}
  }

  @Test func `a frame and an invocation keep the copy`() throws {
    let signature = try MethodSignature("v@*")
    let invocation = try Invocation("log:", signature)
    try invocation.setArgument("one" + " two", at: 1)
    let copy = invocation.copy(retainingArguments: true)
    #expect(try invocation.argument(at: 1, as: String.self) == "one two")
    try invocation.setArgument("three", at: 1)
    #expect(try copy.argument(at: 1, as: String.self) == "one two")
    #expect(try invocation.argument(at: 1, as: String?.self) == "three")
    var frame = ArgumentFrame(signature)
    #expect(try frame.argument(at: 1, as: String?.self) == nil)
    try frame.setArgument("four", at: 1)
    frame.retainArguments()
    #expect(try frame.copy().argument(at: 1, as: String.self) == "four")
    let error = #expect(throws: ForwardingError.self) { try invocation.setArgument("\0", at: 1) }
    #expect(error?.code == .valueNotRepresentable && error?.selector == "log:")
  }

  @Test func `a C function is called with a copy`() throws {
    let length: @convention(c) (UnsafePointer<CChar>) -> Int = unsafe strlen
    let count: Int = try unsafe MethodSignature("q*").unsafeCall(length, "twelve bytes")
    #expect(count == 12)
  }

  @Test func `a result is no String, since nothing would keep it`() throws {
    let table = ProtocolTable.table("Naming") { $0.optional("name", "*@") }
    let proxy = try DynamicProxy(adopting: table)
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe { $0.on("name") { () -> String in "x" } }
    }
    #expect(error?.code == .signatureMismatch)
    #expect(error?.description.contains("would have no owner") == true)
    #expect(throws: ForwardingError.self) {
      try ProtocolTable("Naming") { $0.optional("name", "*@", default: "x") }
    }
    // A sender copies the string of a C function.
    let token = try proxy.subscribe {
      unsafe $0.on("name") { () -> UnsafePointer<CChar>? in unsafe UnsafePointer(getenv("PATH")) }
    }
    let path: String = try proxy.send("name")
    #expect(!path.isEmpty)
    withExtendedLifetime(token) {}
  }
}

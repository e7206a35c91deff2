// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Forwarding
import Synchronization
import Testing

/// A value that is passed by address, and whose end can be seen.
internal struct ValueWithObject {
  let object: Content
}

internal final class Content {}

/// Values of Swift types by address, as the tables of typed proxies encode them.
@Suite struct AddressTranslatorTests {
  private let proxy: DynamicProxy

  init() throws {
    proxy = try DynamicProxy {
      $0.optional("named:", "v@^{Swift.String}")
      $0.optional("at:", "v@^{fixture_large}")
    }
  }

  private final class Log: Sendable {
    let lines = Mutex<[String]>([])
    func note(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  @Test func `a value of the named type is sent and received`() throws {
    let log = Log()
    try proxy.subscribe(log) {
      $0.on("named:") { (log: Log, name: String) in log.note(name) }
    }
    try proxy.send("named:", "a text that is not small")
    var text = "behind a pointer"
    try unsafe withUnsafePointer(to: &text) { unsafe try proxy.send("named:", $0) }
    #expect(log.all == ["a text that is not small", "behind a pointer"])
  }

  @Test func `an invocation has the value`() throws {
    let method = try proxy.method(for: "named:")
    let invocation = try Invocation(method.selector, method.signature)
    try invocation.setArgument("set", at: 1)
    #expect(try invocation.argument(at: 1, as: String.self) == "set")
  }

  @Test func `an invocation and its copies keep the value when they retain the arguments`() throws {
    let signature = try MethodSignature("v@^{ForwardingTests.ValueWithObject}@")
    weak var object: Content?
    var copies: [Invocation] = []
    try {
      let invocation = try Invocation("carry:for:", signature)
      let kept = Content()
      object = kept
      try invocation.setArgument(ValueWithObject(object: kept), at: 1)
      copies.append(invocation.copy(retainingArguments: true))
      invocation.retainArguments()
      #expect(try invocation.argument(at: 1, as: ValueWithObject.self).object === kept)
      copies.append(invocation.copy())
      try invocation.setArgument(ValueWithObject(object: kept), at: 1)
      copies.append(invocation.copy())
    }()
    for copy in copies {
      #expect(object != nil)
      #expect(try copy.argument(at: 1, as: ValueWithObject.self).object === object)
    }
    copies = []
    #expect(object == nil)
  }

  @Test func `null is an error`() throws {
    let log = Log()
    try proxy.subscribe(log) {
      $0.on("named:") { (log: Log, name: String) in log.note(name) }
    }
    let error = #expect(throws: ForwardingError.self) {
      unsafe try proxy.send("named:", nil as UnsafeRawPointer?)
    }
    #expect(error?.code == .nullPointer && error?.argumentIndex == 1 && log.all.isEmpty)
  }

  @Test func `a value of another type, and a C struct, do not fit`() {
    let log = Log()
    for (name, build) in [
      ("named:", { $0.on("named:") { (_: Log, _: Substring) in } }),
      ("at:", { $0.on("at:") { (_: Log, _: fixture_large) in } }),
    ] as [(String, (inout FunctionTable.Builder<Log>) -> Void)] {
      let error = #expect(throws: ForwardingError.self) { try proxy.subscribe(log, build) }
      #expect(error?.code == .signatureMismatch && error?.description.contains(name) == true)
    }
  }
}

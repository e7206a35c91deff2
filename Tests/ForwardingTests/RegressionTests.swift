// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import Testing

@testable import Forwarding

/// Faults that were found from outside, each with the test that it left.
@Suite struct RegressionTests {
  final class Thing: Sendable {}

  struct Wrapped: RawRepresentable {
    var rawValue: Thing
  }

  struct Name: RawRepresentable {
    var rawValue: MethodSelector
  }

  final class Owner: Sendable {}

  @Test func `a raw value that is an object has no place, since nobody would keep it`() throws {
    #expect(throws: ValueMismatch.self) {
      try ValueCoder<Wrapped>(for: TypeEncoding("@"))
    }
    var frame = ArgumentFrame(try MethodSignature("v@:@"))
    let error = #expect(throws: ForwardingError.self) {
      try frame.setArgument(Wrapped(rawValue: Thing()), at: 2)
    }
    #expect(error?.code == .typeMismatch)
  }

  @Test func `what is set as the selector does not become the target`() throws {
    let thing = Thing()
    let invocation = try Invocation("first", try MethodSignature("v@:"), target: thing)
    let error = #expect(throws: ForwardingError.self) {
      try invocation.setArgument(MethodSelector?.none, at: 1)
    }
    #expect(error?.code == .nullPointer)
    #expect(invocation.target === thing && invocation.selector == "first")
    try invocation.setArgument(MethodSelector?.some("second"), at: 1)
    #expect(invocation.target === thing && invocation.selector == "second")
    try invocation.setArgument(Name(rawValue: "third"), at: 1)
    #expect(invocation.target === thing && invocation.selector == "third")
  }

  #if arch(x86_64)
    @Test func `the padding of a long double is not part of its value`() throws {
      let table = try ProtocolTable("Long") { $0.required("ask", "D@:", result: .untilNonzero) }
      let proxy = try DynamicProxy(adopting: table)
      let owners = (0..<3).map { _ in Owner() }
      for (index, owner) in owners.enumerated() {
        try proxy.subscribe(owner) {
          $0.on("ask") { (_: Owner) -> Float80 in index == 2 ? 3 : 0 }
        }
      }
      let answer: Float80 = try proxy.send("ask")
      #expect(answer == 3)
    }
  #endif

  @Test func `a policy takes objects by their class`() throws {
    let policy = unsafe ResultPolicy.until { (_: Unmanaged<Thing>) in false }
    #expect(throws: ForwardingError.self) {
      try ProtocolTable("Unmanaged") { $0.required("ask", "@@:", result: policy) }
    }
  }

  @Test func `tables whose parents differ are not the same`() throws {
    let first = try ProtocolTable("Regression.Base") { $0.optional("a", "v@:") }
    let second = try ProtocolTable("Regression.Base") { $0.optional("b:", "v@:i") }
    let child = try ProtocolTable("Regression.Child", inheriting: [first]) { _ in }
    let other = try ProtocolTable("Regression.Child", inheriting: [second]) { _ in }
    try child.register()
    let error = #expect(throws: ForwardingError.self) { try other.register() }
    #expect(error?.code == .conflict)
  }

  @Test func `a name with a NUL in it is unknown`() throws {
    _ = try ProtocolTable("Names") { $0.optional("visit:", "v@:i") }
    #expect(MethodSelector(known: "visit:") != nil)
    #expect(MethodSelector(known: "visit:\0evil") == nil)
  }

  @Test func `a proxy that is subscribed again has one link`() throws {
    let table = try ProtocolTable("Links") { $0.optional("visit:", "v@:i") }
    let (outer, inner) = (try DynamicProxy(adopting: table), try DynamicProxy(adopting: table))
    for _ in 0..<10 { try outer.subscribe(inner) }
    #expect(outer.count == 1)
    #expect(outer.core.extras.chained.withLock { $0.count } == 1)
  }

  @Test(.timeLimit(.minutes(30)))
  func `diamonds of parents are not walked path by path`() throws {
    var table = try ProtocolTable("Root") { $0.optional("visit:", "v@:i") }
    let root = table
    for level in 0..<40 {
      let left = try ProtocolTable("Left\(level)", inheriting: [table]) { _ in }
      let right = try ProtocolTable("Right\(level)", inheriting: [table]) { _ in }
      table = try ProtocolTable("Level\(level)", inheriting: [left, right]) { _ in }
    }
    #expect(table.inherits(from: root))
    #expect(table.lineage.count == 121)
  }

  @Test func `options of C with a wrong policy, or for one method twice, are errors`() throws {
    var requirement = unsafe fwd_requirement()
    var registered: OpaquePointer?
    func text(_ literal: StaticString) -> UnsafePointer<CChar> {
      unsafe UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
    }
    let selector = unsafe text("regress:")
    unsafe requirement.selector = selector
    unsafe requirement.encoding = text("B@:i")
    #expect(
      unsafe fwd_protocol_register("RegressedOptions", &requirement, 1, &registered, nil) == FWD_OK)
    func create(_ policies: [UInt32]) -> (fwd_status, String) {
      var methods = unsafe policies.map { policy in
        var method = unsafe fwd_method_options()
        unsafe method.selector = selector
        unsafe method.policy = fwd_result_policy(rawValue: policy)
        return unsafe method
      }
      return unsafe methods.withUnsafeMutableBufferPointer { methods in
        var options = unsafe fwd_proxy_options()
        unsafe options.size = MemoryLayout<fwd_proxy_options>.size
        unsafe options.method_size = MemoryLayout<fwd_method_options>.stride
        unsafe options.methods = UnsafePointer(methods.baseAddress)
        unsafe options.method_count = methods.count
        var proxy: OpaquePointer?
        var error = fwd_error()
        let status = unsafe fwd_proxy_create(&registered, 1, &options, &proxy, &error)
        unsafe fwd_proxy_release(proxy)
        return (status, status == FWD_OK ? "" : ForwardingError(error, selector: nil).description)
      }
    }
    #expect(create([FWD_RESULT_ALL.rawValue]).0 == FWD_OK)
    let wrong = create([99])
    #expect(wrong.0 == FWD_OUT_OF_RANGE)
    #expect(
      wrong.1.contains(
        "\"regress:\" have the result policy 99, expected FWD_RESULT_DEFAULT (0) to FWD_RESULT_UNTIL_HANDLED ("
      ))
    let twice = create([FWD_RESULT_ANY.rawValue, FWD_RESULT_ALL.rawValue])
    #expect(twice.0 == FWD_CONFLICT && twice.1.contains("\"regress:\" twice"))
    let misfit = create([FWD_RESULT_UNTIL_HANDLED.rawValue])
    #expect(misfit.0 == FWD_TYPE_MISMATCH && misfit.1.contains("the policy \"untilHandled\""))
  }

  @Test func `counts that are none are errors in C`() throws {
    let most = Int(bitPattern: UInt.max)
    var error = fwd_error()
    var requirement = unsafe fwd_requirement(selector: nil, encoding: nil, required: true)
    var proxy: OpaquePointer?
    var table: OpaquePointer?
    let registered = unsafe fwd_protocol_register(
      "Regression.Counts", &requirement, most, &table, &error)
    #expect(registered == FWD_OUT_OF_RANGE)
    let created = unsafe fwd_proxy_create(nil, most, nil, &proxy, &error)
    #expect(created == FWD_NULL_ARGUMENT)
    var options = unsafe fwd_proxy_options()
    unsafe options.size = MemoryLayout<fwd_proxy_options>.size
    unsafe options.method_count = 3
    let configured = unsafe fwd_proxy_create(nil, 0, &options, &proxy, &error)
    #expect(configured == FWD_NULL_ARGUMENT)
    let isUntouched = unsafe proxy == nil && table == nil
    #expect(isUntouched)
  }

  @Test func `a name that is not UTF-8 is refused, not repaired`() throws {
    var error = fwd_error()
    var table: OpaquePointer?
    let name: [CChar] = [CChar(bitPattern: 0xFF), 65, 0]
    let status = unsafe name.withUnsafeBufferPointer {
      unsafe fwd_protocol_register($0.baseAddress, nil, 0, &table, &error)
    }
    #expect(status == FWD_MALFORMED)
  }

  @Test func `messages have no control characters but their own line breaks`() throws {
    let table = try ProtocolTable("Control") { $0.optional("visit:", "v@:i") }
    let proxy = try DynamicProxy(adopting: table)
    let status = unsafe fwd_forward_named(proxy.unsafeHandle, "\u{1B}[31mred", nil, 0, nil, 0)
    #expect(status == FWD_UNKNOWN_SELECTOR)
    let message = unsafe String(cString: fwd_error_message())
    #expect(!message.contains("\u{1B}") && message.contains("?[31mred"))
  }

  @Test func `messages are UTF-8, also if a long name is cut, and list whole names`() throws {
    let long = String(repeating: "ä", count: 50)
    let proxy = try DynamicProxy {
      $0.optional(long, "v@")
      for index in 0..<5 { $0.optional("method\(index)", "v@") }
      $0.optional("x" + long + long, "v@")
    }
    func message(_ name: [UInt8]) throws -> String {
      let text = name.map { CChar(bitPattern: $0) } + [0]
      let status = unsafe text.withUnsafeBufferPointer {
        unsafe fwd_forward_named(proxy.unsafeHandle, $0.baseAddress, nil, 0, nil, 0)
      }
      #expect(status == FWD_UNKNOWN_SELECTOR)
      return try #require(unsafe String(validatingCString: fwd_error_message()))
    }
    let declared = "; it declares \"\(long)\" and 6 more"
    #expect(try message(Array("b".utf8)).hasSuffix("\"b\"" + declared))
    for shift in 0..<3 {
      let name = String(repeating: "x", count: shift) + String(repeating: "€", count: 60)
      #expect(try message(Array(name.utf8)).hasSuffix(declared))
    }
    // Bytes that begin no sequence, or one that is too long, a surrogate, or cut off.
    let wrong: [[UInt8]] = [
      [0x80], [0xC0, 0xAF], [0xC1, 0x80], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
      [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5], [0xFF], [0xE2, 0x82],
      [0xF0, 0x9F, 0x98], [0xC3],
    ]
    for bytes in wrong {
      let marks = String(repeating: "?", count: bytes.count)
      #expect(try message(bytes).contains("\"\(marks)\""))
    }
    for text in ["ß", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "😀", "\u{10FFFF}"] {
      #expect(try message(Array(text.utf8)).contains("\"\(text)\""))
    }
  }
}

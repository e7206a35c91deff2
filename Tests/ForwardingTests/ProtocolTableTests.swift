// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct ProtocolTableTests {

  // MARK: Declaring

  @Test func `has its methods in order`() throws {
    let table = try ProtocolTable("Visitor") {
      $0.required("visit:kind:", "i@:*i")
      $0.optional("finished:", "v@:q")
      $0.required("context:", "v^vi")
    }
    #expect(table.name == "Visitor")
    #expect(table.parents.isEmpty)
    #expect(table.requirements.map(\.selector) == ["visit:kind:", "finished:", "context:"])
    #expect(table.requirements.map(\.signature.text) == ["i@:*i", "v@:q", "v^vi"])
    #expect(table.requirements.map(\.isRequired) == [true, false, true])
    #expect(
      table.description
        == "protocol Visitor { visit:kind: i@:*i; finished:? v@:q; context: v^vi }")
  }

  @Test func `may have no methods`() throws {
    let table = try ProtocolTable("Empty") { _ in }
    #expect(table.requirements.isEmpty)
    #expect(table.description == "protocol Empty {  }")
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: ForwardingError.Code
    let selector: String?
    /// What the message must say.
    let words: [String]
    let build: @Sendable (inout ProtocolTable.Builder) -> Void

    init(
      _ name: String, _ code: ForwardingError.Code, _ selector: String?, _ words: String...,
      build: @escaping @Sendable (inout ProtocolTable.Builder) -> Void
    ) {
      testDescription = name
      self.code = code
      self.selector = selector
      self.words = words
      self.build = build
    }
  }

  static let faults = [
    Fault("an empty selector", .invalidName, "", "protocol \"Faulty\"", "1 to 65535 bytes") {
      $0.required("", "v@:")
    },
    Fault("a NUL in a selector", .invalidName, "a\0b", "1 to 65535 bytes") {
      $0.optional("a\0b", "v@:")
    },
    Fault("an encoding that cannot be read", .malformed, "a:", "\"a:\"", "{P=d", "offset") {
      $0.required("a:", "v@:{P=d")
    },
    Fault("an empty encoding", .malformed, "a") { $0.required("a", "") },
    Fault("a void argument", .unsupported, "a:") { $0.required("a:", "v@:v") },
    Fault("a bit-field", .unsupported, "a:") { $0.required("a:", "v@:{S=b3}") },
    Fault("no argument", .noReceiver, "a", "must be an object or a pointer", "\"v\"") {
      $0.required("a", "v")
    },
    Fault("no receiver", .noReceiver, "a:", "\"vi\"") { $0.optional("a:", "vi") },
    Fault("a method twice", .duplicate, "a:", "declares \"a:\" twice") {
      $0.required("a:", "v@:i")
      $0.optional("a:", "v@:i")
    },
    Fault(
      "a policy that does not fit", .policyMismatch, "a",
      "must be 'B' (Bool) for the policy \"any\"", "'i' (Int32)"
    ) {
      $0.required("a", "i@:", result: .any)
    },
    Fault(
      "a default of another type", .policyMismatch, "a",
      "the result of \"a\" is 'i' (Int32), got a default of type Double"
    ) {
      $0.required("a", "i@:", default: 1.0)
    },
    Fault(
      "a result for failures of another type", .policyMismatch, "a",
      "the result of \"a\" is 'i' (Int32), got a result for failures of type Double"
    ) {
      $0.required("a", "i@:", onFailure: 1.0)
    },
    Fault(
      "an initial value of another type", .policyMismatch, "a",
      "the result of \"a\" is 'i' (Int32), got an initial value of \"reduce\" of type Int"
    ) {
      $0.required("a", "i@:", result: .reduce(0) { $0 + $1 })
    },
    Fault(
      "a predicate of another type", .policyMismatch, "a",
      "the result of \"a\" is 'i' (Int32), got a closure of \"until\" that takes Double"
    ) {
      $0.required("a", "i@:", result: .until { (result: Double) in result > 0 })
    },
    Fault(
      "a default of a void method", .policyMismatch, "a", "'v' (void), got a default of type Int32"
    ) {
      $0.optional("a", "v@:", default: Int32(1))
    },
    Fault("a default string", .policyMismatch, "a", "got a default of type String") {
      $0.optional("a", "*@:", default: "text")
    },
  ]

  @Test("a faulty declaration is refused", arguments: faults)
  func fault(_ fault: Fault) {
    let error = #expect(throws: ForwardingError.self) {
      _ = try ProtocolTable("Faulty") {
        $0.required("good", "v@:")
        fault.build(&$0)
      }
    }
    #expect(error?.code == fault.code)
    #expect(error?.selector == fault.selector)
    #expect(error?.table == "Faulty")
    let isUnreadable = fault.code == .malformed || fault.code == .unsupported
    #expect((error?.encoding != nil) == isUnreadable)
    #expect((error?.offset != nil) == isUnreadable)
    for word in fault.words {
      #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
    }
  }

  @Test("a table's name is one", arguments: ["", "a\0b"])
  func name(_ name: String) {
    let error = #expect(throws: ForwardingError.self) { _ = try ProtocolTable(name) { _ in } }
    #expect(error?.code == .invalidName)
  }

  @Test func `any first argument that is a pointer takes the receiver`() throws {
    for encoding in ["v@", "v^v", "v*", "v#", "v^{S=}i", "v@?", "v@\"Dog\":i"] {
      let table = try ProtocolTable("Receivers") { $0.required("a", encoding) }
      #expect(table.requirements.first?.signature.firstArgumentIndex != 0)
    }
  }

  // MARK: Parents

  private static let walking = ProtocolTable.table("Walking") {
    $0.required("walk:", "v@:i")
    $0.optional("rest", "v@:")
  }
  private static let running = ProtocolTable.table("Running", inheriting: [walking]) {
    $0.required("run:", "v@:d")
  }
  private static let swimming = ProtocolTable.table("Swimming", inheriting: [walking]) {
    $0.optional("swim", "v@:")
  }
  private static let racing = ProtocolTable.table("Racing", inheriting: [running, swimming]) {
    $0.required("rest", "v@:")
  }

  @Test func `inherits from its parents, and theirs`() {
    let (walking, running) = (Self.walking, Self.running)
    #expect(running.inherits(from: running) && running.inherits(from: walking))
    #expect(!walking.inherits(from: running) && !Self.swimming.inherits(from: running))
    #expect(Self.racing.inherits(from: walking) && Self.racing.inherits(from: Self.swimming))
    #expect(Self.racing.lineage.map(\.name) == ["Racing", "Running", "Walking", "Swimming"])
    #expect(Self.racing.requirements.count == 1)
    #expect(Self.racing.description == "protocol Racing: Running, Swimming { rest v@: }")
  }

  @Test func `all methods are those of the lineage, each once`() throws {
    let merged = try ProtocolTable.merge([Self.racing, Self.walking])
    #expect(merged.map(\.selector) == ["rest", "run:", "walk:", "swim"])
    // Required as soon as one declaration says so.
    #expect(merged.map(\.isRequired) == [true, true, true, false])
    let other = try ProtocolTable.merge([Self.walking, Self.racing])
    #expect(other.map(\.selector) == ["walk:", "rest", "run:", "swim"])
    #expect(other.map(\.isRequired) == [true, true, true, false])
  }

  @Test func `the foremost declaration decides policy and default`() throws {
    let first = try ProtocolTable("First") {
      $0.optional("score", "i@:", result: .callAll(pick: .last), default: Int32(1))
    }
    let second = try ProtocolTable("Second") {
      $0.required("score", "i@:", result: .first, default: Int32(2))
    }
    let answers = try [[first, second], [second, first]].map { tables -> [Int32] in
      var configuration = DynamicProxy.Configuration()
      configuration.conformance = .lenient
      let proxy = try DynamicProxy(adopting: tables, configuration: configuration)
      let empty: Int32 = try proxy.send("score")
      let tokens = try [10, 20].map { score in
        try proxy.subscribe { $0.on("score") { () -> Int32 in score } }
      }
      defer { withExtendedLifetime(tokens) {} }
      return [empty, try proxy.send("score")]
    }
    #expect(answers == [[1, 20], [2, 10]])
  }

  @Test func `a method inherited with another signature is a conflict`() {
    let error = #expect(throws: ForwardingError.self) {
      _ = try ProtocolTable("Crawling", inheriting: [Self.running]) {
        $0.required("walk:", "v@:d")
      }
    }
    #expect(error?.code == .conflict)
    #expect(error?.selector == "walk:")
    #expect(
      error?.description
        == #""walk:" is "v@:d" in protocol "Crawling", but "v@:i" in protocol "Walking""#)
    let between = #expect(throws: ForwardingError.self) {
      let other = try ProtocolTable("Other") { $0.optional("swim", "v@:i") }
      _ = try ProtocolTable("Both", inheriting: [Self.swimming, other]) { _ in }
    }
    #expect(between?.code == .conflict)
  }

  @Test func `the same meaning in another spelling is no conflict`() throws {
    let table = try ProtocolTable("Spelling", inheriting: [Self.walking]) {
      $0.required("walk:", "Vv20@0:8i16")
    }
    #expect(try ProtocolTable.merge([table]).count == 2)
  }
}

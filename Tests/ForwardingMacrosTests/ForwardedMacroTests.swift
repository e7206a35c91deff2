// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacros
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  @testable import ForwardingMacrosPlugin

  /// What the macro makes, and what it says about protocols that it does not take.
  @Suite struct ForwardedMacroTests {
    private static let macros: [String: MacroSpec] = [
      "Forwarded": MacroSpec(type: ForwardedMacro.self),
      "Optional": MacroSpec(type: OptionalMacro.self),
      "DefaultResult": MacroSpec(type: DefaultResultMacro.self),
      "ReplyOnce": MacroSpec(type: ReplyOnceMacro.self),
    ]

    private func expect(
      _ source: String, expandsTo expanded: String, diagnostics: [DiagnosticSpec] = [],
      applying fixIts: [String]? = nil, giving fixed: String? = nil,
      _ location: Testing.SourceLocation = #_sourceLocation
    ) {
      expectExpansion(
        source, by: Self.macros, to: expanded, diagnostics: diagnostics, applying: fixIts,
        giving: fixed, location)
    }

    // MARK: Expansions

    @Test func `a scalar method, and an optional one that throws`() {
      expect(
        """
        @Forwarded
        public protocol Observer: AnyObject {
          func moved(to x: Double, _ isFirst: Bool)
          @Optional func close(at path: String) throws -> Int
        }
        """,
        expandsTo: expansion("observer"))
    }

    // MARK: Diagnostics

    /// A protocol around one member, which stands in the third line.
    private func refuses(
      _ member: String, column: Int, _ message: String, line: Int = 3, fixIts: [FixItSpec] = [],
      applying name: String? = nil, giving fixed: String? = nil,
      _ location: Testing.SourceLocation = #_sourceLocation
    ) {
      let bare = member.replacing("@Optional ", with: "").replacing("@DefaultResult(1) ", with: "")
        .replacing("@ReplyOnce ", with: "")
      expect(
        """
        @Forwarded
        protocol P: AnyObject {
          \(member)
        }
        """,
        expandsTo: """
          protocol P: AnyObject {
            \(bare)
          }
          """,
        diagnostics: [DiagnosticSpec(message: message, line: line, column: column, fixIts: fixIts)],
        applying: name.map { [$0] },
        giving: fixed.map { "@Forwarded\nprotocol P: AnyObject {\n  \($0)\n}" }, location)
    }

    @Test(arguments: [
      (
        "subscript(x: Int) -> Int { get }", 3,
        "'@Forwarded' does not forward subscripts; declare methods instead"
      ),
      (
        "init()", 3,
        "'@Forwarded' does not forward initializers, since listeners are made before they "
          + "subscribe; remove it"
      ),
      (
        "associatedtype A", 3,
        "'@Forwarded' does not forward a protocol with associated types, since listeners of one "
          + "proxy could have different ones; name a concrete type instead"
      ),
      (
        "func `Type`()", 8,
        "'@Forwarded' makes a case of each requirement, and none can be named 'Type'; rename the "
          + "method"
      ),
      (
        "func `Protocol`()", 8,
        "'@Forwarded' makes a case of each requirement, and none can be named 'Protocol'; rename "
          + "the method"
      ),
      (
        "static func f()", 3,
        "'@Forwarded' does not forward 'static' methods, since listeners are objects and not "
          + "types; make it an instance member"
      ),
      (
        "static var x: Int { get }", 3,
        "'@Forwarded' does not forward 'static' properties, since listeners are objects and not "
          + "types; make it an instance member"
      ),
      (
        "func f() where Self: Q", 12,
        "'@Forwarded' does not forward generic methods, since a subscriber's function has one "
          + "type; name a concrete type or 'any' of a protocol"
      ),
      (
        "var x: Self? { get }", 10,
        "'@Forwarded' does not forward 'Self', which is another type for each listener; name a "
          + "concrete type or 'any' of a protocol"
      ),
      (
        "@ReplyOnce func f()", 3,
        "'@ReplyOnce' expects a parameter that is an '@escaping' closure without a result, and "
          + "'f' has none; remove it"
      ),
      (
        "@ReplyOnce func f(_ x: @escaping () -> Int)", 3,
        "'@ReplyOnce' expects a parameter that is an '@escaping' closure without a result, and "
          + "'f' has none; remove it"
      ),
      (
        "@ReplyOnce var x: Int { get }", 3,
        "'@ReplyOnce' is for methods that take an escaping closure, not for properties; remove it"
      ),
      (
        "func f<T>(_ x: T)", 9,
        "'@Forwarded' does not forward generic methods, since a subscriber's function has one "
          + "type; name a concrete type or 'any' of a protocol"
      ),
      (
        "func f(_ x: borrowing Int)", 15,
        "'@Forwarded' does not forward 'borrowing' parameters; remove 'borrowing', and use a type "
          + "that can be copied"
      ),
      (
        "func f(_ x: @autoclosure () -> Int)", 15,
        "'@Forwarded' does not forward autoclosures; take an '@escaping' closure, or the value"
      ),
      (
        "func f(_ x: Self)", 15,
        "'@Forwarded' does not forward 'Self', which is another type for each listener; name a "
          + "concrete type or 'any' of a protocol"
      ),
      (
        "@available(*, unavailable) func f()", 3,
        "'@Forwarded' cannot forward an unavailable requirement, since nobody may call it; remove "
          + "the requirement"
      ),
    ]) func `a requirement that cannot be forwarded is an error at its own line`(
      _ member: String, _ column: Int, _ message: String
    ) {
      refuses(member, column: column, message)
    }

    @Test func `an optional property`() {
      refuses(
        "@Optional var x: Int { get }", column: 3,
        "'@Optional' is for methods, and a property cannot be left out; remove it, or declare an "
          + "optional property type")
    }

    @Test func `a default of nothing`() {
      refuses(
        "@DefaultResult(1) func f()", column: 3,
        "'@DefaultResult' expects a method with a "
          + "result, and 'f' has none; remove it")
    }

    @Test func `a variadic parameter becomes an array`() {
      refuses(
        "func f(_ x: Int...)", column: 18,
        "'@Forwarded' does not forward variadic parameters; "
          + "take an array",
        fixIts: [FixItSpec(message: "take an array")], applying: "take an array",
        giving: "func f(_ x: [Int])")
    }

    @Test func `a closure is made to escape`() {
      refuses(
        "func f(_ x: (Int) -> Void)", column: 15,
        "'@Forwarded' stores a closure during the call, so the parameter must be '@escaping'",
        fixIts: [FixItSpec(message: "add '@escaping'")], applying: "add '@escaping'",
        giving: "func f(_ x: @escaping (Int) -> Void)")
    }

    @Test func `a sendable closure is made to escape`() {
      refuses(
        "func f(_ x: @Sendable () -> Void)", column: 15,
        "'@Forwarded' stores a closure during the call, so the parameter must be '@escaping'",
        fixIts: [FixItSpec(message: "add '@escaping'")], applying: "add '@escaping'",
        giving: "func f(_ x: @escaping @Sendable () -> Void)")
    }

    @Test func `an opaque parameter becomes an existential`() {
      refuses(
        "func f(_ x: some Error)", column: 15,
        "'@Forwarded' does not forward generic methods, since a subscriber's function has one "
          + "type; name a concrete type or 'any' of a protocol",
        fixIts: [FixItSpec(message: "take 'any'")], applying: "take 'any'",
        giving: "func f(_ x: any Error)")
    }

    @Test func `so does one inside of another type`() {
      for (type, column) in [("[some P]", 16), ("(some P)?", 16), ("(Int, [Int: some P])", 27)] {
        refuses(
          "func f(_ x: \(type))", column: column,
          "'@Forwarded' does not forward generic methods, since a subscriber's function has one "
            + "type; name a concrete type or 'any' of a protocol",
          fixIts: [FixItSpec(message: "take 'any'")], applying: "take 'any'",
          giving: "func f(_ x: \(type.replacing("some", with: "any")))")
      }
    }

    @Test func `an implicitly unwrapped optional becomes an optional`() {
      refuses(
        "func f(_ x: Int!)", column: 18,
        "'@Forwarded' does not forward implicitly unwrapped "
          + "optionals; use '?'",
        fixIts: [FixItSpec(message: "use '?'")], applying: "use '?'",
        giving: "func f(_ x: Int?)")
    }

    @Test func `a typed error becomes any`() {
      refuses(
        "func f() throws(E)", column: 19,
        "a forwarded method may also throw 'ForwardingError', if no listener responds, which is "
          + "not "
          + "'E'; declare the method 'throws'",
        fixIts: [FixItSpec(message: "declare it 'throws'")], applying: "declare it 'throws'",
        giving: "func f() throws")
    }

    @Test func `a method that throws nothing`() {
      refuses(
        "func f() throws(Never)", column: 12,
        "a method that throws 'Never' does not throw; remove 'throws'")
    }

    @Test func `effects are the method's own`() {
      refuses(
        "func f(_ x: @escaping () throws -> Void) rethrows", column: 44,
        "'@Forwarded' does not forward 'rethrows' methods, since it stores their closures during "
          + "the "
          + "call; declare the method 'throws'",
        fixIts: [FixItSpec(message: "declare it 'throws'")], applying: "declare it 'throws'",
        giving: "func f(_ x: @escaping () throws -> Void) throws")
      refuses(
        "func f(_ x: @escaping () async -> Void) reasync", column: 43,
        "'@Forwarded' does not forward 'reasync' methods; declare the method 'async'")
    }

    @Test func `a protocol in a type is not private`() {
      expect(
        """
        enum N {
          @Forwarded
          private protocol P: AnyObject {
            func f()
          }
        }
        """,
        expandsTo: """
          enum N {
            private protocol P: AnyObject {
              func f()
            }
          }
          """,
        diagnostics: [
          DiagnosticSpec(
            message:
              "'@Forwarded' extends a nested protocol at file scope, where a 'private' one is not "
              + "visible; make it 'fileprivate'",
            line: 3, column: 3, fixIts: [FixItSpec(message: "make it 'fileprivate'")])
        ],
        applying: ["make it 'fileprivate'"],
        giving: """
          enum N {
            @Forwarded
            fileprivate protocol P: AnyObject {
              func f()
            }
          }
          """)
    }

    @Test func `a result without a zero needs a default, or throws`() {
      let message =
        "'@Forwarded' knows no result of 'f' for a call that no listener responds to: 'String' "
        + "is not "
        + "the name of a number, 'Bool' or an optional; add '@DefaultResult', or declare the "
        + "method "
        + "'throws'"
      let fixIts = [
        FixItSpec(message: "declare a default with '@DefaultResult'"),
        FixItSpec(message: "declare it 'throws'"),
      ]
      refuses(
        "func f() -> String", column: 15, message, fixIts: fixIts,
        applying: "declare a default with '@DefaultResult'",
        giving: "@DefaultResult(<#value#>) func f() -> String")
      refuses(
        "func f() -> String", column: 15, message, fixIts: fixIts, applying: "declare it 'throws'",
        giving: "func f() throws -> String")
    }

    @Test func `methods of one selector`() {
      expect(
        """
        @Forwarded
        protocol P: AnyObject {
          func f(_ x: Int)
          func f(_ x: Double)
        }
        """,
        expandsTo: """
          protocol P: AnyObject {
            func f(_ x: Int)
            func f(_ x: Double)
          }
          """,
        diagnostics: [
          DiagnosticSpec(
            message: "'f(_:)' and 'f(_:)' have the same selector, 'f:'; give one of them another "
              + "name or "
              + "label", line: 4, column: 8)
        ])
    }

    @Test func `what is not for classes`() {
      expect(
        "@Forwarded\nprotocol P {\n  func f()\n}", expandsTo: "protocol P {\n  func f()\n}",
        diagnostics: [
          DiagnosticSpec(
            message: "a proxy holds its listeners weakly, so they must be objects; let 'P' "
              + "inherit from "
              + "'AnyObject'", line: 2,
            column: 10, fixIts: [FixItSpec(message: "inherit from 'AnyObject'")])
        ], applying: ["inherit from 'AnyObject'"],
        giving: "@Forwarded\nprotocol P: AnyObject {\n  func f()\n}")
    }

    @Test(arguments: ["Hashable", "Q<Int>"])
    func `what inherits from those that cannot have the attribute`(_ parent: String) {
      expect(
        "@Forwarded\nprotocol P: AnyObject, \(parent) {\n  func f()\n}",
        expandsTo: "protocol P: AnyObject, \(parent) {\n  func f()\n}",
        diagnostics: [
          DiagnosticSpec(
            message: "'@Forwarded' forwards inherited requirements only of protocols that have "
              + "'@Forwarded' "
              + "themselves, and '\(parent)' cannot have it; remove '\(parent)' from the clause",
            line: 2, column: 24)
        ])
    }

    @Test func `what is named as a type of its proxy`() {
      expect(
        "@Forwarded\nprotocol Listener: AnyObject {\n  func f()\n}",
        expandsTo: "protocol Listener: AnyObject {\n  func f()\n}",
        diagnostics: [
          DiagnosticSpec(
            message: "the proxy that '@Forwarded' makes has a nested type 'Listener'; rename the "
              + "protocol",
            line: 2,
            column: 10)
        ])
    }

    @Test func `a property without a zero needs a default`() {
      refuses(
        "var x: String { get }", column: 10,
        "'@Forwarded' knows no result of 'x' for a call that no listener responds to: 'String' "
          + "is not "
          + "the name of a number, 'Bool' or an optional; add '@DefaultResult'",
        fixIts: [FixItSpec(message: "declare a default with '@DefaultResult'")],
        applying: "declare a default with '@DefaultResult'",
        giving: "@DefaultResult(<#value#>) var x: String { get }")
    }

    @Test func `what is no protocol, or has no methods`() {
      expect(
        "@Forwarded\nclass C {}", expandsTo: "class C {}",
        diagnostics: [
          DiagnosticSpec(
            message: "'@Forwarded' expects a protocol; remove it from "
              + "other declarations", line: 1, column: 1)
        ])
      expect(
        "@Forwarded\nprotocol P: AnyObject {}", expandsTo: "protocol P: AnyObject {}",
        diagnostics: [
          DiagnosticSpec(
            message: "protocol 'P' has no requirements that '@Forwarded' could forward; declare "
              + "a method", line: 2, column: 10)
        ])
    }

    @Test func `attributes of methods elsewhere`() {
      expect(
        "protocol P {\n  @Optional func f()\n}", expandsTo: "protocol P {\n  func f()\n}",
        diagnostics: [
          DiagnosticSpec(
            message: "'@Optional' is for requirements of protocols with '@Forwarded'; add "
              + "'@Forwarded' to the "
              + "protocol, or remove '@Optional'", line: 2,
            column: 3)
        ])
    }
  }
#endif

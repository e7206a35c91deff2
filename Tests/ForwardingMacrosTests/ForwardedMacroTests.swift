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
        expandsTo: Self.expansion)
    }

    private static let expansion = #"""
      public protocol Observer: AnyObject {
        func moved(to x: Double, _ isFirst: Bool)
        func close(at path: String) throws -> Int

        /// Tells whether a conformer has `close(at:)`.
        associatedtype _Observer_closeAt = ForwardingMacros.ForwardedMissing

        @_disfavoredOverload func close(at _0: String) throws -> _Observer_closeAt
      }

      /// A typed proxy of `Observer`, which forwards what it is called for to
      /// its listeners. Made by `@Forwarded`.
      public final class ObserverProxy: Observer, ForwardingMacros.ForwardedProxy {
        public typealias Listener = any Observer
        public typealias Conformer = any Observer.Type

        /// The methods of `Observer`.
        public enum Requirement: Swift.Int, Swift.CaseIterable, Swift.Sendable {
          /// `moved(to:_:)`, to untyped callers `movedTo::`.
          case movedTo
          /// `close(at:)`, to untyped callers `closeAt:`.
          case closeAt
        }

        public let _forwarding: ForwardingMacros.ForwardedCore

        /// Makes a proxy without listeners.
        public init() {
          _forwarding = ForwardingMacros.ForwardedCore(ObserverProxy._protocol)
        }

        /// Makes a proxy without listeners.
        ///
        /// - Throws: `TableError` if a policy of the configuration does not fit its
        ///   method.
        public init(
          configuration: ForwardingMacros.DynamicProxy.Configuration
        ) throws(ForwardingMacros.TableError) {
          _forwarding = try ForwardingMacros.ForwardedCore(ObserverProxy._protocol, configuration)
        }

        public func moved(to _0: Double, _ _1: Bool) {
          unsafe _forwarding.send(0, (_0 as Swift.Double, _1 as Swift.Bool))
        }

        public func close(at _0: String) throws -> Int {
          try _forwarding.answer(1, try unsafe ForwardingMacros.ForwardedSlot.pass(_0, as: (String).self) { _0 in
              try unsafe _forwarding.askThrowing(1, (_0), as: (Int).self)
            })
        }

        public static let _protocol: ForwardingMacros.ForwardedProtocol<any Observer, any Observer.Type> = ForwardingMacros.ForwardedProtocol<any Observer, any Observer.Type>(
          [
            unsafe ForwardingMacros.ForwardedMethod(
              "movedTo::",
              [ForwardingMacros.ForwardedSlot.encoding(of: (Double).self), ForwardingMacros.ForwardedSlot.encoding(of: (Bool).self)],
              { context, receiver, arguments, result, failure in
              unsafe ObserverProxy._deliver0(  // of an actor by default: say '@MainActor' or 'nonisolated' at the protocol
                ForwardingMacros.ForwardedProtocol<any Observer, any Observer.Type>.conformer(receiver, context), receiver, arguments, result, failure)
            },
              function: { receiver, _0, _1, context in
              unsafe ObserverProxy._send0(
                ForwardingMacros.ForwardedProtocol<any Observer, any Observer.Type>.conformer(receiver, context), receiver, _0, _1)
            } as @convention(c) @Sendable (UInt, Double, UInt8, UInt) -> Void
            ),
            unsafe ForwardingMacros.ForwardedMethod(
              "closeAt:",
              [ForwardingMacros.ForwardedSlot.encoding(of: (String).self)],
              ForwardingMacros.ForwardedSlot.result(of: (Int).self),
              throws: true,
              optional: 0,
              { context, receiver, arguments, result, failure in
              unsafe ObserverProxy._deliver1(  // of an actor by default: say '@MainActor' or 'nonisolated' at the protocol
                ForwardingMacros.ForwardedProtocol<any Observer, any Observer.Type>.conformer(receiver, context), receiver, arguments, result, failure)
            }
            )
          ],
          optionals: { listener in
            _implemented(listener)
          }
        )

        @inline(__always)
        @unsafe private static func _deliver0<_Conforming: Observer>(
          _: _Conforming.Type, _ receiver: UInt, _ arguments: UInt, _ result: UInt, _ failure: UInt
        ) -> UInt32 {
          unsafe ForwardingMacros.ForwardedSlot.with(receiver, as: _Conforming.self) { listener in
            do throws(ForwardingMacros.ForwardedMismatch) {
              let arguments = unsafe ForwardingMacros.ForwardedArguments(arguments)
              let _0: (Double) = try unsafe ForwardingMacros.ForwardedSlot.take(arguments, 1, as: (Double).self)
              let _1: (Bool) = try unsafe ForwardingMacros.ForwardedSlot.take(arguments, 2, as: (Bool).self)
              unsafe ForwardingMacros.ForwardedSlot.done(listener.moved(to: _0, _1))
              return 0
            } catch {
              return unsafe ObserverProxy._protocol.report(error, failure, 0)
            }
          }
        }

        @inline(__always)
        @unsafe private static func _send0<_Conforming: Observer>(
          _: _Conforming.Type, _ receiver: UInt, _ _0: Double, _ _1: UInt8
        ) {
          unsafe ForwardingMacros.ForwardedSlot.with(receiver, as: _Conforming.self) { listener in
            unsafe ForwardingMacros.ForwardedSlot.done(listener.moved(to: _0, _1 != 0))
          }
        }

        @inline(__always)
        @unsafe private static func _deliver1<_Conforming: Observer>(
          _: _Conforming.Type, _ receiver: UInt, _ arguments: UInt, _ result: UInt, _ failure: UInt
        ) -> UInt32 {
          unsafe ForwardingMacros.ForwardedSlot.with(receiver, as: _Conforming.self) { listener in
            do throws(ForwardingMacros.ForwardedMismatch) {
              let arguments = unsafe ForwardingMacros.ForwardedArguments(arguments, errorAt: 2 + ForwardingMacros.ForwardedSlot.extraArguments(of: (Int).self))
              if unsafe arguments.hasFailed {
                return 0
              }
              try unsafe ForwardingMacros.ForwardedSlot.lend(arguments, 1, as: (String).self) { _0 throws(ForwardingMacros.ForwardedMismatch) in
                do {
                  unsafe ForwardingMacros.ForwardedSlot.give(try listener.close(at: _0), as: (Int).self, result, arguments, 2)
                } catch {
                  unsafe arguments.fail(error)
                }
              }
              return 0
            } catch {
              return unsafe ObserverProxy._protocol.report(error, failure, 1)
            }
          }
        }

        private static func _implemented<_Conforming: Observer>(_: _Conforming) -> [Bool] {
          [_Conforming._Observer_closeAt.self != ForwardingMacros.ForwardedMissing.self]
        }
      }

      extension Observer where Self: ForwardingMacros.ForwardedBase {
        public func moved(to _0: Double, _ _1: Bool) {
          unsafe _forwarding.send(_forwarding.base(of: ObserverProxy._protocol) + 0, (_0 as Swift.Double, _1 as Swift.Bool))
        }

        public func close(at _0: String) throws -> Int {
          try _forwarding.answer(_forwarding.base(of: ObserverProxy._protocol) + 1, try unsafe ForwardingMacros.ForwardedSlot.pass(_0, as: (String).self) { _0 in
              try unsafe _forwarding.askThrowing(_forwarding.base(of: ObserverProxy._protocol) + 1, (_0), as: (Int).self)
            })
        }

        /// Whether a call of the method would reach someone.
        @_disfavoredOverload public func responds(to requirement: ObserverProxy.Requirement) -> Bool {
          _forwarding.responds(to: requirement.rawValue, of: ObserverProxy._protocol)
        }

        /// The name that untyped callers and subscribers know a method by.
        @_disfavoredOverload public static func selector(
          for requirement: ObserverProxy.Requirement
        ) -> ForwardingMacros.MethodSelector {
          ObserverProxy._protocol.selector(requirement.rawValue)
        }
      }

      extension Observer {
        /// What a conformer does that leaves the method out; a proxy does not
        /// call it.
        public func close(at _0: String) throws -> Int {
          throw ForwardingMacros.ForwardedMissing.error("closeAt:")
        }
      }

      extension Observer where _Observer_closeAt == ForwardingMacros.ForwardedMissing {
        @_disfavoredOverload public func close(at _0: String) throws -> ForwardingMacros.ForwardedMissing {
          ForwardingMacros.ForwardedMissing()
        }
      }
      """#

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
      ("subscript(x: Int) -> Int { get }", 3, "'@Forwarded' forwards no subscripts"),
      ("init()", 3, "'@Forwarded' forwards no initializers"),
      ("associatedtype A", 3, "'@Forwarded' takes no associated types"),
      ("func `Type`()", 8, "no case can be named 'Type': name the method otherwise"),
      ("func `Protocol`()", 8, "no case can be named 'Protocol': name the method otherwise"),
      (
        "static func f()", 3,
        "'@Forwarded' forwards no 'static' methods: listeners are objects, not types"
      ),
      (
        "static var x: Int { get }", 3,
        "'@Forwarded' forwards no 'static' properties: listeners are objects, not types"
      ),
      ("func f() where Self: Q", 12, "'@Forwarded' forwards no generic methods"),
      ("var x: Self? { get }", 10, "'@Forwarded' does not know what 'Self' is of a listener"),
      ("@ReplyOnce func f()", 3, "'f' takes no escaping closure without a result"),
      (
        "@ReplyOnce func f(_ x: @escaping () -> Int)", 3,
        "'f' takes no escaping closure without a result"
      ),
      ("@ReplyOnce var x: Int { get }", 3, "'@ReplyOnce' is for methods that take a closure"),
      ("func f<T>(_ x: T)", 9, "'@Forwarded' forwards no generic methods"),
      ("func f(_ x: borrowing Int)", 15, "'@Forwarded' forwards no 'borrowing' parameters"),
      ("func f(_ x: @autoclosure () -> Int)", 15, "'@Forwarded' forwards no autoclosures"),
      ("func f(_ x: Self)", 15, "'@Forwarded' does not know what 'Self' is of a listener"),
    ]) func `what cannot be forwarded is marked where it stands`(
      _ member: String, _ column: Int, _ message: String
    ) {
      refuses(member, column: column, message)
    }

    @Test func `an optional property`() {
      refuses(
        "@Optional var x: Int { get }", column: 3,
        "'@Optional' is for methods: a property has no call that could be left out")
    }

    @Test func `a default of nothing`() {
      refuses("@DefaultResult(1) func f()", column: 3, "'f' has no result to have a default")
    }

    @Test func `a variadic parameter becomes an array`() {
      refuses(
        "func f(_ x: Int...)", column: 18, "'@Forwarded' forwards no variadic parameters",
        fixIts: [FixItSpec(message: "take an array")], applying: "take an array",
        giving: "func f(_ x: [Int])")
    }

    @Test func `a closure is made to escape`() {
      refuses(
        "func f(_ x: (Int) -> Void)", column: 15,
        "a closure that is forwarded is stored meanwhile, so it must be '@escaping'",
        fixIts: [FixItSpec(message: "add '@escaping'")], applying: "add '@escaping'",
        giving: "func f(_ x: @escaping (Int) -> Void)")
    }

    @Test func `a sendable closure is made to escape`() {
      refuses(
        "func f(_ x: @Sendable () -> Void)", column: 15,
        "a closure that is forwarded is stored meanwhile, so it must be '@escaping'",
        fixIts: [FixItSpec(message: "add '@escaping'")], applying: "add '@escaping'",
        giving: "func f(_ x: @escaping @Sendable () -> Void)")
    }

    @Test func `an opaque parameter becomes an existential`() {
      refuses(
        "func f(_ x: some Error)", column: 15, "'@Forwarded' forwards no generic methods",
        fixIts: [FixItSpec(message: "take 'any'")], applying: "take 'any'",
        giving: "func f(_ x: any Error)")
    }

    @Test func `an implicitly unwrapped optional becomes an optional`() {
      refuses(
        "func f(_ x: Int!)", column: 18, "'@Forwarded' forwards '?', not '!'",
        fixIts: [FixItSpec(message: "use '?'")], applying: "use '?'",
        giving: "func f(_ x: Int?)")
    }

    @Test func `a typed error becomes any`() {
      refuses(
        "func f() throws(E)", column: 19,
        "that nobody responds is an error too, which 'E' is not",
        fixIts: [FixItSpec(message: "throw any error")], applying: "throw any error",
        giving: "func f() throws")
    }

    @Test func `effects are the method's own`() {
      refuses(
        "func f(_ x: @escaping () throws -> Void) rethrows", column: 44,
        "a closure that is forwarded is stored meanwhile, so '@Forwarded' forwards no 'rethrows'",
        fixIts: [FixItSpec(message: "let it throw")], applying: "let it throw",
        giving: "func f(_ x: @escaping () throws -> Void) throws")
      refuses(
        "func f(_ x: @escaping () async -> Void) reasync", column: 43,
        "'@Forwarded' forwards no 'reasync' methods")
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
              "a protocol in a type is extended at file scope, where 'private' hides it",
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
      let message = "what does 'f' give if nobody responds? 'String' has no zero"
      let fixIts = [
        FixItSpec(message: "declare a default with '@DefaultResult'"),
        FixItSpec(message: "let it throw"),
      ]
      refuses(
        "func f() -> String", column: 15, message, fixIts: fixIts,
        applying: "declare a default with '@DefaultResult'",
        giving: "@DefaultResult(<#value#>) func f() -> String")
      refuses(
        "func f() -> String", column: 15, message, fixIts: fixIts, applying: "let it throw",
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
            message: "'f(_:)' and 'f(_:)' have the same selector, 'f:'", line: 4, column: 8)
        ])
    }

    @Test func `what is not for classes`() {
      expect(
        "@Forwarded\nprotocol P {\n  func f()\n}", expandsTo: "protocol P {\n  func f()\n}",
        diagnostics: [
          DiagnosticSpec(
            message: "listeners are held weakly, so 'P' must inherit from 'AnyObject'", line: 2,
            column: 10, fixIts: [FixItSpec(message: "inherit from 'AnyObject'")])
        ], applying: ["inherit from 'AnyObject'"],
        giving: "@Forwarded\nprotocol P: AnyObject {\n  func f()\n}")
    }

    @Test(arguments: ["Hashable", "Q & R", "Q<Int>"])
    func `what inherits from those that cannot have the attribute`(_ parent: String) {
      expect(
        "@Forwarded\nprotocol P: AnyObject, \(parent) {\n  func f()\n}",
        expandsTo: "protocol P: AnyObject, \(parent) {\n  func f()\n}",
        diagnostics: [
          DiagnosticSpec(
            message: "'@Forwarded' cannot forward what 'P' inherits from '\(parent)', which has no "
              + "'@Forwarded'",
            line: 2, column: 24)
        ])
    }

    @Test func `what is named as a type of its proxy`() {
      expect(
        "@Forwarded\nprotocol Listener: AnyObject {\n  func f()\n}",
        expandsTo: "protocol Listener: AnyObject {\n  func f()\n}",
        diagnostics: [
          DiagnosticSpec(
            message: "a proxy has a type 'Listener' of its own: name the protocol otherwise",
            line: 2,
            column: 10)
        ])
    }

    @Test func `a property without a zero needs a default`() {
      refuses(
        "var x: String { get }", column: 10,
        "what does 'x' give if nobody responds? 'String' has no zero",
        fixIts: [FixItSpec(message: "declare a default with '@DefaultResult'")],
        applying: "declare a default with '@DefaultResult'",
        giving: "@DefaultResult(<#value#>) var x: String { get }")
    }

    @Test func `what is no protocol, or has no methods`() {
      expect(
        "@Forwarded\nclass C {}", expandsTo: "class C {}",
        diagnostics: [DiagnosticSpec(message: "'@Forwarded' is for protocols", line: 1, column: 1)])
      expect(
        "@Forwarded\nprotocol P: AnyObject {}", expandsTo: "protocol P: AnyObject {}",
        diagnostics: [
          DiagnosticSpec(
            message: "protocol 'P' has no methods to be forwarded", line: 2, column: 10)
        ])
    }

    @Test func `attributes of methods elsewhere`() {
      expect(
        "protocol P {\n  @Optional func f()\n}", expandsTo: "protocol P {\n  func f()\n}",
        diagnostics: [
          DiagnosticSpec(
            message: "'@Optional' is for methods of protocols with '@Forwarded'", line: 2,
            column: 3)
        ])
    }
  }
#endif

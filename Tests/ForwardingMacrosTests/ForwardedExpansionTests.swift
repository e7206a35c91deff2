// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  @testable import ForwardingMacrosPlugin

  /// What the macro makes of properties, what is changed, waits, or is inherited.
  /// Each expansion is whole, so that a change of any is seen.
  @Suite struct ForwardedExpansionTests {
    private func expect(
      _ source: String, expandsTo expanded: String,
      _ location: Testing.SourceLocation = #_sourceLocation
    ) {
      expectExpansion(
        source,
        by: [
          "Forwarded": MacroSpec(type: ForwardedMacro.self),
          "DefaultResult": MacroSpec(type: DefaultResultMacro.self),
          "ReplyOnce": MacroSpec(type: ReplyOnceMacro.self),
        ], to: expanded, location)
    }

    @Test func `a property`() {
      expect(
        """
        @Forwarded
        protocol P: AnyObject {
          @DefaultResult("") var x: String { get set }
        }
        """, expandsTo: Self.property)
    }

    @Test func `inout and async, on an actor`() {
      expect(
        """
        @MainActor @Forwarded
        protocol P: AnyObject {
          func change(_ x: inout Int)
          func wait(_ x: Int) async throws
        }
        """, expandsTo: Self.isolated)
    }

    @Test func `a parent, a name of the proxy's, and a reply`() {
      expect(
        """
        @Forwarded
        protocol P: M.Q, R {
          @ReplyOnce(default: 1) func f(_ x: Listener, _ reply: @escaping (Int) -> Void)
        }
        """, expandsTo: Self.derived)
    }

    private static let property = #"""
      protocol P: AnyObject {
        var x: String { get set }
      }

      /// A typed proxy of `P`, which forwards what it is called for to
      /// its listeners. Made by `@Forwarded`.
      final class PProxy: P, ForwardingMacros.ForwardedProxy {
        typealias Listener = any P
        typealias Conformer = any P.Type

        /// The methods of `P`.
        enum Requirement: Swift.Int, Swift.CaseIterable, Swift.Sendable {
          /// `x`, to untyped callers `x`.
          case x
          /// `x`, to untyped callers `setX:`.
          case setX
        }

        let _forwarding: ForwardingMacros.ForwardedCore

        /// Makes a proxy without listeners.
        init() {
          _forwarding = ForwardingMacros.ForwardedCore(PProxy._protocol)
        }

        /// Makes a proxy without listeners.
        ///
        /// - Throws: `TableError` if a policy of the configuration does not fit its
        ///   method.
        init(
          configuration: ForwardingMacros.DynamicProxy.Configuration
        ) throws(ForwardingMacros.TableError) {
          _forwarding = try ForwardingMacros.ForwardedCore(PProxy._protocol, configuration)
        }

        var x: String {
          get {
            unsafe _forwarding.ask(0, (), as: (String).self) ?? ("")
          }
          set(_0) {
            unsafe ForwardingMacros.ForwardedSlot.pass(_0, as: (String).self) { _0 in
              unsafe _forwarding.send(1, (_0))
            }
          }
        }

        static let _protocol: ForwardingMacros.ForwardedProtocol<any P, any P.Type> = ForwardingMacros.ForwardedProtocol<any P, any P.Type>(
          [
            unsafe ForwardingMacros.ForwardedMethod(
              "x",
              [],
              ForwardingMacros.ForwardedSlot.result(of: (String).self),
              { context, receiver, arguments, result, failure in
              unsafe PProxy._deliver0(  // of an actor by default: say '@MainActor' or 'nonisolated' at the protocol
                ForwardingMacros.ForwardedProtocol<any P, any P.Type>.conformer(receiver, context), receiver, arguments, result, failure)
            }
            ),
            unsafe ForwardingMacros.ForwardedMethod(
              "setX:",
              [ForwardingMacros.ForwardedSlot.encoding(of: (String).self)],
              words: [0],
              { context, receiver, arguments, result, failure in
              unsafe PProxy._deliver1(  // of an actor by default: say '@MainActor' or 'nonisolated' at the protocol
                ForwardingMacros.ForwardedProtocol<any P, any P.Type>.conformer(receiver, context), receiver, arguments, result, failure)
            },
              function: { receiver, _0, context in
              unsafe PProxy._send1(
                ForwardingMacros.ForwardedProtocol<any P, any P.Type>.conformer(receiver, context), receiver, _0)
            } as @convention(c) @Sendable (UInt, UInt, UInt) -> Void
            )
          ]
        )

        @inline(__always)
        @unsafe private static func _deliver0<_Conforming: P>(
          _: _Conforming.Type, _ receiver: UInt, _ arguments: UInt, _ result: UInt, _ failure: UInt
        ) -> UInt32 {
          unsafe ForwardingMacros.ForwardedSlot.with(receiver, as: _Conforming.self) { listener in
            let arguments = unsafe ForwardingMacros.ForwardedArguments(arguments)
              unsafe ForwardingMacros.ForwardedSlot.give(listener.x, as: (String).self, result, arguments, 1)
            return 0
          }
        }

        @inline(__always)
        @unsafe private static func _deliver1<_Conforming: P>(
          _: _Conforming.Type, _ receiver: UInt, _ arguments: UInt, _ result: UInt, _ failure: UInt
        ) -> UInt32 {
          unsafe ForwardingMacros.ForwardedSlot.with(receiver, as: _Conforming.self) { listener in
            do throws(ForwardingMacros.ForwardedMismatch) {
              let arguments = unsafe ForwardingMacros.ForwardedArguments(arguments)
              try unsafe ForwardingMacros.ForwardedSlot.lend(arguments, 1, as: (String).self) { _0 throws(ForwardingMacros.ForwardedMismatch) in
                unsafe listener.x = ForwardingMacros.ForwardedSlot.same(_0)
              }
              return 0
            } catch {
              return unsafe PProxy._protocol.report(error, failure, 1)
            }
          }
        }

        @inline(__always)
        @unsafe private static func _send1<_Conforming: P>(
          _: _Conforming.Type, _ receiver: UInt, _ _0: UInt
        ) {
          unsafe ForwardingMacros.ForwardedSlot.with(receiver, as: _Conforming.self) { listener in
            do throws(ForwardingMacros.ForwardedMismatch) {
              try unsafe ForwardingMacros.ForwardedSlot.lend(_0, as: (String).self, 1) { _0 throws(ForwardingMacros.ForwardedMismatch) in
                unsafe listener.x = ForwardingMacros.ForwardedSlot.same(_0)
              }
            } catch {
              unsafe PProxy._protocol.report(error, 1)
            }
          }
        }
      }

      extension P where Self: ForwardingMacros.ForwardedBase {
        var x: String {
          get {
            unsafe _forwarding.ask(_forwarding.base(of: PProxy._protocol) + 0, (), as: (String).self) ?? ("")
          }
          set(_0) {
            unsafe ForwardingMacros.ForwardedSlot.pass(_0, as: (String).self) { _0 in
              unsafe _forwarding.send(_forwarding.base(of: PProxy._protocol) + 1, (_0))
            }
          }
        }

        /// Whether a call of the method would reach someone.
        @_disfavoredOverload func responds(to requirement: PProxy.Requirement) -> Bool {
          _forwarding.responds(to: requirement.rawValue, of: PProxy._protocol)
        }

        /// The name that untyped callers and subscribers know a method by.
        @_disfavoredOverload static func selector(
          for requirement: PProxy.Requirement
        ) -> ForwardingMacros.MethodSelector {
          PProxy._protocol.selector(requirement.rawValue)
        }
      }
      """#

    private static let isolated = #"""
      @MainActor
      protocol P: AnyObject {
        func change(_ x: inout Int)
        func wait(_ x: Int) async throws
      }

      /// A typed proxy of `P`, which forwards what it is called for to
      /// its listeners. Made by `@Forwarded`.
      @MainActor final class PProxy: P, ForwardingMacros.ForwardedProxy {
        typealias Listener = any P
        typealias Conformer = any P.Type

        /// The methods of `P`.
        enum Requirement: Swift.Int, Swift.CaseIterable, Swift.Sendable {
          /// `change(_:)`, to untyped callers `change:`.
          case change
          /// `wait(_:)`, which C cannot call.
          case wait
        }

        nonisolated let _forwarding: ForwardingMacros.ForwardedCore

        /// Makes a proxy without listeners.
        nonisolated init() {
          _forwarding = ForwardingMacros.ForwardedCore(PProxy._protocol)
        }

        /// Makes a proxy without listeners.
        ///
        /// - Throws: `TableError` if a policy of the configuration does not fit its
        ///   method.
        nonisolated init(
          configuration: ForwardingMacros.DynamicProxy.Configuration
        ) throws(ForwardingMacros.TableError) {
          _forwarding = try ForwardingMacros.ForwardedCore(PProxy._protocol, configuration)
        }

        /// The proxy behind this one, for untyped subscribers, and callers in C.
        /// Whoever forwards through it promises to do so on the actor.
        @unsafe var proxy: ForwardingMacros.DynamicProxy {
          unsafe _forwarding.untyped
        }

        func change(_ _0: inout Int) {
          unsafe ForwardingMacros.ForwardedSlot.passInout(&_0, as: (Int).self) { _0 in
            unsafe _forwarding.send(0, (_0))
          }
        }

        func wait(_ _0: Int) async throws {
          var _listeners = _forwarding.listeners(1, of: PProxy._protocol)
          while let _listener = _listeners.next() {
            do {
              try await unsafe ForwardingMacros.ForwardedSlot.same(_listener.wait(_0))
            } catch {
              try _listeners.fail(error, by: _listener)
            }
          }
          try _listeners.finishThrowing()
        }

        nonisolated static let _protocol: ForwardingMacros.ForwardedProtocol<any P, any P.Type> = ForwardingMacros.ForwardedProtocol<any P, any P.Type>(
          [
            unsafe ForwardingMacros.ForwardedMethod(
              "change:",
              [ForwardingMacros.ForwardedSlot.inoutEncoding(of: (Int).self)],
              words: [0],
              ForwardingMacros.ForwardedMethod.packed({ context, receiver, arguments, result, failure in
              unsafe PProxy._deliver0(
                ForwardingMacros.ForwardedProtocol<any P, any P.Type>.conformer(receiver, context), receiver, arguments, result, failure)
            } as @convention(c) @MainActor (UInt, UInt, UInt, UInt, UInt) -> UInt32),
              function: { receiver, _0, context in
              unsafe PProxy._send0(
                ForwardingMacros.ForwardedProtocol<any P, any P.Type>.conformer(receiver, context), receiver, _0)
            } as @convention(c) @MainActor (UInt, UInt, UInt) -> Void
            ),
            ForwardingMacros.ForwardedMethod(
              async: "wait:"
            )
          ]
        )

        @inline(__always)
        @unsafe @MainActor private static func _deliver0<_Conforming: P>(
          _: _Conforming.Type, _ receiver: UInt, _ arguments: UInt, _ result: UInt, _ failure: UInt
        ) -> UInt32 {
          unsafe ForwardingMacros.ForwardedSlot.with(receiver, as: _Conforming.self) { listener in
            do throws(ForwardingMacros.ForwardedMismatch) {
              let arguments = unsafe ForwardingMacros.ForwardedArguments(arguments)
              let _0 = try unsafe ForwardingMacros.ForwardedSlot.takeInout(arguments, 1, as: (Int).self)
              unsafe ForwardingMacros.ForwardedSlot.done(listener.change(&_0.pointee))
              return 0
            } catch {
              return unsafe PProxy._protocol.report(error, failure, 0)
            }
          }
        }

        @inline(__always)
        @unsafe @MainActor private static func _send0<_Conforming: P>(
          _: _Conforming.Type, _ receiver: UInt, _ _0: UInt
        ) {
          unsafe ForwardingMacros.ForwardedSlot.with(receiver, as: _Conforming.self) { listener in
            do throws(ForwardingMacros.ForwardedMismatch) {
              try unsafe ForwardingMacros.ForwardedSlot.lendInout(_0, as: (Int).self, 1) { _0 throws(ForwardingMacros.ForwardedMismatch) in
                unsafe ForwardingMacros.ForwardedSlot.done(listener.change(&_0.pointee))
              }
            } catch {
              unsafe PProxy._protocol.report(error, 0)
            }
          }
        }
      }

      extension P where Self: ForwardingMacros.ForwardedBase {
        func change(_ _0: inout Int) {
          unsafe ForwardingMacros.ForwardedSlot.passInout(&_0, as: (Int).self) { _0 in
            unsafe _forwarding.send(_forwarding.base(of: PProxy._protocol) + 0, (_0))
          }
        }

        func wait(_ _0: Int) async throws {
          var _listeners = _forwarding.listeners(1, of: PProxy._protocol)
          while let _listener = _listeners.next() {
            do {
              try await unsafe ForwardingMacros.ForwardedSlot.same(_listener.wait(_0))
            } catch {
              try _listeners.fail(error, by: _listener)
            }
          }
          try _listeners.finishThrowing()
        }

        /// Whether a call of the method would reach someone.
        @_disfavoredOverload nonisolated func responds(to requirement: PProxy.Requirement) -> Bool {
          _forwarding.responds(to: requirement.rawValue, of: PProxy._protocol)
        }

        /// The name that untyped callers and subscribers know a method by.
        @_disfavoredOverload nonisolated static func selector(
          for requirement: PProxy.Requirement
        ) -> ForwardingMacros.MethodSelector {
          PProxy._protocol.selector(requirement.rawValue)
        }
      }
      """#

    private static let derived = #"""
      protocol P: M.Q, R {
        func f(_ x: Listener, _ reply: @escaping (Int) -> Void)

        typealias _P_fArgument0 = Listener
      }

      /// A typed proxy of `P`, which forwards what it is called for to
      /// its listeners. Made by `@Forwarded`.
      final class PProxy: P, ForwardingMacros.ForwardedProxy {
        typealias Listener = any P
        typealias Conformer = any P.Type

        /// The methods of `P`.
        enum Requirement: Swift.Int, Swift.CaseIterable, Swift.Sendable {
          /// `f(_:_:)`, to untyped callers `f::`.
          case f
        }

        let _forwarding: ForwardingMacros.ForwardedCore

        /// Makes a proxy without listeners.
        init() {
          _forwarding = ForwardingMacros.ForwardedCore(PProxy._protocol)
        }

        /// Makes a proxy without listeners.
        ///
        /// - Throws: `TableError` if a policy of the configuration does not fit its
        ///   method.
        init(
          configuration: ForwardingMacros.DynamicProxy.Configuration
        ) throws(ForwardingMacros.TableError) {
          _forwarding = try ForwardingMacros.ForwardedCore(PProxy._protocol, configuration)
        }

        func f(_ _0: _P_fArgument0, _ _1: @escaping (Int) -> Void) {
          let _reply = _forwarding.reply(0)
          _reply.otherwise {
            _1(1)
          }
          let _1 = _reply.once(_1)
          unsafe ForwardingMacros.ForwardedSlot.pass(_0, as: (_P_fArgument0).self) { _0 in
            unsafe ForwardingMacros.ForwardedSlot.pass(_1, as: ((Int) -> Void).self) { _1 in
              unsafe _forwarding.send(0, (_0, _1))
            }
          }
        }

        static let _protocol: ForwardingMacros.ForwardedProtocol<any P, any P.Type> = ForwardingMacros.ForwardedProtocol<any P, any P.Type>(
          [
            unsafe ForwardingMacros.ForwardedMethod(
              "f::",
              [ForwardingMacros.ForwardedSlot.encoding(of: (_P_fArgument0).self), ForwardingMacros.ForwardedSlot.encoding(of: ((Int) -> Void).self)],
              words: [0, 1],
              { context, receiver, arguments, result, failure in
              unsafe PProxy._deliver0(  // of an actor by default: say '@MainActor' or 'nonisolated' at the protocol
                ForwardingMacros.ForwardedProtocol<any P, any P.Type>.conformer(receiver, context), receiver, arguments, result, failure)
            },
              function: { receiver, _0, _1, context in
              unsafe PProxy._send0(
                ForwardingMacros.ForwardedProtocol<any P, any P.Type>.conformer(receiver, context), receiver, _0, _1)
            } as @convention(c) @Sendable (UInt, UInt, UInt, UInt) -> Void
            )
          ],
          parents: [  // protocols with '@Forwarded' themselves, or they have no proxy
            ForwardingMacros.ForwardedParent(M.QProxy._protocol) { (listener: any P) in
              listener as any M.Q
            },
            ForwardingMacros.ForwardedParent(RProxy._protocol) { (listener: any P) in
              listener as any R
            }
          ]
        )

        @inline(__always)
        @unsafe private static func _deliver0<_Conforming: P>(
          _: _Conforming.Type, _ receiver: UInt, _ arguments: UInt, _ result: UInt, _ failure: UInt
        ) -> UInt32 {
          unsafe ForwardingMacros.ForwardedSlot.with(receiver, as: _Conforming.self) { listener in
            do throws(ForwardingMacros.ForwardedMismatch) {
              let arguments = unsafe ForwardingMacros.ForwardedArguments(arguments)
              try unsafe ForwardingMacros.ForwardedSlot.lend(arguments, 1, as: (_P_fArgument0).self) { _0 throws(ForwardingMacros.ForwardedMismatch) in
                try unsafe ForwardingMacros.ForwardedSlot.lend(arguments, 2, as: ((Int) -> Void).self) { _1 throws(ForwardingMacros.ForwardedMismatch) in
                  unsafe ForwardingMacros.ForwardedSlot.done(listener.f(_0, _1))
                }
              }
              return 0
            } catch {
              return unsafe PProxy._protocol.report(error, failure, 0)
            }
          }
        }

        @inline(__always)
        @unsafe private static func _send0<_Conforming: P>(
          _: _Conforming.Type, _ receiver: UInt, _ _0: UInt, _ _1: UInt
        ) {
          unsafe ForwardingMacros.ForwardedSlot.with(receiver, as: _Conforming.self) { listener in
            do throws(ForwardingMacros.ForwardedMismatch) {
              try unsafe ForwardingMacros.ForwardedSlot.lend(_0, as: (_P_fArgument0).self, 1) { _0 throws(ForwardingMacros.ForwardedMismatch) in
                try unsafe ForwardingMacros.ForwardedSlot.lend(_1, as: ((Int) -> Void).self, 2) { _1 throws(ForwardingMacros.ForwardedMismatch) in
                  unsafe ForwardingMacros.ForwardedSlot.done(listener.f(_0, _1))
                }
              }
            } catch {
              unsafe PProxy._protocol.report(error, 0)
            }
          }
        }
      }

      extension P where Self: ForwardingMacros.ForwardedBase {
        func f(_ _0: Listener, _ _1: @escaping (Int) -> Void) {
          let _reply = _forwarding.reply(_forwarding.base(of: PProxy._protocol) + 0)
          _reply.otherwise {
            _1(1)
          }
          let _1 = _reply.once(_1)
          unsafe ForwardingMacros.ForwardedSlot.pass(_0, as: (Listener).self) { _0 in
            unsafe ForwardingMacros.ForwardedSlot.pass(_1, as: ((Int) -> Void).self) { _1 in
              unsafe _forwarding.send(_forwarding.base(of: PProxy._protocol) + 0, (_0, _1))
            }
          }
        }

        /// Whether a call of the method would reach someone.
        @_disfavoredOverload func responds(to requirement: PProxy.Requirement) -> Bool {
          _forwarding.responds(to: requirement.rawValue, of: PProxy._protocol)
        }

        /// The name that untyped callers and subscribers know a method by.
        @_disfavoredOverload static func selector(
          for requirement: PProxy.Requirement
        ) -> ForwardingMacros.MethodSelector {
          PProxy._protocol.selector(requirement.rawValue)
        }
      }
      """#
  }
#endif

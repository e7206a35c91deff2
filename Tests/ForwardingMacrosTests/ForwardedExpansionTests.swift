// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  @testable import ForwardingMacrosPlugin

  /// Expansions of properties, `inout` and `async` methods, and inherited protocols.
  /// The files in Fixtures/Expansions have each whole expansion.
  @Suite struct ForwardedExpansionTests {
    private func expect(
      _ source: String, expandsTo file: String,
      _ location: Testing.SourceLocation = #_sourceLocation
    ) {
      expectExpansion(
        source,
        by: [
          "Forwarded": MacroSpec(type: ForwardedMacro.self),
          "DefaultResult": MacroSpec(type: DefaultResultMacro.self),
          "ReplyOnce": MacroSpec(type: ReplyOnceMacro.self),
        ], to: expansion(file), location)
    }

    @Test func `a property`() {
      expect(
        """
        @Forwarded
        protocol P: AnyObject {
          @DefaultResult("") var x: String { get set }
        }
        """, expandsTo: "property")
    }

    @Test func `inout and async, on an actor`() {
      expect(
        """
        @MainActor @Forwarded
        protocol P: AnyObject {
          func change(_ x: inout Int)
          func wait(_ x: Int) async throws
        }
        """, expandsTo: "isolated")
    }

    @Test func `a parent, a name of the proxy's, and a reply`() {
      expect(
        """
        @Forwarded
        protocol P: M.Q, R {
          @ReplyOnce(default: 1) func f(_ x: Listener, _ reply: @escaping (Int) -> Void)
        }
        """, expandsTo: "derived")
    }
  }
#endif

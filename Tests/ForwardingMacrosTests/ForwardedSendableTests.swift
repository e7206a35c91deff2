// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  @testable import ForwardingMacrosPlugin

  /// `@Forwarded(sendable: true)`: what it generates, and where it is refused.
  @Suite struct ForwardedSendableTests {
    private static let macros = ["Forwarded": MacroSpec(type: ForwardedMacro.self)]

    @Test func `a proxy for any thread`() {
      expectExpansion(
        """
        @Forwarded(sendable: true)
        protocol P: Q {
          func f(_ x: Int, _ s: String)
          func g(_ s: String) throws
        }
        """, by: Self.macros, to: expansion("sendable"), #_sourceLocation)
    }

    private func refuses(
      _ head: String, _ member: String = "func f()", line: Int = 1, column: Int, _ message: String,
      _ location: Testing.SourceLocation = #_sourceLocation
    ) {
      let body = " protocol P: AnyObject {\n  \(member)\n}"
      let actor = head.hasPrefix("@MainActor ") ? "@MainActor" : ""
      expectExpansion(
        head + body, by: Self.macros,
        to: (actor + body).drop { $0 == " " }.description,
        diagnostics: [DiagnosticSpec(message: message, line: line, column: column)], location)
    }

    @Test func `what is no literal`() {
      refuses(
        "@Forwarded(sendable: isShared)", column: 22,
        "'@Forwarded' reads source text, so it cannot know what 'isShared' is; write 'true' or "
          + "'false'")
    }

    @Test func `a protocol of an actor`() {
      refuses(
        "@MainActor @Forwarded(sendable: true)", column: 33,
        "the proxy of a protocol with '@MainActor' belongs to that actor, and is 'Sendable' for this "
          + "reason; remove 'sendable: true', or '@MainActor'")
    }

    @Test func `a requirement of an actor`() {
      refuses(
        "@Forwarded(sendable: true)", "@MainActor func f()", line: 2, column: 19,
        "the methods of a protocol with '@Forwarded(sendable: true)' are called where each listener "
          + "lives; remove '@MainActor' from the requirement, and conform to the protocol on that actor"
      )
    }
  }
#endif

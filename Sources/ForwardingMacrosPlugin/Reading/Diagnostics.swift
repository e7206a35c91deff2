// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxMacros

  /// An error in the user's declaration. The message says what the macro found, what
  /// it expects, and what to do.
  internal struct Fault: DiagnosticMessage {
    internal let message: String
    private let name: String

    internal init(_ name: String, _ message: String) {
      self.name = name
      self.message = message
    }

    internal var diagnosticID: MessageID { MessageID(domain: "ForwardingMacros", id: name) }
    internal var severity: DiagnosticSeverity { .error }
  }

  /// A fix-it.
  internal struct Remedy: FixItMessage {
    internal let message: String
    internal let fixItID: MessageID

    internal init(_ name: String, _ message: String) {
      self.message = message
      fixItID = MessageID(domain: "ForwardingMacros", id: name)
    }
  }

  /// Collects faults. Each is reported at a node.
  internal struct Faults {
    internal private(set) var diagnostics: [Diagnostic] = []

    internal var isEmpty: Bool { diagnostics.isEmpty }

    internal mutating func append(_ others: Faults) { diagnostics += others.diagnostics }

    internal mutating func add(
      _ name: String, at node: some SyntaxProtocol, _ message: String, fixIts: [FixIt] = []
    ) {
      diagnostics.append(
        Diagnostic(node: Syntax(node), message: Fault(name, message), fixIts: fixIts))
    }
  }

  extension FixIt {
    /// Replaces a node by another.
    internal static func replacing(
      _ name: String, _ message: String, _ old: some SyntaxProtocol, by new: some SyntaxProtocol
    ) -> FixIt {
      FixIt(
        message: Remedy(name, message),
        changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxMacros

  /// `@ForwardingClass`: generates a class that wraps a service and forwards
  /// calls to it.
  internal enum ForwardingClassMacro: PeerMacro {
    internal static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      var faults = Faults()
      let read = ServiceDeclaration(declaration, attribute: node, &faults)
      for diagnostic in faults.diagnostics { context.diagnose(diagnostic) }
      return read.map { [ForwarderWriter($0).declaration] } ?? []
    }
  }

  /// `@NotForwarded`, which `@ForwardingClass` reads.
  internal enum NotForwardedMacro: PeerMacro {
    internal static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let place = context.lexicalContext.first
      let attributes =
        place?.as(ClassDeclSyntax.self)?.attributes
        ?? place?.as(ProtocolDeclSyntax.self)?.attributes
      if attributes?.first(named: "ForwardingClass") != nil { return [] }
      var faults = Faults()
      faults.add(
        "place", at: node, "'@NotForwarded' is for members of classes with '@ForwardingClass'")
      for diagnostic in faults.diagnostics { context.diagnose(diagnostic) }
      return []
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder
  internal import SwiftSyntaxMacros

  /// `@Forwarded`: generates the typed proxy of a protocol, and the
  /// declarations that tell which optional methods a conformer has.
  ///
  /// The compiler expands each role of a macro separately, so each role parses
  /// the protocol.
  internal enum ForwardedMacro {
    /// Off, since `SourceLine` needs each generated member on one line.
    internal static var formatMode: FormatMode { .disabled }
  }

  extension ForwardedMacro: PeerMacro {
    internal static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      var faults = Faults()
      let source = ForwardedDeclaration(declaration, attribute: node, in: context, &faults)
      for diagnostic in faults.diagnostics { context.diagnose(diagnostic) }
      guard let source else { return [] }
      return [source.line.declaration, ProxyWriter(source).declaration].compactMap(\.self)
    }
  }

  // The peer macro reports the faults. The other two are silent, so that each fault
  // is reported once.

  extension ForwardedMacro: MemberMacro {
    internal static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      var faults = Faults()
      guard
        let source = ForwardedDeclaration(declaration, attribute: node, in: context, &faults)
      else { return [] }
      return source.optionals.flatMap { OptionalWriter($0, source).requirements } + aliases(source)
    }

    /// The aliases of all methods, each once.
    private static func aliases(_ source: ForwardedDeclaration) -> [DeclSyntax] {
      var seen: Set<String> = []
      return source.methods.flatMap(\.aliases).filter { seen.insert($0.name).inserted }
        .map { "typealias \(raw: $0.name) = \(raw: $0.type)" }
    }
  }

  extension ForwardedMacro: ExtensionMacro {
    internal static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      var faults = Faults()
      guard
        let source = ForwardedDeclaration(declaration, attribute: node, in: context, &faults)
      else { return [] }
      return [try InheritanceWriter(source).declaration(of: type)]
        + (try source.optionals.flatMap { try OptionalWriter($0, source).extensions(of: type) })
    }
  }

  // MARK: - Attributes of methods

  /// An attribute that `@Forwarded` reads. It generates nothing.
  internal protocol MarkMacro: PeerMacro {}

  extension MarkMacro {
    internal static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let parent = context.lexicalContext.first?.as(ProtocolDeclSyntax.self)
      if parent?.attributes.first(named: "Forwarded") != nil { return [] }
      var faults = Faults()
      let name = node.attributeName.trimmedDescription
      faults.add(
        "misplaced", at: node,
        "'@\(name)' is for requirements of protocols with '@Forwarded'; add '@Forwarded' to the "
          + "protocol, or remove '@\(name)'")
      for diagnostic in faults.diagnostics { context.diagnose(diagnostic) }
      return []
    }
  }

  /// `@Optional`.
  internal enum OptionalMacro: MarkMacro {}

  /// `@DefaultResult`.
  internal enum DefaultResultMacro: MarkMacro {}

  /// `@ReplyOnce`.
  internal enum ReplyOnceMacro: MarkMacro {}
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder
  internal import SwiftSyntaxMacros

  /// `@Forwarded`: makes the typed proxy of a protocol, and what tells which
  /// optional methods a conformer has.
  internal enum ForwardedMacro {}

  extension ForwardedMacro: PeerMacro {
    internal static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      var faults = Faults()
      let read = ForwardedDeclaration(
        declaration, attribute: node, isNested: context.isNested, &faults)
      for diagnostic in faults.diagnostics { context.diagnose(diagnostic) }
      return read.map { [ProxyWriter($0).declaration] } ?? []
    }
  }

  // The other two are silent about what is wrong: once is enough.

  extension ForwardedMacro: MemberMacro {
    internal static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      var faults = Faults()
      guard
        let read = ForwardedDeclaration(
          declaration, attribute: node, isNested: context.isNested, &faults)
      else {
        return []
      }
      return read.optionals.flatMap { OptionalWriter($0, read).requirements }
        + aliases(read)
    }
  }

  extension ForwardedMacro {
    /// The aliases of all methods, each once.
    private static func aliases(_ source: ForwardedDeclaration) -> [DeclSyntax] {
      var seen: Set<String> = []
      return source.methods.flatMap(\.aliases).filter { seen.insert($0.name).inserted }
        .map { "typealias \(raw: $0.name) = \(raw: $0.type)" }
    }
  }

  extension MacroExpansionContext {
    fileprivate var isNested: Bool { !lexicalContext.isEmpty }
  }

  extension ForwardedMacro: ExtensionMacro {
    internal static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      var faults = Faults()
      guard
        let read = ForwardedDeclaration(
          declaration, attribute: node, isNested: context.isNested, &faults)
      else {
        return []
      }
      let inherited = try InheritanceWriter(read).declaration(of: type)
      return [inherited]
        + (try read.optionals.flatMap { try OptionalWriter($0, read).extensions(of: type) })
    }
  }

  // MARK: - Attributes of methods

  /// An attribute that `@Forwarded` reads: by itself it makes nothing.
  internal protocol MarkMacro: PeerMacro {}

  extension MarkMacro {
    internal static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      checkPlace(of: node, context)
      return []
    }
  }

  /// `@Optional`.
  internal enum OptionalMacro: MarkMacro {}

  /// `@DefaultResult`.
  internal enum DefaultResultMacro: MarkMacro {}

  /// `@ReplyOnce`.
  internal enum ReplyOnceMacro: MarkMacro {}

  /// Says so if an attribute does not stand where `@Forwarded` reads it.
  private func checkPlace(of node: AttributeSyntax, _ context: some MacroExpansionContext) {
    let place = context.lexicalContext.first?.as(ProtocolDeclSyntax.self)
    if place?.attributes.first(named: "Forwarded") != nil { return }
    var faults = Faults()
    faults.add(
      "place", at: node,
      "'@\(node.attributeName.trimmedDescription)' is for methods of protocols with '@Forwarded'")
    for diagnostic in faults.diagnostics { context.diagnose(diagnostic) }
  }
#endif

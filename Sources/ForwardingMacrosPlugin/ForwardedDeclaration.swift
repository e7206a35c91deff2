// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  // Reads a protocol, and finds what cannot be forwarded. Each diagnostic stands
  // on the token that is to blame.

  /// A protocol as it was read.
  internal struct ForwardedDeclaration {
    internal let name: String
    /// `public ` and the like, with the space.
    internal let access: String
    /// `@MainActor` or the like, or nil.
    internal let actor: String?
    /// Whether it says that it is of no actor, as its module's other types are.
    internal let isNonisolated: Bool
    /// The protocols that it inherits from, which have `@Forwarded` too.
    internal let parents: [String]
    internal let methods: [Method]

    internal var optionals: [Method] { methods.filter(\.isOptional) }

    /// Reads a protocol; nil if something is wrong with it.
    internal init?(
      _ declaration: some DeclSyntaxProtocol, attribute: AttributeSyntax, isNested: Bool,
      _ faults: inout Faults
    ) {
      guard let declaration = declaration.as(ProtocolDeclSyntax.self) else {
        faults.add("not-a-protocol", at: attribute, "'@Forwarded' is for protocols")
        return nil
      }
      name = declaration.name.text
      access = declaration.modifiers.access
      isNonisolated = declaration.modifiers.contains { $0.name.text == "nonisolated" }
      let actor = Self.actor(declaration.attributes)
      self.actor = actor
      parents = Self.readHead(declaration, &faults)
      if isNested { Self.checkAccess(declaration.modifiers, &faults) }
      var methods: [Method] = []
      for member in declaration.memberBlock.members {
        for (method, name) in Self.read(member.decl, &faults) {
          var method = method
          method.home = Home(name: declaration.name.text, isNested: isNested)
          if method.actor == nil && !method.attributes.contains("nonisolated") {
            method.actor = actor
          }
          methods.append(method)
          Self.checkNames(methods, name, &faults)
        }
      }
      if methods.isEmpty && parents.isEmpty && faults.isEmpty {
        faults.add(
          "empty", at: declaration.name,
          "protocol '\(declaration.name.text)' has no methods to be forwarded")
      }
      self.methods = methods
      if !faults.isEmpty { return nil }
    }

    /// One in a type that is private is not seen by its extension, which is at
    /// file scope.
    private static func checkAccess(_ modifiers: DeclModifierListSyntax, _ faults: inout Faults) {
      for modifier in modifiers where modifier.name.tokenKind == .keyword(.private) {
        let wider = modifier.with(
          \.name, modifier.name.with(\.tokenKind, .keyword(.fileprivate)))
        faults.add(
          "private", at: modifier,
          "a protocol in a type is extended at file scope, where 'private' hides it",
          fixIts: [.replacing("fileprivate", "make it 'fileprivate'", modifier, by: wider)])
      }
    }

    // MARK: The protocol

    /// Gives the names of what the protocol inherits from.
    private static func readHead(
      _ declaration: ProtocolDeclSyntax, _ faults: inout Faults
    ) -> [String] {
      if ownNames.contains(declaration.name.text.bare) {
        faults.add(
          "own-name", at: declaration.name,
          "a proxy has a type '\(declaration.name.text)' of its own: name the protocol otherwise")
      }
      if let clause = declaration.primaryAssociatedTypeClause {
        faults.add("associated-type", at: clause, "'@Forwarded' takes no associated types")
      }
      if let clause = declaration.genericWhereClause {
        faults.add("where", at: clause, "'@Forwarded' takes no 'where' clause")
      }
      var isForClasses = false
      var parents: [String] = []
      for inherited in declaration.inheritanceClause?.inheritedTypes ?? [] {
        let type = inherited.type.trimmedDescription
        switch type {
        case "AnyObject": isForClasses = true
        case "Sendable", "Swift.Sendable", "SendableMetatype": continue
        case _ where foreign.contains(type) || !isName(inherited.type):
          faults.add(
            "inheritance", at: inherited.type,
            "'@Forwarded' cannot forward what '\(declaration.name.text)' inherits from '\(type)', "
              + "which has no '@Forwarded'")
        default: parents.append(type)
        }
      }
      if isForClasses || !parents.isEmpty { return parents }
      faults.add(
        "not-for-classes", at: declaration.name,
        "listeners are held weakly, so '\(declaration.name.text)' must inherit from 'AnyObject'",
        fixIts: [addingAnyObject(declaration)])
      return []
    }

    /// The types in a proxy's class, in whose scope methods are written.
    internal static let ownNames: Set = ["Listener", "Requirement", "Conformer"]

    /// Protocols of the standard library, which nobody can put an attribute to.
    private static let foreign: Set = [
      "Actor", "BitwiseCopyable", "CaseIterable", "Codable", "Collection", "Comparable",
      "CustomDebugStringConvertible", "CustomStringConvertible", "Decodable", "DistributedActor",
      "Encodable", "Equatable", "Error", "Executor", "Hashable", "Identifiable", "NSObjectProtocol",
      "RawRepresentable", "Sequence", "SerialExecutor",
    ]

    private static func isName(_ type: TypeSyntax) -> Bool {
      if let type = type.as(IdentifierTypeSyntax.self) { return type.genericArgumentClause == nil }
      guard let type = type.as(MemberTypeSyntax.self) else { return false }
      return type.genericArgumentClause == nil && isName(type.baseType)
    }

    private static func addingAnyObject(_ declaration: ProtocolDeclSyntax) -> FixIt {
      var fixed = declaration
      let object = InheritedTypeSyntax(type: TypeSyntax("AnyObject"))
      if var clause = declaration.inheritanceClause {
        let first = object.with(\.trailingComma, .commaToken(trailingTrivia: .space))
        clause.inheritedTypes = InheritedTypeListSyntax([first] + Array(clause.inheritedTypes))
        fixed.inheritanceClause = clause
      } else {
        fixed.name.trailingTrivia = []
        fixed.inheritanceClause = InheritanceClauseSyntax(
          colon: .colonToken(trailingTrivia: .space),
          inheritedTypes: InheritedTypeListSyntax([
            object.with(\.trailingTrivia, declaration.name.trailingTrivia)
          ]))
      }
      return .replacing("add-anyobject", "inherit from 'AnyObject'", declaration, by: fixed)
    }

    // MARK: Members

    private static func read(
      _ member: DeclSyntax, _ faults: inout Faults
    ) -> [(method: Method, name: TokenSyntax)] {
      switch member.as(DeclSyntaxEnum.self) {
      case .functionDecl(let function):
        return read(function, &faults).map { [($0, function.name)] } ?? []
      case .variableDecl(let variable): return read(variable, &faults)
      case .subscriptDecl(let member):
        faults.add("subscript", at: member.subscriptKeyword, "'@Forwarded' forwards no subscripts")
      case .initializerDecl(let member):
        faults.add("init", at: member.initKeyword, "'@Forwarded' forwards no initializers")
      case .associatedTypeDecl(let member):
        faults.add(
          "associated-type", at: member.associatedtypeKeyword,
          "'@Forwarded' takes no associated types")
      case .ifConfigDecl(let member):
        faults.add(
          "conditional", at: member.clauses.first?.poundKeyword ?? .poundToken(),
          "'@Forwarded' does not see which methods are compiled")
      case .typeAliasDecl: break
      default:
        faults.add("member", at: member, "'@Forwarded' forwards methods only")
      }
      return []
    }

    private static func checkNames(
      _ methods: [Method], _ name: TokenSyntax, _ faults: inout Faults
    ) {
      guard let last = methods.last else { return }
      if ["Type", "Protocol"].contains(last.caseName) {
        faults.add(
          "case-name", at: name,
          "no case can be named '\(last.caseName)': name the method otherwise")
      }
      for method in methods.dropLast() {
        if method.selector == last.selector {
          faults.add(
            "duplicate", at: name,
            "'\(last.fullName)' and '\(method.fullName)' have the same selector, "
              + "'\(last.selector)'")
          return
        }
        if method.caseName == last.caseName {
          faults.add(
            "duplicate", at: name,
            "'\(last.fullName)' and '\(method.fullName)' would both be the case '\(last.caseName)'")
          return
        }
      }
    }
  }

  extension AttributeListSyntax {
    /// The attribute of a name.
    internal func first(named name: String) -> AttributeSyntax? {
      for case .attribute(let attribute) in self
      where attribute.attributeName.trimmedDescription == name { return attribute }
      return nil
    }
  }
#endif

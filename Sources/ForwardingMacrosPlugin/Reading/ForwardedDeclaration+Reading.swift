// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder
  internal import SwiftSyntaxMacros

  // Parses a protocol and finds the requirements that cannot be forwarded. A
  // macro sees syntax but no types. The generated code makes the checks that
  // need types: unavailable overloads in `_ForwardedMarshal` have the error
  // messages, and `SourceLine` makes the compiler report them at the user's
  // line.

  extension ProtocolDeclSyntax {
    /// Whether the protocol inherits from `Sendable` itself.
    fileprivate var inheritsFromSendable: Bool {
      let inherited = inheritanceClause?.inheritedTypes ?? []
      return inherited.flatMap { $0.type.components }.contains { $0.isStandard(["Sendable"]) }
    }
  }

  extension ForwardedDeclaration {
    /// Parses a protocol; nil if it has a fault.
    internal init?(
      _ declaration: some DeclSyntaxProtocol, attribute: AttributeSyntax,
      in context: some MacroExpansionContext, _ faults: inout Faults
    ) {
      guard let declaration = declaration.as(ProtocolDeclSyntax.self) else {
        faults.add(
          "not-a-protocol", at: attribute,
          "'@Forwarded' expects a protocol; remove it from other declarations")
        return nil
      }
      let home = Home(
        name: declaration.name.bareName, isNested: !context.lexicalContext.isEmpty)
      let actor = declaration.attributes.globalActor
      let parents = Self.readHead(declaration, in: context, &faults)
      let isSendable = Self.readSendable(attribute, actor, &faults)
      let isShared = declaration.inheritsFromSendable
      if home.isNested { Self.checkAccess(declaration.modifiers, &faults) }
      var members: [Member] = []
      var methods: [Method] = []
      for item in declaration.memberBlock.members {
        for var member in Self.read(item.decl, in: context, &faults) {
          for index in member.methods.indices {
            member.methods[index].home = home
            member.methods[index].index = methods.count
            member.methods[index].line = member.line
            if member.methods[index].marks.isolation.isEmpty {
              member.methods[index].actor = member.methods[index].marks.actor ?? actor
            }
            methods.append(member.methods[index])
            Self.checkNames(methods, member.name, &faults)
            if isSendable { Self.checkIsolation(member, index, &faults) }
            if let actor, !isShared { Self.checkIsolation(member, index, on: actor, &faults) }
          }
          members.append(member)
        }
      }
      if methods.isEmpty && parents.isEmpty && faults.isEmpty {
        faults.add(
          "empty", at: declaration.name,
          "protocol '\(declaration.name.text)' has no requirements that '@Forwarded' could forward; "
            + "declare a method")
      }
      if !faults.isEmpty { return nil }
      self.init(
        name: declaration.name.trimmed, access: declaration.modifiers.access, actor: actor,
        availability: declaration.attributes.availability,
        isNonisolated: declaration.modifiers.contains {
          $0.name.tokenKind == .keyword(.nonisolated)
        },
        isSendable: isSendable, isShared: isShared, parents: parents, members: members,
        line: SourceLine(of: declaration.name, in: context))
    }

    /// Reads `sendable:`.
    private static func readSendable(
      _ attribute: AttributeSyntax, _ actor: AttributeSyntax?, _ faults: inout Faults
    ) -> Bool {
      // Not trimmed, so that the compiler knows its place.
      guard case .argumentList(let list) = attribute.arguments,
        let argument = list.first?.expression
      else { return false }
      guard let literal = argument.as(BooleanLiteralExprSyntax.self) else {
        faults.add(
          "sendable", at: argument,
          "'@Forwarded' reads source text, so it cannot know what '\(argument.trimmedDescription)' is; write 'true' or "
            + "'false'")
        return false
      }
      let isSendable = literal.literal.tokenKind == .keyword(.true)
      if isSendable, let actor {
        faults.add(
          "sendable", at: argument,
          "the proxy of a protocol with '\(actor)' belongs to that actor, and is 'Sendable' for this "
            + "reason; remove 'sendable: true', or '\(actor)'")
      }
      return isSendable
    }

    /// Refuses a requirement that is isolated by itself: its listeners could be called
    /// elsewhere.
    private static func checkIsolation(
      _ member: Member, _ index: Int, _ faults: inout Faults
    ) {
      guard index == 0, let actor = member.methods[0].marks.actor else { return }
      faults.add(
        "sendable", at: member.name,
        "the methods of a protocol with '@Forwarded(sendable: true)' are called where each listener "
          + "lives; remove '\(actor)' from the requirement, and conform to the protocol on that actor"
      )
    }

    /// Refuses a requirement of a protocol with a global actor that is called elsewhere: any
    /// thread may have the proxy, but its listeners belong to the actor.
    private static func checkIsolation(
      _ member: Member, _ index: Int, on actor: AttributeSyntax, _ faults: inout Faults
    ) {
      let marks = member.methods[index].marks
      let isConcurrent = marks.attributes.contains { $0.name == "concurrent" }
      let own = marks.actor.map { $0.name != actor.name } ?? false
      guard index == 0, !marks.isolation.isEmpty || isConcurrent || own else { return }
      faults.add(
        "isolation", at: member.name,
        "listeners of a protocol with '\(actor)' belong to that actor, but this requirement is called "
          + "elsewhere; inherit the protocol from 'Sendable', or isolate the requirement as the protocol"
      )
    }

    /// Refuses a private protocol inside a type. The generated extension is at
    /// file scope, where the protocol is not visible.
    private static func checkAccess(_ modifiers: DeclModifierListSyntax, _ faults: inout Faults) {
      for modifier in modifiers where modifier.name.tokenKind == .keyword(.private) {
        let wider = modifier.with(
          \.name, modifier.name.with(\.tokenKind, .keyword(.fileprivate)))
        faults.add(
          "private", at: modifier,
          "'@Forwarded' extends a nested protocol at file scope, where a 'private' one is not "
            + "visible; make it 'fileprivate'",
          fixIts: [.replacing("fileprivate", "make it 'fileprivate'", modifier, by: wider)])
      }
    }

    // MARK: The protocol

    /// Returns the inherited protocols that need `@Forwarded`.
    private static func readHead(
      _ declaration: ProtocolDeclSyntax, in context: some MacroExpansionContext,
      _ faults: inout Faults
    ) -> [Parent] {
      if ownNames.contains(declaration.name.bareName) {
        faults.add(
          "own-name", at: declaration.name,
          "the proxy that '@Forwarded' makes has a nested type '\(declaration.name.text)'; rename "
            + "the protocol")
      }
      if let clause = declaration.primaryAssociatedTypeClause {
        faults.add("associated-type", at: clause, associatedType)
      }
      if let clause = declaration.genericWhereClause {
        faults.add(
          "where", at: clause,
          "'@Forwarded' does not forward a protocol with a 'where' clause; remove the clause")
      }
      var isForClasses = false
      var parents: [Parent] = []
      let inherited = declaration.inheritanceClause?.inheritedTypes ?? []
      for type in inherited.flatMap({ $0.type.components }) {
        if type.isStandard(["AnyObject"]) {
          isForClasses = true
        } else if type.isStandard(["Sendable", "SendableMetatype"]) {
          continue
        } else if type.isStandard(foreign) || !isName(type) {
          let name = type.trimmedDescription
          faults.add(
            "inheritance", at: type,
            "'@Forwarded' forwards inherited requirements only of protocols that have '@Forwarded' "
              + "themselves, and '\(name)' cannot have it; remove '\(name)' from the clause")
        } else {
          parents.append(Parent(type: type.trimmed, line: SourceLine(of: type, in: context)))
        }
      }
      if isForClasses || !parents.isEmpty { return parents }
      faults.add(
        "not-for-classes", at: declaration.name,
        "a proxy holds its listeners weakly, so they must be objects; let "
          + "'\(declaration.name.text)' inherit from 'AnyObject'",
        fixIts: [addingAnyObject(declaration)])
      return []
    }

    /// The names of the nested types of a proxy's class, which hide other types
    /// with these names.
    internal static let ownNames: Set = ["Listener", "DeliveredListener", "Requirement", "Keys"]

    private static let associatedType =
      "'@Forwarded' does not forward a protocol with associated types, since listeners of one proxy "
      + "could have different ones; name a concrete type instead"

    /// Protocols of the standard library and Foundation, which cannot have
    /// `@Forwarded`.
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
      _ member: DeclSyntax, in context: some MacroExpansionContext, _ faults: inout Faults
    ) -> [Member] {
      switch member.as(DeclSyntaxEnum.self) {
      case .functionDecl(let function):
        let line = SourceLine(of: function.name, in: context)
        return read(function, in: context, &faults).map {
          [Member(name: function.name, line: line, methods: [$0])]
        } ?? []
      case .variableDecl(let variable): return read(variable, in: context, &faults)
      case .subscriptDecl(let member):
        faults.add(
          "subscript", at: member.subscriptKeyword,
          "'@Forwarded' does not forward subscripts; declare methods instead")
      case .initializerDecl(let member):
        faults.add(
          "init", at: member.initKeyword,
          "'@Forwarded' does not forward initializers, since listeners are made before they "
            + "subscribe; remove it")
      case .associatedTypeDecl(let member):
        faults.add("associated-type", at: member.associatedtypeKeyword, associatedType)
      case .ifConfigDecl(let member):
        faults.add(
          "conditional", at: member.clauses.first?.poundKeyword ?? .poundToken(),
          "'@Forwarded' cannot tell which requirements of an '#if' are compiled; put '#if' around "
            + "the whole protocol")
      case .typeAliasDecl: break
      default:
        faults.add(
          "member", at: member,
          "'@Forwarded' forwards methods and properties only; remove this declaration")
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
          "'@Forwarded' makes a case of each requirement, and none can be named "
            + "'\(last.caseName)'; rename the method")
      }
      for method in methods.dropLast() {
        if method.selector == last.selector {
          faults.add(
            "duplicate", at: name,
            "'\(last.fullName)' and '\(method.fullName)' have the same selector, "
              + "'\(last.selector)'; give one of them another name or label")
          return
        }
        if method.caseName == last.caseName {
          faults.add(
            "duplicate", at: name,
            "'\(last.fullName)' and '\(method.fullName)' would both be the case "
              + "'\(last.caseName)'; give one of them another name or label")
          return
        }
      }
    }
  }

  extension TypeSyntax {
    /// The parts of a composition such as `AnyObject & Sendable`. For other
    /// types, the type itself.
    fileprivate var components: [TypeSyntax] {
      guard let composition = self.as(CompositionTypeSyntax.self) else { return [self] }
      return composition.elements.flatMap { $0.type.components }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  /// A member of the wrapper of a service.
  internal enum ServiceMember {
    /// The keywords before a use of the service.
    internal struct Marks {
      var isThrowing = false
      var isAsync = false
      var isUnsafe = false

      var text: String {
        (isThrowing ? "try " : "") + (isAsync ? "await " : "") + (isUnsafe ? "unsafe " : "")
      }
    }

    /// A function. `head` is the text before the body. In the body, `marks` stand
    /// before the service, and `call` is the text behind it.
    case function(head: String, marks: Marks, call: String)
    /// A property or a subscript. `effects` are those of its getter.
    case storage(
      head: String, marks: Marks, call: String, effects: AccessorEffectSpecifiersSyntax?,
      isSettable: Bool, isSlot: Bool)
    /// Members that are compiled under a condition: each clause with its
    /// directive.
    case conditional([(directive: String, members: [ServiceMember])])
  }

  /// Reads the members of a service.
  internal struct MemberReader {
    internal let service: String
    internal let slot: String?
    internal let isProtocol: Bool
    internal let isIsolated: Bool
    /// The access of all members, for a protocol.
    internal let access: String?
    internal private(set) var types: [(name: String, access: String)] = []
    internal private(set) var faults = Faults()

    internal init(
      service: String, slot: String?, isProtocol: Bool, isIsolated: Bool, access: String?
    ) {
      self.service = service
      self.slot = slot
      self.isProtocol = isProtocol
      self.isIsolated = isIsolated
      self.access = access
    }

    internal mutating func read(_ list: MemberBlockItemListSyntax) -> [ServiceMember] {
      list.flatMap { read($0.decl) }
    }

    private mutating func read(_ member: DeclSyntax) -> [ServiceMember] {
      switch member.as(DeclSyntaxEnum.self) {
      case .functionDecl(let function):
        guard isForwarded(function.attributes, function.modifiers) else { return [] }
        return read(function).map { [$0] } ?? []
      case .variableDecl(let variable):
        guard isForwarded(variable.attributes, variable.modifiers) else { return [] }
        return read(variable)
      case .subscriptDecl(let member):
        guard isForwarded(member.attributes, member.modifiers) else { return [] }
        return read(member).map { [$0] } ?? []
      case .ifConfigDecl(let conditional):
        let clauses = conditional.clauses.map { clause in
          let condition = clause.condition.map { " " + $0.trimmedDescription } ?? ""
          let members = clause.elements?.as(MemberBlockItemListSyntax.self)
          return (
            directive: clause.poundKeyword.text + condition,
            members: members.map { read($0) } ?? []
          )
        }
        return [.conditional(clauses)]
      case .classDecl(let type): note(type.name, type.modifiers, type.genericParameterClause)
      case .structDecl(let type): note(type.name, type.modifiers, type.genericParameterClause)
      case .enumDecl(let type): note(type.name, type.modifiers, type.genericParameterClause)
      case .actorDecl(let type): note(type.name, type.modifiers, type.genericParameterClause)
      case .protocolDecl(let type): note(type.name, type.modifiers, nil)
      case .typeAliasDecl(let type): note(type.name, type.modifiers, type.genericParameterClause)
      case .associatedTypeDecl(let member):
        faults.add(
          "associated-type", at: member.associatedtypeKeyword,
          "'@ForwardingClass' takes no associated types")
      case .initializerDecl(let member) where isProtocol:
        faults.add(
          "init", at: member.initKeyword,
          "'@ForwardingClass' wraps what there is: it forwards no initializers")
      default: break
      }
      return []
    }

    /// A type by whose name the members' signatures may call it.
    private mutating func note(
      _ name: TokenSyntax, _ modifiers: DeclModifierListSyntax, _ generics: SyntaxProtocol?
    ) {
      guard !isProtocol, let access = access(modifiers) else { return }
      types.append((name.text, access))
    }

    // MARK: Forwarded members

    /// The access modifier with a space; nil if the member is not visible to
    /// the wrapper.
    private func access(_ modifiers: DeclModifierListSyntax) -> String? {
      if let access { return access }
      for modifier in modifiers where modifier.detail == nil {
        switch modifier.name.tokenKind {
        case .keyword(.private), .keyword(.fileprivate): return nil
        case .keyword(.public), .keyword(.open): return "public "
        case .keyword(.package): return "package "
        default: continue
        }
      }
      return ""
    }

    private mutating func isForwarded(
      _ attributes: AttributeListSyntax, _ modifiers: DeclModifierListSyntax
    ) -> Bool {
      if attributes.first(named: "NotForwarded") != nil { return false }
      guard access(modifiers) != nil else { return false }
      for modifier in modifiers {
        switch modifier.name.tokenKind {
        case .keyword(.static), .keyword(.class):
          if isProtocol {
            faults.add(
              "static", at: modifier,
              "'@ForwardingClass' wraps an object: it forwards no '\(modifier.name.text)' members")
          }
          return false
        case .keyword(.nonisolated) where isIsolated:
          faults.add(
            "nonisolated", at: modifier,
            "the slot is looked at before each call, where '\(service)' is isolated: "
              + "'@ForwardingClass' forwards no 'nonisolated' members of it")
          return false
        default: continue
        }
      }
      return true
    }

    private func head(
      _ attributes: AttributeListSyntax, _ modifiers: DeclModifierListSyntax
    ) -> String {
      var text = ""
      for case .attribute(let attribute) in attributes {
        let name = attribute.attributeName.trimmedDescription
        if ["discardableResult", "available"].contains(name) {
          text += attribute.trimmedDescription + " "
        }
      }
      if let actor = attributes.globalActor { text += [actor].text }
      text += access(modifiers) ?? ""
      for modifier in modifiers {
        let isSetter = modifier.detail?.detail.text == "set" && !isHidden(modifier)
        if isSetter || modifier.name.tokenKind == .keyword(.nonisolated) {
          text += modifier.trimmedDescription + " "
        }
      }
      return text
    }

    private func isHidden(_ modifier: DeclModifierSyntax) -> Bool {
      [.keyword(.private), .keyword(.fileprivate)].contains(modifier.name.tokenKind)
    }

    private mutating func refuse(
      _ name: String, at node: some SyntaxProtocol, _ message: String,
      _ declaration: some DeclSyntaxProtocol & WithAttributesSyntax
    ) {
      var fixed = declaration
      fixed.leadingTrivia = []
      let attribute = AttributeSyntax(
        leadingTrivia: declaration.leadingTrivia,
        attributeName: IdentifierTypeSyntax(name: .identifier("NotForwarded")),
        trailingTrivia: .space)
      fixed.attributes = AttributeListSyntax([.attribute(attribute)] + Array(fixed.attributes))
      faults.add(
        name, at: node, message,
        fixIts: isProtocol
          ? []
          : [.replacing("not-forwarded", "add '@NotForwarded'", declaration, by: fixed)])
    }

    private mutating func checkName(
      _ name: TokenSyntax, _ declaration: some DeclSyntaxProtocol & WithAttributesSyntax
    ) -> Bool {
      guard ["forwarder", "shared"].contains(name.bareName) else { return true }
      refuse(
        "taken", at: name, "the wrapper has a '\(name.bareName)' of its own", declaration)
      return false
    }

    // MARK: Functions

    private mutating func read(_ function: FunctionDeclSyntax) -> ServiceMember? {
      let signature = function.signature
      let clause = signature.parameterClause
      for parameter in clause.parameters {
        guard let ellipsis = parameter.ellipsis else { continue }
        refuse(
          "variadic", at: ellipsis, "Swift cannot pass on what a variadic parameter was given",
          function)
        return nil
      }
      guard let parameters = read(clause, function) else { return nil }
      let effects = signature.effectSpecifiers
      let result = signature.returnClause.map { " " + typed($0, function) } ?? ""
      let condition = function.genericWhereClause.map { " " + typed($0, function) } ?? ""
      let generics = function.genericParameterClause?.trimmedDescription ?? ""
      let effectText = effects.map { " " + $0.trimmedDescription } ?? ""
      let name = function.name.text
      return .function(
        head: head(function.attributes, function.modifiers)
          + "func \(name)\(generics)(\(parameters.declared))\(effectText)\(result)\(condition)",
        marks: ServiceMember.Marks(
          isThrowing: effects?.throwsClause != nil, isAsync: effects?.asyncSpecifier != nil,
          isUnsafe: signature.namesUnsafeType),
        call: ".\(name)(\(parameters.passed))")
    }

    private mutating func read(
      _ clause: FunctionParameterClauseSyntax,
      _ declaration: some DeclSyntaxProtocol, isSubscript: Bool = false
    ) -> (declared: String, passed: String)? {
      var declared: [String] = []
      var passed: [String] = []
      for (index, parameter) in clause.parameters.enumerated() {
        // The single name of a subscript's parameter is not a label.
        let label =
          isSubscript && parameter.secondName == nil ? "_" : parameter.firstName.text
        let value = parameter.defaultValue.map { " " + $0.trimmedDescription } ?? ""
        declared.append("\(label) _\(index): \(typed(parameter.type, declaration))\(value)")
        let argument = argument(index, parameter.type)
        passed.append(
          label == "_" ? argument : "\(label.filter { $0 != "`" }.asLabel): \(argument)")
      }
      return (declared.joined(separator: ", "), passed.joined(separator: ", "))
    }

    private func argument(_ index: Int, _ type: TypeSyntax) -> String {
      if type.is(PackExpansionTypeSyntax.self) { return "repeat each _\(index)" }
      guard let attributed = type.as(AttributedTypeSyntax.self) else { return "_\(index)" }
      if attributed.specifiers.contains(where: { $0.trimmedDescription == "inout" }) {
        return "&_\(index)"
      }
      guard attributed.attributes.first(named: "autoclosure") != nil else { return "_\(index)" }
      let effects = attributed.baseType.as(FunctionTypeSyntax.self)?.effectSpecifiers
      let marks =
        (effects?.throwsClause == nil ? "" : "try ")
        + (effects?.asyncSpecifier == nil ? "" : "await ")
      return "\(marks)_\(index)()"
    }

    /// The text of a type, in which `Self` is the service.
    private mutating func typed(
      _ node: some SyntaxProtocol, _ declaration: some DeclSyntaxProtocol
    ) -> String {
      var text = ""
      for token in node.trimmed.tokens(viewMode: .sourceAccurate) {
        guard token.tokenKind == .keyword(.Self) else {
          text += token.description
          continue
        }
        if isProtocol {
          faults.add(
            "self", at: node, "'Self' would be the wrapper, which '\(service)' does not give")
        }
        text += token.leadingTrivia.description + service + token.trailingTrivia.description
      }
      return text
    }

    // MARK: Properties and subscripts

    private mutating func read(_ variable: VariableDeclSyntax) -> [ServiceMember] {
      var members: [ServiceMember] = []
      var type: TypeSyntax?
      // In `var a, b: Int` the type is behind the last name.
      for binding in variable.bindings.reversed() {
        type = binding.typeAnnotation?.type ?? (binding.initializer == nil ? type : nil)
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
          refuse(
            "pattern", at: binding.pattern, "'@ForwardingClass' forwards single properties",
            variable)
          continue
        }
        guard checkName(name, variable) else { continue }
        guard let type else {
          refuse(
            "untyped", at: name,
            "a macro does not know the type of '\(name.bareName)': annotate it", variable)
          continue
        }
        let isConstant = variable.bindingSpecifier.tokenKind == .keyword(.let)
        let isHiddenSetter = variable.modifiers.contains { $0.detail != nil && isHidden($0) }
        let accessors = Accessors(binding.accessorBlock, isProtocol: isProtocol)
        let text = typed(type.unwrappedImplicitly, variable)
        members.append(
          .storage(
            head: head(variable.attributes, variable.modifiers) + "var \(name.text): \(text)",
            marks: accessors.marks(isUnsafe: type.namesUnsafeType),
            call: ".\(name.text)", effects: accessors.effects,
            isSettable: !isConstant && !isHiddenSetter && accessors.isSettable,
            isSlot: name.bareName == slot))
      }
      return members.reversed()
    }

    private mutating func read(_ member: SubscriptDeclSyntax) -> ServiceMember? {
      for parameter in member.parameterClause.parameters {
        guard let ellipsis = parameter.ellipsis else { continue }
        refuse(
          "variadic", at: ellipsis, "Swift cannot pass on what a variadic parameter was given",
          member)
        return nil
      }
      guard let parameters = read(member.parameterClause, member, isSubscript: true) else {
        return nil
      }
      let accessors = Accessors(member.accessorBlock, isProtocol: isProtocol)
      let isHiddenSetter = member.modifiers.contains { $0.detail != nil && isHidden($0) }
      let generics = member.genericParameterClause?.trimmedDescription ?? ""
      let condition = member.genericWhereClause.map { " " + typed($0, member) } ?? ""
      let result = typed(member.returnClause, member)
      return .storage(
        head: head(member.attributes, member.modifiers)
          + "subscript\(generics)(\(parameters.declared)) \(result)\(condition)",
        marks: accessors.marks(
          isUnsafe: member.parameterClause.namesUnsafeType || member.returnClause.namesUnsafeType),
        call: "[\(parameters.passed)]", effects: accessors.effects,
        isSettable: accessors.isSettable && !isHiddenSetter, isSlot: false)
    }
  }

  /// The accessors of a property or a subscript.
  private struct Accessors {
    var isSettable = true
    var effects: AccessorEffectSpecifiersSyntax?

    func marks(isUnsafe: Bool) -> ServiceMember.Marks {
      ServiceMember.Marks(
        isThrowing: effects?.throwsClause != nil, isAsync: effects?.asyncSpecifier != nil,
        isUnsafe: isUnsafe)
    }

    init(_ block: AccessorBlockSyntax?, isProtocol: Bool) {
      guard let block else { return }
      guard case .accessors(let list) = block.accessors else {
        // A getter alone.
        isSettable = false
        return
      }
      let observers: Set = ["willSet", "didSet"]
      let names = list.map(\.accessorSpecifier.text)
      isSettable =
        names.allSatisfy(observers.contains)
        || names.contains { ["set", "_modify", "modify", "unsafeMutableAddress"].contains($0) }
      for accessor in list where accessor.accessorSpecifier.text == "get" {
        effects = accessor.effectSpecifiers?.trimmed
      }
    }
  }

  extension SyntaxProtocol {
    /// Whether the name of an unsafe type is in it.
    fileprivate var namesUnsafeType: Bool {
      tokens(viewMode: .sourceAccurate).contains { token in
        guard case .identifier(let name) = token.tokenKind else { return false }
        return name.contains("Unsafe") || name == "OpaquePointer"
      }
    }
  }

  extension TypeSyntax {
    /// `T?` for `T!`, which a forwarding property would unwrap.
    fileprivate var unwrappedImplicitly: TypeSyntax {
      guard let type = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) else { return self }
      return TypeSyntax(OptionalTypeSyntax(wrappedType: type.wrappedType))
    }
  }
#endif

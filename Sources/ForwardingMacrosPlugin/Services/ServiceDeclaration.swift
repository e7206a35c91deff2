// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftParser
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  // Parses a class, or a protocol that lists members of a class, and finds
  // members that cannot be forwarded. Each diagnostic is reported at the token
  // that causes it.

  /// A parsed service.
  internal struct ServiceDeclaration {
    /// The name of the declaration.
    internal let name: String
    /// The class that is wrapped.
    internal let service: String
    /// The access modifier, with a space; empty if there is none.
    internal let access: String
    /// The attribute of a global actor, or empty.
    internal let isolation: String
    internal let isSendable: Bool
    internal let isProtocol: Bool
    /// The source text of the key path; nil for a class that names its slot
    /// itself.
    internal let slot: String?
    /// Whether the slot is a `DelegateSlot`, which brings its own proxy.
    internal let isDelegateSlot: Bool
    /// The typed proxy.
    internal let proxy: String
    internal let options: String?
    internal let shared: String?
    /// The types that the class declares, and whether each is public.
    internal let types: [(name: String, access: String)]
    internal let members: [ServiceMember]

    internal init?(
      _ declaration: some DeclSyntaxProtocol, attribute: AttributeSyntax, _ faults: inout Faults
    ) {
      let block: MemberBlockSyntax
      let modifiers: DeclModifierListSyntax
      let attributes: AttributeListSyntax
      let inheritance: InheritanceClauseSyntax?
      if let declaration = declaration.as(ClassDeclSyntax.self) {
        (block, modifiers) = (declaration.memberBlock, declaration.modifiers)
        (attributes, inheritance) = (declaration.attributes, declaration.inheritanceClause)
        name = declaration.name.text
        isProtocol = false
        if let clause = declaration.genericParameterClause {
          faults.add(
            "generic-class", at: clause, "'@ForwardingClass' does not wrap generic classes")
        }
      } else if let declaration = declaration.as(ProtocolDeclSyntax.self) {
        (block, modifiers) = (declaration.memberBlock, declaration.modifiers)
        (attributes, inheritance) = (declaration.attributes, declaration.inheritanceClause)
        name = declaration.name.text
        isProtocol = true
        Self.checkHead(declaration, &faults)
      } else {
        faults.add(
          "not-a-class", at: attribute,
          "'@ForwardingClass' is for classes, and for protocols that tell what a class has")
        return nil
      }
      isolation = attributes.globalActor.map { [$0].text } ?? ""
      isSendable =
        inheritance?.inheritedTypes.contains { type in
          // Behind attributes such as `@unchecked`.
          let type = type.type.as(AttributedTypeSyntax.self)?.baseType ?? type.type
          return type.isStandard(["Sendable"])
        } ?? false
      let arguments = Arguments(attribute)
      // The attribute of a class cannot refer to the class's members, so the
      // slot is a string.
      let (owner, isPath) = (name, isProtocol)
      let path = arguments.slot.map { isPath ? SlotPath($0) : SlotPath($0, of: owner) }
      if let slot = arguments.slot, path?.property == nil {
        faults.add(
          "slot", at: slot,
          isProtocol
            ? "at a protocol the slot is a key path with its class: '\\Class.delegate'"
            : "at a class the slot is the name of a property: '\"delegate\"'")
      }
      if isProtocol && arguments.slot == nil {
        faults.add(
          "no-slot", at: attribute,
          "'@ForwardingClass' at a protocol needs the class's slot: '\\Class.delegate'")
      }
      service = isProtocol ? path?.root ?? name : name
      let property = path?.property
      let own = block.members.lazy.compactMap { $0.decl.as(VariableDeclSyntax.self) }
        .first { variable in
          variable.bindings.contains { $0.pattern.trimmedDescription == property }
        }
      // The delegate's protocol is no more visible than the slot.
      let slotAccess = isProtocol ? nil : own.map { $0.modifiers.access }
      let declared = modifiers.access
      access = declared == "public " ? slotAccess ?? declared : declared
      let isWrapped = own?.attributes.first(named: "DelegateSlot") != nil
      isDelegateSlot = isWrapped || property?.hasPrefix("$") ?? false
      slot = path.map { path in
        "\\\(path.root ?? "").\(isWrapped ? "$" : "")\(path.property ?? "")"
      }
      proxy = arguments.proxy ?? ""
      options = arguments.options?.trimmedDescription
      shared = isProtocol ? arguments.shared?.trimmedDescription : arguments.shared?.text
      if let expression = arguments.shared, shared == nil {
        faults.add(
          "shared-text", at: expression,
          "at a class what is shared is a text: '\"\(name)()\"'")
      }
      if let shared = arguments.shared, isolation.isEmpty && !isSendable {
        faults.add(
          "shared", at: shared,
          "what is shared is used by all threads: '\(name)' must be Sendable, or of a global actor")
      }
      if isDelegateSlot, let options = arguments.options {
        faults.add(
          "options", at: options, "the options of a 'DelegateSlot' are given at the property")
      }
      var reader = MemberReader(
        service: service, slot: property.map { $0.hasPrefix("$") ? String($0.dropFirst()) : $0 },
        isProtocol: isProtocol, isIsolated: !isolation.isEmpty,
        access: isProtocol ? declared : nil)
      members = reader.read(block.members)
      types = reader.types
      faults.append(reader.faults)
      faults.append(arguments.faults)
      if !faults.isEmpty { return nil }
    }

    // MARK: The head

    private static func checkHead(_ declaration: ProtocolDeclSyntax, _ faults: inout Faults) {
      if let clause = declaration.primaryAssociatedTypeClause {
        faults.add("associated-type", at: clause, "'@ForwardingClass' takes no associated types")
      }
      for inherited in declaration.inheritanceClause?.inheritedTypes ?? [] {
        let name = inherited.type.trimmedDescription
        if ["AnyObject", "Sendable", "Swift.Sendable"].contains(name) { continue }
        faults.add(
          "inheritance", at: inherited.type,
          "'@ForwardingClass' does not see what '\(declaration.name.text)' inherits from '\(name)'")
      }
    }
  }

  // MARK: - Arguments

  /// The parts of `\Class.property`.
  private struct SlotPath {
    var root: String?
    var property: String?

    /// The property of a class, by its name.
    init(_ expression: ExprSyntax, of root: String) {
      guard let name = expression.text, !name.isEmpty,
        name.allSatisfy({ $0.isLetter || $0.isNumber || "_$`".contains($0) })
      else { return }
      self.root = root
      property = name
    }

    init(_ expression: ExprSyntax) {
      guard let path = expression.as(KeyPathExprSyntax.self), let root = path.root,
        path.components.count == 1,
        let component = path.components.first?.component.as(KeyPathPropertyComponentSyntax.self)
      else { return }
      self.root = root.trimmedDescription
      property = component.declName.trimmedDescription
    }
  }

  extension ExprSyntax {
    /// The value of a string literal.
    fileprivate var text: String? {
      self.as(StringLiteralExprSyntax.self)?.representedLiteralValue
    }
  }

  /// The arguments of the attribute.
  private struct Arguments {
    var slot: ExprSyntax?
    var options: ExprSyntax?
    var shared: ExprSyntax?
    var proxy: String?
    var faults = Faults()

    init(_ attribute: AttributeSyntax) {
      guard case .argumentList(let list) = attribute.arguments else { return }
      for argument in list {
        switch argument.label?.text {
        case nil: slot = argument.expression
        case "options": options = argument.expression
        case "shared": shared = argument.expression
        case "for":
          proxy = Self.proxy(argument.expression)
          if proxy == nil {
            self.faults.add(
              "for", at: argument.expression,
              "expected a protocol with '@Forwarded', such as '(any Delegate).self'")
          }
        default: continue
        }
      }
    }

    /// The typed proxy of `(any P).self`, or `P.self`.
    private static func proxy(_ expression: ExprSyntax) -> String? {
      guard let access = expression.as(MemberAccessExprSyntax.self),
        access.declName.baseName.tokenKind == .keyword(.self), let base = access.base
      else { return nil }
      return name(base).map { $0 + "Proxy" }
    }

    /// The name of a protocol as an expression, with `any` and parentheses or without.
    private static func name(_ expression: ExprSyntax) -> String? {
      if let tuple = expression.as(TupleExprSyntax.self), tuple.elements.count == 1,
        let element = tuple.elements.first
      {
        return name(element.expression)
      }
      if let type = expression.as(TypeExprSyntax.self)?.type { return name(type) }
      if let reference = expression.as(DeclReferenceExprSyntax.self) {
        return reference.baseName.bareName
      }
      guard let member = expression.as(MemberAccessExprSyntax.self), let base = member.base else {
        return nil
      }
      return name(base).map { "\($0).\(member.declName.baseName.bareName)" }
    }

    private static func name(_ type: TypeSyntax) -> String? {
      let type = type.withoutParentheses
      if let type = type.as(SomeOrAnyTypeSyntax.self) { return name(type.constraint) }
      if let type = type.as(IdentifierTypeSyntax.self), type.genericArgumentClause == nil {
        return type.name.bareName
      }
      guard let type = type.as(MemberTypeSyntax.self), type.genericArgumentClause == nil,
        let base = name(type.baseType)
      else { return nil }
      return "\(base).\(type.name.bareName)"
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  extension ForwardedDeclaration {
    // MARK: Methods

    internal static func read(_ function: FunctionDeclSyntax, _ faults: inout Faults) -> Method? {
      var own = Faults()
      let marks = readMarks(function.attributes, function.modifiers, "methods", &own)
      if let clause = function.genericParameterClause {
        own.add("generic", at: clause, "'@Forwarded' forwards no generic methods")
      } else if let clause = function.genericWhereClause {
        own.add("where", at: clause, "'@Forwarded' forwards no generic methods")
      }
      let signature = function.signature
      let effects = signature.effectSpecifiers
      if let clause = effects?.throwsClause { checkThrows(clause, &own) }
      if let effect = effects?.asyncSpecifier, effect.tokenKind == .keyword(.reasync) {
        own.add("reasync", at: effect, "'@Forwarded' forwards no 'reasync' methods")
      }
      let parameters = signature.parameterClause.parameters.compactMap { read($0, &own) }
      let result = readResult(function, isThrowing: effects?.throwsClause != nil, &own)
      var method = Method(
        name: function.name.text, parameters: parameters, result: result,
        isThrowing: effects?.throwsClause != nil, isAsync: effects?.asyncSpecifier != nil,
        isOptional: function.attributes.first(named: "Optional") != nil,
        declaredDefault: function.attributes.first(named: "DefaultResult")?.argument,
        attributes: marks.text, actor: marks.actor)
      readReply(function, &method, &own)
      faults.append(own)
      return own.isEmpty ? method : nil
    }

    internal static func checkThrows(_ clause: ThrowsClauseSyntax, _ faults: inout Faults) {
      if clause.throwsSpecifier.tokenKind == .keyword(.rethrows) {
        let throwing = clause.with(
          \.throwsSpecifier,
          clause.throwsSpecifier.with(\.tokenKind, .keyword(.throws)))
        faults.add(
          "rethrows", at: clause.throwsSpecifier,
          "a closure that is forwarded is stored meanwhile, so '@Forwarded' forwards no 'rethrows'",
          fixIts: [.replacing("throws", "let it throw", clause, by: throwing)])
        return
      }
      guard let type = clause.type else { return }
      let untyped = clause.with(\.leftParen, nil).with(\.type, nil).with(\.rightParen, nil)
        .with(\.trailingTrivia, clause.trailingTrivia)
      faults.add(
        "typed-throws", at: type,
        "that nobody responds is an error too, which '\(type.trimmedDescription)' is not",
        fixIts: [.replacing("untyped-throws", "throw any error", clause, by: untyped)])
    }

    // MARK: Parameters

    private static func read(
      _ parameter: FunctionParameterSyntax, _ faults: inout Faults
    ) -> Method.Parameter? {
      if let ellipsis = parameter.ellipsis {
        var array = parameter
        array.ellipsis = nil
        array.type = TypeSyntax(ArrayTypeSyntax(element: parameter.type.trimmed))
        faults.add(
          "variadic", at: ellipsis, "'@Forwarded' forwards no variadic parameters",
          fixIts: [.replacing("array", "take an array", parameter, by: array)])
        return nil
      }
      var type = parameter.type
      var prefix = ""
      if let attributed = type.as(AttributedTypeSyntax.self) {
        guard let inner = read(attributed, &faults) else { return nil }
        (type, prefix) = inner
      } else if type.isFunction {
        faults.add(
          "nonescaping", at: type,
          "a closure that is forwarded is stored meanwhile, so it must be '@escaping'",
          fixIts: [
            .replacing(
              "escaping", "add '@escaping'", type,
              by: TypeSyntax("@escaping \(type.trimmed)")
                .with(\.leadingTrivia, type.leadingTrivia)
                .with(\.trailingTrivia, type.trailingTrivia))
          ])
        return nil
      }
      if !check(type, &faults) { return nil }
      return Method.Parameter(
        label: parameter.firstName.text, type: type.trimmedDescription, prefix: prefix)
    }

    /// Takes `@escaping` and `inout` off.
    private static func read(
      _ type: AttributedTypeSyntax, _ faults: inout Faults
    ) -> (type: TypeSyntax, prefix: String)? {
      var isInout = false
      for specifier in type.specifiers {
        if specifier.trimmedDescription == "inout" {
          isInout = true
          continue
        }
        faults.add(
          "specifier", at: specifier,
          "'@Forwarded' forwards no '\(specifier.trimmedDescription)' parameters")
        return nil
      }
      for specifier in type.lateSpecifiers {
        faults.add(
          "specifier", at: specifier,
          "'@Forwarded' forwards no '\(specifier.trimmedDescription)' parameters")
        return nil
      }
      var rest = type
      var isEscaping = false
      rest.attributes = type.attributes.filter { element in
        guard element.as(AttributeSyntax.self)?.attributeName.trimmedDescription == "escaping"
        else { return true }
        isEscaping = true
        return false
      }
      if let attribute = type.attributes.first(named: "autoclosure") {
        faults.add("autoclosure", at: attribute, "'@Forwarded' forwards no autoclosures")
        return nil
      }
      if type.baseType.isFunction && !isEscaping && !isInout {
        var fixed = type
        let escaping = AttributeSyntax(
          attributeName: IdentifierTypeSyntax(name: .identifier("escaping")),
          trailingTrivia: .space)
        fixed.attributes = AttributeListSyntax([.attribute(escaping)] + Array(type.attributes))
        fixed.leadingTrivia = type.leadingTrivia
        faults.add(
          "nonescaping", at: type,
          "a closure that is forwarded is stored meanwhile, so it must be '@escaping'",
          fixIts: [.replacing("escaping", "add '@escaping'", type, by: fixed)])
        return nil
      }
      rest.specifiers = []
      let bare = rest.attributes.isEmpty ? rest.baseType : TypeSyntax(rest)
      return (bare, isInout ? "inout " : isEscaping ? "@escaping " : "")
    }

    /// Whether a type may be that of an argument or a result.
    internal static func check(_ type: TypeSyntax, _ faults: inout Faults) -> Bool {
      if let type = type.as(SomeOrAnyTypeSyntax.self), type.someOrAnySpecifier.text == "some" {
        faults.add(
          "generic", at: type.someOrAnySpecifier, "'@Forwarded' forwards no generic methods",
          fixIts: [
            .replacing(
              "any", "take 'any'", type.someOrAnySpecifier,
              by: type.someOrAnySpecifier.with(\.tokenKind, .keyword(.any)))
          ])
        return false
      }
      if let type = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        faults.add(
          "unwrapped", at: type.exclamationMark, "'@Forwarded' forwards '?', not '!'",
          fixIts: [
            .replacing(
              "optional", "use '?'", type,
              by: OptionalTypeSyntax(wrappedType: type.wrappedType)
                .with(\.trailingTrivia, type.trailingTrivia))
          ])
        return false
      }
      for token in type.tokens(viewMode: .sourceAccurate) where token.tokenKind == .keyword(.Self) {
        faults.add("self", at: token, "'@Forwarded' does not know what 'Self' is of a listener")
        return false
      }
      return true
    }

    // MARK: Results

    private static func readResult(
      _ function: FunctionDeclSyntax, isThrowing: Bool, _ faults: inout Faults
    ) -> String? {
      let attribute = function.attributes.first(named: "DefaultResult")
      let type = function.signature.returnClause?.type
      let text = type?.trimmedDescription ?? "Void"
      guard let type, !["Void", "()", "Swift.Void"].contains(text) else {
        if let attribute {
          faults.add(
            "default", at: attribute, "'\(function.name.text.bare)' has no result to have a default"
          )
        }
        return nil
      }
      if let attributed = type.as(AttributedTypeSyntax.self),
        let first = attributed.specifiers.first
      {
        faults.add(
          "specifier", at: first,
          "'@Forwarded' forwards no '\(first.trimmedDescription)' results")
        return nil
      }
      if !check(type, &faults) { return nil }
      if isThrowing || attribute != nil || Method.zero(of: text) != nil { return text }
      faults.add(
        "no-default", at: type,
        "what does '\(function.name.text.bare)' give if nobody responds? '\(text)' has no zero",
        fixIts: [addingDefault(function), addingThrows(function)])
      return text
    }

    private static func addingThrows(_ function: FunctionDeclSyntax) -> FixIt {
      var signature = function.signature
      signature.parameterClause.trailingTrivia = .space
      signature.effectSpecifiers = FunctionEffectSpecifiersSyntax(
        throwsClause: ThrowsClauseSyntax(
          throwsSpecifier: .keyword(.throws, trailingTrivia: .space)))
      return .replacing("throws", "let it throw", function.signature, by: signature)
    }
  }

  extension TypeSyntax {
    /// Whether it is a function type, in parentheses or not.
    fileprivate var isFunction: Bool {
      if self.is(FunctionTypeSyntax.self) { return true }
      guard let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1,
        let element = tuple.elements.first
      else { return false }
      return element.type.isFunction
    }
  }

  extension AttributeSyntax {
    /// The text of the only argument.
    internal var argument: String? {
      guard case .argumentList(let list) = arguments else { return nil }
      return list.first?.expression.trimmedDescription
    }
  }
#endif

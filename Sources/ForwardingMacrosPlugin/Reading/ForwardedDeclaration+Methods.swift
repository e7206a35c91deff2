// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder
  internal import SwiftSyntaxMacros

  extension ForwardedDeclaration {
    // MARK: Methods

    internal static func read(
      _ function: FunctionDeclSyntax, in context: some MacroExpansionContext,
      _ faults: inout Faults
    ) -> Method? {
      var own = Faults()
      let marks = readMarks(function.attributes, function.modifiers, "methods", &own)
      if let clause = function.genericParameterClause {
        own.add("generic", at: clause, generic)
      } else if let clause = function.genericWhereClause {
        own.add("where", at: clause, generic)
      }
      let signature = function.signature
      let effects = signature.effectSpecifiers
      if let clause = effects?.throwsClause { checkThrows(clause, &own) }
      if let effect = effects?.asyncSpecifier, effect.tokenKind == .keyword(.reasync) {
        own.add(
          "reasync", at: effect,
          "'@Forwarded' does not forward 'reasync' methods; declare the method 'async'")
      }
      let parameters = signature.parameterClause.parameters.compactMap { parameter in
        var read = read(parameter, &own)
        read?.line = SourceLine(of: parameter.type, in: context)
        return read
      }
      let result = readResult(function, isThrowing: effects?.throwsClause != nil, &own)
      var method = Method(
        name: function.name.trimmed, parameters: parameters, result: result,
        isThrowing: effects?.throwsClause != nil, isAsync: effects?.asyncSpecifier != nil,
        isOptional: function.attributes.first(named: "Optional") != nil,
        declaredDefault: function.attributes.declaredDefault, marks: marks)
      readReply(function, &method, &own)
      faults.append(own)
      return own.isEmpty ? method : nil
    }

    private static let generic =
      "'@Forwarded' does not forward generic methods, since a subscriber's function has one type; "
      + "name a concrete type or 'any' of a protocol"

    internal static func checkThrows(_ clause: ThrowsClauseSyntax, _ faults: inout Faults) {
      if clause.throwsSpecifier.tokenKind == .keyword(.rethrows) {
        let throwing = clause.with(
          \.throwsSpecifier,
          clause.throwsSpecifier.with(\.tokenKind, .keyword(.throws)))
        faults.add(
          "rethrows", at: clause.throwsSpecifier,
          "'@Forwarded' does not forward 'rethrows' methods, since it stores their closures during "
            + "the call; declare the method 'throws'",
          fixIts: [.replacing("throws", "declare it 'throws'", clause, by: throwing)])
        return
      }
      guard let type = clause.type else { return }
      let untyped = clause.with(\.leftParen, nil).with(\.type, nil).with(\.rightParen, nil)
        .with(\.trailingTrivia, clause.trailingTrivia)
      let name = type.trimmedDescription
      // `throws(any Error)` means the same as `throws`.
      if ["any Error", "any Swift.Error", "Error", "Swift.Error"].contains(name) { return }
      if ["Never", "Swift.Never"].contains(name) {
        faults.add(
          "never-throws", at: clause, "a method that throws 'Never' does not throw; remove 'throws'"
        )
        return
      }
      faults.add(
        "typed-throws", at: type,
        "a forwarded method may also throw 'ForwardingError', if no listener responds, which is "
          + "not '\(name)'; declare the method 'throws'",
        fixIts: [.replacing("untyped-throws", "declare it 'throws'", clause, by: untyped)])
    }

    // MARK: Parameters

    private static let nonescaping =
      "'@Forwarded' stores a closure during the call, so the parameter must be '@escaping'"

    private static func specifier(_ specifier: some SyntaxProtocol, _ kind: String) -> String {
      "'@Forwarded' does not forward '\(specifier.trimmedDescription)' \(kind); remove "
        + "'\(specifier.trimmedDescription)', and use a type that can be copied"
    }

    private static func read(
      _ parameter: FunctionParameterSyntax, _ faults: inout Faults
    ) -> Method.Parameter? {
      if let ellipsis = parameter.ellipsis {
        var array = parameter
        array.ellipsis = nil
        array.type = TypeSyntax(ArrayTypeSyntax(element: parameter.type.trimmed))
        faults.add(
          "variadic", at: ellipsis,
          "'@Forwarded' does not forward variadic parameters; take an array",
          fixIts: [.replacing("array", "take an array", parameter, by: array)])
        return nil
      }
      var type = parameter.type
      var passing = Method.Parameter.Passing.plain
      if let attributed = type.as(AttributedTypeSyntax.self) {
        guard let inner = read(attributed, &faults) else { return nil }
        (type, passing) = inner
      } else if type.isFunction {
        faults.add(
          "nonescaping", at: type, nonescaping,
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
        label: parameter.firstName.trimmed, type: type.trimmed, passing: passing)
    }

    /// Removes `@escaping` and `inout` from a type.
    private static func read(
      _ type: AttributedTypeSyntax, _ faults: inout Faults
    ) -> (type: TypeSyntax, passing: Method.Parameter.Passing)? {
      var isInout = false
      for specifier in type.specifiers {
        if specifier.as(SimpleTypeSpecifierSyntax.self)?.specifier.tokenKind == .keyword(.inout) {
          isInout = true
          continue
        }
        faults.add("specifier", at: specifier, Self.specifier(specifier, "parameters"))
        return nil
      }
      for specifier in type.lateSpecifiers {
        faults.add("specifier", at: specifier, Self.specifier(specifier, "parameters"))
        return nil
      }
      var rest = type
      var isEscaping = false
      rest.attributes = type.attributes.filter { element in
        guard element.as(AttributeSyntax.self)?.name == "escaping" else { return true }
        isEscaping = true
        return false
      }
      if let attribute = type.attributes.first(named: "autoclosure") {
        faults.add(
          "autoclosure", at: attribute,
          "'@Forwarded' does not forward autoclosures; take an '@escaping' closure, or the value")
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
          "nonescaping", at: type, nonescaping,
          fixIts: [.replacing("escaping", "add '@escaping'", type, by: fixed)])
        return nil
      }
      rest.specifiers = []
      let bare = rest.attributes.isEmpty ? rest.baseType : TypeSyntax(rest)
      return (bare, isInout ? .inout : isEscaping ? .escaping : .plain)
    }

    /// Whether an argument or a result may have a type.
    internal static func check(_ type: TypeSyntax, _ faults: inout Faults) -> Bool {
      if let type = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        faults.add(
          "unwrapped", at: type.exclamationMark,
          "'@Forwarded' does not forward implicitly unwrapped optionals; use '?'",
          fixIts: [
            .replacing(
              "optional", "use '?'", type,
              by: OptionalTypeSyntax(wrappedType: type.wrappedType)
                .with(\.trailingTrivia, type.trailingTrivia))
          ])
        return false
      }
      for token in type.tokens(viewMode: .sourceAccurate) {
        if token.tokenKind == .keyword(.some) {
          faults.add(
            "generic", at: token, generic,
            fixIts: [
              .replacing("any", "take 'any'", token, by: token.with(\.tokenKind, .keyword(.any)))
            ])
          return false
        }
        guard token.tokenKind == .keyword(.Self) else { continue }
        faults.add(
          "self", at: token,
          "'@Forwarded' does not forward 'Self', which is another type for each listener; name a "
            + "concrete type or 'any' of a protocol")
        return false
      }
      return true
    }

    // MARK: Results

    /// Reports that a result needs a default.
    internal static func noDefault(_ name: TokenSyntax, _ type: TypeSyntax) -> String {
      "'@Forwarded' knows no result of '\(name.bareName)' for a call that no listener responds to: "
        + "'\(type.trimmedDescription)' is not the name of a number, 'Bool' or an optional; add "
        + "'@DefaultResult'"
    }

    private static func readResult(
      _ function: FunctionDeclSyntax, isThrowing: Bool, _ faults: inout Faults
    ) -> TypeSyntax? {
      let attribute = function.attributes.first(named: "DefaultResult")
      guard let type = function.signature.returnClause?.type, !type.isVoid else {
        if let attribute {
          faults.add(
            "default", at: attribute,
            "'@DefaultResult' expects a method with a result, and '\(function.name.bareName)' has "
              + "none; remove it")
        }
        return nil
      }
      if let attributed = type.as(AttributedTypeSyntax.self),
        let first = attributed.specifiers.first
      {
        faults.add("specifier", at: first, specifier(first, "results"))
        return nil
      }
      if !check(type, &faults) { return nil }
      if isThrowing || attribute != nil || type.hasZero { return type.trimmed }
      faults.add(
        "no-default", at: type,
        noDefault(function.name, type) + ", or declare the method 'throws'",
        fixIts: [addingDefault(function), addingThrows(function)])
      return type.trimmed
    }

    private static func addingThrows(_ function: FunctionDeclSyntax) -> FixIt {
      var signature = function.signature
      signature.parameterClause.trailingTrivia = .space
      signature.effectSpecifiers = FunctionEffectSpecifiersSyntax(
        throwsClause: ThrowsClauseSyntax(
          throwsSpecifier: .keyword(.throws, trailingTrivia: .space)))
      return .replacing("throws", "declare it 'throws'", function.signature, by: signature)
    }
  }

  extension TypeSyntax {
    /// Whether it is a function type, in parentheses or not.
    fileprivate var isFunction: Bool { withoutParentheses.is(FunctionTypeSyntax.self) }
  }
#endif

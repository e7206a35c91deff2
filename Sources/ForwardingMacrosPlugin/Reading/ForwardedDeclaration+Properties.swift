// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder
  internal import SwiftSyntaxMacros

  extension ForwardedDeclaration {
    /// Reads the properties of a declaration. As in Objective-C, each is a method
    /// without arguments, and a second method if it can be set.
    internal static func read(
      _ variable: VariableDeclSyntax, in context: some MacroExpansionContext,
      _ faults: inout Faults
    ) -> [Member] {
      var own = Faults()
      if let attribute = variable.attributes.first(named: "Optional") {
        own.add(
          "optional-property", at: attribute,
          "'@Optional' is for methods, and a property cannot be left out; remove it, or declare an "
            + "optional property type")
      }
      checkReply(variable.attributes, &own)
      let marks = readMarks(variable.attributes, variable.modifiers, "properties", &own)
      let members = variable.bindings.compactMap { binding -> Member? in
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
          return nil  // The compiler reports this error itself.
        }
        let methods = read(name, binding, of: variable, marks, &own)
        return Member(name: name, line: SourceLine(of: name, in: context), methods: methods)
      }
      faults.append(own)
      return own.isEmpty ? members.filter { !$0.methods.isEmpty } : []
    }

    private static func read(
      _ name: TokenSyntax, _ binding: PatternBindingSyntax, of variable: VariableDeclSyntax,
      _ marks: Marks, _ faults: inout Faults
    ) -> [Method] {
      guard let type = binding.typeAnnotation?.type,
        case .accessors(let accessors) = binding.accessorBlock?.accessors
      else { return [] }  // The compiler reports this error itself.
      if !check(type, &faults) { return [] }
      let declared = variable.attributes.declaredDefault
      var methods: [Method] = []
      for accessor in accessors {
        let effects = accessor.effectSpecifiers
        if let clause = effects?.throwsClause { checkThrows(clause, &faults) }
        let isThrowing = effects?.throwsClause != nil
        switch accessor.accessorSpecifier.tokenKind {
        case .keyword(.get):
          if !isThrowing && declared == nil && !type.hasZero {
            faults.add(
              "no-default", at: type, noDefault(name, type),
              fixIts: [addingDefault(variable)])
          }
          methods.append(
            Method(
              kind: .getter, name: name.trimmed, result: type.trimmed, isThrowing: isThrowing,
              isAsync: effects?.asyncSpecifier != nil, declaredDefault: declared, marks: marks))
        case .keyword(.set):
          methods.append(
            Method(
              kind: .setter, name: name.trimmed,
              parameters: [Method.Parameter(label: .wildcardToken(), type: type.trimmed)],
              marks: marks))
        default:
          faults.add(
            "accessor", at: accessor.accessorSpecifier,
            "'@Forwarded' does not forward '\(accessor.accessorSpecifier.text)' accessors; use 'get' and "
              + "'set'")
        }
      }
      return methods
    }

    internal static func addingDefault<Declaration: WithAttributesSyntax>(
      _ declaration: Declaration
    ) -> FixIt {
      var fixed = declaration
      fixed.leadingTrivia = []
      var attribute = AttributeSyntax("DefaultResult") {
        LabeledExprSyntax(
          expression: EditorPlaceholderExprSyntax(placeholder: .identifier("<#value#>")))
      }
      attribute.leadingTrivia = declaration.leadingTrivia
      attribute.trailingTrivia = .space
      fixed.attributes = AttributeListSyntax(
        [.attribute(attribute)] + Array(fixed.attributes))
      return .replacing(
        "default", "declare a default with '@DefaultResult'", declaration, by: fixed)
    }
  }
#endif

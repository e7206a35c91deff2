// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  extension ForwardedDeclaration {
    /// Reads the properties of a declaration. As in Objective-C, each is a method
    /// without arguments, and a second method if it can be set.
    internal static func read(
      _ variable: VariableDeclSyntax, _ faults: inout Faults
    ) -> [(method: Method, name: TokenSyntax)] {
      var own = Faults()
      if let attribute = variable.attributes.first(named: "Optional") {
        own.add(
          "optional-property", at: attribute,
          "'@Optional' is for methods, and a property cannot be left out; remove it, or declare an "
            + "optional property type")
      }
      checkReply(variable.attributes, &own)
      let marks = readMarks(variable.attributes, variable.modifiers, "properties", &own)
      var methods: [(method: Method, name: TokenSyntax)] = []
      for binding in variable.bindings {
        methods += read(binding, of: variable, marks, &own)
      }
      faults.append(own)
      return own.isEmpty ? methods : []
    }

    private static func read(
      _ binding: PatternBindingSyntax, of variable: VariableDeclSyntax, _ marks: Marks,
      _ faults: inout Faults
    ) -> [(method: Method, name: TokenSyntax)] {
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier,
        let type = binding.typeAnnotation?.type,
        case .accessors(let accessors) = binding.accessorBlock?.accessors
      else { return [] }  // The compiler reports this error itself.
      if !check(type, &faults) { return [] }
      let declared = variable.attributes.declaredDefault
      var methods: [(method: Method, name: TokenSyntax)] = []
      for accessor in accessors {
        let effects = accessor.effectSpecifiers
        if let clause = effects?.throwsClause { checkThrows(clause, &faults) }
        let isThrowing = effects?.throwsClause != nil
        switch accessor.accessorSpecifier.tokenKind {
        case .keyword(.get):
          if !isThrowing && declared == nil && !Method.hasZero(type) {
            faults.add(
              "no-default", at: type, noDefault(name, type),
              fixIts: [addingDefault(variable)])
          }
          methods.append(
            (
              Method(
                kind: .getter, name: name.text, parameters: [], result: type.trimmed,
                isThrowing: isThrowing, isAsync: effects?.asyncSpecifier != nil,
                declaredDefault: declared, attributes: marks.text,
                availability: marks.availability, actor: marks.actor), name
            ))
        case .keyword(.set):
          methods.append(
            (
              Method(
                kind: .setter, name: name.text,
                parameters: [Method.Parameter(label: "_", type: type.trimmed)],
                result: nil, isThrowing: false, attributes: marks.text,
                availability: marks.availability, actor: marks.actor), name
            ))
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

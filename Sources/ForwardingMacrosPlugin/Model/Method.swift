// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftParser
  internal import SwiftSyntax

  /// One requirement of a protocol. A property is one method, or two if it can be
  /// set.
  internal struct Method {
    internal enum Kind {
      case function
      case getter
      case setter
    }

    /// How a closure with `@ReplyOnce` is wrapped.
    internal struct Reply {
      let isOptional: Bool
      let isSendable: Bool
    }

    internal struct Parameter {
      /// Whether the parameter has a word before its type.
      internal enum Passing: String {
        case plain = ""
        case escaping = "@escaping "
        case `inout` = "inout "
      }

      /// The label in the source, or `_`.
      let label: TokenSyntax
      /// The type without `@escaping` and `inout`.
      let type: TypeSyntax
      var passing = Passing.plain
      /// Nil if `@ReplyOnce` does not concern the parameter.
      var reply: Reply?
      var line: SourceLine?

      var isInout: Bool { passing == .inout }
      var isUnlabelled: Bool { label.tokenKind == .wildcard }
      /// The type of the register that carries the value, if the type's name is
      /// that of a standard number or `Bool`. The user may have a type with
      /// this name: the generated code compiles for both, and the library
      /// compares the types at run time.
      var register: Register? { isInout ? nil : Register(type) }
    }

    internal var home = Home()
    /// The index among the methods of the protocol.
    internal var index = 0
    internal var kind = Kind.function
    internal let name: TokenSyntax
    internal var parameters: [Parameter] = []
    /// Nil for none.
    internal var result: TypeSyntax?
    internal var isThrowing = false
    internal var isAsync = false
    internal var isOptional = false
    /// The argument of `@DefaultResult`.
    internal var declaredDefault: ExprSyntax?
    /// The arguments of the default reply, which is made if no closure is called.
    internal var defaultReply: ExprSyntax?
    /// The attributes and modifiers that the proxy's method shares with the requirement.
    internal var marks: Marks
    /// The attribute of a global actor, of the requirement or of its protocol.
    internal var actor: AttributeSyntax?
    internal var line: SourceLine?
  }

  /// The attributes and modifiers that a requirement and the proxy's member have in
  /// common.
  internal struct Marks {
    /// `@discardableResult`, `@concurrent` and `@unsafe`.
    var attributes: [AttributeSyntax] = []
    /// `@available(…)`. All generated code that calls the requirement has them.
    var availability: [AttributeSyntax] = []
    /// `@MainActor` or the like.
    var actor: AttributeSyntax?
    /// `nonisolated`, with its argument.
    var isolation: [DeclModifierSyntax] = []

    /// All of them, with a space after each.
    var text: String {
      attributes.text + availability.text + (actor.map { [$0].text } ?? "") + isolation.text
    }

    /// All but `@discardableResult`.
    var withoutDiscardableResult: Marks {
      var marks = self
      marks.attributes.removeAll { $0.name == "discardableResult" }
      return marks
    }
  }

  // MARK: - Names

  extension Method {
    /// `name(label:_:)`; for properties the name alone.
    internal var fullName: String {
      if kind != .function { return name.bareName }
      return name.bareName + "(" + parameters.map { $0.label.bareName + ":" }.joined() + ")"
    }

    /// The name for untyped callers: the method's name, then a colon for each
    /// argument with the label before it. The first label is joined to the name
    /// with a capital letter.
    ///
    /// A property has Objective-C's names: `name` and `setName:`.
    internal var selector: String {
      if kind == .setter { return setterName + ":" }
      var text = name.bareName
      for (index, parameter) in parameters.enumerated() {
        if !parameter.isUnlabelled {
          text += index == 0 ? parameter.label.bareName.capitalised : parameter.label.bareName
        }
        text += ":"
      }
      return text
    }

    /// The name of the case of `Requirement`: the method's name, then the labels,
    /// each with a capital letter.
    internal var caseName: String {
      if kind == .setter { return setterName }
      return parameters.reduce(name.bareName) {
        $1.isUnlabelled ? $0 : $0 + $1.label.bareName.capitalised
      }
    }

    private var setterName: String { "set" + name.bareName.capitalised }

    /// ` async throws`, or the part of it that the method has.
    internal var effects: String { (isAsync ? " async" : "") + (isThrowing ? " throws" : "") }

    /// The associated type that tells whether a conformer has an optional method.
    /// Its name begins with the protocol's, since a class may conform to several
    /// protocols that have methods of one name.
    internal var marker: String { "_\(home.name)_\(caseName)".asIdentifier }
  }

  // MARK: - Results

  extension Method {
    /// Whether the protocol's table has the default too, for untyped callers.
    internal var isDefaultInTable: Bool {
      guard let result, declaredDefault != nil else { return false }
      return Register(result).map { !$0.isPointer } ?? false
    }

    /// Whether a C function may deliver to a listener.
    internal var hasFunction: Bool { result == nil && !isThrowing && !isAsync }
  }

  // MARK: - Text

  extension Collection where Element: SyntaxProtocol {
    /// The source text of the nodes, with a space after each.
    internal var text: String { map { $0.trimmedDescription + " " }.joined() }
  }

  extension TokenSyntax {
    /// The text without backticks.
    internal var bareName: String { identifier?.name ?? text }
  }

  extension String {
    internal var capitalised: String { prefix(1).uppercased() + dropFirst() }

    /// With backticks if a label needs them.
    internal var asLabel: String {
      ["_", "inout", "let", "var"].contains(self) ? "`\(self)`" : self
    }

    /// With backticks if the name needs them.
    internal var asIdentifier: String {
      isValidSwiftIdentifier(for: .variableName) ? self : "`\(self)`"
    }
  }
#endif

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
      /// The label in the source, or `_`.
      let label: String
      /// The type without `@escaping` and `inout`.
      let type: TypeSyntax
      /// `@escaping ` or `inout `, or nothing.
      var prefix = ""
      /// Nil if `@ReplyOnce` does not concern the parameter.
      var reply: Reply?
      var line: SourceLine?

      var isInout: Bool { prefix == "inout " }
      /// The type of the register that carries the value, if the type's name is
      /// that of a standard number or `Bool`. The user may have a type with
      /// this name: the generated code compiles for both, and the library
      /// compares the types at run time.
      var register: Register? { isInout ? nil : Register(type.trimmedDescription) }
    }

    internal var home = Home()
    internal var kind = Kind.function
    internal let name: String
    internal var parameters: [Parameter]
    /// Nil for none.
    internal let result: TypeSyntax?
    internal let isThrowing: Bool
    internal var isAsync = false
    internal var isOptional = false
    /// The argument of `@DefaultResult`.
    internal var declaredDefault: ExprSyntax?
    /// The arguments of the default reply, which is made if no closure is
    /// called, such as `(1, 2)`.
    internal var defaultReply: String?
    /// The attributes and modifiers that the proxy's method has, too, with a
    /// space after each.
    internal var attributes = ""
    /// The `@available(…)` attributes. All generated code that calls the
    /// requirement has them.
    internal var availability = ""
    /// The attribute of a global actor, of the requirement or of its protocol.
    internal var actor: String?
    internal var line: SourceLine?

    // MARK: Names

    /// `name(label:_:)`; for properties the name alone.
    internal var fullName: String {
      if kind != .function { return name.bare }
      return name.bare + "(" + parameters.map { $0.label.bare + ":" }.joined() + ")"
    }

    /// The name for untyped callers: the method's name, then a colon for each
    /// argument with the label before it. The first label is joined to the name
    /// with a capital letter.
    ///
    /// A property has Objective-C's names: `name` and `setName:`.
    internal var selector: String {
      if kind == .setter { return setterName + ":" }
      var text = name.bare
      for (index, parameter) in parameters.enumerated() {
        if parameter.label != "_" {
          text += index == 0 ? parameter.label.bare.capitalised : parameter.label.bare
        }
        text += ":"
      }
      return text
    }

    /// The name of the case of `Requirement`: the method's name, then the labels,
    /// each with a capital letter.
    internal var caseName: String {
      if kind == .setter { return setterName }
      return parameters.reduce(name.bare) {
        $1.label == "_" ? $0 : $0 + $1.label.bare.capitalised
      }
    }

    private var setterName: String { "set" + name.bare.capitalised }

    /// ` async throws`, or the part of it that the method has.
    internal var effects: String { (isAsync ? " async" : "") + (isThrowing ? " throws" : "") }

    /// The attributes without `@discardableResult`.
    internal var isolation: String { attributes.replacing("@discardableResult ", with: "") }

    /// The associated type that tells whether a conformer has an optional method.
    /// Its name begins with the protocol's, since a class may conform to several
    /// protocols that have methods of one name.
    internal var marker: String { "_\(home.name.bare)_\(caseName)" }

    // MARK: Results

    /// Whether the name of a type is that of a standard type with a zero value.
    /// The compiler then checks the type itself.
    internal static func hasZero(_ type: TypeSyntax) -> Bool {
      if isOptional(type) { return true }
      let name = type.trimmedDescription.withoutModule
      return Register.numbers.contains(name) || otherNumbers.contains(name)
        || ["Bool", "CBool"].contains(name) || name.hasPrefix("Optional<")
    }

    /// Whether the type is written `T?`, which is always the standard library's
    /// `Optional`.
    internal static func isOptional(_ type: TypeSyntax) -> Bool {
      if type.is(OptionalTypeSyntax.self) { return true }
      guard let tuple = type.as(TupleTypeSyntax.self), tuple.elements.count == 1,
        let element = tuple.elements.first
      else { return false }
      return isOptional(element.type)
    }

    /// Number types that C functions do not have as parameters.
    private static let otherNumbers: Set = [
      "Int128", "UInt128", "Float16", "Float80", "CGFloat", "TimeInterval",
    ]

    /// Whether the protocol's table has the default too, for untyped callers.
    internal var isDefaultInTable: Bool {
      guard let result, declaredDefault != nil else { return false }
      return Register(result.trimmedDescription).map { !$0.isPointer } ?? false
    }

    /// Whether a C function may deliver to a listener.
    internal var hasFunction: Bool { result == nil && !isThrowing && !isAsync }
  }

  // MARK: - Registers

  /// The type of an argument that a C function gets unchanged.
  internal struct Register {
    /// The name in the module `Swift`.
    private let name: String

    /// Nil if C functions do not take a type of this name.
    internal init?(_ type: String) {
      let name = type.withoutModule
      guard name == "Bool" || Self.numbers.contains(name) || Self.pointers.contains(name) else {
        return nil
      }
      self.name = name
    }

    internal static let numbers: Set<String> = [
      "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
      "Float", "Double", "CChar", "CSignedChar", "CUnsignedChar", "CShort", "CUnsignedShort",
      "CInt", "CUnsignedInt", "CLong", "CUnsignedLong", "CLongLong", "CUnsignedLongLong",
      "CFloat", "CDouble",
    ]

    private static let pointers: Set = [
      "UnsafeRawPointer?", "UnsafeMutableRawPointer?", "OpaquePointer?",
    ]

    internal var isPointer: Bool { Self.pointers.contains(name) }
    /// The type.
    internal var type: String { "Swift." + name }
    /// The type of the C function's parameter. C may pass any byte for a `Bool`.
    internal var cType: String { name == "Bool" ? "Swift.UInt8" : type }
  }

  // MARK: - Names

  extension String {
    /// Without backticks.
    internal var bare: String { filter { $0 != "`" } }

    /// Without `Swift.` before it.
    internal var withoutModule: String {
      hasPrefix("Swift.") ? String(dropFirst("Swift.".count)) : self
    }

    internal var capitalised: String { prefix(1).uppercased() + dropFirst() }

    /// With backticks if a label needs them.
    internal var asLabel: String {
      ["_", "inout", "let", "var"].contains(bare) ? "`\(bare)`" : bare
    }

    /// With backticks if the name needs them.
    internal var asIdentifier: String {
      isValidSwiftIdentifier(for: .variableName) ? self : "`\(self)`"
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftParser

  /// One method of a protocol, as it was read. A property is one or two.
  internal struct Method {
    internal enum Kind {
      case function
      case getter
      case setter
    }

    /// A closure that may be called once.
    internal struct Reply {
      let isOptional: Bool
      let isSendable: Bool
    }

    internal struct Parameter {
      /// `_`, or the label as it is written.
      let label: String
      /// The type without what a parameter alone may have: `@escaping`, `inout`.
      let type: String
      /// `@escaping ` or `inout `, or nothing.
      var prefix = ""
      /// How the closure is wrapped that may be called once; nil if the parameter
      /// is none.
      var reply: Reply?
      /// Whether the value may be changed.
      var isInout: Bool { prefix == "inout " }
      /// Whether C takes it in a register as it is, and any value of the
      /// register is one of the type.
      var isScalar: Bool { !isInout && Method.isScalar(type) }

      /// The type as it is written.
      var writtenType: String { prefix + type }
    }

    internal var home = Home()
    internal var kind = Kind.function
    internal let name: String
    internal var parameters: [Parameter]
    /// Nil for none.
    internal let result: String?
    internal let isThrowing: Bool
    internal var isAsync = false
    internal var isOptional = false
    /// What the proxy gives if nobody responds: as declared, or nil.
    internal var declaredDefault: String?
    /// The arguments that the first closure gets if none of those that may be
    /// called once is called: `(1, 2)`.
    internal var defaultReply: String?
    /// Attributes and modifiers that the proxy's method has too, with spaces
    /// behind them.
    internal var attributes = ""
    /// `@MainActor` or the like, which the method itself has or its protocol.
    internal var actor: String?

    // MARK: Names

    /// `name(label:_:)`; of properties the name alone.
    internal var fullName: String {
      if kind != .function { return name.bare }
      return name.bare + "(" + parameters.map { $0.label.bare + ":" }.joined() + ")"
    }

    /// The name that untyped callers know: the method's, then a colon for each
    /// argument with the label before it. The label of the first is joined to the
    /// name in capitals.
    ///
    /// A property has Objective-C's: `name` and `setName:`.
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

    /// The name of the case: the method's with the labels in capitals behind it.
    internal var caseName: String {
      if kind == .setter { return setterName }
      return parameters.reduce(name.bare) {
        $1.label == "_" ? $0 : $0 + $1.label.bare.capitalised
      }
    }

    private var setterName: String { "set" + name.bare.capitalised }

    /// ` async throws`, as far as it is so.
    internal var effects: String { (isAsync ? " async" : "") + (isThrowing ? " throws" : "") }

    /// The attributes without `@discardableResult`.
    internal var isolation: String { attributes.replacing("@discardableResult ", with: "") }

    /// The associated type that tells whether a conformer has the method.
    /// It has the protocol's name too: a class may conform to several, which may
    /// have methods of one name.
    internal var marker: String { "_\(home.name.bare)_\(caseName)" }

    // MARK: Results

    /// What the proxy gives if nobody responds; nil if it has to throw.
    internal var defaultResult: String? {
      guard let result else { return nil }
      return declaredDefault ?? (isThrowing ? nil : Method.zero(of: result))
    }

    /// The value that a message to nil would give: for numbers, `Bool` and
    /// optionals.
    internal static func zero(of type: String) -> String? {
      if type == "Bool" || type == "CBool" { return "false" }
      if numbers.contains(type) { return "0" }
      let isOptional =
        type.hasSuffix("?") && !type.contains("->")
        || type.hasPrefix("Optional<") || type.hasPrefix("(") && type.hasSuffix(")?")
      return isOptional ? "nil" : nil
    }

    /// Whether the default stands in the table too, for untyped callers.
    internal var isDefaultInTable: Bool {
      guard let result, declaredDefault != nil else { return false }
      return result == "Bool" || Method.numbers.contains(result)
    }

    /// Whether a listener may be reached by a C function.
    internal var hasFunction: Bool { result == nil && !isThrowing && !isAsync }

    /// The types by which that function takes its arguments: what C takes is
    /// taken as it is, the rest is a word.
    internal var functionTypes: [String] {
      parameters.map { parameter in
        if !parameter.isScalar { return "UInt" }
        return parameter.type == "Bool" ? "UInt8" : parameter.type
      }
    }

    /// The arguments that the function takes as words.
    internal var words: [Int] { parameters.indices.filter { !parameters[$0].isScalar } }

    // MARK: Types

    internal static let numbers: Set<String> = [
      "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
      "Float", "Double", "CChar", "CSignedChar", "CUnsignedChar", "CShort", "CUnsignedShort",
      "CInt", "CUnsignedInt", "CLong", "CUnsignedLong", "CLongLong", "CUnsignedLongLong",
      "CFloat", "CDouble",
    ]

    internal static func isScalar(_ type: String) -> Bool {
      let pointers: Set = ["UnsafeRawPointer?", "UnsafeMutableRawPointer?", "OpaquePointer?"]
      return type == "Bool" || numbers.contains(type) || pointers.contains(type)
    }
  }

  extension String {
    /// Without backticks.
    internal var bare: String { filter { $0 != "`" } }

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

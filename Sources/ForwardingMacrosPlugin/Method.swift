// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftParser

  /// One method of a protocol, as it was read.
  internal struct Method {
    internal struct Parameter {
      /// `_`, or the label as it is written.
      let label: String
      /// The type without what a parameter alone may have: `@escaping`.
      let type: String
      /// The type as it is written.
      let writtenType: String
      /// Whether C takes it in a register as it is, and any value of the
      /// register is one of the type.
      let isScalar: Bool
    }

    internal let name: String
    internal let parameters: [Parameter]
    /// Nil for none.
    internal let result: String?
    internal let isThrowing: Bool
    internal let isOptional: Bool
    /// What the proxy gives if nobody responds: as declared, or nil.
    internal let declaredDefault: String?
    /// Attributes that the proxy's method has too.
    internal let attributes: String

    // MARK: Names

    /// `name(label:_:)`
    internal var fullName: String {
      name.bare + "(" + parameters.map { $0.label.bare + ":" }.joined() + ")"
    }

    /// The name that untyped callers know: the method's, then a colon for each
    /// argument with the label before it. The label of the first is joined to the
    /// name in capitals.
    internal var selector: String {
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
      parameters.reduce(name.bare) {
        $1.label == "_" ? $0 : $0 + $1.label.bare.capitalised
      }
    }

    /// The associated type that tells whether a conformer has the method.
    internal var marker: String { "_" + caseName }

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

    /// Whether a listener may be reached by a C function of the method's types.
    internal var hasFunction: Bool {
      result == nil && !isThrowing && parameters.allSatisfy(\.isScalar)
    }

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
      ["inout", "let", "var"].contains(bare) ? "`\(bare)`" : bare
    }

    /// With backticks if the name needs them.
    internal var asIdentifier: String {
      isValidSwiftIdentifier(for: .variableName) ? self : "`\(self)`"
    }
  }
#endif

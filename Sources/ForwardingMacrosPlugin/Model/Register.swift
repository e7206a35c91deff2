// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax

  /// The type of an argument that a C function gets unchanged.
  internal struct Register {
    /// The name in the module `Swift`.
    private let name: String
    internal let isPointer: Bool

    /// Nil if C functions do not take a type of this name.
    internal init?(_ type: TypeSyntax) {
      if let name = type.standardName, name == "Bool" || Self.numbers.contains(name) {
        (self.name, isPointer) = (name, false)
      } else if let name = type.as(OptionalTypeSyntax.self)?.wrappedType.standardName,
        Self.pointers.contains(name)
      {
        (self.name, isPointer) = (name + "?", true)
      } else {
        return nil
      }
    }

    private static let numbers: Set<String> = [
      "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
      "Float", "Double", "CChar", "CSignedChar", "CUnsignedChar", "CShort", "CUnsignedShort",
      "CInt", "CUnsignedInt", "CLong", "CUnsignedLong", "CLongLong", "CUnsignedLongLong",
      "CFloat", "CDouble",
    ]

    private static let pointers: Set = [
      "UnsafeRawPointer", "UnsafeMutableRawPointer", "OpaquePointer",
    ]

    /// The type.
    internal var type: String { "Swift." + name }
    /// The type of the C function's parameter. C may pass any byte for a `Bool`.
    internal var cType: String { isBool ? "Swift.UInt8" : type }
    /// Whether every value of the C function's parameter is a value of the type. A
    /// `Bool` has to be checked.
    internal var acceptsAnyByte: Bool { !isBool }
    private var isBool: Bool { name == "Bool" }
  }

  extension TypeSyntax {
    /// The name, if the type may be one of the standard library: `Name` or
    /// `Swift.Name`, without generic arguments.
    fileprivate var standardName: String? { isGeneric ? nil : nameInSwift }

    private var nameInSwift: String? {
      if let type = self.as(IdentifierTypeSyntax.self) { return type.name.bareName }
      guard let type = self.as(MemberTypeSyntax.self),
        type.baseType.as(IdentifierTypeSyntax.self)?.name.bareName == "Swift"
      else { return nil }
      return type.name.bareName
    }

    private var isGeneric: Bool {
      self.as(IdentifierTypeSyntax.self)?.genericArgumentClause != nil
        || self.as(MemberTypeSyntax.self)?.genericArgumentClause != nil
    }

    /// Whether it is `AnyObject`, `Sendable` or another type of the standard library
    /// with one of these names.
    internal func isStandard(_ names: Set<String>) -> Bool {
      standardName.map(names.contains) ?? false
    }

    /// The type in parentheses around it, or the type itself.
    internal var withoutParentheses: TypeSyntax {
      guard let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1,
        let element = tuple.elements.first
      else { return self }
      return element.type.withoutParentheses
    }

    /// Whether it is `Void`, in any spelling.
    internal var isVoid: Bool {
      standardName == "Void" || self.as(TupleTypeSyntax.self)?.elements.isEmpty == true
    }

    /// Whether it is written `T?`, which is always the standard library's
    /// `Optional`.
    internal var isOptional: Bool { withoutParentheses.is(OptionalTypeSyntax.self) }

    /// Whether the name is that of a standard type with a zero value. The compiler
    /// then checks the type itself.
    internal var hasZero: Bool {
      if isOptional { return true }
      if let name = standardName {
        return Register(self).map { !$0.isPointer } ?? false || Self.otherZeroes.contains(name)
      }
      return nameInSwift == "Optional"
    }

    /// Types with a zero value that C functions do not have as parameters.
    private static let otherZeroes: Set = [
      "Int128", "UInt128", "Float16", "Float80", "CGFloat", "TimeInterval", "CBool",
    ]
  }
#endif

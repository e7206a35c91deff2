// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// A type that C has, too, so that its values are passed unchanged: numbers,
  /// `Bool`, and pointers. Types of other modules must not conform.
  @_documentation(visibility: internal)
  public protocol ForwardedDirect {
    /// The type encoding.
    static var _encoding: String { get }
    /// Reads a value that C wrote; nil if the bytes are not a value of the
    /// type.
    @unsafe static func _read(_ slot: UnsafeRawPointer) -> Self?
  }

  extension ForwardedDirect {
    /// Reads a value of a type for which all bytes are valid.
    @inlinable
    @inline(__always)
    @unsafe public static func _read(_ slot: UnsafeRawPointer) -> Self? {
      unsafe slot.load(as: Self.self)
    }
  }

  // MARK: - Numbers

  extension Bool: ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "B" }

    /// Reads a byte: 0 is false and every other value is true.
    @inlinable
    @inline(__always)
    @unsafe public static func _read(_ slot: UnsafeRawPointer) -> Bool? {
      unsafe slot.load(as: UInt8.self) != 0
    }
  }
  extension Int8: ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "c" }
  }
  extension UInt8: ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "C" }
  }
  extension Int16: ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "s" }
  }
  extension UInt16: ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "S" }
  }
  extension Int32: ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "i" }
  }
  extension UInt32: ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "I" }
  }
  extension Int64: ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "q" }
  }
  extension UInt64: ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "Q" }
  }
  extension Int: ForwardedDirect {
    @_documentation(visibility: internal)
    public static var _encoding: String { isWide ? "q" : "i" }
  }
  extension UInt: ForwardedDirect {
    @_documentation(visibility: internal)
    public static var _encoding: String { isWide ? "Q" : "I" }
  }
  extension Float: ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "f" }
  }
  extension Double: ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "d" }
  }

  private let isWide = MemoryLayout<Int>.size == MemoryLayout<Int64>.size

  // MARK: - Pointers

  /// A pointer that is never null.
  @_documentation(visibility: internal)
  public protocol ForwardedPointer: ForwardedDirect {}

  extension ForwardedPointer {
    /// Reads a word that is not null.
    @inlinable
    @inline(__always)
    @unsafe public static func _read(_ slot: UnsafeRawPointer) -> Self? {
      // SAFETY: an optional pointer is a word, which is null for nil.
      unsafe slot.load(as: Self?.self)
    }
  }

  extension UnsafeRawPointer: @unsafe ForwardedPointer {
    @_documentation(visibility: internal) public static var _encoding: String { "^v" }
  }
  extension UnsafeMutableRawPointer: @unsafe ForwardedPointer {
    @_documentation(visibility: internal) public static var _encoding: String { "^v" }
  }
  extension OpaquePointer: @unsafe ForwardedPointer {
    @_documentation(visibility: internal) public static var _encoding: String { "^v" }
  }
  extension UnsafePointer: @unsafe ForwardedDirect, @unsafe ForwardedPointer {
    @_documentation(visibility: internal)
    public static var _encoding: String { ForwardedEncoding.pointer(to: Pointee.self) }
  }
  extension UnsafeMutablePointer: @unsafe ForwardedDirect, @unsafe ForwardedPointer {
    @_documentation(visibility: internal)
    public static var _encoding: String { ForwardedEncoding.pointer(to: Pointee.self) }
  }
  extension Optional: ForwardedDirect where Wrapped: ForwardedPointer {
    @_documentation(visibility: internal) public static var _encoding: String { Wrapped._encoding }
  }

  // MARK: - Encodings

  /// The type encodings of Swift types.
  internal enum ForwardedEncoding {
    static func pointer<Pointee>(to type: Pointee.Type) -> String {
      if type == CChar.self { return "*" }
      if type == Void.self { return "^v" }
      if let direct = type as? any ForwardedDirect.Type { return "^" + direct._encoding }
      if type is AnyClass { return "^@" }
      return indirect(type)
    }

    /// The encoding of a pointer to a struct with the type's name. A C struct
    /// has its C name.
    static func indirect<Value: ~Copyable>(_ type: Value.Type) -> String { "^{\(name(of: type))}" }

    /// The name of a type with its module. A C type has no module.
    static func name<Value: ~Copyable>(of type: Value.Type) -> String {
      var name = String(reflecting: type)
      while let found = name.firstRange(of: "__C.") { name.removeSubrange(found) }
      return name
    }
  }
#endif

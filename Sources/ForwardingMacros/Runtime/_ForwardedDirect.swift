// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// A type that C has, too, so that its values are passed unchanged: numbers,
  /// `Bool`, and pointers. For generated code: types of other modules must not
  /// conform.
  @_documentation(visibility: internal)
  public protocol _ForwardedDirect {
    /// The type encoding.
    static var _encoding: String { get }
    /// Reads a value that C wrote; nil if the bytes are not a value of the
    /// type.
    @unsafe static func _read(_ bytes: UnsafeRawPointer) -> Self?
  }

  extension _ForwardedDirect {
    /// Reads a value of a type for which all bytes are valid.
    @inlinable
    @inline(__always)
    @unsafe public static func _read(_ bytes: UnsafeRawPointer) -> Self? {
      unsafe bytes.load(as: Self.self)
    }
  }

  // MARK: - Numbers

  extension Bool: _ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "B" }

    /// Reads a byte of 0 or 1.
    @inlinable
    @inline(__always)
    @unsafe public static func _read(_ bytes: UnsafeRawPointer) -> Bool? {
      let byte = unsafe bytes.load(as: UInt8.self)
      return byte > 1 ? nil : byte == 1
    }
  }
  extension Int8: _ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "c" }
  }
  extension UInt8: _ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "C" }
  }
  extension Int16: _ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "s" }
  }
  extension UInt16: _ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "S" }
  }
  extension Int32: _ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "i" }
  }
  extension UInt32: _ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "I" }
  }
  extension Int64: _ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "q" }
  }
  extension UInt64: _ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "Q" }
  }
  extension Int: _ForwardedDirect {
    @_documentation(visibility: internal)
    public static var _encoding: String { isWide ? "q" : "i" }
  }
  extension UInt: _ForwardedDirect {
    @_documentation(visibility: internal)
    public static var _encoding: String { isWide ? "Q" : "I" }
  }
  extension Float: _ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "f" }
  }
  extension Double: _ForwardedDirect {
    @_documentation(visibility: internal) public static var _encoding: String { "d" }
  }

  private let isWide = MemoryLayout<Int>.size == MemoryLayout<Int64>.size

  // MARK: - Pointers

  /// A pointer that is never null. For generated code.
  @_documentation(visibility: internal)
  public protocol _ForwardedPointer: _ForwardedDirect {}

  extension _ForwardedPointer {
    /// Reads a word that is not null.
    @inlinable
    @inline(__always)
    @unsafe public static func _read(_ bytes: UnsafeRawPointer) -> Self? {
      // SAFETY: an optional pointer is a word, which is null for nil.
      unsafe bytes.load(as: Self?.self)
    }
  }

  extension UnsafeRawPointer: @unsafe _ForwardedPointer {
    @_documentation(visibility: internal) public static var _encoding: String { "^v" }
  }
  extension UnsafeMutableRawPointer: @unsafe _ForwardedPointer {
    @_documentation(visibility: internal) public static var _encoding: String { "^v" }
  }
  extension OpaquePointer: @unsafe _ForwardedPointer {
    @_documentation(visibility: internal) public static var _encoding: String { "^v" }
  }
  extension UnsafePointer: @unsafe _ForwardedDirect, @unsafe _ForwardedPointer {
    @_documentation(visibility: internal)
    public static var _encoding: String { ForwardedEncoding.pointer(to: Pointee.self) }
  }
  extension UnsafeMutablePointer: @unsafe _ForwardedDirect, @unsafe _ForwardedPointer {
    @_documentation(visibility: internal)
    public static var _encoding: String { ForwardedEncoding.pointer(to: Pointee.self) }
  }
  extension Optional: _ForwardedDirect where Wrapped: _ForwardedPointer {
    @_documentation(visibility: internal) public static var _encoding: String { Wrapped._encoding }
  }

  // MARK: - Encodings

  /// The type encodings of Swift types.
  internal enum ForwardedEncoding {
    static func pointer<Pointee>(to type: Pointee.Type) -> String {
      if type == CChar.self { return "*" }
      if type == Void.self { return "^v" }
      if let direct = type as? any _ForwardedDirect.Type { return "^" + direct._encoding }
      if type is AnyClass { return "^@" }
      return indirect(type)
    }

    /// The encoding of a pointer to a struct with the type's name. A C struct
    /// has its C name.
    static func indirect<Value: ~Copyable>(_ type: Value.Type) -> String {
      "^{\(SwiftTypeName.of(type))}"
    }
  }
#endif

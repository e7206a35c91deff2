// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// The arguments of a delivery: an array of pointers to them.
  @_documentation(visibility: internal)
  @safe public struct ForwardedArguments {
    @usableFromInline internal let pointers: UnsafePointer<UnsafeMutableRawPointer>

    /// The index of the argument for the error; 0 if the method does not throw.
    @usableFromInline internal let errorIndex: Int

    /// Creates the arguments from the address of the array of pointers.
    @inlinable
    @inline(__always)
    @unsafe public init(_ address: UInt, errorAt errorIndex: Int = 0) {
      unsafe pointers = UnsafePointer(bitPattern: address).unsafelyUnwrapped
      self.errorIndex = errorIndex
    }

    /// An argument of one word, as an address.
    @inlinable
    @inline(__always)
    @unsafe internal func word(_ index: Int) -> UnsafeMutableRawPointer? {
      unsafe pointers[index].load(as: UnsafeMutableRawPointer?.self)
    }

    /// An argument of one word.
    @inlinable
    @inline(__always)
    @unsafe internal func bits(_ index: Int) -> UInt {
      unsafe pointers[index].load(as: UInt.self)
    }
  }

  /// The error for an argument that is not a value of the parameter's type.
  @_documentation(visibility: internal)
  public struct ForwardedMismatch: Error {
    internal let index: Int
    internal let expected: String
    internal let actual: String

    @usableFromInline
    @inline(never)
    internal init<Value: ~Copyable>(
      _ index: Int, _ type: Value.Type, is actual: String = "null"
    ) {
      self.index = index
      expected = String(reflecting: type)
      self.actual = actual
    }
  }

  extension ForwardedMarshal {
    /// Reads an argument.
    @inlinable
    @inline(__always)
    @unsafe public static func take<Value: ForwardedDirect>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value.Type
    ) throws(ForwardedMismatch) -> Value {
      // SAFETY: the argument has the type's encoding.
      guard let value = unsafe Value._read(arguments.pointers[index]) else {
        throw ForwardedMismatch(index, type)
      }
      return value
    }
    /// Reads an object. Its class is checked, since the encoding does not name it.
    @inlinable
    @inline(__always)
    @unsafe public static func take<Value: AnyObject>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value.Type
    ) throws(ForwardedMismatch) -> Value {
      guard let value = try unsafe take(arguments, index, as: Value?.self) else {
        throw ForwardedMismatch(index, type)
      }
      return value
    }
    /// Reads an object. Its class is checked, since the encoding does not name it.
    @inlinable
    @inline(__always)
    @unsafe public static func take<Value: AnyObject>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value?.Type
    ) throws(ForwardedMismatch) -> Value? {
      // SAFETY: the argument is an object that is alive, or null.
      guard let pointer = unsafe arguments.word(index) else { return nil }
      try unsafe check(UInt(bitPattern: pointer), as: Value.self, index)
      return unsafe Unmanaged<Value>.fromOpaque(pointer).takeUnretainedValue()
    }
    /// Reads an argument.
    @inlinable
    @inline(__always)
    @unsafe public static func take<Value>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value.Type
    ) throws(ForwardedMismatch) -> Value {
      guard let address = unsafe arguments.word(index) else { throw ForwardedMismatch(index, type) }
      // SAFETY: the argument's encoding names the type, and the table has compared
      // encodings.
      return unsafe address.assumingMemoryBound(to: Value.self).pointee
    }

    @usableFromInline
    internal static func ofClass(_ object: AnyObject) -> String {
      "an object of class \(Swift.type(of: object))"
    }
  }

  // MARK: - Throwing

  extension ForwardedArguments {
    /// Whether an earlier responder has thrown.
    @inlinable
    @inline(__always)
    @unsafe public var hasFailed: Bool {
      // SAFETY: the argument is the address of an optional error, or null.
      guard let cell = unsafe word(errorIndex) else { return false }
      guard let error = unsafe cell.assumingMemoryBound(to: (any Error)?.self).pointee else {
        return false
      }
      return Self.isFailure(error)
    }

    /// Passes an error to the caller.
    @inlinable
    @inline(__always)
    @unsafe public func fail(_ error: any Error) {
      // SAFETY: as above.
      if let cell = unsafe word(errorIndex) {
        unsafe cell.assumingMemoryBound(to: (any Error)?.self).pointee = error
      }
    }
  }
#endif

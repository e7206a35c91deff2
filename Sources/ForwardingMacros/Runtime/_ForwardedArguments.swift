// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// One delivery to a listener, as the fan-out passes it. For generated code.
  @_documentation(visibility: internal)
  @safe public struct _ForwardedArguments {
    /// A pointer to each argument, the receiver included.
    @usableFromInline internal let pointers: UnsafePointer<UnsafeMutableRawPointer>
    /// The address of the memory for the value of the result register.
    @usableFromInline internal let result: UInt
    /// The index of the argument for a result that is returned in memory. If the
    /// result is returned in the register, there is no such argument.
    @usableFromInline internal let resultIndex: Int
    /// The index of the argument for the error; 0 if the method does not throw.
    @usableFromInline internal let errorIndex: Int

    /// Creates the arguments from the addresses that the fan-out passes.
    @inlinable
    @inline(__always)
    @unsafe internal init(
      _ address: UInt, result: UInt, at resultIndex: Int, errorAt errorIndex: Int
    ) {
      unsafe pointers = UnsafePointer(bitPattern: address).unsafelyUnwrapped
      self.result = result
      self.resultIndex = resultIndex
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

  /// The error for an argument that is not a value of the parameter's type. For
  /// generated code.
  @_documentation(visibility: internal)
  public struct _ForwardedMismatch: Error {
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

    /// Creates the error for a slot whose bytes are not a value of the type.
    @usableFromInline
    @inline(never)
    @unsafe internal init<Value: _ForwardedDirect>(
      _ index: Int, _ type: Value.Type, in slot: UnsafeRawPointer
    ) {
      // SAFETY: the slot has at least a byte.
      self.init(index, type, is: unsafe Value._describeInvalid(slot.load(as: UInt8.self)))
    }
  }

  extension _ForwardedDirect {
    /// Describes a slot without a value, by its first byte: `the byte 2`, or `null`.
    @usableFromInline
    internal static func _describeInvalid(_ byte: UInt8) -> String {
      // The other types without a value for all bytes are pointers.
      Self.self == Bool.self ? "the byte \(byte)" : "null"
    }
  }

  // MARK: - Reading arguments

  extension _ForwardedArguments {
    /// Reads an argument.
    @inlinable
    @inline(__always)
    @unsafe public func take<Value: _ForwardedDirect>(
      _ index: Int, as type: Value.Type
    ) throws(_ForwardedMismatch) -> Value {
      // SAFETY: the argument has the type's encoding.
      guard let value = unsafe Value._read(pointers[index]) else {
        throw unsafe _ForwardedMismatch(index, type, in: pointers[index])
      }
      return value
    }
    /// Reads an object. Its class is checked, since the encoding does not name it.
    @inlinable
    @inline(__always)
    @unsafe public func take<Value: AnyObject>(
      _ index: Int, as type: Value.Type
    ) throws(_ForwardedMismatch) -> Value {
      guard let value = try unsafe take(index, as: Value?.self) else {
        throw _ForwardedMismatch(index, type)
      }
      return value
    }
    /// Reads an object. Its class is checked, since the encoding does not name it.
    @inlinable
    @inline(__always)
    @unsafe public func take<Value: AnyObject>(
      _ index: Int, as type: Value?.Type
    ) throws(_ForwardedMismatch) -> Value? {
      // SAFETY: the argument is an object that is alive, or null.
      guard let pointer = unsafe word(index) else { return nil }
      try unsafe _ForwardedMarshal.check(UInt(bitPattern: pointer), as: Value.self, index)
      return unsafe Unmanaged<Value>.fromOpaque(pointer).takeUnretainedValue()
    }
    /// Reads an argument.
    @inlinable
    @inline(__always)
    @unsafe public func take<Value>(
      _ index: Int, as type: Value.Type
    ) throws(_ForwardedMismatch) -> Value {
      guard let address = unsafe word(index) else { throw _ForwardedMismatch(index, type) }
      // SAFETY: the argument's encoding names the type, and the table has compared
      // encodings.
      return unsafe address.assumingMemoryBound(to: Value.self).pointee
    }
  }

  extension _ForwardedMarshal {
    @usableFromInline
    internal static func ofClass(_ object: AnyObject) -> String {
      "an object of class \(Swift.type(of: object))"
    }
  }

  // MARK: - Throwing

  extension _ForwardedArguments {
    /// Whether an earlier responder has thrown.
    @inlinable
    @inline(__always)
    @unsafe internal var hasFailed: Bool {
      // SAFETY: the argument is the address of an optional error, or null.
      guard let cell = unsafe word(errorIndex) else { return false }
      guard let error = unsafe cell.assumingMemoryBound(to: (any Error)?.self).pointee else {
        return false
      }
      return Self.isFailure(error)
    }

    /// Passes an error of a method with a result to the caller.
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

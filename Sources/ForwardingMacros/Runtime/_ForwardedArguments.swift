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
    internal let raw: RawMismatch

    /// Creates the error for a null pointer.
    @usableFromInline
    @inline(never)
    internal init<Value: ~Copyable>(_ index: Int, _ type: Value.Type) {
      raw = .null(index, expected: String(describing: type))
    }

    /// Creates the error for an object of another class.
    @usableFromInline
    @inline(never)
    internal init<Value: AnyObject>(_ index: Int, _ type: Value.Type, is object: AnyObject) {
      raw = .object(index, object, expected: type)
    }

    /// Creates the error for a slot whose bytes are not a value of the type.
    @usableFromInline
    @inline(never)
    @unsafe internal init<Value: _ForwardedDirect>(
      _ index: Int, _ type: Value.Type, in slot: UnsafeRawPointer
    ) {
      // SAFETY: the slot has at least a byte.
      raw = unsafe Value._mismatch(index, slot.load(as: UInt8.self))
    }
  }

  extension _ForwardedDirect {
    /// Says why the slot of an argument, or of the result if there is no index, holds no
    /// value. `byte` is its first.
    internal static func _mismatch(_ index: Int?, _ byte: UInt8) -> RawMismatch {
      // The other types without a value for all bytes are pointers.
      Self.self == Bool.self
        ? .byte(index, byte) : .null(index, expected: String(describing: Self.self))
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

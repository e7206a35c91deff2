// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// The arguments of a delivery, behind pointers.
  @_documentation(visibility: internal)
  @safe public struct ForwardedArguments {
    @usableFromInline internal let slots: UnsafePointer<UnsafeMutableRawPointer>

    /// The place of the error; 0 for methods that do not throw.
    @usableFromInline internal let errorIndex: Int

    /// The pointers that are at an address.
    @inlinable
    @inline(__always)
    @unsafe public init(_ address: UInt, errorAt errorIndex: Int = 0) {
      unsafe slots = UnsafePointer(bitPattern: address).unsafelyUnwrapped
      self.errorIndex = errorIndex
    }

    /// The word in a slot, as an address.
    @inlinable
    @inline(__always)
    @unsafe internal func word(_ index: Int) -> UnsafeMutableRawPointer? {
      unsafe slots[index].load(as: UnsafeMutableRawPointer?.self)
    }

    /// The word in a slot.
    @inlinable
    @inline(__always)
    @unsafe internal func bits(_ index: Int) -> UInt {
      unsafe slots[index].load(as: UInt.self)
    }
  }

  /// An argument that is no value of its type.
  @_documentation(visibility: internal)
  public struct ForwardedMismatch: Error {
    internal let index: Int
    internal let expected: String
    internal let actual: String

    @usableFromInline
    @inline(never)
    internal init<Value>(_ index: Int, _: Value.Type, is actual: String = "null") {
      self.index = index
      expected = String(reflecting: Value.self)
      self.actual = actual
    }
  }

  extension ForwardedSlot {
    /// Reads an argument.
    @inlinable
    @inline(__always)
    @unsafe public static func take<Value: ForwardedDirect>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value.Type
    ) throws(ForwardedMismatch) -> Value {
      // SAFETY: the table has found that the slot is of the type's encoding.
      guard let value = unsafe Value._read(arguments.slots[index]) else {
        throw ForwardedMismatch(index, type)
      }
      return value
    }
    /// Reads an argument, whose class is checked: the encoding does not tell it.
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
    /// Reads an argument, whose class is checked: the encoding does not tell it.
    @inlinable
    @inline(__always)
    @unsafe public static func take<Value: AnyObject>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value?.Type
    ) throws(ForwardedMismatch) -> Value? {
      // SAFETY: the slot holds an object that is alive, or null.
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
      // SAFETY: the table has found that the slot is the address of such a
      // value, by the name of the type.
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
      // SAFETY: the slot is the address of an optional error, or null.
      guard let cell = unsafe word(errorIndex) else { return false }
      guard let error = unsafe cell.assumingMemoryBound(to: (any Error)?.self).pointee else {
        return false
      }
      return Self.isFailure(error)
    }

    /// Hands an error to the caller.
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// How values of a type stand in a call: by overloads, so that the compiler
  /// chooses where it knows the type.
  ///
  /// | Swift type | encoding | slot |
  /// |---|---|---|
  /// | `ForwardedDirect` | its own | the value |
  /// | classes, `AnyObject`, and optionals of them | `@` | the object |
  /// | others | `^{Module.Type}` | the address of a value |
  ///
  /// A result of another type comes back by an argument behind the method's own,
  /// the address of an optional that the caller has made nil; the result in the
  /// register says that there is one. Whoever answers assigns to it, so whatever
  /// was there is released, however many answer.
  @_documentation(visibility: internal)
  public enum ForwardedSlot {}

  // MARK: - Passing arguments

  // The type is named, since a value of an existential would be opened otherwise.

  extension ForwardedSlot {
    /// Calls `body` with what stands in an argument's slot.
    @inlinable
    @inline(__always)
    @unsafe public static func pass<Value: ForwardedDirect, Output, Failure: Error>(
      _ value: Value, as _: Value.Type, _ body: (Value) throws(Failure) -> Output
    ) throws(Failure) -> Output {
      try body(value)
    }
    /// Calls `body` with what stands in an argument's slot.
    @inlinable
    @inline(__always)
    @unsafe public static func pass<Value: AnyObject, Output, Failure: Error>(
      _ value: Value, as _: Value.Type, _ body: (UInt) throws(Failure) -> Output
    ) throws(Failure) -> Output {
      defer { withExtendedLifetime(value) {} }
      return try unsafe body(UInt(bitPattern: Unmanaged.passUnretained(value).toOpaque()))
    }
    /// Calls `body` with what stands in an argument's slot.
    @inlinable
    @inline(__always)
    @unsafe public static func pass<Value: AnyObject, Output, Failure: Error>(
      _ value: Value?, as _: Value?.Type, _ body: (UInt) throws(Failure) -> Output
    ) throws(Failure) -> Output {
      defer { withExtendedLifetime(value) {} }
      return try unsafe body(
        UInt(bitPattern: value.map { unsafe Unmanaged.passUnretained($0).toOpaque() }))
    }
    /// Calls `body` with what stands in an argument's slot.
    @inlinable
    @inline(__always)
    @unsafe public static func pass<Value, Output, Failure: Error>(
      _ value: Value, as _: Value.Type, _ body: (UInt) throws(Failure) -> Output
    ) throws(Failure) -> Output {
      try unsafe withUnsafePointer(to: value) { pointer throws(Failure) in
        try body(UInt(bitPattern: pointer))
      }
    }
  }

  // MARK: - Arguments that are changed

  extension ForwardedSlot {
    /// Calls `body` with the address of an argument, which it may change.
    @inlinable
    @inline(__always)
    @unsafe public static func passInout<Value, Output, Failure: Error>(
      _ value: inout Value, as _: Value.Type, _ body: (UInt) throws(Failure) -> Output
    ) throws(Failure) -> Output {
      try unsafe withUnsafeMutablePointer(to: &value) { pointer throws(Failure) in
        try body(UInt(bitPattern: pointer))
      }
    }

    /// The place of an argument that may be changed.
    @inlinable
    @inline(__always)
    @unsafe public static func takeInout<Value>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value.Type
    ) throws(ForwardedMismatch) -> UnsafeMutablePointer<Value> {
      guard let address = unsafe arguments.word(index) else { throw ForwardedMismatch(index, type) }
      // SAFETY: the table has found that the slot is the address of such a
      // value, by the name of the type.
      return unsafe address.assumingMemoryBound(to: Value.self)
    }
    /// The place of an argument that may be changed, whose class is checked: the
    /// encoding does not tell it.
    @inlinable
    @inline(__always)
    @unsafe public static func takeInout<Value: AnyObject>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value.Type
    ) throws(ForwardedMismatch) -> UnsafeMutablePointer<Value> {
      // SAFETY: the slot is the address of an object or null.
      guard let address = unsafe arguments.word(index),
        let object = unsafe address.load(as: AnyObject?.self)
      else { throw ForwardedMismatch(index, type) }
      guard object is Value else { throw ForwardedMismatch(index, type, is: ofClass(object)) }
      return unsafe address.assumingMemoryBound(to: Value.self)
    }
  }

  // MARK: - Receivers

  extension ForwardedSlot {
    /// Calls `body` with the listener of a delivery, whom the fan-out keeps alive
    /// so that no reference is counted.
    @inlinable
    @inline(__always)
    @unsafe public static func with<Value: AnyObject, Output>(
      _ receiver: UInt, as _: Value.Type, _ body: (Value) -> Output
    ) -> Output {
      let pointer = unsafe UnsafeRawPointer(bitPattern: receiver).unsafelyUnwrapped
      return unsafe Unmanaged<Value>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
    }

    /// The class of an object.
    @inlinable
    @inline(__always)
    @unsafe internal static func type(of object: UInt) -> UInt {
      let pointer = unsafe UnsafeRawPointer(bitPattern: object).unsafelyUnwrapped
      #if canImport(ObjectiveC)
        // The first word has more than the class in it there.
        return unsafe Unmanaged<AnyObject>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
          unsafe UInt(bitPattern: ObjectIdentifier(Swift.type(of: $0)))
        }
      #else
        // SAFETY: the caller says that it is an object, whose first word is its
        // class.
        return unsafe pointer.load(as: UInt.self)
      #endif
    }
  }

  // MARK: - Giving results

  extension ForwardedSlot {
    /// Writes a result.
    @inlinable
    @inline(__always)
    @unsafe public static func give<Value: ForwardedDirect>(
      _ value: Value, as _: Value.Type, _ result: UInt, _ arguments: ForwardedArguments, _ out: Int
    ) {
      unsafe store(value, result)
    }
    /// Writes a result, retained for the caller.
    @inlinable
    @inline(__always)
    @unsafe public static func give<Value: AnyObject>(
      _ value: Value, as _: Value.Type, _ result: UInt, _ arguments: ForwardedArguments, _ out: Int
    ) {
      unsafe store(Unmanaged.passRetained(value), result)
    }
    /// Writes a result, retained for the caller.
    @inlinable
    @inline(__always)
    @unsafe public static func give<Value: AnyObject>(
      _ value: Value?, as _: Value?.Type, _ result: UInt, _ arguments: ForwardedArguments,
      _ out: Int
    ) {
      unsafe store(value.map { unsafe Unmanaged.passRetained($0) }, result)
    }
    /// Writes a result where the argument `out` says; that there is one, to
    /// `result`.
    @inlinable
    @inline(__always)
    @unsafe public static func give<Value>(
      _ value: Value, as _: Value.Type, _ result: UInt, _ arguments: ForwardedArguments, _ out: Int
    ) {
      // Null if the caller does not want it. SAFETY: else an optional, which the
      // caller has initialised; what an earlier responder left is released.
      if let room = unsafe arguments.word(out) {
        unsafe room.assumingMemoryBound(to: Value?.self).pointee = value
      }
      unsafe store(true, result)
    }

    @inlinable
    @inline(__always)
    @unsafe internal static func store<Value>(_ value: Value, _ result: UInt) {
      // SAFETY: the shim gives room for the method's result.
      unsafe UnsafeMutableRawPointer(bitPattern: result).unsafelyUnwrapped
        .initializeMemory(as: Value.self, to: value)
    }
  }

  // MARK: - Places and marks

  extension ForwardedSlot {
    /// How many arguments stand between a method's own and the error's place.
    @inlinable
    public static func extraArguments<Value: ForwardedDirect>(of _: Value.Type) -> Int { 0 }
    /// How many arguments stand between a method's own and the error's place.
    @inlinable
    public static func extraArguments<Value: AnyObject>(of _: Value.Type) -> Int { 0 }
    /// How many arguments stand between a method's own and the error's place.
    @inlinable
    public static func extraArguments<Value: AnyObject>(of _: Value?.Type) -> Int { 0 }
    /// How many arguments stand between a method's own and the error's place.
    @inlinable
    public static func extraArguments<Value>(of _: Value.Type) -> Int { 1 }

    /// Marks a call that may have to do with unsafe types.
    @inlinable
    @inline(__always)
    @unsafe public static func done(_: Void) {}

    /// A value, marked in the same way.
    @inlinable
    @inline(__always)
    @unsafe public static func same<Value>(_ value: Value) -> Value { value }
  }
#endif

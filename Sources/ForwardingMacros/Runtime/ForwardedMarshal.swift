// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// Passes arguments and results between Swift and the untyped proxy. Each
  /// function has overloads for the kinds of types. So the compiler chooses by
  /// the type, and generated code does not depend on a type's name.
  ///
  /// | Swift type | encoding | argument |
  /// |---|---|---|
  /// | `ForwardedDirect` | its own | the value |
  /// | classes, `AnyObject`, and optionals of them | `@` | the object |
  /// | others | `^{Module.Type}` | the address of a value |
  ///
  /// A result of another type needs one more argument behind the method's own:
  /// the address of an optional that the caller has initialised to nil. A
  /// responder assigns its result to the optional, which releases the result of
  /// an earlier responder, and returns true in the register.
  @_documentation(visibility: internal)
  public enum ForwardedMarshal {}

  // MARK: - Passing arguments

  // Generated code chooses the overload in a separate statement. With a closure
  // in the same expression, the type checker would check the closure once for
  // each overload, which takes exponential time for nested calls. The functions
  // are marked unsafe so that generated code can always write `unsafe`, which
  // arguments of unsafe pointer types need.

  extension ForwardedMarshal {
    /// Returns the type that passes an argument.
    @inlinable
    @inline(__always)
    @unsafe public static func passing<Value: ForwardedDirect>(
      _: Value.Type
    ) -> ForwardedDirectPassing<Value> { ForwardedDirectPassing() }
    /// Returns the type that passes an argument.
    @inlinable
    @inline(__always)
    @unsafe public static func passing<Value: AnyObject>(
      _: Value.Type
    ) -> ForwardedObjectPassing<Value> { ForwardedObjectPassing() }
    /// Returns the type that passes an argument.
    @inlinable
    @inline(__always)
    @unsafe public static func passing<Value: AnyObject>(
      _: Value?.Type
    ) -> ForwardedOptionalObjectPassing<Value> { ForwardedOptionalObjectPassing() }
    /// Returns the type that passes an argument.
    @inlinable
    @inline(__always)
    @unsafe public static func passing<Value>(
      _: Value.Type
    ) -> ForwardedAddressPassing<Value> { ForwardedAddressPassing() }
  }

  /// Passes a value unchanged.
  @_documentation(visibility: internal)
  public struct ForwardedDirectPassing<Value: ForwardedDirect> {
    @inlinable
    @inline(__always)
    internal init() {}

    /// Calls `body` with the argument in the form that it has in the frame.
    @inlinable
    @inline(__always)
    @unsafe public func pass<Output, Failure: Error>(
      _ value: Value, _ body: (Value) throws(Failure) -> Output
    ) throws(Failure) -> Output {
      try body(value)
    }
  }

  /// Passes an object.
  @_documentation(visibility: internal)
  public struct ForwardedObjectPassing<Value: AnyObject> {
    @inlinable
    @inline(__always)
    internal init() {}

    /// Calls `body` with the argument in the form that it has in the frame.
    @inlinable
    @inline(__always)
    @unsafe public func pass<Output, Failure: Error>(
      _ value: Value, _ body: (UInt) throws(Failure) -> Output
    ) throws(Failure) -> Output {
      defer { withExtendedLifetime(value) {} }
      return try unsafe body(UInt(bitPattern: Unmanaged.passUnretained(value).toOpaque()))
    }
  }

  /// Passes an object or nil.
  @_documentation(visibility: internal)
  public struct ForwardedOptionalObjectPassing<Value: AnyObject> {
    @inlinable
    @inline(__always)
    internal init() {}

    /// Calls `body` with the argument in the form that it has in the frame.
    @inlinable
    @inline(__always)
    @unsafe public func pass<Output, Failure: Error>(
      _ value: Value?, _ body: (UInt) throws(Failure) -> Output
    ) throws(Failure) -> Output {
      defer { withExtendedLifetime(value) {} }
      return try unsafe body(
        UInt(bitPattern: value.map { unsafe Unmanaged.passUnretained($0).toOpaque() }))
    }
  }

  /// Passes the address of a value.
  @_documentation(visibility: internal)
  public struct ForwardedAddressPassing<Value> {
    @inlinable
    @inline(__always)
    internal init() {}

    /// Calls `body` with the argument in the form that it has in the frame.
    @inlinable
    @inline(__always)
    @unsafe public func pass<Output, Failure: Error>(
      _ value: Value, _ body: (UInt) throws(Failure) -> Output
    ) throws(Failure) -> Output {
      try unsafe withUnsafePointer(to: value) { pointer throws(Failure) in
        try body(UInt(bitPattern: pointer))
      }
    }
  }

  // MARK: - Inout arguments

  extension ForwardedMarshal {
    /// Calls `body` with the address of an argument, which it may change.
    @inlinable
    @inline(__always)
    @unsafe public static func passInout<Value: ~Copyable, Output, Failure: Error>(
      _ value: inout Value, as _: Value.Type, _ body: (UInt) throws(Failure) -> Output
    ) throws(Failure) -> Output {
      try unsafe withUnsafeMutablePointer(to: &value) { pointer throws(Failure) in
        try body(UInt(bitPattern: pointer))
      }
    }

    /// The address of an `inout` argument.
    @inlinable
    @inline(__always)
    @unsafe public static func takeInout<Value: ~Copyable>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value.Type
    ) throws(ForwardedMismatch) -> UnsafeMutablePointer<Value> {
      guard let address = unsafe arguments.word(index) else { throw ForwardedMismatch(index, type) }
      // SAFETY: the argument's encoding names the type, and the table has compared
      // encodings.
      return unsafe address.assumingMemoryBound(to: Value.self)
    }
    /// The address of an `inout` object. Its class is checked, since the encoding
    /// does not name it.
    @inlinable
    @inline(__always)
    @unsafe public static func takeInout<Value: AnyObject>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value.Type
    ) throws(ForwardedMismatch) -> UnsafeMutablePointer<Value> {
      // SAFETY: the argument is the address of an object, or null.
      guard let address = unsafe arguments.word(index),
        let object = unsafe address.load(as: AnyObject?.self)
      else { throw ForwardedMismatch(index, type) }
      guard object is Value else { throw ForwardedMismatch(index, type, is: ofClass(object)) }
      return unsafe address.assumingMemoryBound(to: Value.self)
    }
  }

  // MARK: - Receivers

  extension ForwardedMarshal {
    /// Calls `body` with the listener of a delivery. The listener is not
    /// retained, since the fan-out keeps it alive.
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
        // On this platform the first word of an object has more than its class.
        return unsafe Unmanaged<AnyObject>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
          unsafe UInt(bitPattern: ObjectIdentifier(Swift.type(of: $0)))
        }
      #else
        // SAFETY: the caller passes an object, whose first word is its class.
        return unsafe pointer.load(as: UInt.self)
      #endif
    }
  }

  // MARK: - Writing results

  extension ForwardedMarshal {
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
    /// Writes a result to the address in the argument `out`, and true to
    /// `result`.
    @inlinable
    @inline(__always)
    @unsafe public static func give<Value>(
      _ value: Value, as _: Value.Type, _ result: UInt, _ arguments: ForwardedArguments, _ out: Int
    ) {
      // SAFETY: the word is null if the caller does not want the result.
      // Otherwise it is the address of an optional that the caller has
      // initialised.
      if let room = unsafe arguments.word(out) {
        unsafe room.assumingMemoryBound(to: Value?.self).pointee = value
      }
      unsafe store(true, result)
    }

    @inlinable
    @inline(__always)
    @unsafe internal static func store<Value>(_ value: Value, _ result: UInt) {
      // SAFETY: the C target passes memory that fits the method's result.
      unsafe UnsafeMutableRawPointer(bitPattern: result).unsafelyUnwrapped
        .initializeMemory(as: Value.self, to: value)
    }
  }

  // MARK: - Calls in thunks

  extension ForwardedMarshal {
    /// The number of arguments between a method's own and the one for its error.
    @inlinable
    public static func extraArguments<Value: ForwardedDirect>(of _: Value.Type) -> Int { 0 }
    /// The number of arguments between a method's own and the one for its error.
    @inlinable
    public static func extraArguments<Value: AnyObject>(of _: Value.Type) -> Int { 0 }
    /// The number of arguments between a method's own and the one for its error.
    @inlinable
    public static func extraArguments<Value: AnyObject>(of _: Value?.Type) -> Int { 0 }
    /// The number of arguments between a method's own and the one for its error.
    @inlinable
    public static func extraArguments<Value>(of _: Value.Type) -> Int { 1 }

    /// The argument of a C function as a value of the parameter's type.
    @inlinable
    @inline(__always)
    public static func register<Value: ForwardedDirect>(_ value: Value, as _: Value.Type) -> Value {
      value
    }
    /// The argument of a C function as a `Bool`.
    @inlinable
    @inline(__always)
    public static func register(_ value: UInt8, as _: Bool.Type) -> Bool { value != 0 }
    /// Lets a C function compile if the user has a type with the name of a
    /// standard number type. `ForwardedMethod` does not use such a C function.
    @inlinable
    public static func register<Word, Value>(_: Word, as _: Value.Type) -> Value {
      preconditionFailure("a C function of other types than the method's")
    }

    /// Marks an expression as unsafe. Generated code writes `unsafe` before
    /// every call, which would be a warning if no type in the call is unsafe.
    @inlinable
    @inline(__always)
    @unsafe public static func done(_: Void) {}

    /// Marks an expression with a value as unsafe.
    @inlinable
    @inline(__always)
    @unsafe public static func same<Value>(_ value: Value) -> Value { value }
  }
#endif

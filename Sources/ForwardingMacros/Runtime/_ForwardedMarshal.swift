// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// Passes arguments and results between Swift and the untyped proxy. For
  /// generated code, which calls it `_M`.
  ///
  /// Each function has overloads for the kinds of types. So the compiler chooses by
  /// the type, and generated code does not depend on a type's name.
  ///
  /// | Swift type | encoding | argument |
  /// |---|---|---|
  /// | `_ForwardedDirect` | its own | the value |
  /// | classes, `AnyObject`, and optionals of them | `@` | the object |
  /// | others | `^{Module.Type}` | the address of a value |
  ///
  /// A result of another type needs one more argument behind the method's own:
  /// the address of an optional that the caller has initialised to nil. A
  /// responder assigns its result to the optional, which releases the result of
  /// an earlier responder, and returns true in the register.
  @_documentation(visibility: internal)
  public enum _ForwardedMarshal {
    /// The error for an argument that is not a value of the parameter's type.
    public typealias Mismatch = _ForwardedMismatch
  }

  extension _ForwardedBase {
    /// The name of `_ForwardedMarshal` in generated code.
    @_documentation(visibility: internal)
    public typealias _M = _ForwardedMarshal
  }

  // MARK: - Passing arguments

  // Generated code chooses the overload in a separate statement. With a closure
  // in the same expression, the type checker would check the closure once for
  // each overload, which takes exponential time for nested calls. The functions
  // are marked unsafe so that generated code can always write `unsafe`, which
  // arguments of unsafe pointer types need.

  extension _ForwardedMarshal {
    /// Returns the type that passes an argument.
    @inlinable
    @inline(__always)
    @unsafe public static func passing<Value: _ForwardedDirect>(
      _: Value.Type
    ) -> _ForwardedDirectPassing<Value> { _ForwardedDirectPassing() }
    /// Returns the type that passes an argument.
    @inlinable
    @inline(__always)
    @unsafe public static func passing<Value: AnyObject>(
      _: Value.Type
    ) -> _ForwardedObjectPassing<Value> { _ForwardedObjectPassing() }
    /// Returns the type that passes an argument.
    @inlinable
    @inline(__always)
    @unsafe public static func passing<Value: AnyObject>(
      _: Value?.Type
    ) -> _ForwardedOptionalObjectPassing<Value> { _ForwardedOptionalObjectPassing() }
    /// Returns the type that passes an argument.
    @inlinable
    @inline(__always)
    @unsafe public static func passing<Value>(
      _: Value.Type
    ) -> _ForwardedAddressPassing<Value> { _ForwardedAddressPassing() }
  }

  /// Passes a value unchanged. For generated code.
  @_documentation(visibility: internal)
  public struct _ForwardedDirectPassing<Value: _ForwardedDirect> {
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

  /// Passes an object. For generated code.
  @_documentation(visibility: internal)
  public struct _ForwardedObjectPassing<Value: AnyObject> {
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

  /// Passes an object or nil. For generated code.
  @_documentation(visibility: internal)
  public struct _ForwardedOptionalObjectPassing<Value: AnyObject> {
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

  /// Passes the address of a value. For generated code.
  @_documentation(visibility: internal)
  public struct _ForwardedAddressPassing<Value> {
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

  extension _ForwardedMarshal {
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
  }

  extension _ForwardedArguments {
    /// The address of an `inout` argument.
    @inlinable
    @inline(__always)
    @unsafe public func takeInout<Value: ~Copyable>(
      _ index: Int, as type: Value.Type
    ) throws(_ForwardedMismatch) -> UnsafeMutablePointer<Value> {
      guard let address = unsafe word(index) else { throw _ForwardedMismatch(index, type) }
      // SAFETY: the argument's encoding names the type, and the table has compared
      // encodings.
      return unsafe address.assumingMemoryBound(to: Value.self)
    }
    /// The address of an `inout` object. Its class is checked, since the encoding
    /// does not name it.
    @inlinable
    @inline(__always)
    @unsafe public func takeInout<Value: AnyObject>(
      _ index: Int, as type: Value.Type
    ) throws(_ForwardedMismatch) -> UnsafeMutablePointer<Value> {
      // SAFETY: the argument is the address of an object, or null.
      guard let address = unsafe word(index),
        let object = unsafe address.load(as: AnyObject?.self)
      else { throw _ForwardedMismatch(index, type) }
      guard object is Value else { throw _ForwardedMismatch(index, type, is: object) }
      return unsafe address.assumingMemoryBound(to: Value.self)
    }
  }

  // MARK: - Receivers

  extension _ForwardedMarshal {
    /// Delivers a call to a listener: the body of a packed function.
    ///
    /// - Parameters:
    ///   - proxy: the class of the protocol's proxy.
    ///   - method: the index among the protocol's own methods.
    ///   - count: the number of the method's own arguments.
    ///   - extra: for a method that throws, the number of arguments between its own
    ///     and the one for its error. Negative for other methods.
    ///   - conformance: the context of the function: the witness table of the
    ///     listener's conformance.
    ///   - receiver: the listener.
    ///   - arguments: the address of the pointers to the arguments.
    ///   - result: the address of the memory for the result.
    ///   - failure: the address of the `fwd_error`.
    ///   - body: calls the listener.
    /// - Returns: the status.
    @inlinable
    @inline(__always)
    @unsafe public static func deliver<Proxy: _ForwardedDescription>(
      _ proxy: Proxy.Type, _ method: Int, _ count: Int, throws extra: Int = -1,
      _ conformance: UInt, _ receiver: UInt, _ arguments: UInt, _ result: UInt, _ failure: UInt,
      _ body: (Proxy._Conformer, _ForwardedArguments) throws(_ForwardedMismatch) -> Void
    ) -> UInt32 {
      let errorIndex = extra < 0 ? 0 : count + 1 + extra
      let arguments = unsafe _ForwardedArguments(
        arguments, result: result, at: count + 1, errorAt: errorIndex)
      if unsafe errorIndex != 0 && arguments.hasFailed { return 0 }
      do throws(_ForwardedMismatch) {
        try unsafe with(receiver, conformance, as: Proxy._Conformer.self) {
          (listener) throws(_ForwardedMismatch) in try body(listener, arguments)
        }
        return 0
      } catch {
        return unsafe proxy._protocol.report(error, failure, method)
      }
    }

    /// Delivers a call to a listener: the body of a C function of the method's own
    /// types.
    @inlinable
    @inline(__always)
    @unsafe public static func deliver<Proxy: _ForwardedDescription>(
      _ proxy: Proxy.Type, _ method: Int, _ conformance: UInt, _ receiver: UInt,
      _ body: (Proxy._Conformer) throws(_ForwardedMismatch) -> Void
    ) {
      do throws(_ForwardedMismatch) {
        try unsafe with(receiver, conformance, as: Proxy._Conformer.self, body)
      } catch {
        unsafe proxy._protocol.report(error, method)
      }
    }

    /// Calls `body` with the listener of a delivery. The listener is not
    /// retained, since the fan-out keeps it alive.
    @inlinable
    @inline(__always)
    @unsafe internal static func with<Listener>(
      _ receiver: UInt, _ conformance: UInt, as _: Listener.Type,
      _ body: (Listener) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      // The listener is made of its two words and never destroyed, so that no
      // reference is counted. Not in a temporary allocation, which has a second path
      // for large sizes: the optimiser would then not inline `body`.
      var words = (receiver, conformance)
      var mismatch: _ForwardedMismatch?
      unsafe withUnsafeMutablePointer(to: &words) { words in
        // SAFETY: an existential of a class protocol is the object and the witness
        // table of its conformance. `_ForwardedProtocol.init` checks its size.
        let room = unsafe UnsafeMutableRawPointer(words).bindMemory(
          to: Listener.self, capacity: 1)
        let listener = unsafe room.move()
        do throws(_ForwardedMismatch) { try body(listener) } catch { mismatch = error }
        unsafe room.initialize(to: consume listener)
      }
      if let mismatch { throw mismatch }
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

  extension _ForwardedArguments {
    /// Writes a result.
    @inlinable
    @inline(__always)
    @unsafe public func give<Value: _ForwardedDirect>(_ value: Value, as _: Value.Type) {
      unsafe _ForwardedMarshal.store(value, result)
    }
    /// Writes a result, retained for the caller.
    @inlinable
    @inline(__always)
    @unsafe public func give<Value: AnyObject>(_ value: Value, as _: Value.Type) {
      unsafe _ForwardedMarshal.store(Unmanaged.passRetained(value), result)
    }
    /// Writes a result, retained for the caller.
    @inlinable
    @inline(__always)
    @unsafe public func give<Value: AnyObject>(_ value: Value?, as _: Value?.Type) {
      unsafe _ForwardedMarshal.store(value.map { unsafe Unmanaged.passRetained($0) }, result)
    }
    /// Assigns a result to the optional in the caller's memory, and writes true to
    /// the result register.
    @inlinable
    @inline(__always)
    @unsafe public func give<Value>(_ value: Value, as _: Value.Type) {
      // SAFETY: the word is null if the caller does not want the result.
      // Otherwise it is the address of an optional that the caller has
      // initialised.
      if let room = unsafe word(resultIndex) {
        unsafe room.assumingMemoryBound(to: Value?.self).pointee = value
      }
      unsafe _ForwardedMarshal.store(true, result)
    }
  }

  extension _ForwardedMarshal {
    @inlinable
    @inline(__always)
    @unsafe internal static func store<Value>(_ value: Value, _ result: UInt) {
      // SAFETY: the C target passes memory that fits the method's result.
      unsafe UnsafeMutableRawPointer(bitPattern: result).unsafelyUnwrapped
        .initializeMemory(as: Value.self, to: value)
    }
  }

  // MARK: - Calls in thunks

  extension _ForwardedMarshal {
    /// The number of arguments between a method's own and the one for its error.
    @inlinable
    public static func extraArguments<Value: _ForwardedDirect>(of _: Value.Type) -> Int { 0 }
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
    public static func register<Value: _ForwardedDirect>(_ value: Value, as _: Value.Type) -> Value
    {
      value
    }
    /// Lets a C function compile if the user has a type with the name of a
    /// standard number type. `_ForwardedMethod` does not use such a C function.
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

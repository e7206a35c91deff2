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

  // MARK: - Encodings

  extension ForwardedSlot {
    /// The encoding of an argument.
    public static func encoding<Value: ForwardedDirect>(of _: Value.Type) -> String {
      Value._encoding
    }
    /// The encoding of an argument.
    public static func encoding<Value: AnyObject>(of _: Value.Type) -> String { "@" }
    /// The encoding of an argument.
    public static func encoding<Value: AnyObject>(of _: Value?.Type) -> String { "@" }
    /// The encoding of an argument.
    public static func encoding<Value>(of type: Value.Type) -> String {
      ForwardedEncoding.indirect(type)
    }

    /// The encoding of an `inout` argument: the address of a value that may be
    /// changed.
    public static func inoutEncoding<Value>(of type: Value.Type) -> String {
      "N" + ForwardedEncoding.pointer(to: type)
    }

    /// How a method without a result gives it.
    public static func result(of _: Void.Type) -> ForwardedResult {
      ForwardedResult(encoding: "v", out: nil)
    }
    /// How a result comes back.
    public static func result<Value: ForwardedDirect>(of _: Value.Type) -> ForwardedResult {
      ForwardedResult(encoding: Value._encoding, out: nil)
    }
    /// How a result comes back, and what it is if nobody responds.
    public static func result<Value: ForwardedDirect & Sendable>(
      of _: Value.Type, default value: Value
    ) -> ForwardedResult {
      ForwardedResult(encoding: Value._encoding, out: nil, defaultValue: value)
    }
    /// How a result comes back.
    public static func result<Value: AnyObject>(of _: Value.Type) -> ForwardedResult {
      ForwardedResult(encoding: "@", out: nil)
    }
    /// How a result comes back.
    public static func result<Value: AnyObject>(of _: Value?.Type) -> ForwardedResult {
      ForwardedResult(encoding: "@", out: nil)
    }
    /// How a result comes back.
    public static func result<Value>(of _: Value.Type) -> ForwardedResult {
      ForwardedResult(encoding: "B", out: ForwardedEncoding.indirect(Value?.self))
    }
  }

  /// How the result of a method comes back.
  @_documentation(visibility: internal)
  public struct ForwardedResult: Sendable {
    internal let encoding: String
    /// The encoding of the argument that it comes back by.
    internal let out: String?
    internal var defaultValue: (any Sendable)?

    internal var isVoid: Bool { encoding == "v" }

    /// The type, for messages.
    internal var inWords: String {
      let optional = "^{Swift.Optional<"
      guard let out, out.hasPrefix(optional) else { return ForwardedEncoding.inWords(encoding) }
      return String(out.dropFirst(optional.count).dropLast(2))
    }
  }

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
      _ value: inout Value, _ body: (UInt) throws(Failure) -> Output
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

  // MARK: - Taking arguments

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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Converts between values of one Swift type and the bytes of one type
/// encoding.
///
/// A *slot* is the memory of an argument or a result. It has what C has there:
/// a number, a pointer, a struct. These Swift types fit these encodings:
///
/// | Swift type | encoding |
/// |---|---|
/// | integers, `Float`, `Double`, `Float80` | a number of the same size, signedness and kind |
/// | `Bool` | `B`; a byte other than 0 and 1 is an error |
/// | `UnsafePointer<T>` and its mutable form | `^v`, any `^{…}` and `^(…)`, `^T`, arrays of `T`; `*` for characters |
/// | raw and opaque pointers | anything that is a pointer |
/// | `String` | `*`, as a copy; see `isCopied` |
/// | classes, `AnyObject`, `Unmanaged` | `@` |
/// | `AnyClass` | `#` |
/// | `MethodSelector` | `:` |
/// | `@convention(c)` functions | `^?` |
/// | `TypeEncodable` | an equivalent encoding |
/// | `RawRepresentable` | the encodings that the raw value's type fits |
/// | `Void` | `v` |
/// | any other type | `^{Module.Type}`, the type's name; see `AddressTranslator` |
///
/// Pointers, strings, classes, selectors and functions may be optional. If they
/// are not, null is an error.
///
/// A coder is created once, which checks the types. If the bytes are just
/// copied, each use then costs one branch.
@usableFromInline
internal struct ValueCoder<Value>: Sendable {
  @usableFromInline
  internal enum Form: Sendable {
    /// The bytes are the value.
    case bitwise
    /// The slot is one byte: 0 is false, 1 is true, and any other byte is an error.
    case bool
    /// The slot is a word. The bytes are the value unless they are null, which
    /// is an error.
    case nonNull
    /// A translator converts the value.
    case translated(ValueTranslator<Value>)
  }

  @usableFromInline internal let form: Form

  /// Whether the value is a reference-counted object. A slot borrows the
  /// reference, except in `encodeRetained`.
  @usableFromInline internal let isObject: Bool

  internal init(_ form: Form, isObject: Bool = false) {
    self.form = form
    self.isObject = isObject
  }

  /// Creates a coder for slots of `encoding`. Throws if `Value` does not fit
  /// the encoding.
  @usableFromInline
  internal init(for encoding: TypeEncoding) throws(ValueMismatch) {
    self = try ValueCoder.matching(encoding)
  }

  /// Finds out how values stand in slots of `encoding` that outlive the writer,
  /// such as that of a result; throws if they have no place there.
  internal init(storingIn encoding: TypeEncoding) throws(ValueMismatch) {
    try self.init(for: encoding)
    guard !isCopied else {
      throw .type(
        Value.self, in: encoding,
        because: ", whose copy as a C string would have no owner; use UnsafePointer<CChar>")
    }
  }

  /// Whether the slot points to a copy of the value, which the writer of the
  /// slot has to keep: a `String`. `encodeCopying(_:into:)` writes such values.
  internal var isCopied: Bool { translator?.isCopied ?? false }

  internal var translator: ValueTranslator<Value>? {
    if case .translated(let translator) = form { translator } else { nil }
  }

  /// Whether decoding is a plain load of the bytes.
  @usableFromInline internal var isBitwise: Bool {
    if case .bitwise = form { true } else { false }
  }
}

// MARK: - Coding

extension ValueCoder {
  /// Reads a value from a slot, which must be aligned for the encoding. An
  /// object is retained: the slot keeps its own reference.
  @inlinable
  @inline(__always)
  internal func decode(from slot: UnsafeRawPointer) throws(ValueMismatch) -> Value {
    // SAFETY: `matching` has checked that the encoding has the size of the
    // type, and that all bytes are a value of it.
    if case .bitwise = form { return unsafe slot.load(as: Value.self) }
    return try unsafe decodeChecked(from: slot)
  }

  @usableFromInline
  internal func decodeChecked(from slot: UnsafeRawPointer) throws(ValueMismatch) -> Value {
    switch form {
    case .bitwise: break
    case .bool:
      // SAFETY: `matching` uses this form for Bool only, whose slot is one
      // byte.
      let byte = unsafe slot.load(as: UInt8.self)
      if byte > 1 { throw .byte(byte) }
    case .nonNull:
      // SAFETY: `matching` uses this form for types that are one word only.
      if unsafe slot.load(as: UInt.self) == 0 { throw .null(Value.self) }
    case .translated(let translator):
      return try unsafe translator.decode(from: slot)
    }
    // SAFETY: as in `decode(from:)`, and the bytes are a value.
    return unsafe slot.load(as: Value.self)
  }

  /// Writes a value to a slot, which must be aligned for the encoding and have
  /// its size. An object is not retained: the caller must keep it alive as long
  /// as the slot is read.
  @inlinable
  internal func encode(_ value: Value, into slot: UnsafeMutableRawPointer) {
    if case .translated(let translator) = form, translator.translatesEncoding {
      return unsafe translator.encode(value, into: slot)
    }
    // SAFETY: the slot has at least the size of the type. Bytes are copied, so
    // that no reference is counted.
    unsafe withUnsafeBytes(of: value) { bytes in
      if let start = bytes.baseAddress {
        unsafe slot.copyMemory(from: start, byteCount: bytes.count)
      }
    }
  }

  /// Writes a value to a slot as `encode(_:into:)` does, and gives what the
  /// caller has to keep as long as the slot is read: the copy of a string.
  ///
  /// - Throws: `ValueMismatch` with the code `valueNotRepresentable` for a string
  ///   with a NUL in it, which C would cut off there.
  @unsafe internal func encodeCopying(
    _ value: Value, into slot: UnsafeMutableRawPointer
  ) throws(ValueMismatch) -> AnyObject? {
    guard isCopied, case .translated(let translator) = form else {
      unsafe encode(value, into: slot)
      return nil
    }
    return try unsafe translator.encodeCopy(value, into: slot)
  }

  /// Writes a value to a slot. An object is retained, and the reader of the
  /// slot must release it.
  @inlinable
  internal func encodeRetained(_ value: Value, into slot: UnsafeMutableRawPointer) {
    unsafe encode(value, into: slot)
    guard isObject else { return }
    // SAFETY: the slot holds the object that `value` keeps alive, or null.
    withExtendedLifetime(value) {
      _ = unsafe slot.load(as: Unmanaged<AnyObject>?.self)?.retain()
    }
  }

  /// Reads a value from a slot that `encodeRetained` wrote, and releases the
  /// reference of the slot, on failure too.
  @usableFromInline
  internal func decodeRetained(from slot: UnsafeRawPointer) throws(ValueMismatch) -> Value {
    // SAFETY: the slot has a reference of its own if it is an object.
    defer { if isObject { unsafe slot.load(as: Unmanaged<AnyObject>?.self)?.release() } }
    return try unsafe decode(from: slot)
  }
}

/// Converts values whose bytes are not simply copied.
@usableFromInline
internal class ValueTranslator<Value>: @unchecked Sendable {
  // Sendable: subclasses have immutable state only.

  /// Whether the coder must call `encode`. If not, it copies the bytes.
  @usableFromInline internal var translatesEncoding: Bool { false }

  /// Whether `encodeCopy` is to be called, and keeps a copy alive.
  internal var isCopied: Bool { false }

  /// Whether a slot has the address of a value.
  internal var passesAddress: Bool { false }

  /// Whether a slot has the address of a copy of `text(of:)`.
  internal var isText: Bool { false }
  internal func text(of value: Value) -> String? { nil }

  /// The class of which the object in a slot must be, if the bytes are the value
  /// once that holds; nil if they are not.
  internal var requiredClass: AnyClass? { nil }

  @usableFromInline
  internal func decode(from slot: UnsafeRawPointer) throws(ValueMismatch) -> Value {
    throw .null(Value.self)
  }

  @usableFromInline
  internal func encode(_ value: Value, into slot: UnsafeMutableRawPointer) {}

  /// Writes the address of a copy, and gives what keeps it.
  internal func encodeCopy(
    _ value: Value, into slot: UnsafeMutableRawPointer
  ) throws(ValueMismatch) -> AnyObject? {
    unsafe encode(value, into: slot)
    return nil
  }
}

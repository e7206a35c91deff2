// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How the values of one Swift type stand in the slots of one type encoding.
///
/// What a slot holds is what C has there: a number, a pointer, a struct. The
/// rules:
///
/// | Swift type | encoding |
/// |---|---|
/// | integers, `Float`, `Double`, `Float80` | a number of the same size, signedness and kind |
/// | `Bool` | `B`; any byte but 0 is true |
/// | `UnsafePointer<T>` and its mutable form | `^v`, any `^{…}` and `^(…)`, `^T`, arrays of `T`; `*` for characters |
/// | raw and opaque pointers | anything that is a pointer |
/// | classes, `AnyObject`, `Unmanaged` | `@` |
/// | `AnyClass` | `#` |
/// | `MethodSelector` | `:` |
/// | `@convention(c)` functions | `^?` |
/// | `TypeEncodable` | an encoding that means the same |
/// | `RawRepresentable` | what the raw value may stand in |
/// | `Void` | `v` |
///
/// Pointers, classes, selectors and functions may be optional; where they are
/// not, null is an error.
///
/// A coder is made once, with all the checks of types; using it is one branch
/// where bytes are just copied.
@usableFromInline
internal struct ValueCoder<Value>: Sendable {
  @usableFromInline
  internal enum Form: Sendable {
    /// The bytes are the value.
    case bitwise
    /// A byte, of which every value but 0 is true.
    case bool
    /// The bytes are the value, unless the word is null.
    case nonNull
    /// More is to be done.
    case translated(ValueTranslator<Value>)
  }

  @usableFromInline internal let form: Form

  /// Whether the value is a reference that Swift counts, and the slot therefore
  /// a borrowed one.
  @usableFromInline internal let isObject: Bool

  internal init(_ form: Form, isObject: Bool = false) {
    self.form = form
    self.isObject = isObject
  }

  /// Finds out how values stand in slots of `encoding`; throws if they have no
  /// place there.
  @usableFromInline
  internal init(for encoding: TypeEncoding) throws(ValueMismatch) {
    self = try ValueCoder.matching(encoding)
  }

  /// Whether decoding is a plain load of the bytes.
  @usableFromInline internal var isBitwise: Bool {
    if case .bitwise = form { true } else { false }
  }
}

// MARK: - Coding

extension ValueCoder {
  /// Reads a value from a slot, which must be aligned for the encoding. The
  /// slot's reference to an object is borrowed: the result has one of its own.
  @inlinable
  @inline(__always)
  internal func decode(from slot: UnsafeRawPointer) throws(ValueMismatch) -> Value {
    // SAFETY: the encoding's bytes are as many as the type's, any of them a
    // value of it: `matching` has checked.
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
      return unsafe unsafeBitCast(slot.load(as: UInt8.self) != 0, to: Value.self)
    case .nonNull:
      // SAFETY: `matching` uses this form for types that are one word only.
      if unsafe slot.load(as: UInt.self) == 0 { throw .null(Value.self) }
    case .translated(let translator):
      return try unsafe translator.decode(from: slot)
    }
    // SAFETY: as in `decode(from:)`, and the word is not null.
    return unsafe slot.load(as: Value.self)
  }

  /// Writes a value to a slot, which must be aligned for the encoding and have
  /// its size. An object is not retained: whoever reads the slot relies on
  /// somebody else to keep it.
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

  /// Writes a value to a slot. A reference to an object is the reader's to
  /// release.
  @inlinable
  internal func encodeRetained(_ value: Value, into slot: UnsafeMutableRawPointer) {
    unsafe encode(value, into: slot)
    guard isObject else { return }
    // SAFETY: the slot holds the object that `value` keeps alive, or null.
    withExtendedLifetime(value) {
      _ = unsafe slot.load(as: Unmanaged<AnyObject>?.self)?.retain()
    }
  }

  /// Reads a value from a slot that `encodeRetained` wrote, whose reference is
  /// given up, on failure too.
  @usableFromInline
  internal func decodeRetained(from slot: UnsafeRawPointer) throws(ValueMismatch) -> Value {
    // SAFETY: the slot has a reference of its own if it is an object.
    defer { if isObject { unsafe slot.load(as: Unmanaged<AnyObject>?.self)?.release() } }
    return try unsafe decode(from: slot)
  }
}

/// What a coder does for types whose bytes are not simply copied.
@usableFromInline
internal class ValueTranslator<Value>: @unchecked Sendable {
  // Sendable: subclasses have immutable state only.

  /// Whether `encode` is to be called; else the bytes are copied.
  @usableFromInline internal var translatesEncoding: Bool { false }

  @usableFromInline
  internal func decode(from slot: UnsafeRawPointer) throws(ValueMismatch) -> Value {
    throw .null(Value.self)
  }

  @usableFromInline
  internal func encode(_ value: Value, into slot: UnsafeMutableRawPointer) {}
}

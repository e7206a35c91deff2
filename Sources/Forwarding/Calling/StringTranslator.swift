// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Passes a `String`, or an optional of one, as a C string, by copy.
internal final class StringTranslator<Value>: ValueTranslator<Value>, @unchecked Sendable {
  // Sendable: no state.

  override var translatesEncoding: Bool { true }
  override var isCopied: Bool { true }

  override func decode(from slot: UnsafeRawPointer) throws(ValueMismatch) -> Value {
    // SAFETY: a `*` slot holds a string that a NUL ends, or null.
    guard let start = unsafe slot.load(as: UnsafePointer<CChar>?.self) else {
      if let none = String?.none as? Value, Value.self != String.self { return none }
      throw .null(Value.self)
    }
    // Repairing the bytes would deliver another text than the one that was sent.
    guard let text = unsafe String(validatingCString: start), let value = text as? Value else {
      throw ValueMismatch(
        code: .valueNotRepresentable, expected: String(describing: Value.self),
        actual: "bytes that are not UTF-8")
    }
    return value
  }

  override func encode(_ value: Value, into slot: UnsafeMutableRawPointer) {
    // Coders of slots that nothing keeps a copy for are refused where they are
    // made, see `ValueCoder.init(storingIn:)`.
    unsafe slot.storeBytes(of: nil, as: UnsafeMutablePointer<CChar>?.self)
  }

  override func encodeCopy(
    _ value: Value, into slot: UnsafeMutableRawPointer
  ) throws(ValueMismatch) -> AnyObject? {
    guard let text = value as? String else {
      // SAFETY: the slot has room for a pointer.
      unsafe slot.storeBytes(of: nil, as: UnsafeMutablePointer<CChar>?.self)
      return nil
    }
    guard !text.utf8.contains(0) else {
      throw ValueMismatch(
        code: .valueNotRepresentable, expected: "C string",
        actual: "a String with a NUL in it")
    }
    // SAFETY: the string is copied before the pointer ends; the slot has room
    // for the address of the copy.
    let box = unsafe text.withCString { unsafe CStringBox(copying: $0) }
    unsafe slot.storeBytes(of: box.start, as: UnsafeMutablePointer<CChar>.self)
    return box
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Passes a `String` as a C string, by copy.
// A class of its own for the optional, and none for any type: a generic one would cast
// each value, and look up metadata for that.
internal final class StringTranslator: ValueTranslator<String>, @unchecked Sendable {
  // Sendable: no state.

  override var translatesEncoding: Bool { true }
  override var isCopied: Bool { true }
  override var isText: Bool { true }
  override func text(of value: String) -> String? { value }

  override func decode(from slot: UnsafeRawPointer) throws(ValueMismatch) -> String {
    guard let text = try unsafe CStringSlot.read(slot) else { throw .null(String.self) }
    return text
  }

  override func encode(_ value: String, into slot: UnsafeMutableRawPointer) {
    unsafe CStringSlot.clear(slot)
  }

  override func encodeCopy(
    _ value: String, into slot: UnsafeMutableRawPointer
  ) throws(ValueMismatch) -> AnyObject? {
    try unsafe CStringSlot.write(value, slot)
  }
}

/// Passes a `String?` as a C string or null, by copy.
internal final class OptionalStringTranslator: ValueTranslator<String?>, @unchecked Sendable {
  // Sendable: no state.

  override var translatesEncoding: Bool { true }
  override var isCopied: Bool { true }
  override var isText: Bool { true }
  override func text(of value: String?) -> String? { value }

  override func decode(from slot: UnsafeRawPointer) throws(ValueMismatch) -> String? {
    try unsafe CStringSlot.read(slot)
  }

  override func encode(_ value: String?, into slot: UnsafeMutableRawPointer) {
    unsafe CStringSlot.clear(slot)
  }

  override func encodeCopy(
    _ value: String?, into slot: UnsafeMutableRawPointer
  ) throws(ValueMismatch) -> AnyObject? {
    if let value { return try unsafe CStringSlot.write(value, slot) }
    unsafe CStringSlot.clear(slot)
    return nil
  }
}

/// A slot with the address of a string that a NUL ends, or null.
private enum CStringSlot {
  @unsafe static func read(_ slot: UnsafeRawPointer) throws(ValueMismatch) -> String? {
    // SAFETY: the slot holds such an address.
    guard let start = unsafe slot.load(as: UnsafePointer<CChar>?.self) else { return nil }
    // Repairing the bytes would deliver another text than the one that was sent.
    guard let text = unsafe String(validatingCString: start) else {
      throw ValueMismatch(
        code: .valueNotRepresentable, expected: "String", actual: "bytes that are not UTF-8")
    }
    return text
  }

  /// Writes null. Coders of slots that nothing keeps a copy for are refused where they
  /// are made, see `ValueCoder.init(storingIn:)`.
  @unsafe static func clear(_ slot: UnsafeMutableRawPointer) {
    unsafe slot.storeBytes(of: nil, as: UnsafeMutablePointer<CChar>?.self)
  }

  /// Writes the address of a copy, and gives what keeps it.
  @unsafe static func write(
    _ text: String, _ slot: UnsafeMutableRawPointer
  ) throws(ValueMismatch) -> AnyObject {
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

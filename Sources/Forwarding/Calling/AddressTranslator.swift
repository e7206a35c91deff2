// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Passes the address of a Swift value that C has no type for.
///
/// The tables of typed proxies encode such an argument as a pointer to a struct with
/// the full name of the Swift type: `^{Swift.String}`. A value of exactly this type is
/// read through the pointer. A writer passes the address of a copy.
internal final class AddressTranslator<Value>: ValueTranslator<Value>, @unchecked Sendable {
  // Sendable: no state.

  override var translatesEncoding: Bool { true }
  override var isCopied: Bool { true }
  override var passesAddress: Bool { true }

  /// Whether an encoding is that of the address of such a value.
  internal static func fits(_ encoding: TypeEncoding) -> Bool {
    guard encoding.kind == .pointer, let pointee = encoding.pointee,
      pointee.kind == .structure, let name = pointee.name
    else { return false }
    // Not for a C struct, whose name has no module: a pointer to it need not point to
    // a value. It may be null, or an out parameter.
    return name == SwiftTypeName.of(Value.self) && !SwiftTypeName.isImported(Value.self)
  }

  override func decode(from slot: UnsafeRawPointer) throws(ValueMismatch) -> Value {
    // SAFETY: the slot holds a pointer.
    guard let address = unsafe slot.load(as: UnsafeRawPointer?.self) else {
      throw .null(Value.self)
    }
    // SAFETY: the encoding names the type, and the writer of the pointer has promised
    // a value of it.
    return unsafe address.assumingMemoryBound(to: Value.self).pointee
  }

  override func encode(_ value: Value, into slot: UnsafeMutableRawPointer) {
    // As in `StringTranslator`: a coder of a slot that nothing keeps a copy for is
    // refused where it is made.
    unsafe slot.storeBytes(of: nil, as: UnsafeMutableRawPointer?.self)
  }

  override func encodeCopy(
    _ value: Value, into slot: UnsafeMutableRawPointer
  ) throws(ValueMismatch) -> AnyObject? {
    let box = ValueBox(value)
    unsafe slot.storeBytes(of: box.start, as: UnsafeMutablePointer<Value>.self)
    return box
  }
}

/// Owns a copy of a value, at an address.
@safe private final class ValueBox<Value> {
  let start: UnsafeMutablePointer<Value>

  init(_ value: Value) {
    unsafe start = .allocate(capacity: 1)
    unsafe start.initialize(to: value)
  }

  deinit {
    // SAFETY: allocated and initialized in `init`, freed once.
    unsafe start.deinitialize(count: 1)
    unsafe start.deallocate()
  }
}

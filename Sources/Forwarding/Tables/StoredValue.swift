// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The bytes of a value as C sees them, kept for as long as a table or a proxy
/// lives: default results.
@safe internal final class StoredValue: @unchecked Sendable {
  // Sendable: written in `init` only. The value is Sendable, or one that C gets,
  // which does not ask.

  /// The bytes, aligned for the type. An object in them is kept alive by
  /// `value`.
  internal let bytes: UnsafeMutableRawBufferPointer
  private let value: Any

  /// Stores a value that must fit the type.
  internal init<Value>(_ value: Value, as type: TypeEncoding) throws(ValueMismatch) {
    let coder = try ValueCoder<Value>(storingIn: type)
    let size = try type.resultSize()
    self.value = value
    unsafe bytes = .allocate(byteCount: max(size, 1), alignment: 16)
    // SAFETY: the memory was just allocated with the size of the type.
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
    unsafe coder.encode(value, into: bytes.baseAddress!)
  }

  /// Copies the bytes of a value that C gives; of `type`, which is no object.
  internal init(copying source: UnsafeRawBufferPointer) {
    value = 0
    unsafe bytes = .allocate(byteCount: max(source.count, 1), alignment: 16)
    unsafe bytes.copyMemory(from: source)
  }

  deinit {
    unsafe bytes.deallocate()
  }
}

extension TypeEncoding {
  /// The size of a result of this type in bytes. The signature that it is of
  /// has been laid out.
  internal func resultSize() throws(ValueMismatch) -> Int {
    do throws(ForwardingError) {
      return try layout().size
    } catch {
      throw ValueMismatch(code: .typeMismatch, expected: error.description, actual: "a result")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension StoredValue {
  /// Copies a result that a C program states for a method; nil if it states none.
  ///
  /// - Parameter what: what the result is, for errors.
  /// - Throws: `ForwardingError` with the codes `nullPointer`, `policyMismatch`.
  @unsafe internal static func stated(
    _ what: String, _ bytes: UnsafeRawPointer?, _ count: Int, of selector: MethodSelector,
    _ signature: MethodSignature
  ) throws(ForwardingError) -> StoredValue? {
    func error(_ code: ForwardingError.Code, _ reason: String) -> ForwardingError {
      ForwardingError(
        code, selector: selector.name, "the \(what) of \"\(selector)\" \(reason)")
    }
    let given = "has \(UInt(bitPattern: count)) bytes"
    guard let bytes = unsafe bytes else {
      if count == 0 { return nil }
      throw error(.nullPointer, given + " at NULL")
    }
    let size = signature.resultLayout.size
    guard count == size else { throw error(.policyMismatch, given + ", expected \(size)") }
    switch signature.result.kind {
    case .object: throw error(.policyMismatch, "is an object, which C cannot keep alive")
    case .bool:
      // SAFETY: the caller gives a byte.
      let byte = unsafe bytes.load(as: UInt8.self)
      if byte > 1 { throw error(.policyMismatch, "has the byte \(byte), which is no Bool") }
    default: break
    }
    // SAFETY: the caller gives that many bytes.
    return unsafe StoredValue(copying: UnsafeRawBufferPointer(start: bytes, count: count))
  }
}

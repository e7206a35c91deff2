// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A method written by the macro of typed proxies: what the shim calls for it.
@safe package struct Thunk: Sendable {
  /// The address of a `fwd_packed_function`.
  package let packed: UInt
  /// The address of a C function of the method's types and one more integer,
  /// the context; for void methods, or nil.
  package let function: UInt?

  /// Names the addresses.
  package init(packed: UInt, function: UInt?) {
    self.packed = packed
    self.function = function
  }
}

extension FunctionTable.Builder {
  /// Adds a thunk.
  ///
  /// - Parameters:
  ///   - selector: the method's name.
  ///   - encoding: the types that the thunk was written for.
  ///   - thunk: its addresses.
  ///   - context: what it is told, for the life of the process.
  @unsafe package mutating func thunk(
    _ selector: String, _ encoding: String, _ thunk: Thunk, context: UInt
  ) {
    // SAFETY: the caller promises that functions are there.
    let packed = unsafe ShimFunction(
      function: unsafeBitCast(thunk.packed, to: fwd_packed_function.self),
      context: UnsafeRawPointer(bitPattern: context))
    let function = unsafe thunk.function.flatMap { unsafe UnsafeRawPointer(bitPattern: $0) }
    let implementation: FunctionTable.Implementation =
      unsafe function.map { .thunk(unsafe FunctionAddress(pointer: $0), packed) } ?? .shim(packed)
    let own: MethodSignature
    do throws(EncodingError) {
      own = try MethodSignature(encoding)
    } catch {
      keep(
        TableError(
          .invalidEncoding, selector: selector, "the function for \"\(selector)\": \(error)",
          encodingError: error))
      return
    }
    add(selector) { selector, signature throws(TableError) in
      guard own.isCompatible(with: signature) else {
        throw TableError(
          .signatureMismatch, selector: selector.name,
          """
          the function for "\(selector)" is "\(own)", but the protocol declares "\(signature)"
          """)
      }
      return implementation
    }
  }
}

/// Reports that a thunk could not take its arguments.
package enum ThunkFailure {
  /// Sets the thread's last error for a packed function, fills the error that it
  /// was given, if any, and returns its status.
  @unsafe package static func fill(_ error: UInt, _ text: String) -> UInt32 {
    // SAFETY: the caller passes on the address that the shim gave.
    unsafe fwd_error_set(UnsafeMutablePointer(bitPattern: error), FWD_DELIVERY_FAILED, 0, text)
      .rawValue
  }

  /// Reports a failure of a C function, which has no error to fill.
  ///
  /// The caller promises to be called by a fan-out.
  @unsafe package static func fail(_ text: String) {
    var error = fwd_error()
    error.fill(FWD_DELIVERY_FAILED, text)
    unsafe fwd_fail_delivery(&error)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The C functions that the macro of typed proxies generates for one method.
@safe package struct Thunk: Sendable {
  /// The address of a `fwd_packed_function`.
  package let packed: UInt
  /// The address of a C function for a void method, or nil. It has the method's
  /// parameters and one more integer parameter, the context.
  package let function: UInt?

  /// Creates a thunk from the addresses.
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
  ///   - encoding: the signature of the thunk.
  ///   - thunk: its addresses.
  ///   - context: the address of its context, valid for the life of the
  ///     process.
  @unsafe package mutating func thunk(
    _ selector: String, _ encoding: String, _ thunk: Thunk, context: UInt
  ) {
    // SAFETY: the caller promises that the addresses are those of such
    // functions.
    let packed = unsafe ShimFunction(
      function: unsafeBitCast(thunk.packed, to: fwd_packed_function.self),
      context: UnsafeRawPointer(bitPattern: context))
    let function = unsafe thunk.function.flatMap { unsafe UnsafeRawPointer(bitPattern: $0) }
    let implementation: FunctionTable.Implementation =
      unsafe function.map { .thunk(unsafe FunctionAddress(pointer: $0), packed) } ?? .shim(packed)
    let own: MethodSignature
    do throws(ForwardingError) {
      own = try MethodSignature(encoding)
    } catch {
      keep(
        ForwardingError(
          error.code, selector: selector, "the function for \"\(selector)\": \(error)",
          encodingError: error))
      return
    }
    add(selector) { selector, signature throws(ForwardingError) in
      guard own.isCompatible(with: signature) else {
        throw ForwardingError(
          .signatureMismatch, selector: selector.name,
          """
          the function for "\(selector)" is "\(own)", but the protocol declares "\(signature)"
          """)
      }
      return implementation
    }
  }
}

/// Reports that a thunk could not convert its arguments.
package enum ThunkFailure {
  /// Reports the failure of a packed function: sets the thread's last error,
  /// fills the `fwd_error` at the address unless it is 0, and returns the
  /// status.
  @unsafe package static func fill(_ error: UInt, _ failure: ForwardingError) -> UInt32 {
    // SAFETY: the caller passes the address that the C target gave it.
    unsafe failDelivery(UnsafeMutablePointer(bitPattern: error), failure).rawValue
  }

  /// Reports the failure of a thunk's C function, which has no `fwd_error` to
  /// fill. The C function must have been called by a fan-out.
  @unsafe package static func fail(_ failure: ForwardingError) {
    var error = fwd_error()
    error.fill(FWD_DELIVERY_FAILED, failure.description)
    unsafe fwd_fail_delivery(&error, failure.detail)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A delivery as it comes from the fan-out, for the closures of typed proxies.
/// Valid during the call.
@safe package struct RawDelivery {
  /// A pointer to each argument, the receiver included.
  package let arguments: UnsafePointer<UnsafeMutableRawPointer>
  /// Room for what comes back in the register; zeros.
  package let result: UnsafeMutableRawPointer
}

/// An argument or a result that is no value of its type.
package struct RawMismatch: Error {
  /// The index of the argument, counting the receiver. Nil: the result.
  private let index: Int?
  private let mismatch: ValueMismatch

  /// The type has no nil, but the pointer is null.
  package static func null(_ index: Int?, expected: String) -> RawMismatch {
    RawMismatch(index: index, mismatch: .null(expected))
  }

  /// The byte is no `Bool`.
  package static func byte(_ index: Int?, _ given: UInt8) -> RawMismatch {
    RawMismatch(index: index, mismatch: .byte(given))
  }

  /// The object is of another class.
  package static func object(
    _ index: Int?, _ given: AnyObject, expected: Any.Type
  ) -> RawMismatch {
    RawMismatch(index: index, mismatch: .object(given, expected: expected))
  }

  /// The error for a method.
  package func forwardingError(of selector: MethodSelector) -> ForwardingError {
    // The receiver is argument 0, and there is no selector.
    ForwardingError(mismatch, selector: selector, argumentIndex: index, parameter: index)
  }
}

extension PackedFunction {
  /// Makes a function of a closure that only reads the arguments.
  ///
  /// - Parameter first: the index of the first argument behind the receiver and the
  ///   selector.
  @unsafe internal convenience init(first: Int, _ observer: @escaping RawObserver) {
    unsafe self.init(CalledClosure(observer)) { _, arguments, _ throws(ForwardingError) in
      unsafe observer(arguments + first)
    }
  }

  /// Makes a function of a closure that takes the arguments of a method as they
  /// come, and promises that it reads and writes what the signature says.
  @unsafe internal convenience init(
    _ selector: MethodSelector,
    _ body: @escaping @Sendable (RawDelivery) throws(RawMismatch) -> Void
  ) {
    unsafe self.init { _, arguments, result throws(ForwardingError) in
      do throws(RawMismatch) {
        try unsafe body(RawDelivery(arguments: arguments, result: result))
      } catch {
        throw error.forwardingError(of: selector)
      }
    }
  }
}

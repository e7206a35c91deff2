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

/// An argument that is no value of its type.
package struct RawMismatch: Error {
  private let index: Int
  private let expected: String
  private let actual: String

  /// Names the argument, the receiver counted.
  package init(_ index: Int, expected: String, actual: String) {
    self.index = index
    self.expected = expected
    self.actual = actual
  }

  internal func completed(_ selector: MethodSelector) -> ForwardingError {
    ForwardingError(
      .typeMismatch, selector: selector.name, argumentIndex: index, expected: expected,
      actual: actual)
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
        throw error.completed(selector)
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Interception for typed proxies, whose closures take the arguments as they come.
extension DynamicProxy {
  /// Calls a closure before or after each invocation of a method.
  ///
  /// The caller promises that it reads what the signature says, and writes
  /// nothing.
  @unsafe package func unsafeTap(
    _ selector: MethodSelector, isAfter: Bool, times: Int?,
    _ body: @escaping @Sendable (RawDelivery) throws(RawMismatch) -> Void
  ) throws(ForwardingError) -> Token {
    let function = unsafe PackedFunction(selector, body)
    return try intercept(selector, isAfter ? .after : .before, times: times) { _ in .tap(function) }
  }

  /// Calls a closure before each invocation of a method, with pointers to the
  /// arguments.
  ///
  /// The caller promises that it reads what the signature says, and writes nothing.
  @unsafe package func unsafeObserve(
    _ selector: MethodSelector, _ observer: @escaping RawObserver
  ) throws(ForwardingError) -> Token {
    try intercept(selector, .before) { signature in
      unsafe .tap(PackedFunction(first: signature.firstArgumentIndex, observer))
    }
  }

  /// Calls a closure instead of the subscribers.
  ///
  /// The caller promises that it reads and writes what the signature says.
  @unsafe package func unsafeInstead(
    _ selector: MethodSelector, replacing: Bool, times: Int?,
    _ body: @escaping @Sendable (RawDelivery) throws(RawMismatch) -> Void
  ) throws(ForwardingError) -> Token {
    let function = unsafe PackedFunction(selector, body)
    return try intercept(selector, .instead, replacing: replacing, times: times) { _ in
      .stub(function)
    }
  }
}

extension Invocation {
  /// Calls `body` with pointers to all arguments, the receiver included, which
  /// are valid during the call.
  @unsafe package func unsafeWithArgumentPointers(
    _ body: (UnsafePointer<UnsafeMutableRawPointer>) -> Void
  ) {
    unsafe withArgumentPointers(body)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Passes an invocation on from an interceptor that is around its deliveries.
///
/// The invocation goes to the interceptors around that were registered later, and
/// then to the subscribers, or to the interceptor that is called instead of them.
///
/// It is valid during the call of the interceptor's closure.
public final class Proceed {
  /// Nil once the closure has returned, so that a closure which keeps this object
  /// does not keep the proxy.
  private var delivery: InterceptedDelivery?
  private let invocation: Invocation
  private let next: Int
  /// The error of the last failed call.
  internal private(set) var failure: ForwardingError?

  internal init(_ delivery: InterceptedDelivery, _ invocation: Invocation, next: Int) {
    self.delivery = delivery
    self.invocation = invocation
    self.next = next
  }

  /// Forwards the invocation with the arguments that it has now, and stores the
  /// result in it. May be called several times.
  ///
  /// - Throws: `ForwardingError`, as a fan-out does; with the code `deliveryFailed`
  ///   once the closure has returned. The invocation's result is then unchanged.
  /// - Complexity: O(*n*) in the number of subscribers.
  public func callAsFunction() throws(ForwardingError) {
    guard let delivery else {
      throw ForwardingError(
        .deliveryFailed, selector: invocation.selector.name,
        "\"\(invocation.selector)\" cannot proceed: its interceptor has returned")
    }
    do throws(ForwardingError) {
      try delivery.proceed(to: next, invocation)
    } catch {
      failure = error
      throw error
    }
  }

  internal func end() { delivery = nil }
}

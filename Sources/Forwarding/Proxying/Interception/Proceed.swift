// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Lets an invocation go on that an interceptor is around: to those that were
/// registered later, and at last to the interceptor that is called instead of
/// the subscribers, or to the subscribers.
///
/// It is valid during the call of the closure that it was given to.
public final class Proceed {
  /// Nil once the closure has returned: who keeps what it was given shall not
  /// keep the proxy with it.
  private var delivery: InterceptedDelivery?
  private let invocation: Invocation
  private let next: Int
  /// Why it went wrong the last time.
  internal private(set) var failure: ForwardingError?

  internal init(_ delivery: InterceptedDelivery, _ invocation: Invocation, next: Int) {
    self.delivery = delivery
    self.invocation = invocation
    self.next = next
  }

  /// Forwards the invocation with the arguments that it has now, and puts the
  /// result into it. Each call does so anew.
  ///
  /// - Throws: `ForwardingError`, as for the fan-out: the invocation's result is
  ///   then what it was. And with the code `deliveryFailed` once the closure has
  ///   returned.
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy.Configuration {
  /// The treatment of an error that a listener of a typed proxy throws from a method
  /// without a result. A method with a result gives the first responder's error.
  public enum ListenerErrors: Sendable, Hashable {
    /// The error ends the fan-out, and is thrown.
    case failFast
    /// All listeners are called; then `ForwardedErrors` is thrown, if there was an
    /// error.
    case collect
    /// All listeners are called, and nothing is thrown: `onListenerError` is told.
    case `continue`
  }

  /// The policy for errors that listeners throw from a method.
  package func listenerErrors(of method: MethodSelector) -> ListenerErrors {
    listenerErrorsByMethod[method] ?? listenerErrors
  }

  /// Reports an error that a listener has thrown: to `onListenerError`, or else to
  /// `onError`.
  package func report(_ error: any Error, from method: MethodSelector, by author: String?) {
    if let onListenerError { return onListenerError(error, method) }
    onError(
      ForwardingError(
        .deliveryFailed, selector: method.name,
        "\(author ?? "a subscriber") threw from \"\(method)\": \(error)"))
  }
}

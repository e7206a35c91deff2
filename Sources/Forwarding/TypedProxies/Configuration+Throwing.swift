// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy.Configuration {
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

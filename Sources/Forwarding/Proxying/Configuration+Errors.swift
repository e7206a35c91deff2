// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy.Configuration {
  /// What happens when a listener of a typed proxy throws from a method that has
  /// no result. A method with a result gives the first responder's error.
  public enum Errors: Sendable, Hashable {
    /// The error ends the fan-out, and is thrown.
    case failFast
    /// All listeners are called; then `ForwardedErrors` is thrown, if there was an
    /// error.
    case collect
    /// All listeners are called, and nothing is thrown: `onThrow` is told.
    case `continue`
  }

  /// What happens when a listener throws from a method.
  package func errors(of method: MethodSelector) -> Errors { errorsByMethod[method] ?? errors }

  /// Tells whom it concerns that a listener has thrown.
  package func report(_ error: any Error, from method: MethodSelector, by author: String?) {
    if let onThrow { return onThrow(error, method) }
    onError(
      ForwardingError(
        .deliveryFailed, selector: method.name,
        "\(author ?? "a subscriber") threw from \"\(method)\": \(error)"))
  }
}

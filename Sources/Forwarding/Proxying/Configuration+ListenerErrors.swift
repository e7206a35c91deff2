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
}

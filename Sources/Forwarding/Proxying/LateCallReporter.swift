// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Tells a proxy's error handler of calls that come too late. It lives as long as
/// the process.
internal final class LateCallReporter: Sendable {
  private let onError: @Sendable (ForwardingError) -> Void

  internal init(_ onError: @escaping @Sendable (ForwardingError) -> Void) {
    self.onError = onError
  }

  internal func report(_ selector: MethodSelector, _ owner: Any.Type) {
    let dead = owner == DynamicProxy.self ? "its proxy" : "its owner (\(owner)) or of its proxy"
    onError(
      ForwardingError(
        .dead, selector: selector.name,
        "a C function pointer for \"\(selector)\" was called after the death of \(dead)"))
  }
}

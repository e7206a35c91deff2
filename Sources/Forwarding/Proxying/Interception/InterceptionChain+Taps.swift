// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

// The taps that C can call without Swift, and so without allocating.
extension InterceptionChain {
  /// The chain in the form in which C calls it, for the list of subscribers, which
  /// takes it.
  ///
  /// - Parameter size: the size of the method's result in bytes.
  /// - Returns: nil if Swift has to run the chain: if an interceptor gets an
  ///   invocation, a result is large, or memory is short.
  internal func makeTaps(resultSize size: Int) -> OpaquePointer? {
    let interceptorCount = befores.count + (stub == nil ? 0 : 1) + afters.count
    guard interceptorCount > 0, arounds.isEmpty, stub == nil || size <= FWD_STUB_RESULT_SIZE else {
      return nil
    }
    let interceptors = befores + (stub.map { [$0] } ?? []) + afters
    let functions = interceptors.compactMap(\.body.function)
    guard functions.count == interceptors.count else { return nil }
    let owner = InterceptorOwner(interceptors)
    // SAFETY: the taps retain the owner, which keeps all that they point to.
    guard
      let taps = unsafe fwd_taps_create(
        befores.count, stub != nil, afters.count, Unmanaged.passUnretained(owner).toOpaque())
    else { return nil }
    for (index, function) in functions.enumerated() {
      let liveness = interceptors[index].liveness
      unsafe fwd_taps_at(taps, index).pointee = unsafe fwd_tap(
        implementation: function.implementation, liveness: liveness.state)
    }
    return unsafe taps
  }
}

/// Keeps what taps point to.
private final class InterceptorOwner: Sendable {
  private let interceptors: [Interceptor]

  init(_ interceptors: [Interceptor]) { self.interceptors = interceptors }
}

extension Interceptor.Body {
  /// The closure, if it takes the arguments and not an invocation.
  fileprivate var function: PackedFunction? {
    switch self {
    case .tap(let function), .stub(let function): function
    case .observer, .replacement, .around, .block: nil
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Where an interceptor stands.
internal enum InterceptionPoint: Sendable {
  case before, after, instead, around
  /// At none: no interceptor or subscriber is called.
  case block
}

/// The interceptors of one method, in order of registration. A fan-out uses the
/// value that it finds; a change makes another one.
internal struct InterceptionChain: Sendable {
  internal private(set) var befores: [Interceptor] = []
  internal private(set) var arounds: [Interceptor] = []
  internal private(set) var stub: Interceptor?
  internal private(set) var afters: [Interceptor] = []
  /// The tokens that block the method.
  private var blockers: [Interceptor] = []

  internal var isEmpty: Bool {
    befores.isEmpty && arounds.isEmpty && stub == nil && afters.isEmpty && blockers.isEmpty
  }

  /// Whether no interceptor or subscriber is to be called.
  internal var isBlocked: Bool { !blockers.isEmpty }

  /// Whether the interceptors make the proxy a responder. Interceptors before and
  /// after the deliveries cannot give a result.
  internal func responds(withResult hasResult: Bool) -> Bool {
    stub != nil || !arounds.isEmpty || (!hasResult && !(befores.isEmpty && afters.isEmpty))
  }

  /// Adds an interceptor, and returns the one that it replaces.
  ///
  /// - Throws: `ForwardingError` with the code `duplicate` if there is a stub,
  ///   which is not to be replaced.
  internal mutating func add(
    _ interceptor: Interceptor, _ point: InterceptionPoint, replacing: Bool,
    _ selector: MethodSelector
  ) throws(ForwardingError) -> Interceptor? {
    switch point {
    case .before: befores.append(interceptor)
    case .after: afters.append(interceptor)
    case .around: arounds.append(interceptor)
    case .block: block(by: interceptor)
    case .instead:
      let old = stub
      // One whose last call still runs has ended.
      if let old, old.liveness.isLive, !replacing {
        throw ForwardingError(
          .duplicate, selector: selector.name,
          """
          "\(selector)" has an interceptor that is called instead of the subscribers already; \
          cancel that one, or in Swift say replacing: true
          """)
      }
      stub = interceptor
      return old
    }
    return nil
  }

  /// Blocks the method.
  internal mutating func block(by interceptor: Interceptor) { blockers.append(interceptor) }

  /// The interceptor of an identifier, if it has not ended.
  internal func find(_ identifier: UInt64) -> Interceptor.Liveness? {
    for part in [befores, arounds, afters, blockers] {
      if let found = part.first(where: { $0.identifier == identifier }) { return found.liveness }
    }
    return stub?.identifier == identifier ? stub?.liveness : nil
  }

  /// Removes the interceptors that have been cancelled, or called as often as their
  /// limit says.
  internal mutating func removeEnded() {
    befores.removeAll { !$0.liveness.isLive }
    arounds.removeAll { !$0.liveness.isLive }
    afters.removeAll { !$0.liveness.isLive }
    blockers.removeAll { !$0.liveness.isLive }
    if stub?.liveness.isLive == false { stub = nil }
  }
}

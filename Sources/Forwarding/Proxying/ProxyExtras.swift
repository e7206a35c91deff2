// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The parts that most proxies do not need. All are made when the first of them is
/// needed.
internal final class ProxyExtras: Sendable {
  /// The interceptors of each method, by the shim's index of the method.
  internal let interceptions = Lock<[Int: InterceptionChain]>([:])
  /// The proxies that are subscribed to this one, to find cycles.
  internal let chained = Lock(DynamicProxy.Links())
  /// The target of invocations that no subscriber handles.
  internal let forwardSlot = ForwardSlot()
  /// The changes that the observer of membership is to be told.
  internal let membershipLog = LateObject<MembershipLog>()
  /// The state that streams and slots store with the proxy.
  internal let attachments = Attachments()
  private let madeEndedSubscriptions = LateObject<EndedSubscriptions>()

  /// The subscriptions of kept listeners that have been cancelled. Only the proxy's one
  /// `KeptListeners` may take identifiers out.
  internal var endedSubscriptions: EndedSubscriptions {
    madeEndedSubscriptions.object { EndedSubscriptions() }
  }
}

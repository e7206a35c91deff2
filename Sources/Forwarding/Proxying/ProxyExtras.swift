// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The parts of a proxy that most proxies do not need: they are made together,
/// when one of them is needed first.
internal final class ProxyExtras: Sendable {
  /// Those who intercept methods, by the shim's index of the method.
  internal let interceptions = Lock<[Int: InterceptionChain]>([:])
  /// The proxies that are subscribed to this one, to find cycles.
  internal let chained = Lock(DynamicProxy.Links())
  /// Who gets what no subscriber handles.
  internal let forwardSlot = ForwardSlot()
  /// What the observer of membership is to be told.
  internal let membershipLog = LateObject<MembershipLog>()
  /// The state that streams and slots store with the proxy.
  internal let attachments = Attachments()
}

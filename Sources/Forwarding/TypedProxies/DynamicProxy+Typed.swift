// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The untyped proxy of a typed proxy.
extension DynamicProxy {
  /// Makes the untyped proxy of a typed proxy.
  ///
  /// - Parameter isConfined: whether only one thread or actor may use the typed proxy and
  ///   its listeners. Then no subscription gives this proxy or a subscriber to a caller.
  package convenience init(
    adopting table: ProtocolTable, configuration: Configuration, isConfined: Bool
  ) throws(ForwardingError) {
    try self.init([table], ProxySettings(configuration, isConfined: isConfined))
  }

  package var isConfined: Bool { core.settings.isConfined }

  /// Subscribes an object that need not be `Sendable`, with a table that lives as
  /// long as the process.
  ///
  /// The caller promises that the object is called and released only where it may be.
  @unsafe package func unsafeSubscribe(
    _ object: AnyObject, pinning table: FunctionTable, at position: Position, lifetime: Lifetime,
    times: Int?
  ) throws(ForwardingError) -> Subscription {
    try unsafe unsafeSubscribe(
      object, table: table, at: position, lifetime: lifetime, times: times, .generated)
  }

  /// The subscription of the forward target, to this proxy or to a hidden one.
  package var forwardSubscription: Subscription? {
    core.existingExtras?.forwardSlot.subscription
  }
}

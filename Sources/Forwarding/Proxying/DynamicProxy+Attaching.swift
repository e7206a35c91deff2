// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Subscribes handlers for individual methods. Required methods are not checked.
  internal func attach(
    _ owner: AnyObject, _ dispatch: DispatchTable, at position: Position = .last,
    lifetime: Lifetime, duplicates: Configuration.Duplicates = .allow
  ) throws(ForwardingError) -> Subscription {
    // SAFETY: the owner is alive until the subscription holds it.
    let address = unsafe Unmanaged.passUnretained(owner).toOpaque()
    let candidate = unsafe SubscriberList.Candidate(
      address, receiver: address, lifetime, at: position, limit: .none, duplicates: duplicates)
    defer { extendLifetime(owner) }
    return Subscription(
      reference: reference, identifier: try subscribers.insert(candidate, dispatch))
  }
}

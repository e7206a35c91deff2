// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension SubscriberList {
  /// Ends a subscription. Returns false if no subscription has the identifier, or
  /// if the subscriber's death has ended it.
  ///
  /// - Parameters:
  ///   - isFinal: whether a change that fails ends the subscription all the same,
  ///     since no caller can ask again.
  ///   - then: what is to be done after the end, also if the subscription has
  ///     ended before.
  @discardableResult
  internal func remove(
    _ identifier: UInt64, isFinal: Bool = false, then: (() -> Void)? = nil
  ) -> Bool {
    if let open = MembershipChange.current(of: proxy) {
      if isFinal { open.finals.insert(identifier) }
      if leave(identifier, in: open, then: then) { return true }
      // It may be about to end in this change.
      if let then { open.completions.append(then) }
      return false
    }
    defer { then?() }
    let removed = try? change { state, garbage throws(ForwardingError) in
      guard let record = unsafe fwd_list_find(list, identifier) else {
        return withdraw(identifier, &state)
      }
      let wasLive = unsafe fwd_record_is_live(record)
      unsafe fwd_list_end(list, record, &garbage.contents)
      return wasLive
    }
    return removed ?? false
  }

  /// Ends the subscriptions of an object, or the oldest. Gives how many it has
  /// ended.
  internal func remove(
    object: AnyObject, _ removal: DynamicProxy.Configuration.Removal
  ) -> Int {
    if let open = MembershipChange.current(of: proxy) {
      return leave(object: object, removal, in: open)
    }
    let removed = try? change { _, garbage throws(ForwardingError) in
      // SAFETY: the address only names the object.
      let address = unsafe Unmanaged.passUnretained(object).toOpaque()
      if removal == .first {
        guard let record = unsafe fwd_list_find_object(list, address, nil) else { return 0 }
        unsafe fwd_list_end(list, record, &garbage.contents)
        return 1
      }
      return unsafe fwd_list_end_object(list, address, &garbage.contents)
    }
    return removed ?? 0
  }

  /// Ends all subscriptions.
  internal func removeAll() {
    if let open = MembershipChange.current(of: proxy) { return leaveAll(in: open) }
    try? change { _, garbage throws(ForwardingError) in
      unsafe fwd_list_end_all(list, &garbage.contents)
    }
  }

  /// Ends the subscriptions whose subscribers have died among the first `visited`
  /// records, and removes records if that is worth it. Without memory they stay
  /// until the next time.
  internal func prune(visited: Int) {
    try? change { _, garbage throws(ForwardingError) in
      unsafe fwd_list_prune_visited(list, visited, &garbage.contents)
    }
  }

  /// Lets fan-outs of a method visit only the records that implement it, until the
  /// list changes.
  internal func findResponders(of method: Int) {
    try? change { _, garbage throws(ForwardingError) in
      unsafe fwd_list_find_responders(list, method, &garbage.contents)
    }
  }

  /// Removes all records whose subscriptions have ended or whose subscribers
  /// have died.
  internal func prune(_ garbage: inout Garbage) throws(ForwardingError) {
    guard unsafe fwd_list_prune(list, &garbage.contents) else {
      throw ForwardingError(.outOfMemory, "no memory to compact the subscribers")
    }
  }
}

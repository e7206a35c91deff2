// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension SubscriberList {
  /// The parts of a new subscription. A candidate counts no references: its
  /// creator must keep the object alive while the candidate exists.
  @safe internal struct Candidate {
    internal let subscriber: fwd_subscriber
    internal let position: DynamicProxy.Position
    internal let duplicates: DynamicProxy.Configuration.Duplicates

    /// A Swift object, whose functions get the receiver.
    @unsafe internal init(
      _ object: UnsafeMutableRawPointer, receiver: UnsafeMutableRawPointer,
      _ lifetime: DynamicProxy.Lifetime, at position: DynamicProxy.Position,
      limit: DeliveryLimit, duplicates: DynamicProxy.Configuration.Duplicates
    ) {
      unsafe subscriber = fwd_subscriber(
        object: object, hold: lifetime == .weak ? FWD_HOLD_WEAK : FWD_HOLD_STRONG,
        receiver: receiver, destroy: nil, limit: limit.count,
        priority: Int64(position.priority))
      self.position = position
      self.duplicates = duplicates
    }

    /// A C context.
    @unsafe internal init(
      context: UnsafeMutableRawPointer?, at position: DynamicProxy.Position = .last,
      limit: DeliveryLimit, destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    ) {
      unsafe subscriber = fwd_subscriber(
        object: nil, hold: FWD_HOLD_NONE, receiver: context, destroy: destroy, limit: limit.count,
        priority: Int64(position.priority))
      self.position = position
      duplicates = .allow
    }

    /// The object, if it is to join behind the others; nil otherwise.
    internal var lastObject: UnsafeMutableRawPointer? {
      guard case .last = position.kind else { return nil }
      return unsafe subscriber.object
    }

    /// Whether the object is being deinitialised.
    fileprivate var isDead: Bool {
      guard let object = unsafe subscriber.object else { return false }
      return unsafe fwd_object_is_dying(object)
    }
  }

  /// Subscribes a candidate at its position.
  ///
  /// - Parameter isShared: whether other subscribers will come with the table.
  /// - Returns: the identifier of the subscription, which is an earlier one for
  ///   a duplicate.
  internal func insert(
    _ candidate: Candidate, _ dispatch: DispatchTable, isShared: Bool = false
  ) throws(ForwardingError) -> UInt64 {
    // A strong reference, too, would outlive an object that is being
    // deinitialised.
    guard !candidate.isDead else {
      throw ForwardingError(.dead, "the subscriber is being deinitialised")
    }
    if let open = MembershipChange.current(of: proxy) {
      return try prepare(candidate, dispatch, isShared: isShared, in: open)
    }
    // Locals, because the closure below counts no references for them. Most
    // subscribers join at the end, and pay for nothing else.
    let subscriber = unsafe candidate.subscriber
    let duplicates = candidate.duplicates
    let table = unsafe dispatch.handle
    let key = unsafe duplicates != .allow && dispatch.mayRepeat ? dispatch.key : nil
    defer { extendLifetime(dispatch) }
    if case .last = candidate.position.kind {
      return try change { state, garbage throws(ForwardingError) in
        if let earlier = unsafe findEarlier(subscriber, key) {
          try refuse(duplicates)
          return unsafe fwd_record_identifier(earlier)
        }
        let index = unsafe fwd_list_priority_index(list, 0, nil)
        let identifier = try unsafe join(subscriber, table, index, &garbage)
        if isShared { share(dispatch, &state, &garbage) }
        return identifier
      }
    }
    let position = candidate.position
    return try change { state, garbage throws(ForwardingError) in
      // An index counts live subscribers.
      if position.isIndex { try prune(&garbage) }
      if let earlier = unsafe findEarlier(subscriber, key) {
        try refuse(duplicates)
        try unsafe move(earlier, position, &garbage)
        return unsafe fwd_record_identifier(earlier)
      }
      let identifier = try unsafe join(subscriber, table, index(of: position), &garbage)
      if isShared { share(dispatch, &state, &garbage) }
      return identifier
    }
  }

  /// Enters a subscriber at an index of the shim's list.
  private func join(
    _ subscriber: fwd_subscriber, _ table: OpaquePointer, _ index: Int,
    _ garbage: inout Garbage
  ) throws(ForwardingError) -> UInt64 {
    let log = proxy.core.membershipLog
    // A subscription for a few deliveries may have ended when the shim returns.
    let place = log?.count ?? 0
    // SAFETY: this is the list's only writer, the object lives as long as the
    // candidate, and the table as long as its own object.
    let identifier = unsafe withUnsafePointer(to: subscriber) {
      unsafe fwd_list_insert(list, $0, table, index, &garbage.contents)
    }
    guard identifier != 0 else {
      throw ForwardingError(.outOfMemory, "no memory for a subscriber")
    }
    log?.addJoin(identifier, at: place)
    return identifier
  }

  /// The subscription of the same object with a table of the same key; nil
  /// without one.
  internal func findEarlier(
    _ subscriber: fwd_subscriber, _ key: UnsafeRawPointer?
  ) -> OpaquePointer? {
    guard let key = unsafe key, let object = unsafe subscriber.object else { return nil }
    return unsafe fwd_list_find_object(list, object, key)
  }

  internal func refuse(
    _ duplicates: DynamicProxy.Configuration.Duplicates
  ) throws(ForwardingError) {
    if duplicates != .once {
      throw ForwardingError(.duplicate, "the subscriber is in the proxy already")
    }
  }

  /// Moves a subscription.
  ///
  /// - Throws: `ForwardingError`: `notSubscribed` if the subscription or the
  ///   anchor has ended, `indexOutOfRange`, `outOfMemory`.
  internal func move(
    _ identifier: UInt64, to position: DynamicProxy.Position
  ) throws(ForwardingError) {
    if let open = MembershipChange.current(of: proxy) {
      return try move(identifier, to: position, in: open)
    }
    try change { _, garbage throws(ForwardingError) in
      // An index counts live subscribers.
      if position.isIndex { try prune(&garbage) }
      guard let record = unsafe fwd_list_find(list, identifier),
        unsafe fwd_record_is_live(record)
      else {
        throw ForwardingError(
          .notSubscribed, "the proxy has no subscription \(identifier)")
      }
      try unsafe move(record, position, &garbage)
    }
  }

  /// Moves the subscription of a record. A fan-out under way keeps the old
  /// order.
  private func move(
    _ record: OpaquePointer, _ position: DynamicProxy.Position, _ garbage: inout Garbage
  ) throws(ForwardingError) {
    try unsafe move(record, position) { from, to, priority in
      unsafe fwd_list_move(list, from, to, priority, &garbage.contents)
    }
  }

  /// Finds the index for a position, and has the record moved there: from one
  /// index to another, with a priority. False if memory is short.
  internal func move(
    _ record: OpaquePointer, _ position: DynamicProxy.Position,
    _ moves: (Int, Int, Int64) -> Bool
  ) throws(ForwardingError) {
    var position = position
    if let anchor = position.anchor, unsafe find(anchor) == record {
      // The position beside itself is the one that it has.
      if configuration.ownAnchors == .stay { return }
      position = position.withoutAnchor
    }
    let from = unsafe fwd_list_index(list, record)
    let target = try unsafe min(index(of: position, moving: record), fwd_list_count(list))
    // SAFETY: this is the list's only writer, and both are indices of records.
    // Without the record, those behind it have indices that are one less.
    let to = target > from ? target - 1 : target
    let priority = Int64(position.priority)
    guard moves(from, to, priority) else {
      throw ForwardingError(.outOfMemory, "no memory to move a subscriber")
    }
  }
}

// MARK: - Joined tables

extension SubscriberList {
  /// Lets later subscribers find the table of one. Under the lock.
  internal func share(
    _ dispatch: DispatchTable, _ state: inout State, _ garbage: inout Garbage
  ) {
    if unsafe fwd_list_share_table(list, dispatch.handle) { return }
    let key = ObjectIdentifier(dispatch.joined.identity)
    if let known = state.existing?.joined.find(key) {
      // Released outside of the lock, as it may be the last reference.
      garbage.tables.append(known)
      if known === dispatch { return }
    }
    garbage.tables += state.made.joined.remember(dispatch, key)
  }

  /// The table of a key that a subscriber has.
  internal func sharedTable(_ key: ObjectIdentifier) -> DispatchTable? {
    guard unsafe fwd_list_may_share(list) else { return nil }
    return withLock { state in
      guard let table = unsafe fwd_list_shared_table(list, key.address) else {
        return state.existing?.joined.find(key)
      }
      // SAFETY: the owner of a table that Swift has made is its `DispatchTable`. The
      // list has a reference to it while the lock is held.
      return unsafe Unmanaged<DispatchTable>.fromOpaque(fwd_dispatch_table_owner(table)!)
        .takeUnretainedValue()
    }
  }
}

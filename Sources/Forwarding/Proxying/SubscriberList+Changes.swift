// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

// Changes that take effect together. What the closure of `change` does is collected
// in a `MembershipChange`. When it returns, all of that is done to a draft of the
// list, under one lock, and the draft is published (CShims/src/members/draft.c).

// MARK: - Collecting

extension SubscriberList {
  /// Runs a closure, and then makes what it has changed take effect.
  internal func changing<Output>(
    _ proxy: DynamicProxy, _ body: (DynamicProxy) throws -> Output
  ) throws -> Output {
    if let open = MembershipChange.current(of: proxy) {
      let mark = open.mark
      do { return try body(proxy) } catch {
        rollBack(open, to: mark)
        // Ends that no caller can ask for again become a part of the outer change.
        for identifier in open.finals where !open.leaving.contains(identifier) {
          _ = leave(identifier, in: open, then: nil)
        }
        throw error
      }
    }
    try failIfClosing()
    let open = MembershipChange(proxy)
    do {
      let output = try collecting(open, body)
      try commit(open)
      return output
    } catch {
      for identifier in open.finals { remove(identifier) }
      throw error
    }
  }

  private func collecting<Output>(
    _ open: MembershipChange, _ body: (DynamicProxy) throws -> Output
  ) throws -> Output {
    let mark = open.mark
    register(open)
    do {
      defer { open.stop() }
      return try body(proxy)
    } catch {
      rollBack(open, to: mark)
      unregister(open)
      throw error
    }
  }

  /// Forgets what a closure that has thrown has changed.
  private func rollBack(_ open: MembershipChange, to mark: MembershipChange.Mark) {
    let forgotten = try? change { _, garbage throws(ForwardingError) in
      let forgotten = open.rollBack(to: mark)
      for join in forgotten.joins {
        unsafe fwd_list_abandon(list, join.prepared, &garbage.contents)
      }
      return forgotten
    }
    withExtendedLifetime(forgotten) {}
  }

  /// Collects a subscription.
  internal func prepare(
    _ candidate: Candidate, _ dispatch: DispatchTable, isShared: Bool, in open: MembershipChange
  ) throws(ForwardingError) -> UInt64 {
    let subscriber = unsafe candidate.subscriber
    let (duplicates, position) = (candidate.duplicates, candidate.position)
    let table = unsafe dispatch.handle
    let key = unsafe duplicates != .allow && dispatch.mayRepeat ? dispatch.key : nil
    let name = unsafe MembershipChange.SubscriberKey(
      object: UInt(bitPattern: subscriber.object), key: UInt(bitPattern: key))
    defer { extendLifetime(dispatch) }
    open.owned.append(dispatch)
    return try change { state, garbage throws(ForwardingError) in
      if let earlier = unsafe findEarlier(subscriber, key, in: open, name) {
        try refuse(duplicates)
        if case .last = position.kind { return earlier }
        open.edits.append(.move(earlier, position))
        return earlier
      }
      var prepared = unsafe fwd_prepared()
      // SAFETY: this is the list's only writer, the object lives as long as the
      // candidate, and the table as long as its own object.
      let identifier = unsafe withUnsafePointer(to: subscriber) {
        unsafe fwd_list_prepare(list, $0, table, &prepared, &garbage.contents)
      }
      guard identifier != 0 else {
        throw ForwardingError(.outOfMemory, "no memory for a subscriber")
      }
      if isShared { share(dispatch, &state, &garbage) }
      open.joins[identifier] = unsafe MembershipChange.Join(
        prepared: prepared, position: position, subscriber: name, duplicates: duplicates)
      open.identifiers[name] = identifier
      open.edits.append(.join(identifier))
      return identifier
    }
  }

  /// The subscription of the same object with a table of the same key, before the
  /// change or in it, that does not end with the change.
  private func findEarlier(
    _ subscriber: fwd_subscriber, _ key: UnsafeRawPointer?, in open: MembershipChange,
    _ name: MembershipChange.SubscriberKey
  ) -> UInt64? {
    guard unsafe key != nil else { return nil }
    if let earlier = unsafe findEarlier(subscriber, key) {
      let identifier = unsafe fwd_record_identifier(earlier)
      if open.keeps(identifier) { return identifier }
    }
    return open.identifiers[name].flatMap { open.willJoin($0) ? $0 : nil }
  }

  /// Collects the end of a subscription. False if it has none, or has ended in the
  /// change already.
  internal func leave(
    _ identifier: UInt64, in open: MembershipChange, then: (() -> Void)?
  ) -> Bool {
    let (isFound, address) = withLock { state in
      if open.joins[identifier] != nil {
        guard open.willJoin(identifier) else { return (false, UInt(0)) }
      } else {
        let isMember = unsafe fwd_list_find(list, identifier).map {
          unsafe fwd_record_is_live($0) && open.keeps(identifier)
        }
        // It may begin with the change of another thread, which `leaveAll` does not end.
        guard isMember ?? state.willJoin(identifier), !open.leaving.contains(identifier) else {
          return (false, UInt(0))
        }
      }
      open.leaving.insert(identifier)
      open.edits.append(.leave(identifier))
      return unsafe (true, UInt(bitPattern: fwd_list_retain_object(list, identifier)))
    }
    guard isFound else { return false }
    if let object = unsafe UnsafeRawPointer(bitPattern: address) {
      // Nobody would be called if the object died before the change takes effect.
      // SAFETY: the shim has retained it.
      open.owned.append(unsafe Unmanaged<AnyObject>.fromOpaque(object).takeRetainedValue())
    }
    if let then { open.completions.append(then) }
    return true
  }

  /// Collects the ends of the subscriptions of an object, or of the oldest.
  internal func leave(
    object: AnyObject, _ removal: DynamicProxy.Configuration.Removal, in open: MembershipChange
  ) -> Int {
    // SAFETY: the address only names the object.
    let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    open.owned.append(object)
    let all = withLock { _ in
      let pointer = unsafe UnsafeRawPointer(bitPattern: address)!
      let count = unsafe fwd_list_find_all(list, pointer, nil, 0)
      // The newest comes first.
      let found = unsafe [UInt64](unsafeUninitializedCapacity: count) { buffer, filled in
        filled = unsafe fwd_list_find_all(list, pointer, buffer.baseAddress, count)
      }
      return found.reversed().filter(open.keeps) + open.joins(of: address)
    }
    var count = 0
    for identifier in all where leave(identifier, in: open, then: nil) {
      count += 1
      if removal == .first { break }
    }
    return count
  }

  /// Collects the end of all subscriptions.
  internal func leaveAll(in open: MembershipChange) {
    open.owned += proxy.liveSubscribers
    let pending = withLock { _ in open.joins.keys.filter(open.willJoin) }
    for identifier in pending { _ = leave(identifier, in: open, then: nil) }
    withLock { _ in
      open.endings += 1
      open.edits.append(.leaveAll)
    }
  }

  /// Collects a move.
  internal func move(
    _ identifier: UInt64, to position: DynamicProxy.Position, in open: MembershipChange
  ) throws(ForwardingError) {
    let isFound = withLock { _ in
      let isLive = unsafe fwd_list_find(list, identifier).map { unsafe fwd_record_is_live($0) }
      let isMember = (isLive ?? false) && open.keeps(identifier)
      guard isMember || open.willJoin(identifier) else { return false }
      open.edits.append(.move(identifier, position))
      return true
    }
    if isFound { return }
    throw ForwardingError(.notSubscribed, "the proxy has no subscription \(identifier)")
  }
}

// MARK: - Taking effect

extension SubscriberList {
  /// Makes all collected changes take effect.
  ///
  /// - Throws: `ForwardingError` if one of them fails. Then none takes effect.
  private func commit(_ open: MembershipChange) throws(ForwardingError) {
    try change { state, garbage throws(ForwardingError) in
      state.existing?.open.removeAll { $0 === open }
      var joined: Set<UInt64> = []
      // The objects of the joins are released with the change, under no lock.
      defer {
        for (identifier, join) in open.joins where !joined.contains(identifier) {
          unsafe fwd_list_abandon(list, join.prepared, &garbage.contents)
        }
      }
      if open.edits.isEmpty { return }
      if open.countsSubscribers { try prune(&garbage) }
      joined = try publish(open, &garbage)
      for identifier in open.withdrawals { _ = withdraw(identifier, &state) }
    }
    for completion in open.completions { completion() }
  }

  /// - Returns: the subscriptions that have begun.
  private func publish(
    _ open: MembershipChange, _ garbage: inout Garbage
  ) throws(ForwardingError) -> Set<UInt64> {
    guard unsafe fwd_draft_begin(list) else {
      throw ForwardingError(.outOfMemory, "no memory to change the subscribers")
    }
    var joined: [UInt64] = []
    do throws(ForwardingError) {
      for edit in open.edits {
        if let identifier = try apply(edit, of: open) { joined.append(identifier) }
      }
      for identifier in joined where open.joins[identifier]?.isWithdrawn == true {
        _ = try leave(identifier)
      }
    } catch {
      unsafe fwd_draft_discard(list, &garbage.contents)
      throw error
    }
    let log = proxy.core.membershipLog
    for identifier in joined where open.willJoin(identifier) {
      log?.addJoin(identifier, at: log?.count ?? 0)
    }
    unsafe fwd_draft_publish(list, &garbage.contents)
    // Observers do not learn of a subscription that has not outlasted the change.
    log?.forget(Set(joined.filter { !open.willJoin($0) }))
    return Set(joined)
  }

  /// Does one of the changes in the draft. Gives the subscription that has joined.
  private func apply(
    _ edit: MembershipChange.Edit, of open: MembershipChange
  ) throws(ForwardingError) -> UInt64? {
    switch edit {
    case .join(let identifier):
      // Also if it leaves later in the change: until then others may be placed beside it.
      guard let join = open.joins[identifier] else { return nil }
      return try self.join(join, of: open) ? identifier : nil
    case .leave(let identifier):
      // Otherwise it has ended since it was collected, or begins with the change of another thread.
      if try !leave(identifier) { open.withdrawals.append(identifier) }
      return nil
    case .leaveAll:
      guard unsafe fwd_draft_leave_all(list) else { throw draftFailure }
      return nil
    case .move(let identifier, let position):
      guard let record = unsafe fwd_list_find(list, identifier), unsafe fwd_record_is_live(record)
      else { return nil }
      try unsafe move(record, position) { from, to, priority in
        unsafe fwd_draft_move(list, from, to, priority)
      }
      return nil
    }
  }

  /// Takes a subscription out of the draft. False if the draft does not have it.
  private func leave(_ identifier: UInt64) throws(ForwardingError) -> Bool {
    guard let record = unsafe fwd_list_find(list, identifier) else { return false }
    guard unsafe fwd_draft_leave(list, record) else { throw draftFailure }
    return true
  }

  private var draftFailure: ForwardingError {
    ForwardingError(.outOfMemory, "no memory to change the subscribers")
  }

  /// Adds a subscription to the draft. False if it does not begin, since its object
  /// has died.
  private func join(
    _ join: MembershipChange.Join, of open: MembershipChange
  ) throws(ForwardingError) -> Bool {
    guard unsafe fwd_prepared_is_live(join.prepared) else { return false }
    let (object, key) = (join.subscriber.object, join.subscriber.key)
    if key != 0, let address = unsafe UnsafeRawPointer(bitPattern: object),
      let earlier = unsafe fwd_list_find_object(list, address, UnsafeRawPointer(bitPattern: key)),
      unsafe open.joins[fwd_record_identifier(earlier)]?.isWithdrawn != true
    {
      throw ForwardingError(
        .duplicate, "another thread has subscribed the object since the change began")
    }
    let priority = Int64(join.position.priority)
    let place = unsafe try index(of: join.position)
    guard unsafe fwd_draft_join(list, join.prepared, priority, place) else { throw draftFailure }
    return true
  }
}

// MARK: - Changes of other threads

extension SubscriberList {
  private func register(_ open: MembershipChange) {
    withLock { $0.made.open.append(open) }
  }

  private func unregister(_ open: MembershipChange) {
    withLock { state in state.existing?.open.removeAll { $0 === open } }
  }

  /// Cancels a subscription that begins with a change of another thread. Under the
  /// lock. False if there is none.
  internal func withdraw(_ identifier: UInt64, _ state: inout State) -> Bool {
    guard let open = state.existing?.open.first(where: { $0.willJoin(identifier) }) else {
      return false
    }
    open.joins[identifier]?.isWithdrawn = true
    return true
  }

  /// Whether a subscription is live for the change that this thread collects; without
  /// one, whether it is live.
  internal func staysLive(_ identifier: UInt64) -> Bool {
    guard isLive(identifier) else { return false }
    guard let open = MembershipChange.current(of: proxy) else { return true }
    return withLock { _ in
      open.joins[identifier] != nil ? open.willJoin(identifier) : open.keeps(identifier)
    }
  }

  /// Whether the object has a subscription, or one that begins with a change.
  internal func mayContain(_ object: ObjectIdentifier) -> Bool {
    withLock { state in
      if unsafe fwd_list_find_object(list, object.address, nil) != nil { return true }
      let address = unsafe UInt(bitPattern: object.address)
      return state.existing?.open.contains { !$0.joins(of: address).isEmpty } ?? false
    }
  }
}

extension SubscriberList.State {
  /// Whether a subscription begins with a change that has not taken effect yet.
  internal func willJoin(_ identifier: UInt64) -> Bool {
    existing?.open.contains { $0.willJoin(identifier) } ?? false
  }
}

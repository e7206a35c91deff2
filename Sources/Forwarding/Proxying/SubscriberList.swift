// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The subscriptions of a proxy, their order, and the rules for new ones. The
/// shim's list has the records, which fan-outs read. Only this type writes the
/// list, under the lock of the state.
///
/// Foreign code, such as a deinitialiser or an observer, runs only after the
/// lock has been released.
@safe internal struct SubscriberList: Sendable {

  /// The state of most lists is one null pointer, so that it costs nothing to make
  /// and to destroy.
  internal struct State {
    private var parts: Parts?

    /// That of a proxy without subscribers, for a number of methods whose
    /// responders are noted.
    internal init(_ noted: Int) {
      if noted > 0 { parts = Parts(responds: Array(repeating: false, count: noted)) }
    }

    /// The parts, if one of them has been needed.
    internal var existing: Parts? { parts }

    /// The parts. The first call makes them.
    internal var made: Parts {
      mutating get {
        if let parts { return parts }
        let made = Parts(responds: [])
        parts = made
        return made
      }
    }
  }

  /// The parts of the state that most lists do not need.
  internal final class Parts: @unchecked Sendable {
    // Sendable: used under the lock only.

    /// Per method, whether somebody responds, as far as it has been noted. Empty
    /// without an observer of capabilities.
    fileprivate var responds: [Bool]
    /// What the observers of capabilities and of membership are still to be told,
    /// in order.
    fileprivate var untold: [News] = []
    /// Whether a thread is telling.
    fileprivate var isTelling = false
    /// Members of C structs that are null while nobody responds, and whether the
    /// function is stored; nil before the first store.
    fileprivate var watched: [(member: WatchedMember, responds: Bool?)] = []
    /// The tables that have been joined to the protocols and for which the shim's
    /// list has no room, to be used again.
    fileprivate var joined = JoinedTables()
    /// The changes of all threads that have not taken effect yet.
    internal var open: [MembershipChange] = []

    fileprivate init(responds: [Bool]) { self.responds = responds }
  }

  /// What an observer is told.
  fileprivate enum News {
    case capability(method: Int, responds: Bool)
    case membership(MembershipLog.Entry)
  }

  /// Owns the shim's list and the state.
  internal let proxy: DynamicProxy

  internal init(_ proxy: DynamicProxy) { self.proxy = proxy }

  /// Runs `body` with the state, alone. The proxy has the memory of the state and
  /// of the lock.
  internal func withLock<Value, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Value
  ) throws(Failure) -> sending Value {
    defer { extendLifetime(proxy) }
    return try proxy.core.members.withLock(body)
  }

  private var configuration: DynamicProxy.Configuration { proxy.core.settings.configuration }

  /// What becomes of positions beside strangers.
  internal var unknownAnchors: DynamicProxy.Configuration.UnknownAnchors {
    configuration.unknownAnchors
  }

  internal var list: OpaquePointer { unsafe fwd_proxy_core_list(proxy.core.handle) }

  /// Changes the list, then does what must not be done under the lock.
  internal func change<Value: Sendable>(
    _ body: (inout State, inout Garbage) throws(ForwardingError) -> Value
  ) throws(ForwardingError) -> Value {
    try failIfClosing()
    var garbage = Garbage()
    var tells = false
    defer {
      garbage.collect()
      if tells { tell() }
    }
    return try withLock { state throws(ForwardingError) in
      defer {
        if let parts = state.existing, !parts.watched.isEmpty { updateMembers(parts) }
        if proxy.core.settings.isObserved { tells = note(state.made) }
      }
      return try body(&state, &garbage)
    }
  }

  /// Ends all subscriptions of a proxy that is being deinitialised. Destroy
  /// notifiers and the deinitialisers of strongly held subscribers run here,
  /// while the proxy can still refuse what they ask of it.
  internal func close() {
    // Subscriptions that outlive the proxy use its list only under the lock, and do
    // not find it after this.
    unsafe fwd_proxy_core_disown(proxy.core.handle)
    if unsafe fwd_proxy_core_is_alone(proxy.core.handle) {
      var garbage = unsafe fwd_garbage()
      unsafe close(proxy.core.soleState, &garbage)
      // SAFETY: no thread reads the list. Each fan-out holds a reference to the proxy,
      // and the last one is gone. A thread that cancels a subscription locks first,
      // and no longer finds the proxy.
      unsafe fwd_garbage_free(garbage)
      return
    }
    let garbage = withLock { state in
      var garbage = Garbage()
      unsafe close(state, &garbage.contents)
      return garbage
    }
    if unsafe fwd_proxy_core_is_shared(proxy.core.handle) {
      // C functions that objects own may be reading the list.
      garbage.collect()
    } else {
      // SAFETY: no thread reads the list. Each fan-out holds a reference to the proxy,
      // and the last one is gone. A thread that cancels a subscription locks first,
      // and no longer finds the proxy.
      unsafe fwd_garbage_free(garbage.contents)
    }
  }

  private func close(_ state: State, _ garbage: inout fwd_garbage) {
    if let parts = state.existing {
      for watched in parts.watched { watched.member.store(false) }
      parts.watched = []
    }
    // The end of the proxy is not reported.
    unsafe fwd_list_observe(list, nil, nil)
    unsafe fwd_proxy_core_close(proxy.core.handle, &garbage)
  }

  /// Refuses changes to a proxy that is being deinitialised.
  ///
  /// - Throws: `ForwardingError` with the code `dead`.
  internal func failIfClosing() throws(ForwardingError) {
    if unsafe !fwd_proxy_core_is_closing(proxy.core.handle) { return }
    throw ForwardingError(
      .dead,
      "the proxy is being deinitialised: its last reference is gone, and its subscriptions have ended"
    )
  }

  /// Notes that the forward target, or what it responds to, has changed.
  internal func noteForwarding() {
    try? change { _, _ throws(ForwardingError) in }
  }

  /// Notes which subscriptions have begun or ended, and which methods have gained
  /// their first responder or lost their last. Gives whether the caller is to tell.
  private func note(_ state: Parts) -> Bool {
    if let log = proxy.core.membershipLog { state.untold += log.take().map { .membership($0) } }
    for method in state.responds.indices {
      let responds = mayRespond(method)
      if responds == state.responds[method] { continue }
      state.responds[method] = responds
      state.untold.append(.capability(method: method, responds: responds))
    }
    if state.untold.isEmpty || state.isTelling { return false }
    state.isTelling = true
    return true
  }

  /// Whether a subscriber, an interceptor or the forward target may respond to a
  /// method. Under the lock.
  private func mayRespond(_ method: Int) -> Bool {
    if unsafe fwd_list_may_respond(list, method) { return true }
    guard let forwarding = proxy.core.existingExtras?.forwardSlot else { return false }
    return unsafe forwarding.mayRespond(method) && !fwd_list_is_blocked(list, method)
  }

  /// Stores functions, or nulls, in the members whose methods have gained their first
  /// responder or lost their last. Under the lock, so the last store reflects the
  /// current state.
  private func updateMembers(_ state: Parts) {
    var ended = false
    for index in state.watched.indices {
      let watched = state.watched[index]
      let hasEnded = watched.member.hasEnded
      ended = ended || hasEnded
      let responds = !hasEnded && mayRespond(watched.member.method)
      if responds == watched.responds { continue }
      watched.member.store(responds)
      state.watched[index].responds = responds
    }
    if ended { state.watched.removeAll { $0.member.hasEnded } }
  }

  /// Stores functions in members while somebody responds to their methods, until the
  /// proxy or the members' owner dies.
  internal func watch(_ members: [WatchedMember]) throws(ForwardingError) {
    try change { state, _ throws(ForwardingError) in
      let parts = state.made
      for member in members { parts.watched.append((member, nil)) }
      unsafe fwd_proxy_core_watch(proxy.core.handle)
    }
  }

  /// Tells the observers of all that has been noted, also by other threads and by
  /// the observers themselves meanwhile. So they are told in the order of the
  /// changes, and the last notification reflects the current state.
  private func tell() {
    while true {
      let news = withLock { state in
        let parts = state.made
        defer { parts.untold = [] }
        parts.isTelling = !parts.untold.isEmpty
        return parts.untold
      }
      if news.isEmpty { return }
      for item in news {
        switch item {
        case .capability(let method, let responds):
          configuration.onCapabilityChange?(proxy.core.plan.selectors[method], responds)
        case .membership(let entry):
          configuration.onMembershipChange?(
            DynamicProxy.Subscription(reference: proxy.reference, identifier: entry.identifier),
            entry.change)
        }
      }
    }
  }
}

/// What a change has left for when the lock has been given up.
@safe internal struct Garbage {
  internal var contents = unsafe fwd_garbage()
  /// References that may be the last ones.
  internal var tables: [DispatchTable] = []

  /// Gives it up; this may run any code.
  fileprivate func collect() { unsafe fwd_garbage_collect(contents) }
}

// MARK: - Joining

extension SubscriberList {
  /// What a new subscription is made of. It counts no references: whoever makes
  /// it keeps the object alive meanwhile.
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
    // What is captured counts no references: most subscribers join at the end,
    // and pay for nothing else.
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

// MARK: - Leaving

extension SubscriberList {
  /// Ends a subscription. False if there is none of the identifier, or its
  /// subscriber's death has ended it.
  ///
  /// - Parameters:
  ///   - isFinal: whether a change that fails ends the subscription all the same,
  ///     since nobody can ask again.
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

// MARK: - Looking

extension SubscriberList {
  /// Asks the list, alone.
  internal func withState<Value: Sendable>(_ body: (State) -> Value) -> Value {
    withLock { body($0) }
  }

  /// Whether the subscription has neither ended nor lost its subscriber. One that
  /// begins with a change is live.
  internal func isLive(_ identifier: UInt64) -> Bool {
    withLock { state in
      guard let record = unsafe fwd_list_find(list, identifier) else {
        return state.willJoin(identifier)
      }
      return unsafe fwd_record_is_live(record)
    }
  }

  /// The object of a live subscription.
  internal func subscriber(of identifier: UInt64) -> AnyObject? {
    let address = withLock { _ in
      unsafe UInt(bitPattern: fwd_list_retain_object(list, identifier))
    }
    guard let object = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    // SAFETY: the shim has retained it.
    return unsafe Unmanaged<AnyObject>.fromOpaque(object).takeRetainedValue()
  }

  /// The number of records, with those of ended subscriptions that have not been
  /// removed.
  internal var places: Int {
    withLock { _ in unsafe fwd_list_count(list) }
  }

  /// Whether the object has a subscription.
  internal func contains(_ object: AnyObject) -> Bool {
    contains(ObjectIdentifier(object))
  }

  /// Whether the object of an identity, which may be dead, has a subscription.
  internal func contains(_ object: ObjectIdentifier) -> Bool {
    withLock { _ in unsafe fwd_list_find_object(list, object.address, nil) != nil }
  }
}

extension ObjectIdentifier {
  /// The address, which only names the object.
  internal var address: UnsafeRawPointer { unsafe unsafeBitCast(self, to: UnsafeRawPointer.self) }
}

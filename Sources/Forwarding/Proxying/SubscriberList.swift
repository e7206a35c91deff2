// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding

/// The members of a proxy: who is in, in which order, and who may come in. The
/// records stand in the shim's list, where the fan-out reads them; this is its
/// only writer.
///
/// Everything that may run foreign code (the release of a record, observers)
/// happens after the lock is given up.
@safe internal final class SubscriberList: @unchecked Sendable {
  // Sendable: the books are behind the lock, under which alone the shim's list
  // is written.

  /// A record as its writer knows it.
  private struct Member {
    let record: Record
    let object: ObjectIdentifier?
    let table: ObjectIdentifier
    var priority: Int
  }

  private struct State {
    var members: [UInt64: Member] = [:]
    var byObject: [ObjectIdentifier: [UInt64]] = [:]
    /// The subscribers with a priority other than 0, so that the others need
    /// not look for their place.
    var prioritized = 0
    /// Per method, the members that implement it.
    var responders: [Int]
    /// The number of records at which dead ones are looked for again: pruning
    /// is amortised.
    var pruneAt = 64
  }

  /// Owns the shim's list: who has this object alone, has that too.
  private let core: ProxyCore
  private let methods: [MethodSelector]
  private let state: Lock<State>
  private let onChange: (@Sendable (MethodSelector, Bool) -> Void)?

  private static let lastIdentifier = Lock<UInt64>(0)

  /// Writes the list of a proxy's C part.
  internal init(
    core: ProxyCore, methods: [MethodSelector],
    onChange: (@Sendable (MethodSelector, Bool) -> Void)?
  ) {
    self.core = core
    self.methods = methods
    self.onChange = onChange
    state = Lock(State(responders: Array(repeating: 0, count: methods.count)))
  }

  private var list: OpaquePointer { unsafe fwd_proxy_core_list(core.handle) }

  /// What a new subscription is made of.
  @safe internal struct Candidate {
    /// The object to hold, or nil for a C context.
    var object: AnyObject?
    /// What functions get as their first argument.
    var receiver: UnsafeMutableRawPointer?
    var hold: fwd_hold
    var destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    /// Names the table: the same object with the same table is the same
    /// subscriber.
    var table: ObjectIdentifier
    var position: DynamicProxy.Position
    var duplicates: DynamicProxy.Configuration.Duplicates

    /// Whether the object is being deinitialised.
    fileprivate var isDead: Bool {
      guard let object else { return false }
      // SAFETY: the object's memory is there as long as the candidate.
      return unsafe fwd_reference_is_dead(
        Unmanaged.passUnretained(object).toOpaque(), FWD_HOLD_WEAK)
    }
  }
}

// MARK: - Joining

extension SubscriberList {
  /// Puts a subscriber in its place.
  ///
  /// - Returns: the identifier of the subscription, which is an earlier one for
  ///   a duplicate.
  internal func insert(
    _ candidate: Candidate, _ dispatch: DispatchTable
  ) throws(ForwardingError) -> UInt64 {
    let identifier = Self.lastIdentifier.withLock { last in
      last += 1
      return last
    }
    var changes = Changes()
    defer { changes.finish(methods, onChange) }
    // A strong reference, too, would outlive an object that is being
    // deinitialised.
    guard !candidate.isDead else {
      throw ForwardingError(.dead, "the subscriber is being deinitialised")
    }
    // Made before the lock is taken, since making it may call and allocate.
    let record = try Record(identifier, candidate, dispatch)
    changes.keep(record)
    return try state.withLock { state throws(ForwardingError) in
      try insert(record, candidate, &state, &changes)
    }
  }

  private func insert(
    _ record: Record, _ candidate: Candidate, _ state: inout State, _ changes: inout Changes
  ) throws(ForwardingError) -> UInt64 {
    // An index counts the living.
    if unsafe fwd_list_count(list) >= state.pruneAt || candidate.position.isIndex {
      prune(&state, &changes)
      state.pruneAt = unsafe max(64, fwd_list_count(list) * 2)
    }
    let object = candidate.object.map { ObjectIdentifier($0) }
    if let earlier = find(object, candidate.table, state), candidate.duplicates != .allow {
      guard candidate.duplicates == .once else {
        throw ForwardingError(.duplicate, "the subscriber is in the proxy already")
      }
      try move(earlier, candidate.position, &state)
      return earlier
    }
    let index = try place(candidate.position, state)
    let member = Member(
      record: record, object: object, table: candidate.table,
      priority: candidate.position.priority)
    try put(member, at: index, &state, &changes)
    return record.identifier
  }

  /// Enters a member at an index of the shim's list.
  private func put(
    _ member: Member, at index: Int, _ state: inout State, _ changes: inout Changes
  ) throws(ForwardingError) {
    // SAFETY: this is the list's only writer, and the index is at most its
    // count.
    guard unsafe fwd_list_insert(list, member.record.handle, index) else {
      unsafe fwd_record_disarm(member.record.handle)
      throw ForwardingError(.outOfMemory, "no memory for a subscriber")
    }
    let identifier = member.record.identifier
    state.members[identifier] = member
    if let object = member.object {
      state.byObject[object, default: []].append(identifier)
    }
    if member.priority != 0 { state.prioritized += 1 }
    for method in methods.indices where member.record.implements(method) {
      state.responders[method] += 1
      if state.responders[method] == 1 { changes.note(method, responds: true) }
    }
  }

  private func find(
    _ object: ObjectIdentifier?, _ table: ObjectIdentifier, _ state: State
  ) -> UInt64? {
    guard let object else { return nil }
    return state.byObject[object]?.first { state.members[$0]?.table == table }
  }

  /// Moves an earlier subscription, if a place is named. A fan-out under way
  /// goes on in the old order.
  private func move(
    _ identifier: UInt64, _ position: DynamicProxy.Position, _ state: inout State
  ) throws(ForwardingError) {
    if case .last = position.place { return }
    guard var member = state.members[identifier] else { return }
    // A place beside itself is the place that it has.
    if let anchor = position.anchor, try resolve(anchor, state) == identifier { return }
    let from = unsafe fwd_list_index(list, identifier)
    let place = try place(position, state, moving: identifier)
    // SAFETY: this is the list's only writer, and both are indices of members:
    // those behind the old place move up.
    guard unsafe fwd_list_move(list, from, place > from ? place - 1 : place) else {
      throw ForwardingError(.outOfMemory, "no memory to move a subscriber")
    }
    if member.priority != 0 { state.prioritized -= 1 }
    member.priority = position.priority
    if member.priority != 0 { state.prioritized += 1 }
    state.members[identifier] = member
  }
}

// MARK: - Places

extension SubscriberList {
  /// The index before which a position is. A member that is to be moved there
  /// is passed over.
  private func place(
    _ position: DynamicProxy.Position, _ state: State, moving mover: UInt64? = nil
  ) throws(ForwardingError) -> Int {
    switch position.place {
    case .last: return place(priority: 0, state, moving: mover)
    case .first: return 0
    case .priority(let priority): return place(priority: priority, state, moving: mover)
    case .index(let index):
      let count = unsafe fwd_list_count(list)
      guard index >= 0 && index <= count else {
        throw ForwardingError(
          .indexOutOfRange, "position \(index), but the proxy has \(count) subscribers")
      }
      return index
    case .before(let anchor):
      return unsafe fwd_list_index(list, try resolve(anchor, state))
    case .after(let anchor):
      return unsafe fwd_list_index(list, try resolve(anchor, state)) + 1
    }
  }

  /// The index behind all members of this priority or a higher one.
  private func place(priority: Int, _ state: State, moving mover: UInt64?) -> Int {
    var index = unsafe fwd_list_count(list)
    guard state.prioritized > 0 || priority != 0 else { return index }
    while index > 0 {
      let before = unsafe fwd_record_identifier(fwd_list_record(list, index - 1))
      if before != mover && (state.members[before]?.priority ?? 0) >= priority { break }
      index -= 1
    }
    return index
  }

  private func resolve(
    _ anchor: DynamicProxy.Position.Anchor, _ state: State
  ) throws(ForwardingError) -> UInt64 {
    var identifier: UInt64?
    switch anchor {
    case .subscription(let subscription):
      if state.members[subscription.identifier] != nil { identifier = subscription.identifier }
    case .object(let object):
      identifier = state.byObject[object]?.first
    }
    guard let identifier, state.members[identifier]?.record.isLive == true else {
      throw ForwardingError(.notSubscribed, "the anchor of the position is not subscribed")
    }
    return identifier
  }
}

extension DynamicProxy.Position {
  fileprivate var priority: Int {
    if case .priority(let priority) = place { priority } else { 0 }
  }

  fileprivate var isIndex: Bool {
    if case .index = place { true } else { false }
  }

  fileprivate var anchor: Anchor? {
    switch place {
    case .before(let anchor), .after(let anchor): anchor
    default: nil
    }
  }
}

// MARK: - Leaving

extension SubscriberList {
  /// Ends a subscription. False if there is none of the identifier, or its
  /// subscriber's death has ended it.
  @discardableResult
  internal func remove(_ identifier: UInt64) -> Bool {
    var changes = Changes()
    defer { changes.finish(methods, onChange) }
    return state.withLock { state in
      guard let record = state.members[identifier]?.record else { return false }
      let wasLive = record.isLive
      let index = unsafe fwd_list_index(list, identifier)
      withdraw(identifier, at: index, &state, &changes)
      return wasLive
    }
  }

  /// Ends all subscriptions of an object. Gives how many there were.
  internal func remove(object: AnyObject) -> Int {
    let key = ObjectIdentifier(object)
    var changes = Changes()
    defer { changes.finish(methods, onChange) }
    return state.withLock { state in
      let identifiers = state.byObject[key] ?? []
      for identifier in identifiers {
        let index = unsafe fwd_list_index(list, identifier)
        withdraw(identifier, at: index, &state, &changes)
      }
      return identifiers.count
    }
  }

  /// Ends all subscriptions.
  internal func removeAll() {
    var changes = Changes()
    defer { changes.finish(methods, onChange) }
    state.withLock { state in
      for index in (0..<(unsafe fwd_list_count(list))).reversed() {
        let identifier = unsafe fwd_record_identifier(fwd_list_record(list, index))
        withdraw(identifier, at: index, &state, &changes)
      }
    }
  }

  /// Takes out those that have died.
  internal func prune() {
    var changes = Changes()
    defer { changes.finish(methods, onChange) }
    state.withLock { state in prune(&state, &changes) }
  }

  private func prune(_ state: inout State, _ changes: inout Changes) {
    var index = unsafe fwd_list_count(list)
    while index > 0 {
      index -= 1
      // SAFETY: this is the list's only writer, and the index below its count.
      let record = unsafe fwd_list_record(list, index)
      if unsafe fwd_record_is_live(record) { continue }
      withdraw(unsafe fwd_record_identifier(record), at: index, &state, &changes)
    }
  }

  /// Takes a member out of the shim's list and of the books.
  private func withdraw(
    _ identifier: UInt64, at index: Int, _ state: inout State, _ changes: inout Changes
  ) {
    // SAFETY: this is the list's only writer, and the index that of the
    // identifier. The record lives until `changes` is done with it, so that
    // nothing is released under the lock.
    unsafe fwd_list_remove(list, index)
    guard let member = state.members.removeValue(forKey: identifier) else { return }
    changes.keep(member.record)
    if let object = member.object {
      state.byObject[object]?.removeAll { $0 == identifier }
      if state.byObject[object]?.isEmpty == true { state.byObject[object] = nil }
    }
    if member.priority != 0 { state.prioritized -= 1 }
    for method in methods.indices where member.record.implements(method) {
      state.responders[method] -= 1
      if state.responders[method] == 0 { changes.note(method, responds: false) }
    }
  }
}

// MARK: - Looking

extension SubscriberList {
  /// Whether the subscription has neither ended nor lost its subscriber.
  internal func isLive(_ identifier: UInt64) -> Bool {
    state.withLock { $0.members[identifier]?.record.isLive ?? false }
  }

  /// Whether the object has a subscription.
  internal func contains(_ object: AnyObject) -> Bool {
    let key = ObjectIdentifier(object)
    return state.withLock { $0.byObject[key] != nil }
  }

  /// The records that live, in order.
  internal var records: [Record] {
    state.withLock { state in
      unsafe (0..<fwd_list_count(list)).compactMap { index in
        let identifier = unsafe fwd_record_identifier(fwd_list_record(list, index))
        guard let member = state.members[identifier], member.record.isLive else { return nil }
        return member.record
      }
    }
  }
}

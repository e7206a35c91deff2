// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Subscribes an object with its class's function table.
  ///
  /// If the object is subscribed with this table already, it keeps that subscription,
  /// with its lifetime and limit, and this returns it. The subscription moves if the
  /// position is not `.last`. `Configuration.duplicates` can say otherwise.
  ///
  /// - Parameters:
  ///   - subscriber: the object to call.
  ///   - position: the position in the order of delivery.
  ///   - lifetime: whether the proxy keeps the subscriber alive. By default it
  ///     does not.
  ///   - times: the number of deliveries, of any methods, after which the
  ///     subscription ends; nil for no limit. A delivery counts when it begins, so
  ///     the subscription has ended already during the last one.
  /// - Returns: the subscription. It goes on if you drop this value.
  /// - Throws: `ForwardingError` if the table lacks a required method or
  ///   disagrees with a protocol (`missingMethod`, `signatureMismatch`), if it
  ///   has a function that no protocol declares, or none at all
  ///   (`unknownSelector`, `emptyTable`; see
  ///   `Configuration.unknownFunctions`), if the
  ///   anchor of the position is not subscribed (`notSubscribed`), an index is
  ///   beyond the end (`indexOutOfRange`), the configuration refuses
  ///   duplicates (`duplicate`), the subscriber is being deinitialised (`dead`),
  ///   `times` is less than 1 (`invalidLimit`), or memory is short (`outOfMemory`).
  ///   Some presets ignore such subscribers instead.
  /// - Complexity: that of the position; see ``DynamicProxy/Position``.
  @discardableResult
  public func subscribe(
    _ subscriber: some Subscriber, at position: Position = .last, lifetime: Lifetime = .weak,
    times: Int? = nil
  ) throws(ForwardingError) -> Subscription {
    let owner = type(of: subscriber)
    // The usual case: another object of the class is subscribed. If it is not,
    // `unsafeSubscribe` tries the same with the table.
    if times == nil, case .last = position.kind,
      let made = unsafe join(subscriber, ObjectIdentifier(owner), lifetime, .none)
    {
      return made
    }
    return try unsafe unsafeSubscribe(
      subscriber, table: owner.functionTable, at: position, lifetime: lifetime, times: times,
      .ofClass)
  }

  /// Subscribes an object with a function table that you pass. An object that is
  /// subscribed with the table already is treated as `subscribe(_:at:lifetime:times:)`
  /// does.
  ///
  /// - Throws: `ForwardingError`, as `subscribe(_:at:lifetime:times:)`.
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    _ owner: Owner, table: FunctionTable, at position: Position = .last, lifetime: Lifetime = .weak,
    times: Int? = nil
  ) throws(ForwardingError) -> Subscription {
    try unsafe unsafeSubscribe(
      owner, table: table, at: position, lifetime: lifetime, times: times)
  }

  /// Subscribes closures for as long as an object lives. The closures get the
  /// object as their first parameter. Do not capture it: that would keep it alive.
  ///
  /// ```swift
  /// try proxy.subscribe(bar) { $0.on(progress) { bar, percent in bar.show(percent) } }
  /// ```
  ///
  /// Each call makes a new subscription, even if the object is subscribed already and
  /// whatever `Configuration.duplicates` says.
  ///
  /// - Throws: `ForwardingError`, as `subscribe(_:at:lifetime:times:)`.
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    _ owner: Owner, at position: Position = .last, lifetime: Lifetime = .weak,
    times: Int? = nil, _ build: (inout FunctionTable.Builder<Owner>) -> Void
  ) throws(ForwardingError) -> Subscription {
    try unsafe unsafeSubscribe(
      owner, table: FunctionTable(for: Owner.self, build), at: position,
      lifetime: lifetime, times: times, .none)
  }

  /// Subscribes closures until the token is cancelled or deallocated. Keep the
  /// token.
  ///
  /// ```swift
  /// let token = try proxy.subscribe { $0.on(progress) { percent in print(percent) } }
  /// ```
  ///
  /// - Throws: `ForwardingError`, as `subscribe(_:at:lifetime:times:)`.
  public func subscribe(
    at position: Position = .last, times: Int? = nil,
    _ build: (inout FunctionTable.Builder<Void>) -> Void
  ) throws(ForwardingError) -> Token {
    var builder = FunctionTable.Builder<Void>()
    build(&builder)
    let token = Token()
    let table = FunctionTable(methods: builder.methods, fault: builder.fault)
    token.adopt(
      try unsafe unsafeSubscribe(
        TokenSubscriber(), table: table, at: position, lifetime: .strong, times: times, .none))
    return token
  }

  /// Subscribes an object that is not `Sendable`. The caller promises that the
  /// proxy is used on one thread at a time while the object is subscribed.
  ///
  /// - Throws: `ForwardingError`, as `subscribe(_:at:lifetime:times:)`.
  @unsafe @discardableResult
  public func unsafeSubscribe(
    _ owner: AnyObject, table: FunctionTable, at position: Position = .last,
    lifetime: Lifetime = .weak, times: Int? = nil
  ) throws(ForwardingError) -> Subscription {
    try unsafe unsafeSubscribe(
      owner, table: table, at: position, lifetime: lifetime, times: times, .shared)
  }

  /// Whether other subscribers will come with a table.
  internal enum Sharing {
    case none, shared
    /// Shared; every object of exactly the table's class subscribes with it.
    case ofClass
    /// Shared; a macro has written the table for the proxy's own protocols.
    case generated
  }

  @unsafe internal func unsafeSubscribe(
    _ owner: AnyObject, table: FunctionTable, at position: Position, lifetime: Lifetime,
    times: Int?, _ sharing: Sharing
  ) throws(ForwardingError) -> Subscription {
    let limit = try DeliveryLimit(
      times, for: .subscription(of: type(of: owner), to: table.methods.keys))
    try table.check(owner)
    if sharing != .none, case .last = position.kind,
      let made = unsafe join(owner, ObjectIdentifier(table.identity), lifetime, limit)
    {
      return made
    }
    return try unsafe subscribeOtherwise(
      owner, table: table, at: position, lifetime: lifetime, limit, sharing)
  }

  @unsafe @inline(never)
  private func subscribeOtherwise(
    _ owner: AnyObject, table: FunctionTable, at position: Position, lifetime: Lifetime,
    _ limit: DeliveryLimit, _ sharing: Sharing
  ) throws(ForwardingError) -> Subscription {
    // SAFETY: the owner is alive until the subscription holds it.
    let address = unsafe Unmanaged.passUnretained(owner).toOpaque()
    defer { extendLifetime(owner) }
    let candidate = unsafe SubscriberList.Candidate(
      address, receiver: address, lifetime, at: position, limit: limit,
      duplicates: core.settings.duplicates)
    let isOther = sharing == .ofClass && !table.isForExactClass(of: owner)
    return try admit(candidate, table, isOther ? .shared : sharing)
  }

  /// Joins the table and lets the candidate in. A key names the table instead of
  /// its own identity.
  internal func admit(
    _ candidate: SubscriberList.Candidate, _ table: FunctionTable, _ sharing: Sharing,
    key: ObjectIdentifier? = nil
  ) throws(ForwardingError) -> Subscription {
    let identifier: UInt64
    do throws(ForwardingError) {
      let dispatch = try joined(table, sharing, named: key)
      if sharing == .ofClass { dispatch.stand(for: table.owner) }
      if sharing != .none, let object = unsafe candidate.lastObject {
        let subscriber = unsafe candidate.subscriber
        let made = unsafe join(
          object, ObjectIdentifier(table.identity), subscriber.hold, subscriber.limit, dispatch)
        if made != 0 { return Subscription(reference: reference, identifier: made) }
      }
      identifier = try subscribers.insert(candidate, dispatch, isShared: sharing != .none)
    } catch {
      identifier = try configuration.settle(error)
    }
    return Subscription(reference: reference, identifier: identifier)
  }
}

// MARK: - Joining tables

extension DynamicProxy {
  /// Subscribes an object behind all others, with the table of one of them. It takes one
  /// lock, and counts no reference.
  ///
  /// - Parameter key: the identity of the table, or the class that it stands for.
  /// - Returns: nil if that is not possible, and `SubscriberList.insert` has to find out
  ///   why.
  @unsafe @inline(__always) private func join(
    _ owner: AnyObject, _ key: ObjectIdentifier, _ lifetime: Lifetime, _ limit: DeliveryLimit
  ) -> Subscription? {
    // SAFETY: the owner is alive until the call returns.
    let object = unsafe Unmanaged.passUnretained(owner).toOpaque()
    let hold = lifetime == .weak ? FWD_HOLD_WEAK : FWD_HOLD_STRONG
    let identifier = unsafe join(object, key, hold, limit.count, nil)
    extendLifetime(owner)
    return identifier == 0 ? nil : Subscription(reference: reference, identifier: identifier)
  }

  /// The same, or else with `dispatch`.
  ///
  /// - Returns: the identifier of the subscription, or 0.
  @unsafe private func join(
    _ object: UnsafeMutableRawPointer, _ key: ObjectIdentifier, _ hold: fwd_hold,
    _ limit: Int, _ dispatch: DispatchTable?
  ) -> UInt64 {
    // SAFETY: the caller keeps the object and the table alive.
    return withExtendedLifetime(dispatch) {
      unsafe fwd_proxy_core_join(
        core.handle, object, key.address, dispatch?.handle, hold,
        core.settings.duplicates == .allow, limit)
    }
  }

  private func joined(
    _ table: FunctionTable, _ sharing: Sharing, named name: ObjectIdentifier?
  ) throws(ForwardingError) -> DispatchTable {
    if sharing == .none {
      let joined = try JoinedTable(table, core.plan, conformingTo: protocols)
      try check(joined, declares: name != nil)
      return try DispatchTable(joined, key: name, isSingle: true)
    }
    if let shared = subscribers.sharedTable(ObjectIdentifier(table.identity)) { return shared }
    let joins = table.joins
    let declares = sharing == .generated
    let found = try joins.find(for: core.number, core.plan.number) {
      joined throws(ForwardingError) in try check(joined, declares: declares)
    }
    let joined: JoinedTable
    switch found {
    case .dispatch(let dispatch): return dispatch
    case .joined(let found): joined = found
    case .nothing:
      joined = try JoinedTable(table, core.plan, conformingTo: protocols)
      joins.remember(joined, for: core.plan.number)
    }
    try check(joined, declares: declares)
    let dispatch = try DispatchTable(joined, isSingle: false)
    joins.remember(dispatch, for: core.number)
    return dispatch
  }

  /// Judges what a table and the protocols lack, by the rules of the
  /// configuration.
  ///
  /// - Parameter declares: whether the proxy is known to declare all functions.
  private func check(_ joined: JoinedTable, declares: Bool) throws(ForwardingError) {
    if !declares { try joined.checkDeclared(by: self) }
    try joined.checkConformance(core.settings.conformance)
  }
}

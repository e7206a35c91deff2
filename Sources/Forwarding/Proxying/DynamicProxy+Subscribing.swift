// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Subscribes an object with its class's function table.
  ///
  /// - Parameters:
  ///   - subscriber: who is to be delivered to.
  ///   - position: the place in the order of delivery.
  ///   - lifetime: whether the proxy keeps the subscriber alive; by default it
  ///     does not.
  ///   - times: after how many deliveries, of whichever methods, the
  ///     subscription ends: 1 for once. Nil for no limit. A delivery counts when
  ///     it begins, so that there are no more, whatever is forwarded inside of
  ///     one or on other threads; during the last one the subscription has ended
  ///     already. Where a duplicate gives the earlier subscription, that one's
  ///     limit stays.
  /// - Throws: `ForwardingError` if the table lacks a required method or
  ///   disagrees with a protocol (`missingMethod`, `signatureMismatch`), if it
  ///   has a function that no protocol declares, or none at all
  ///   (`unknownSelector`, `emptyTable`; see
  ///   `Configuration.undeclaredFunctions`), if the
  ///   anchor of the position is not subscribed, if the configuration refuses
  ///   duplicates, or if `times` is less than 1 (`invalidLimit`). Some
  ///   presets ignore such subscribers instead.
  /// - Complexity: that of the position; see ``DynamicProxy/Position``.
  @discardableResult
  public func subscribe(
    _ subscriber: some Subscriber, at position: Position = .last, lifetime: Lifetime = .weak,
    times: Int? = nil
  ) throws(ForwardingError) -> Subscription {
    try unsafe unsafeSubscribe(
      subscriber, table: type(of: subscriber).functionTable, at: position, lifetime: lifetime,
      times: times, .forever)
  }

  /// Subscribes an object with a function table of one's own.
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

  /// Subscribes closures for as long as an object lives. They get the object as
  /// their first parameter, so they need not, and should not, capture it.
  ///
  /// Each call is a subscription of its own, also with an object that is
  /// subscribed already.
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

  /// Subscribes closures until the token is cancelled or dies. Keep the token.
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
    // The token is the subscriber: with it the subscription dies.
    token.adopt(
      try unsafe unsafeSubscribe(
        token, table: table, at: position, lifetime: .weak, times: times, .none))
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
      owner, table: table, at: position, lifetime: lifetime, times: times, .whileUsed)
  }

  /// Whether other subscribers will come with a table.
  internal enum Sharing {
    case none
    /// As long as one of them is there.
    case whileUsed
    case forever
    /// Forever; a macro has written the table for the proxy's own protocols.
    case generated
  }

  @unsafe internal func unsafeSubscribe(
    _ owner: AnyObject, table: FunctionTable, at position: Position, lifetime: Lifetime,
    times: Int?, _ sharing: Sharing
  ) throws(ForwardingError) -> Subscription {
    let limit = try DeliveryLimit(times)
    try table.check(owner)
    // SAFETY: the owner is alive until the subscription holds it.
    let address = unsafe Unmanaged.passUnretained(owner).toOpaque()
    let candidate = unsafe SubscriberList.Candidate(
      address, receiver: address, lifetime, at: position, limit: limit,
      duplicates: configuration.duplicates)
    defer { extendLifetime(owner) }
    return try admit(candidate, table, sharing)
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
      identifier = try subscribers.insert(candidate, dispatch)
    } catch {
      identifier = try configuration.settle(error)
    }
    return Subscription(anchor: anchor, identifier: identifier)
  }
}

// MARK: - Joining tables

extension DynamicProxy {
  private func joined(
    _ table: FunctionTable, _ sharing: Sharing, named name: ObjectIdentifier?
  ) throws(ForwardingError) -> DispatchTable {
    let key = ObjectIdentifier(table)
    if sharing != .none, let found = subscribers.withJoinedTables({ $0.find(key) }) { return found }
    let dispatch = try DispatchTable(
      table, requirements, key: name, isSingle: sharing == .none)
    // The table of a proxy that subscribes has all that it declares.
    if name == nil && sharing != .generated { try checkDeclared(table) }
    try checkConformance(dispatch.selectors)
    switch sharing {
    case .none: break
    case .forever, .generated: subscribers.withJoinedTables { $0.pin(dispatch, key) }
    case .whileUsed:
      let living = subscribers.withJoinedTables { $0.remember(dispatch, key) }
      withExtendedLifetime(living) {}
    }
    return dispatch
  }

  /// Checks that the proxy declares every function of a table, and that there is
  /// one, unless the configuration allows others.
  ///
  /// - Throws: `ForwardingError` with the code `unknownSelector` or `emptyTable`.
  internal func checkDeclared(_ table: FunctionTable) throws(ForwardingError) {
    guard configuration.undeclaredFunctions == .fail else { return }
    if table.methods.isEmpty {
      throw ForwardingError(
        .emptyTable, "the function table has no functions, so the subscriber would never be called")
    }
    let undeclared = table.methods.keys.filter { unsafe core.method($0) == nil }
    // A table is not in order. Name the same function each time.
    guard let first = undeclared.map(\.name).min() else { return }
    throw unknown(first, others: undeclared.count - 1)
  }

  /// Checks that what is required is there, by the rule of the configuration.
  private func checkConformance(_ selectors: Set<MethodSelector>) throws(ForwardingError) {
    var firstFault: ForwardingError?
    var conformsToSome = protocols.isEmpty
    for table in protocols {
      let methods = try ProtocolTable.merge([table])
      guard
        let missing = methods.first(where: { $0.isRequired && !selectors.contains($0.selector) })
      else {
        conformsToSome = true
        continue
      }
      let fault = ForwardingError.missing(missing.selector, of: table)
      firstFault = firstFault ?? fault
      switch configuration.conformance {
      case .all: throw fault
      case .implemented where methods.contains { selectors.contains($0.selector) }: throw fault
      case .implemented, .any, .lenient: continue
      }
    }
    if let firstFault, !conformsToSome, configuration.conformance != .lenient { throw firstFault }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// Options of a subscription to a mailbox.
package struct MailOptions: Sendable {
  package var position: DynamicProxy.Position
  package var lifetime: DynamicProxy.Lifetime
  package var times: Int?
  package var overflow: DynamicProxy.Overflow

  package init(
    at position: DynamicProxy.Position, _ lifetime: DynamicProxy.Lifetime, times: Int?,
    _ overflow: DynamicProxy.Overflow
  ) {
    self.position = position
    self.lifetime = lifetime
    self.times = times
    self.overflow = overflow
  }
}

extension DynamicProxy {
  /// Subscribes an object with a table of one closure, for the method of a key. The
  /// deliveries are made when the mailbox is drained. The caller promises that the
  /// closure may run there.
  ///
  /// - Returns: the subscription, and the account of its messages.
  /// - Throws: `ForwardingError`, as `subscribe(_:at:lifetime:times:_:)`;
  ///   `notMailable` for a method with a result, unless its policy calls all
  ///   responders; `invalidLimit` for the options.
  package func mail<each Argument: Sendable>(
    _ key: Method<Void, repeat each Argument>, _ table: FunctionTable, of owner: AnyObject,
    to mailbox: Mailbox, _ options: MailOptions
  ) throws(ForwardingError) -> (Subscription, MailAccount) {
    let method = try method(for: key.selector)
    // Checks the key's types, too. That of a literal may have the first few arguments.
    let coders = try argumentCoders(for: key)
    try checkIsMailable(unsafe fwd_proxy_method_index(method.entry))
    let joined = try JoinedTable(table, core.plan, dropsResults: true)
    return try mail(joined, [coders.carried], of: owner, isListed: true, to: mailbox, options)
  }

  /// Subscribes an object with a joined table. The types of the arguments are
  /// `Sendable`.
  ///
  /// - Parameters:
  ///   - carried: for each method of the table, how arguments that are Swift values
  ///     are copied.
  ///   - isListed: whether any thread may touch the object. If not, only the drain
  ///     does, and the list of subscribers does not know the object.
  internal func mail(
    _ joined: JoinedTable, _ carried: [CarriedArguments?], of owner: AnyObject, isListed: Bool,
    to mailbox: Mailbox, _ options: MailOptions
  ) throws(ForwardingError) -> (Subscription, MailAccount) {
    let rules = MailRules(overflow: options.overflow, keepsPointers: true)
    try rules.overflow.check()
    let limit = try DeliveryLimit(
      options.times,
      for: .subscription(
        of: type(of: owner),
        to: unsafe joined.implementations.map {
          core.plan.requirements[unsafe $0.index].selector
        }))
    // SAFETY: the owner is alive until the subscription and its messages hold it.
    let address = unsafe Unmanaged.passUnretained(owner).toOpaque()
    defer { extendLifetime(owner) }
    // A dying object can be held neither weakly nor strongly.
    guard unsafe !fwd_object_is_dying(address) else {
      throw ForwardingError(.dead, "the subscriber is being deinitialised")
    }
    let addressee = unsafe MailAddressee(
      object: address, hold: options.lifetime == .weak ? FWD_HOLD_WEAK : FWD_HOLD_STRONG,
      receiver: address)
    let ending = isListed ? nil : LateEnding()
    let (dispatch, account) = try unsafe DispatchTable.mailing(
      joined, carried, to: mailbox, addressee, rules, ending, by: self)
    let candidate =
      isListed
      ? unsafe SubscriberList.Candidate(
        address, receiver: address, options.lifetime, at: options.position, limit: limit,
        duplicates: .allow)
      : unsafe SubscriberList.Candidate(
        context: nil, at: options.position, limit: limit, destroy: nil)
    let identifier = try subscribers.insert(candidate, dispatch)
    let subscription = Subscription(reference: reference, identifier: identifier)
    ending?.watch(subscription)
    return (subscription, account)
  }

  /// Checks that a method's deliveries can be made later.
  ///
  /// - Throws: `ForwardingError` with the code `notMailable`.
  internal func checkIsMailable(_ index: Int) throws(ForwardingError) {
    let requirement = core.plan.requirements[index]
    let signature = requirement.signature
    if signature.result.kind == .void || configuration.policy(of: requirement).callsAll { return }
    throw ForwardingError(
      .notMailable, selector: requirement.selector.name,
      """
      "\(requirement.selector)" has a result ("\(signature)"), which a delivery that is made \
      later cannot give: expected a method without a result, or one whose policy calls all \
      responders (.callAll or .reduce); the subscriber's result is left out then
      """)
  }
}

extension ArgumentCoders {
  /// How arguments that are Swift values behind pointers are copied.
  fileprivate var carried: CarriedArguments? {
    var values = [Any.Type?](repeating: nil, count: signature.arguments.count)
    var index = first
    repeat Self.note((each Argument).self, signature, &index, &values)
    return CarriedArguments(values)
  }

  private static func note<Value>(
    _: Value.Type, _ signature: MethodSignature, _ index: inout Int, _ values: inout [Any.Type?]
  ) {
    if AddressTranslator<Value>.fits(signature.arguments[index].encoding) {
      values[index] = Value.self
    }
    index += 1
  }
}

// MARK: - From C

extension DynamicProxy {
  /// Subscribes a C program's context with a table. Its deliveries are made when
  /// the program drains the mailbox.
  ///
  /// - Throws: `ForwardingError`: the failures of `JoinedTable`, `notMailable`,
  ///   `notSubscribed`, `outOfMemory`.
  @unsafe internal func mail(
    _ table: FunctionTable, context: UnsafeMutableRawPointer?, to mailbox: OpaquePointer,
    at position: Position, _ limit: DeliveryLimit, _ rules: MailRules,
    destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
  ) throws(ForwardingError) -> Subscription {
    let joined = try JoinedTable(table, core.plan, conformingTo: protocols)
    try joined.checkDeclared(by: self)
    try joined.checkConformance(configuration.conformance)
    let count = unsafe joined.implementations.count
    for number in 0..<count {
      try checkIsMailable(unsafe joined.implementations[number].index)
    }
    let addressee = unsafe MailAddressee(object: nil, hold: FWD_HOLD_NONE, receiver: context)
    let (dispatch, _) = try unsafe DispatchTable.mailing(
      joined, Array(repeating: nil, count: count), to: Mailbox(retaining: mailbox), addressee,
      rules, by: self)
    let candidate = unsafe SubscriberList.Candidate(
      context: context, at: position, limit: limit, destroy: nil)
    // The recipient calls `destroy`, not the subscription: at its end a delivery may be under
    // way elsewhere. Set before another thread can find the subscription.
    unsafe dispatch.adopt(destroy)
    let identifier: fwd_subscription
    do throws(ForwardingError) {
      identifier = try subscribers.insert(candidate, dispatch)
    } catch {
      unsafe dispatch.adopt(nil)
      throw error
    }
    return Subscription(reference: reference, identifier: identifier)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Who gets what no subscriber handles; nil if there is nobody, or it has
  /// died.
  public var forwardTarget: AnyObject? { forwardSlot.object }

  /// Sets who gets what no subscriber handles, in the place of an earlier one.
  ///
  /// A subscriber that is itself a proxy handles all methods that it declares.
  ///
  /// The target need not have all methods: one that neither a subscriber nor the target
  /// implements is unanswered, as without a target. So is each if the target
  /// has died. It is not counted among the subscribers, and `unsubscribe(_:)`
  /// and `unsubscribeAll()` leave it alone, but with the scope `everything`
  /// it is a subscriber like others. `responds(to:)` tells of its methods, and
  /// `Configuration.onCapabilityChange` when they come and go.
  ///
  /// - Parameters:
  ///   - target: who is to be delivered to.
  ///   - scope: what it gets.
  ///   - lifetime: whether the proxy keeps it alive; by default it does not.
  /// - Throws: `ForwardingError` if a function of its table has other types
  ///   than the method (`signatureMismatch`), no protocol declares a function
  ///   (`unknownSelector`), the table is empty (`emptyTable`), or the target is
  ///   being deinitialised.
  ///   Then the earlier one stays.
  /// - Complexity: O(*m*) in the number of methods.
  public func setForwardTarget(
    _ target: some Subscriber, for scope: ForwardScope = .unhandled, lifetime: Lifetime = .weak
  ) throws(ForwardingError) {
    try unsafe unsafeSetForwardTarget(
      target, table: type(of: target).functionTable, for: scope, lifetime: lifetime)
  }

  /// Sets who gets what no subscriber handles, with a table of one's own.
  ///
  /// - Throws: `ForwardingError`, as `setForwardTarget(_:for:lifetime:)`, and
  ///   `typeMismatch` if the table is for another class.
  public func setForwardTarget<Owner: AnyObject & Sendable>(
    _ target: Owner, table: FunctionTable, for scope: ForwardScope = .unhandled,
    lifetime: Lifetime = .weak
  ) throws(ForwardingError) {
    try unsafe unsafeSetForwardTarget(target, table: table, for: scope, lifetime: lifetime)
  }

  /// Sets who gets what no subscriber handles, by closures that get it as their
  /// first parameter.
  ///
  /// - Throws: `ForwardingError`, as `setForwardTarget(_:for:lifetime:)`.
  public func setForwardTarget<Owner: AnyObject & Sendable>(
    _ target: Owner, for scope: ForwardScope = .unhandled, lifetime: Lifetime = .weak,
    _ build: (inout FunctionTable.Builder<Owner>) -> Void
  ) throws(ForwardingError) {
    try unsafe unsafeSetForwardTarget(
      target, table: FunctionTable(for: Owner.self, build), for: scope, lifetime: lifetime)
  }

  /// Sets another proxy, whose subscribers get what none of this one's handles,
  /// by its own policies.
  ///
  /// - Throws: `ForwardingError` with the code `cycle` if this proxy would,
  ///   directly or through others, forward to itself; otherwise as
  ///   `setForwardTarget(_:for:lifetime:)`.
  public func setForwardTarget(
    _ proxy: DynamicProxy, for scope: ForwardScope = .unhandled, lifetime: Lifetime = .weak
  ) throws(ForwardingError) {
    let annex = try makeAnnex()
    // First: whoever makes this proxy a subscriber of the other meanwhile finds
    // the circle.
    forwardSlot.add(pending: annex)
    defer { forwardSlot.remove(pending: annex) }
    var subscription = try annex.subscribe(proxy, lifetime: lifetime)
    if scope == .everything {
      subscription = try subscribe(annex, at: .priority(.min), lifetime: .strong)
    }
    forwardSlot.set(
      ForwardSlot.Target(proxy, annex: annex, subscription, scope), of: self)
  }

  /// Sets a target that is not `Sendable`. The caller promises that the proxy
  /// is used on one thread at a time while it is set.
  ///
  /// - Throws: `ForwardingError`, as `setForwardTarget(_:for:lifetime:)`.
  @unsafe public func unsafeSetForwardTarget(
    _ target: AnyObject, table: FunctionTable, for scope: ForwardScope = .unhandled,
    lifetime: Lifetime = .weak
  ) throws(ForwardingError) {
    try table.check(target)
    let dispatch = try DispatchTable(table, requirements, key: nil, isSingle: true)
    try checkDeclared(table)
    let annex = scope == .unhandled ? try makeAnnex() : nil
    let subscription = try (annex ?? self).attach(
      target, dispatch, at: .priority(.min), lifetime: lifetime)
    forwardSlot.set(
      ForwardSlot.Target(target, annex: annex, subscription, scope), of: self)
  }

  /// Takes the target out that gets what no subscriber handles. A fan-out under
  /// way does not call it any more.
  public func removeForwardTarget() {
    forwardSlot.set(nil, of: self)
  }

  /// Makes the proxy that a target stands in.
  private func makeAnnex() throws(ForwardingError) -> DynamicProxy {
    var annexed = configuration
    // A target that lacks methods is no less one, and this proxy has the rule
    // for what it lacks.
    annexed.conformance = .lenient
    annexed.noResponder = .fail
    annexed.responding = .subscribers
    // To set one that is refused is an error, be it none to subscribe.
    annexed.refusals = .fail
    if configuration.onCapabilityChange != nil {
      annexed.onCapabilityChange = { [anchor] _, _ in anchor.proxy?.subscribers.noteForwarding() }
    }
    return try DynamicProxy(adopting: protocols, configuration: annexed)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// The object that gets each invocation that no subscriber handles; nil if
  /// there is none, or it has died.
  public var forwardTarget: AnyObject? { core.existingExtras?.forwardSlot.object }

  /// Sets the object that gets each invocation that no subscriber handles. It
  /// replaces an earlier one.
  ///
  /// ```swift
  /// try proxy.setForwardTarget(controller)                   // a DynamicProxy.Subscriber
  /// try proxy.setForwardTarget(otherProxy)                   // whose subscribers get them
  /// try proxy.setForwardTarget(controller, table: handlers)
  /// ```
  ///
  /// A subscriber that is itself a proxy handles all methods that it declares.
  ///
  /// The target need not have all methods. A method that neither a subscriber nor
  /// the target implements, or whose target has died, has no responder. The
  /// target is not counted among the subscribers, and `unsubscribe(_:)` and
  /// `unsubscribeAll()` leave it alone, but with the scope `everything` it is a
  /// subscriber like others. `responds(to:)` tells of its methods, and
  /// `Configuration.onCapabilityChange` when they come and go. Inside of a
  /// ``change(_:)``, too, the target is set at once. An `unsubscribeAll()` of that
  /// change takes effect later, so it ends a target for `everything`.
  ///
  /// - Parameters:
  ///   - target: the object to be called: with a table any object, without one a
  ///     `DynamicProxy.Subscriber` or another proxy.
  ///   - table: the functions of the target; by default those of its class.
  ///   - scope: the invocations that the target gets.
  ///   - lifetime: whether the proxy keeps it alive; by default it does not.
  /// - Throws: `ForwardingError` if a function of its table has other types
  ///   than the method (`signatureMismatch`), no protocol declares a function
  ///   (`unknownSelector`), the table is empty (`emptyTable`), or for another
  ///   class (`typeMismatch`), the target has no table (`typeMismatch`), is a
  ///   proxy that forwards to this one, directly or through others (`cycle`), or
  ///   is being deinitialised. Then the earlier one stays.
  /// - Complexity: O(*m*) in the number of methods.
  public func setForwardTarget(
    _ target: some AnyObject & Sendable, table: FunctionTable? = nil,
    for scope: ForwardScope = .unhandled, lifetime: Lifetime = .weak
  ) throws(ForwardingError) {
    if let table {
      return try unsafe unsafeSetForwardTarget(
        target, table: table, for: scope, lifetime: lifetime)
    }
    if let proxy = target as? DynamicProxy {
      return try forwardUnhandled(to: proxy, for: scope, lifetime: lifetime)
    }
    guard let subscriber = target as? any Subscriber else {
      throw ForwardingError(
        .typeMismatch,
        """
        an object of class \(type(of: target)) has no function table: expected a \
        DynamicProxy.Subscriber
        """)
    }
    try unsafe unsafeSetForwardTarget(
      target, table: type(of: subscriber).functionTable, for: scope, lifetime: lifetime)
  }

  /// Sets the object that gets each invocation that no subscriber handles, by
  /// closures that get the object as their first parameter.
  ///
  /// - Throws: `ForwardingError`, as `setForwardTarget(_:table:for:lifetime:)`.
  public func setForwardTarget<Owner: AnyObject & Sendable>(
    _ target: Owner, for scope: ForwardScope = .unhandled, lifetime: Lifetime = .weak,
    _ build: (inout FunctionTable.Builder<Owner>) -> Void
  ) throws(ForwardingError) {
    try unsafe unsafeSetForwardTarget(
      target, table: FunctionTable(for: Owner.self, build), for: scope, lifetime: lifetime)
  }

  /// Sets another proxy as the target. Its subscribers get the invocations that no
  /// subscriber of this proxy handles, by the other proxy's policies.
  private func forwardUnhandled(
    to proxy: DynamicProxy, for scope: ForwardScope, lifetime: Lifetime
  ) throws(ForwardingError) {
    guard proxy !== self else {
      throw ForwardingError(.cycle, "a proxy cannot be its own forward target")
    }
    let annex = try makeAnnex()
    // First, so that a thread that makes this proxy a subscriber of the other one
    // meanwhile finds the circle.
    core.extras.forwardSlot.add(pending: annex)
    defer { core.extras.forwardSlot.remove(pending: annex) }
    var subscription = try annex.subscribe(proxy, lifetime: lifetime)
    try MembershipChange.outside { () throws(ForwardingError) in
      if scope == .everything {
        subscription = try subscribe(annex, at: .priority(.min), lifetime: .strong)
      }
      core.extras.forwardSlot.set(
        ForwardSlot.Target(proxy, annex: annex, subscription, scope), of: self)
    }
  }

  /// Sets a target that is not `Sendable`. The caller promises that the proxy
  /// is used on one thread at a time while it is set.
  ///
  /// - Throws: `ForwardingError`, as `setForwardTarget(_:table:for:lifetime:)`.
  @unsafe package func unsafeSetForwardTarget(
    _ target: AnyObject, table: FunctionTable, for scope: ForwardScope = .unhandled,
    lifetime: Lifetime = .weak
  ) throws(ForwardingError) {
    try table.check(target)
    let joined = try JoinedTable(table, core.plan)
    try joined.checkDeclared(by: self)
    let dispatch = try DispatchTable(joined, isSingle: true)
    let annex = scope == .unhandled ? try makeAnnex() : nil
    try MembershipChange.outside { () throws(ForwardingError) in
      let subscription = try (annex ?? self).attach(
        target, dispatch, at: .priority(.min), lifetime: lifetime)
      core.extras.forwardSlot.set(
        ForwardSlot.Target(target, annex: annex, subscription, scope), of: self)
    }
  }

  /// Removes the forward target. A fan-out under way does not call it any more.
  public func removeForwardTarget() {
    guard let slot = core.existingExtras?.forwardSlot else { return }
    MembershipChange.outside { slot.set(nil, of: self) }
  }

  /// Makes the proxy that a target stands in.
  private func makeAnnex() throws(ForwardingError) -> DynamicProxy {
    var annexed = configuration
    // A target may lack methods. This proxy's own rule applies to those.
    annexed.conformance = .lenient
    annexed.noResponder = .fail
    annexed.responding = .subscribers
    // Setting a refused target is an error, even if a refused subscriber is ignored.
    annexed.refusals = .fail
    annexed.onMembershipChange = nil
    // Also without an observer: a struct of callbacks may follow the target.
    annexed.onCapabilityChange = { [reference] _, _ in
      reference.proxy?.subscribers.noteForwarding()
    }
    let annex = try DynamicProxy(adopting: protocols, configuration: annexed)
    unsafe fwd_proxy_core_hide(annex.core.handle)
    return annex
  }
}

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

    /// The state of a proxy without subscribers, for a number of methods whose
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
    /// The news that the observers of capabilities and of membership have not got yet,
    /// in order.
    fileprivate var untold: [News] = []
    /// Whether a thread is calling the observers.
    fileprivate var isTelling = false
    /// Members of C structs that are null while there is no responder, and whether the
    /// function is stored; nil before the first store.
    fileprivate var watched: [(member: WatchedMember, responds: Bool?)] = []
    /// The tables that have been joined to the protocols and for which the shim's
    /// list has no room, to be used again.
    internal var joined = JoinedTables()
    /// The changes of all threads that have not taken effect yet.
    internal var open: [MembershipChange] = []

    fileprivate init(responds: [Bool]) { self.responds = responds }
  }

  /// A call of an observer.
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

  internal var configuration: DynamicProxy.Configuration { proxy.core.settings.configuration }

  /// The treatment of positions beside objects that are not subscribed.
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

/// Memory and objects to release after a change, outside of the lock.
@safe internal struct Garbage {
  internal var contents = unsafe fwd_garbage()
  /// References that may be the last ones.
  internal var tables: [DispatchTable] = []

  /// Releases everything. This may run any code.
  fileprivate func collect() { unsafe fwd_garbage_collect(contents) }
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

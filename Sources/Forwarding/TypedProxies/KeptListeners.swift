// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The listeners that a typed proxy keeps alive, if they may belong to one thread or
/// actor.
///
/// Any thread may cancel the subscription of such a listener, and any thread may free
/// what a subscription has held. So the list of subscribers holds the listener weakly,
/// and the subscription does not hold it at all. The only strong reference is here.
/// The typed proxy releases it, where the listener may be used: with its next change or
/// query after the end of the subscription, or when it dies.
///
/// A typed proxy that is not `Sendable` uses this object on one thread at a time. The
/// functions of one that belongs to a global actor may run on several threads.
///
/// The hub of a delegate slot outlives its forwarders, and any thread may release it once
/// its object has died. So the proxy of a hub keeps listeners only while a slot with that
/// proxy has a forwarder: see `ListenerKeeping`.
package final class KeptListeners: Sendable {
  private struct Listener: @unchecked Sendable {
    // Sendable: only the typed proxy copies and releases it.
    let object: AnyObject
    let subscriber: ObjectIdentifier
    let subscription: DynamicProxy.Subscription
  }

  private struct Target: @unchecked Sendable {
    // Sendable: only the typed proxy reads it.
    weak let object: AnyObject?
  }

  private struct State {
    /// By the identifier of the subscription.
    var listeners: [UInt64: Listener] = [:]
    /// The identifiers of the subscriptions of each subscriber.
    var identifiers: [ObjectIdentifier: [UInt64]] = [:]
    /// The subscriptions that end after a number of deliveries.
    var limited: Set<UInt64> = []
    /// The subscriptions of these listeners that have been cancelled, as the proxy notes
    /// them; nil before the first listener.
    var ended: EndedSubscriptions?
    /// The number of listeners at which all subscriptions are checked. It doubles with
    /// the number that stays, so a listener costs amortised O(1).
    var checkAt = 16
    var target = Target(object: nil)

    mutating func add(_ listener: Listener, of proxy: DynamicProxy, isLimited: Bool) {
      ended = proxy.core.extras.endedSubscriptions
      let identifier = listener.subscription.identifier
      // A proxy without duplicates returns the earlier subscription of the object.
      if listeners.updateValue(listener, forKey: identifier) == nil {
        identifiers[listener.subscriber, default: []].append(identifier)
      }
      if isLimited { limited.insert(identifier) }
    }

    mutating func remove(_ identifier: UInt64) {
      guard let subscriber = listeners.removeValue(forKey: identifier)?.subscriber else { return }
      limited.remove(identifier)
      identifiers[subscriber]?.removeAll { $0 == identifier }
      if identifiers[subscriber]?.isEmpty == true { identifiers[subscriber] = nil }
    }
  }

  private let state = Lock(State())

  package init() {}

  /// Keeps a listener alive until its subscription ends, unless the proxy is that of a
  /// slot without a forwarder.
  ///
  /// - Parameters:
  ///   - listener: the listener.
  ///   - proxy: the untyped proxy that has the subscription.
  ///   - subscriber: the object that has been subscribed for it.
  ///   - subscription: its subscription, which must be weak.
  ///   - isLimited: whether the subscription ends after a number of deliveries.
  /// - Returns: the subscription for the caller, whose end is noted if the listener is kept.
  package func keep(
    _ listener: AnyObject, of proxy: DynamicProxy, subscribedAs subscriber: AnyObject,
    by subscription: DynamicProxy.Subscription, isLimited: Bool
  ) -> DynamicProxy.Subscription {
    // The proxy may have refused the listener, or an observer of membership may have
    // cancelled the subscription.
    guard subscription.isLive else { return subscription }
    if state.withLock({ $0.listeners.count >= $0.checkAt }) {
      releaseAllEnded()
      state.withLock { $0.checkAt = max(16, 2 * $0.listeners.count) }
    }
    let entry = Listener(
      object: listener, subscriber: ObjectIdentifier(subscriber), subscription: subscription)
    let isKept = ListenerKeeping.of(proxy).keep(for: self) {
      state.withLock { $0.add(entry, of: proxy, isLimited: isLimited) }
    }
    return isKept ? DynamicProxy.Subscription(noting: subscription) : subscription
  }

  /// The forward target as it was set; nil if it has died.
  package var forwardTarget: AnyObject? {
    get { state.withLock { $0.target }.object }
    set {
      let target = Target(object: newValue)
      state.withLock { $0.target = target }
    }
  }

  private var cancelled: Set<UInt64> { state.withLock { $0.ended }?.identifiers ?? [] }

  /// Releases the listeners whose subscriptions have been cancelled.
  ///
  /// - Parameter subscriber: a subscriber whose subscriptions have ended in another way.
  package func releaseEnded(of subscriber: AnyObject? = nil) {
    var candidates = cancelled
    if let subscriber {
      let key = ObjectIdentifier(subscriber)
      candidates.formUnion(state.withLock { $0.identifiers[key] ?? [] })
    }
    if !candidates.isEmpty { release(candidates) }
  }

  /// Releases the listeners whose subscriptions have had all their deliveries.
  package func releaseUsedUp() {
    let limited = state.withLock { $0.limited }
    if !limited.isEmpty { release(limited) }
  }

  /// Releases the listeners whose subscriptions have ended in any way.
  ///
  /// - Complexity: O(*n*) in the number of listeners.
  package func releaseAllEnded() {
    release(cancelled.union(state.withLock { Set($0.listeners.keys) }))
  }

  /// Takes all listeners out, for the caller to release under no lock. Their subscriptions
  /// stay, and hold them weakly.
  fileprivate func takeAll() -> [AnyObject] {
    state.withLock { state in
      defer {
        state.listeners = [:]
        state.identifiers = [:]
        state.limited = []
      }
      return state.listeners.values.map(Taken.init)
    }.map(\.object)
  }

  private struct Taken: @unchecked Sendable {
    // Sendable: as a listener.
    let object: AnyObject
    init(_ listener: Listener) { object = listener.object }
  }

  /// Releases the listeners whose subscriptions have ended. If a change ends a
  /// subscription, this object keeps the listener until the change has taken effect.
  private func release(_ candidates: Set<UInt64>) {
    let known = state.withLock { state in candidates.map { ($0, state.listeners[$0]) } }
    let over = known.filter { !($0.1?.subscription.isLive ?? false) }
    let ended = state.withLock { state in
      for (identifier, _) in over { state.remove(identifier) }
      return state.ended
    }
    for (identifier, _) in over { ended?.forget(identifier) }
    // Released under no lock: a `deinit` may run any code.
    withExtendedLifetime(known) {}
  }
}

/// Whether a typed proxy keeps listeners alive: not while it is the proxy of delegate slots
/// that have no forwarders. The hubs of the slots and the typed proxy find it by the untyped
/// proxy.
internal final class ListenerKeeping: Sendable {
  private struct State: Sendable {
    /// Whether each hub with the proxy has forwarders, by the hub's number.
    var hubs: [UInt64: Bool] = [:]
    weak var kept: KeptListeners?

    var isAllowed: Bool { hubs.isEmpty || hubs.values.contains(true) }
  }

  private let state = Lock(State())

  internal static func of(_ proxy: DynamicProxy) -> ListenerKeeping {
    proxy.core.extras.attachments.value(ListenerKeeping.self) { ListenerKeeping() }
  }

  /// Stores a listener by a closure, if listeners are kept.
  ///
  /// - Returns: whether they are.
  fileprivate func keep(for kept: KeptListeners, _ store: () -> Void) -> Bool {
    // Under the lock, or a hub that loses its last forwarder meanwhile would not release
    // the listener.
    state.withLock { state in
      state.kept = kept
      if state.isAllowed { store() }
      return state.isAllowed
    }
  }

  /// Enters a hub that has just been made, and will have a forwarder.
  internal func enter(hub: UInt64) {
    state.withLock { $0.hubs[hub] = true }
  }

  /// Notes whether a hub that was entered has forwarders. `releaseIfForbidden` must follow if it
  /// has none. The notes of one hub must come from one thread at a time.
  internal func note(hub: UInt64, hasForwarders: Bool) {
    state.withLock { state in
      if state.hubs[hub] != nil { state.hubs[hub] = hasForwarders }
    }
  }

  /// Forgets a hub that has no reference to the proxy any more.
  internal func forget(hub: UInt64) {
    state.withLock { _ = $0.hubs.removeValue(forKey: hub) }
  }

  /// Releases the listeners unless they are kept. Must be called where they may be used. Their
  /// `deinit` may run any code.
  internal func releaseIfForbidden() {
    let kept = state.withLock { $0.isAllowed ? nil : $0.kept }
    guard let kept else { return }
    let released = kept.takeAll()
    withExtendedLifetime(released) {}
  }
}

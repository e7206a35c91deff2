// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DelegateHub {
  /// Subscribes a listener. Nil and the hub's own proxy are ignored; see
  /// ``DelegateForwarder/subscribe(_:at:lifetime:)``.
  @discardableResult
  package func subscribe(
    _ listener: Proxy.Listener?, at position: DynamicProxy.Position = .last,
    lifetime: DynamicProxy.Lifetime = .weak
  ) throws(ForwardingError) -> DynamicProxy.Subscription? {
    recheck()
    guard let listener else { return nil }
    let hub = current
    let object = Proxy.object(of: listener)
    if object === proxy || object === hub.proxy { return nil }
    defer { hub.noteCapabilities() }
    let subscription = try hub.subscribe(listener, object, at: position)
    // The hub may have become part of another one meanwhile.
    if lifetime == .strong { hub.current.keep(object, subscription) }
    hub.keepListeners()
    return subscription
  }

  /// Subscribes a listener, which may be the slot's delegate.
  private func subscribe(
    _ listener: Proxy.Listener, _ object: AnyObject, at position: DynamicProxy.Position
  ) throws(ForwardingError) -> DynamicProxy.Subscription {
    while isDeliveringOnce, let adopted = adopted(object), !adopted.isSubscriber,
      let own = adopted.subscription, own.isLive
    {
      // One subscription for the delegate and for the listener that it is.
      if position.isLast {
        if change(adopted, { $0.isSubscriber = true }) { return own }
        continue
      }
      own.cancel()
      do throws(ForwardingError) {
        let subscription = try unsafe proxy.subscribeListener(
          listener, at: position, lifetime: .weak)
        change(adopted) { ($0.subscription, $0.isSubscriber) = (subscription, true) }
        return subscription
      } catch {
        readopt(listener, adopted)
        throw error
      }
    }
    return try unsafe proxy.subscribeListener(listener, at: position, lifetime: .weak)
  }

  /// Ends the subscriptions of a listener, as `DynamicProxy.unsubscribe(_:)`. If
  /// the listener is the slot's delegate, it is still called as such: set the
  /// slot to nil to end that.
  ///
  /// - Returns: whether the listener had subscribed.
  @discardableResult
  package func unsubscribe(_ listener: Proxy.Listener?) -> Bool {
    recheck()
    guard let listener else { return false }
    let hub = current
    let isFound = hub.unsubscribe(listener)
    hub.keepListeners()
    hub.noteCapabilities()
    // A subscription that was made before the hubs were merged.
    // SAFETY: it is only looked for in the list.
    return unsafe hub !== self && list.unsubscribe(Proxy.subscriber(for: listener)) || isFound
  }

  private func unsubscribe(_ listener: Proxy.Listener) -> Bool {
    // SAFETY: as above.
    let subscriber = unsafe Proxy.subscriber(for: listener)
    let object = Proxy.object(of: listener)
    guard options.original == .adopt, let adopted = adopted(object) else {
      let isFound = list.unsubscribe(subscriber)
      // Another thread may have adopted the listener meanwhile.
      if let late = self.adopted(object), late.isSubscriber { readopt(listener, late) }
      return isFound
    }
    if !isDeliveringOnce {
      // The delegate's own subscription is not one that the listener has made.
      adopted.subscription?.cancel()
    } else if !adopted.isSubscriber {
      return false
    }
    let isFound = list.unsubscribe(subscriber)
    readopt(listener, adopted)
    return isFound
  }
}

// MARK: - The delegate

extension DelegateHub {
  /// Whether each object is called once, however many reasons there are.
  internal var isDeliveringOnce: Bool { list.configuration.duplicates != .allow }

  /// The adoption of an object, if it is the slot's delegate.
  internal func adopted(_ object: AnyObject) -> Adopted? {
    // The listener is compared outside the lock: the comparison takes a
    // reference, and to release that may run code.
    guard let adopted = state.withLock({ $0.adopted }), adopted.listener.object === object else {
      return nil
    }
    return adopted
  }

  /// Changes an adoption, unless the slot has another delegate by now. Gives
  /// whether it was changed.
  @discardableResult
  private func change(_ adopted: Adopted, _ body: (inout Adopted) -> Void) -> Bool {
    var changed = adopted
    body(&changed)
    let new = changed
    return state.withLock { state in
      // By number: another thread may have adopted the object anew.
      guard state.adopted?.number == adopted.number else { return false }
      state.adopted?.subscription = new.subscription
      state.adopted?.isSubscriber = new.isSubscriber
      return true
    }
  }

  /// Subscribes the delegate before all others, as a delegate only.
  private func readopt(_ listener: Proxy.Listener, _ adopted: Adopted) {
    var subscription: DynamicProxy.Subscription?
    do throws(ForwardingError) {
      subscription = try unsafe proxy.subscribeListener(listener, at: .first, lifetime: .weak)
    } catch {
      list.configuration.onError(error)
    }
    if !change(adopted, { ($0.subscription, $0.isSubscriber) = (subscription, false) }) {
      subscription?.cancel()
    }
  }
}

// MARK: - Listeners that are kept alive

// The list itself references listeners weakly: its references are released
// by whichever thread ends a subscription, and a listener may only be released
// where the hub is used.
extension DelegateHub {
  /// Tells the typed proxies whether the hub has a forwarder, since they keep listeners
  /// only then. Such proxies are used on one thread at a time, so the count does not change
  /// meanwhile.
  internal func noteForwarders() {
    let (keepings, isTaken) = state.withLock { ($0.keepings, $0.forwarders > 0) }
    for entry in keepings { entry.keeping.note(hub: entry.hub, hasForwarders: isTaken) }
    // Only after all notes, since a listener's `deinit` may make a forwarder, whose notes
    // must not be overwritten.
    if !isTaken { for entry in keepings { entry.keeping.releaseIfForbidden() } }
  }

  /// Keeps a listener alive while there is a forwarder.
  private func keep(_ object: AnyObject, _ subscription: DynamicProxy.Subscription) {
    state.withLock { state in
      state.kept[subscription.identifier] = Kept(
        subscription: subscription, listener: WeakListener(object, object),
        keeper: state.forwarders > 0 ? SlotKeeper(object: object) : nil)
    }
  }

  /// Releases the listeners whose subscription has ended, or all if there is no
  /// forwarder; takes them again when there is one.
  internal func keepListeners() {
    let hub = current
    if hub !== self { return hub.keepListeners() }
    noteForwarders()
    let kept = state.withLock { $0.kept }
    if kept.isEmpty { return }
    // Outside the lock: these ask the proxy, or take references.
    let ended = kept.filter { !$0.value.subscription.isLive }
    let objects = kept.compactMapValues { kept in
      kept.listener.object.map { SlotKeeper(object: $0) }
    }
    let released = state.withLock { state -> [SlotKeeper?] in
      var released: [SlotKeeper?] = []
      for identifier in ended.keys {
        released.append(state.kept.removeValue(forKey: identifier)?.keeper)
      }
      for (identifier, entry) in state.kept {
        if state.forwarders == 0 {
          released.append(entry.keeper)
          state.kept[identifier]?.keeper = nil
        } else if entry.keeper == nil {
          state.kept[identifier]?.keeper = objects[identifier]
        }
      }
      return released
    }
    withExtendedLifetime((released, kept, objects)) {}
  }
}

extension DynamicProxy.Position {
  internal var isLast: Bool {
    if case .last = kind { true } else { false }
  }
}

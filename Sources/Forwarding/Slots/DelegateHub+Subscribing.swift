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
    let object = Proxy.object(of: listener)
    while true {
      let hub = current
      if object === proxy || object === hub.proxy { return nil }
      defer { hub.noteCapabilities() }
      let subscription = try hub.subscribe(listener, object, at: position)
      // The hub may have become part of another one meanwhile, which has the listener already.
      if hub.current !== hub, subscription.isLive {
        hub.endRepetitions(of: hub.current)
        if !subscription.isLive { continue }
      }
      if lifetime == .strong { hub.current.keep(object, subscription) }
      hub.keepListeners()
      return subscription
    }
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
    // SAFETY: it is only looked for in the lists.
    let subscriber = unsafe Proxy.subscriber(for: listener)
    guard isDeliveringOnce, let part = parts.first(where: { $0.list.contains(subscriber) }) else {
      return try unsafe proxy.subscribeListener(listener, at: position, lifetime: .weak)
    }
    if position.isLast || list.configuration.duplicates == .fail {
      return try unsafe part.proxy.subscribeListener(listener, at: .last, lifetime: .weak)
    }
    let subscription = try unsafe proxy.subscribeListener(listener, at: position, lifetime: .weak)
    end(part.list.subscriptions(of: subscriber), for: subscription)
    return subscription
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
    return isFound
  }

  private func unsubscribe(_ listener: Proxy.Listener) -> Bool {
    // SAFETY: as above.
    let subscriber = unsafe Proxy.subscriber(for: listener)
    let object = Proxy.object(of: listener)
    guard options.original == .adopt, let adopted = adopted(object) else {
      let isFound = unsubscribe(everywhere: subscriber)
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
    let isFound = unsubscribe(everywhere: subscriber)
    readopt(listener, adopted)
    return isFound
  }

  /// Ends the subscriptions of an object with this hub and with its parts.
  private func unsubscribe(everywhere subscriber: AnyObject) -> Bool {
    var isFound = false
    for list in lists where list.unsubscribe(subscriber) { isFound = true }
    return isFound
  }
}

// MARK: - Parts

extension DelegateHub {
  /// Ends the subscriptions of objects that another hub calls too, of which this one becomes a
  /// part. If the delegate of the other one has subscribed to this one, it is called as that
  /// listener only.
  internal func endRepetitions(of other: DelegateHub) {
    guard other.isDeliveringOnce else { return }
    let lists = lists
    if let adopted = other.state.withLock({ $0.adopted }), let own = adopted.subscription,
      !adopted.isSubscriber, let delegate = adopted.listener.listener
    {
      // SAFETY: it is only looked for in the lists.
      let subscriber = unsafe Proxy.subscriber(for: delegate)
      if lists.contains(where: { $0.contains(subscriber) }),
        other.change(adopted, { ($0.subscription, $0.isSubscriber) = (nil, true) })
      {
        own.cancel()
      }
    }
    let others = other.lists.filter { list in !lists.contains { $0 === list } }
    for list in lists {
      for object in list.liveSubscribers {
        guard let first = others.first(where: { $0.contains(object) }),
          let left = first.subscriptions(of: object).first
        else { continue }
        end(list.subscriptions(of: object), for: left)
      }
    }
  }

  /// Ends subscriptions of a listener that has another one. If they keep it alive, that one
  /// does from now on.
  private func end(_ ended: [DynamicProxy.Subscription], for left: DynamicProxy.Subscription) {
    current.state.withLock { state in
      for subscription in ended {
        guard let kept = state.kept.removeValue(forKey: subscription.identifier),
          state.kept[left.identifier]?.keeper == nil
        else { continue }
        state.kept[left.identifier] = Kept(
          subscription: left, listener: kept.listener, keeper: kept.keeper)
      }
    }
    for subscription in ended { subscription.cancel() }
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

  internal func adoptAgain(_ object: AnyObject) {
    guard options.original == .adopt, isDeliveringOnce, let adopted = adopted(object),
      let listener = adopted.listener.listener
    else { return }
    // SAFETY: it is only looked for in the lists.
    let subscriber = unsafe Proxy.subscriber(for: listener)
    if !lists.contains(where: { $0.contains(subscriber) }) { readopt(listener, adopted) }
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

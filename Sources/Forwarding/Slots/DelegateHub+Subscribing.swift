// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DelegateHub {
  /// Subscribes a listener behind all others. Nil and the hub's own proxy are
  /// ignored. The delegate of the slot may subscribe too, and is delivered to
  /// once, unless the proxy's configuration allows duplicates.
  ///
  /// - Parameters:
  ///   - listener: who is to be delivered to, whoever has the slot.
  ///   - lifetime: whether it is kept alive; by default it is not.
  /// - Returns: the subscription, or nil if there is none. If the listener was
  ///   refused, the proxy's error handler is told why.
  @discardableResult
  public func subscribe(
    _ listener: Proxy.Listener?, lifetime: DynamicProxy.Lifetime = .weak
  ) -> Subscription? {
    do throws(ForwardingError) {
      return try subscribe(listener, at: .last, lifetime: lifetime)
    } catch {
      list.configuration.onError(error)
      return nil
    }
  }

  /// Subscribes a listener at a position. Nil and the hub's own proxy are
  /// ignored.
  ///
  /// - Throws: `ForwardingError` if the listener is refused, or the anchor of
  ///   the position is not subscribed.
  /// - Returns: the subscription, or nil for what is ignored.
  @discardableResult
  public func subscribe(
    _ listener: Proxy.Listener?, at position: DynamicProxy.Position,
    lifetime: DynamicProxy.Lifetime = .weak
  ) throws(ForwardingError) -> Subscription? {
    recheck()
    guard let listener else { return nil }
    let object = Proxy.object(of: listener)
    if object === proxy { return nil }
    defer { noteCapabilities() }
    guard isDeliveringOnce, let adopted = adopted(object), !adopted.isSubscriber,
      let own = adopted.subscription, own.isLive
    else { return try proxy.subscribeListener(listener, at: position, lifetime: lifetime) }
    // One subscription for the delegate and for the listener that it is.
    var subscription = own
    if !position.isLast || lifetime == .strong {
      own.cancel()
      do throws(ForwardingError) {
        subscription = try proxy.subscribeListener(listener, at: position, lifetime: lifetime)
      } catch {
        change(object) { $0.subscription = self.adopting(listener) }
        throw error
      }
    }
    change(object) {
      $0.subscription = subscription
      $0.isSubscriber = true
    }
    return subscription
  }

  /// Ends the subscriptions of a listener, as `DynamicProxy.unsubscribe(_:)`. If
  /// it is the delegate of the slot too, it is delivered to as such further on:
  /// set the slot to nil to end that.
  ///
  /// - Returns: whether it had subscribed.
  @discardableResult
  public func unsubscribe(_ listener: Proxy.Listener?) -> Bool {
    recheck()
    guard let listener else { return false }
    let object = Proxy.object(of: listener)
    let subscriber = Proxy.subscriber(for: listener)
    defer { noteCapabilities() }
    guard options.original == .adopt, let adopted = adopted(object) else {
      return list.unsubscribe(subscriber)
    }
    if !isDeliveringOnce {
      // Not to be taken for one of the listener's own.
      adopted.subscription?.cancel()
    } else if !adopted.isSubscriber {
      return false
    }
    let isFound = list.unsubscribe(subscriber)
    let subscription = adopting(listener)
    change(object) {
      $0.subscription = subscription
      $0.isSubscriber = false
    }
    return isFound
  }
}

// MARK: - The delegate

extension DelegateHub {
  /// Whether an object has one subscription for all reasons to have one.
  internal var isDeliveringOnce: Bool { list.configuration.duplicates != .allow }

  /// What is known of an object as the slot's delegate; nil if it is not.
  internal func adopted(_ object: AnyObject) -> Adopted? {
    // The reference that is taken is given up behind the lock.
    guard let adopted = state.withLock({ $0.adopted }), adopted.listener.object === object else {
      return nil
    }
    return adopted
  }

  private func change(_ object: AnyObject, _ body: (inout Adopted) -> Void) {
    guard var adopted = adopted(object) else { return }
    body(&adopted)
    let changed = adopted
    let old = state.withLock { state in
      let old = state.adopted
      state.adopted = changed
      return old
    }
    extendLifetime(old)
  }

  /// Subscribes the delegate before all others.
  private func adopting(_ listener: Proxy.Listener) -> Subscription? {
    do throws(ForwardingError) {
      return try proxy.subscribeListener(listener, at: .first, lifetime: .weak)
    } catch {
      list.configuration.onError(error)
      return nil
    }
  }
}

extension DynamicProxy.Position {
  internal var isLast: Bool {
    if case .last = place { true } else { false }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The slot belongs to others: to read or to set it runs their code, which may
// come back here. So there is one at a time who settles what is in the slot, by
// a flag and not by a lock; who comes meanwhile has him look again.

extension DelegateHub {
  /// Looks at the slot: a delegate that was put there is adopted, and the proxy
  /// put back. Nothing happens without a forwarder.
  ///
  /// - Complexity: O(1): it reads the slot and compares.
  public func recheck() {
    if forwarders > 0 && !isInstalled { settle() }
  }

  /// Sets the slot to nil and to the proxy again, for services that ask once
  /// what their delegate responds to. Nothing happens without a forwarder.
  public func reassignSlot() {
    state.withLock { $0.reassigns = true }
    settle()
  }

  /// Counts a forwarder, and takes the slot.
  internal func join() {
    state.withLock { $0.forwarders += 1 }
    settle()
  }

  /// The slot is given back when the last one leaves.
  internal func leave() {
    let isLast = state.withLock { state in
      state.forwarders -= 1
      return state.forwarders == 0
    }
    if isLast { settle() }
  }

  /// Takes the slot, or gives it back.
  internal func settle() {
    let isFirst = state.withLock { state in
      if state.isSettling {
        state.settlesAgain = true
        return false
      }
      state.isSettling = true
      return true
    }
    guard isFirst else { return }
    // A setter that makes something else of what it is given ends nothing.
    for _ in 0..<8 {
      if forwarders > 0 { take() } else { giveBack() }
      let isSettled = state.withLock { state in
        state.isSettling = state.settlesAgain
        state.settlesAgain = false
        return !state.isSettling
      }
      if isSettled { return }
    }
    state.withLock { $0.isSettling = false }
    list.configuration.onError(
      ForwardingError(
        .cycle, "the slot of \(Proxy.self) is set to something else whenever it is set"))
  }

  private func take() {
    let reassigns = state.withLock { state in
      defer { state.reassigns = false }
      return state.reassigns
    }
    if let current = slot.read() {
      let object = Proxy.object(of: current)
      if object === proxy {
        if notesChange() || reassigns {
          slot.write(nil)
          slot.write(proxy.asListener)
        }
        return
      }
      guard adopt(current, object) else { return }
    } else {
      replace(by: nil)
      state.withLock { $0.refused = nil }
    }
    _ = notesChange()
    slot.write(proxy.asListener)
  }

  private func giveBack() {
    let adopted = state.withLock { $0.adopted }
    if isInstalled { slot.write(adopted?.listener.listener) }
    replace(by: nil)
  }

  // MARK: Adopting

  /// Takes over what was in the slot. False if that has to stay there.
  private func adopt(_ listener: Proxy.Listener, _ object: AnyObject) -> Bool {
    if adopted(object) != nil { return true }
    var candidate = Adopted(
      listener: WeakListener(listener, object),
      keeper: options.lifetime == .strong ? Keeper(object: object) : nil)
    if options.original == .adopt {
      do throws(ForwardingError) {
        if isDeliveringOnce && list.contains(Proxy.subscriber(for: listener)) {
          candidate.isSubscriber = true
        } else {
          let subscription = try proxy.subscribeListener(listener, at: .first, lifetime: .weak)
          // Refused, which the configuration has be no error.
          guard subscription.isLive else {
            if !(Proxy.subscriber(for: listener) is DynamicProxy) { replace(by: nil) }
            return false
          }
          candidate.subscription = subscription
        }
      } catch {
        // One that forwards to this hub already, such as another hub that has
        // taken the slot over, is right there, with what this one has adopted.
        if error.code == .cycle { return false }
        replace(by: nil)
        if error.code == .dead { return true }
        refuse(object, error)
        return false
      }
    }
    replace(by: candidate)
    return true
  }

  /// Leaves the slot to a delegate that cannot be adopted, and says so once.
  private func refuse(_ object: AnyObject, _ error: ForwardingError) {
    let identity = ObjectIdentifier(object)
    let isKnown = state.withLock { state in
      defer { state.refused = identity }
      return state.refused == identity
    }
    if !isKnown { list.configuration.onError(error) }
  }

  private func replace(by candidate: Adopted?) {
    let old = state.withLock { state in
      let old = state.adopted
      state.adopted = candidate
      if candidate != nil { state.refused = nil }
      return old
    }
    guard let old, !(isDeliveringOnce && old.isSubscriber) else { return }
    old.subscription?.cancel()
  }

  // MARK: Capabilities

  /// Has the slot set again if someone's coming or going has changed what the
  /// proxy responds to.
  internal func noteCapabilities() {
    if options.reassignsSlot && forwarders > 0 { settle() }
  }

  private func notesChange() -> Bool {
    guard options.reassignsSlot else { return false }
    let list = list
    let responds = list.requirements.map { list.responds(to: $0.selector) }
    return state.withLock { state in
      defer { state.capabilities = responds }
      return state.capabilities != responds
    }
  }
}

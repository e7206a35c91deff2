// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Settling brings the slot into the state that the number of forwarders asks
// for. It reads and sets the slot, which runs the service's code, so no lock is
// held. One thread settles at a time. A request that comes meanwhile, from
// another thread or from the service's code, is counted; the settling thread
// leaves only when it finds no request that it has not seen. So no request is
// lost, and none waits.

extension DelegateHub {
  /// The thread that settles, and the requests that it has got.
  internal struct Settling {
    fileprivate var thread: ThreadIdentity?
    fileprivate var requests: UInt64 = 0
    /// The requests that the settling thread has made itself, from the
    /// service's code that it runs.
    fileprivate var echoes: UInt64 = 0

    /// Asks the settling thread to look again.
    fileprivate mutating func ask() { requests &+= 1 }
  }

  /// Looks at the slot. If it holds another delegate, the hub adopts that and
  /// puts the proxy back. With ``DelegateSlotOptions/reassignsSlot``, the slot is
  /// set again if the proxy responds to other methods than before. Nothing
  /// happens without a forwarder.
  ///
  /// - Complexity: O(1): it reads the slot and compares. O(*m*) in the number of
  ///   methods with `reassignsSlot`.
  package func recheck() {
    let hub = current
    guard hub.state.withLock({ $0.forwarders }) > 0 else { return }
    if !hub.holdsSlot || hub.hasOtherCapabilities { hub.settle() }
  }

  /// Sets the slot to nil and to the proxy again, for services that ask once
  /// what their delegate responds to. Nothing happens without a forwarder.
  package func reassignSlot() {
    let hub = current
    hub.state.withLock { $0.reassigns = true }
    hub.settle()
  }

  /// Counts a forwarder, and takes the slot.
  internal func join() {
    while true {
      let hub = current
      // A hub that has become part of another meanwhile takes no more forwarders.
      let isCounted = hub.state.withLock { state in
        if state.successor != nil { return false }
        state.forwarders += 1
        return true
      }
      guard isCounted else { continue }
      // Before the slot is set, which may run code that subscribes.
      hub.noteForwarders()
      hub.settle()
      return
    }
  }

  /// Gives the slot back if it was the last forwarder.
  internal func leave() {
    while true {
      let hub = current
      let isLast = hub.state.withLock { state -> Bool? in
        if state.successor != nil { return nil }
        state.forwarders -= 1
        return state.forwarders == 0
      }
      guard let isLast else { continue }
      if isLast { hub.settle() }
      return
    }
  }

  /// Takes the slot, or gives it back. If another thread settles, it is asked to
  /// look again instead.
  internal func settle() {
    let thread = ThreadIdentity.current
    let isFirst = state.withLock { state in
      state.settling.requests &+= 1
      if state.settling.thread == thread { state.settling.echoes &+= 1 }
      if state.settling.thread != nil { return false }
      state.settling.thread = thread
      return true
    }
    guard isFirst else { return }
    var echoedRounds = 0
    while true {
      let (before, isTaken) = state.withLock { ($0.settling, $0.forwarders > 0) }
      if isTaken { take() } else { giveBack() }
      let outcome = state.withLock { state -> Outcome in
        let new = state.settling.requests &- before.requests
        let isChanged = isTaken != (state.forwarders > 0)
        if new == 0 {
          state.settling.thread = nil
          return .settled
        }
        // Only the service's own setter has asked, and the same is wanted.
        guard new == state.settling.echoes &- before.echoes, !isChanged else { return .asked }
        if echoedRounds < Self.echoLimit { return .echoed }
        state.settling.thread = nil
        return .fought
      }
      switch outcome {
      case .settled: return keepListeners()
      case .asked: echoedRounds = 0
      case .echoed: echoedRounds += 1
      case .fought:
        keepListeners()
        list.configuration.onError(
          ForwardingError(
            .cycle, "the slot of \(Proxy.self) is set to something else whenever it is set"))
        return
      }
    }
  }

  /// How many times in a row the service's setter may ask for the slot to be set
  /// again.
  private static var echoLimit: Int { 8 }

  private enum Outcome {
    /// Nothing was asked meanwhile.
    case settled
    /// Another thread has asked, or the number of forwarders has changed.
    case asked
    /// The service's setter has asked.
    case echoed
    /// The service's setter has asked too many times in a row.
    case fought
  }

  private func take() {
    let reassigns = state.withLock { state in
      defer { state.reassigns = false }
      return state.reassigns
    }
    if let current = slot.read() {
      let object = Proxy.object(of: current)
      if object === proxy {
        if noteCapabilitiesChanged() || reassigns {
          slot.write(nil)
          slot.write(proxy.asListener)
        }
        return
      }
      // Another hub has taken the slot over, with this one's proxy as its delegate, or an
      // object that forwards to this hub is the delegate. It stays there.
      if forwardsHere(object) { return }
      if let other = otherHub(object) { return merge(into: other) }
      guard adopt(current, object) else { return }
    } else {
      replace(by: nil)
      state.withLock { $0.refused = nil }
    }
    _ = noteCapabilitiesChanged()
    slot.write(proxy.asListener)
  }

  private func giveBack() {
    let occupant = occupant
    if let occupant, occupant !== proxy, forwardsHere(occupant) {
      // The delegate goes on being called through the occupant. What this hub kept alive for
      // the slot, the hub that has the slot now keeps from now on.
      let adopted = state.withLock { $0.adopted }
      let keepers = takeKeepers()
      if let front = hubInFront(occupant) {
        // If that hub is giving the slot back, it has this one settle again.
        let left = front.keep(behind: keepers, unlessKept: false)
        if !left.isEmpty { putBack(left, adopted) }
      } else if adopted?.listener.isKept == true {
        // A value that cannot be held weakly is no longer held.
        replace(by: nil)
      }
      withExtendedLifetime((adopted, keepers)) {}
      return
    }
    let adopted = state.withLock { $0.adopted }
    let original = adopted?.listener.listener
    // Before the slot is set, which tells the hubs of that proxy apart.
    let next = original.flatMap { hubOfSlot(among: HubLink.hubs(of: Proxy.object(of: $0))) }
    if occupant === proxy { slot.write(original) }
    let left = next?.keep(behind: adopted?.behind ?? [], unlessKept: true)
    replace(by: nil)
    // The proxy of another hub gives the slot back in its turn, if that hub has
    // no forwarder any more.
    next?.settle()
    withExtendedLifetime((adopted, left)) {}
  }

  /// Takes out the references by which the hub keeps alive what the slot would keep alive.
  private func takeKeepers() -> [SlotKeeper] {
    state.withLock { state in
      guard let adopted = state.adopted else { return [] }
      state.adopted?.keeper = nil
      state.adopted?.behind = []
      return adopted.behind + [adopted.keeper].compactMap(\.self)
    }
  }

  /// Keeps what was taken out, unless the hub has another delegate by now.
  private func putBack(_ keepers: [SlotKeeper], _ adopted: Adopted?) {
    state.withLock { state in
      if state.adopted?.number == adopted?.number { state.adopted?.behind += keepers }
    }
  }

  internal func keep(behind keepers: [SlotKeeper], unlessKept: Bool) -> [SlotKeeper] {
    while true {
      let hub = current
      let left = hub.state.withLock { state -> [SlotKeeper]? in
        if state.successor != nil { return nil }
        guard state.forwarders > 0, let adopted = state.adopted,
          !unlessKept || adopted.keeper == nil
        else { return keepers }
        state.adopted?.behind += keepers
        return []
      }
      if let left { return left }
    }
  }

  /// Whether an object is a proxy that forwards to this hub's, directly or through others.
  private func forwardsHere(_ object: AnyObject) -> Bool {
    hubInFront(object) != nil || Self.forwards(object, to: list)
  }

  /// The hub whose proxy an object is, if that hub's delegate is this one's proxy, directly or
  /// through other hubs.
  private func hubInFront(_ object: AnyObject) -> (any SettlingHub)? {
    hubOfSlot(
      among: HubLink.hubs(of: object).map(\.currentHub).filter { $0 !== self && isBehind($0) })
  }

  /// Whether this hub's proxy is another hub's delegate, directly or through other hubs.
  private func isBehind(_ front: any SettlingHub) -> Bool {
    var visited: Set<ObjectIdentifier> = []
    var pending = [front]
    while let hub = pending.popLast() {
      guard visited.insert(ObjectIdentifier(hub)).inserted, let delegate = hub.adoptedObject
      else { continue }
      let behind = HubLink.hubs(of: delegate).map(\.currentHub)
      if behind.contains(where: { $0 === self }) { return true }
      pending += behind
    }
    return false
  }

  /// The hub of this hub's slot among those of one proxy, which may be in several slots. If it
  /// cannot be told, the one that was made last.
  private func hubOfSlot(among hubs: [any SettlingHub]) -> (any SettlingHub)? {
    if hubs.count < 2 { return hubs.first }
    let (owner, occupant) = (slotOwner, occupant)
    // The only hub of the same object is taken without reading the slots of other objects, which
    // may belong to other actors.
    let owned = hubs.filter { $0.slotOwner === owner }
    if owned.count == 1 { return owned[0] }
    let candidates = owned.isEmpty ? hubs : owned
    return candidates.last { $0.occupant === occupant } ?? candidates.last
  }

  /// Whether an object is a proxy that forwards to another, directly or through
  /// others.
  private static func forwards(_ object: AnyObject, to target: DynamicProxy) -> Bool {
    guard let proxy = object as? any SlotProxy else { return false }
    var visited: Set<ObjectIdentifier> = []
    // SAFETY: nothing is forwarded.
    var pending = unsafe [proxy.forwardingProxy]
    while let next = pending.popLast() {
      if next.contains(target) { return true }
      guard visited.insert(ObjectIdentifier(next)).inserted else { continue }
      pending += next.liveSubscribers.compactMap { $0 as? DynamicProxy }
    }
    return false
  }
}

// MARK: - One hub for one slot

extension DelegateHub {
  /// The hub of the same slot whose proxy an object is, if there is another.
  ///
  /// Two key paths can name one slot, such as `\Base.delegate` and
  /// `\Derived.delegate`. Key paths do not tell, but this does: one hub's proxy is
  /// read through the other's slot. A second slot of the object that was set to the same
  /// proxy cannot be told apart.
  private func otherHub(_ object: AnyObject) -> DelegateHub? {
    guard let owner = slotOwner else { return nil }
    return HubLink.hubs(of: object).lazy.compactMap { $0 as? DelegateHub }.first { other in
      other !== self && other.slotOwner === owner && other.current === other && other.holdsSlot
    }
  }

  /// Becomes part of another hub of the same slot. The listeners keep their
  /// subscriptions: the other hub delivers to this one's proxy. A listener of both hubs keeps
  /// that of the other one.
  private func merge(into other: DelegateHub) {
    replace(by: nil)
    endRepetitions(of: other)
    do throws(ForwardingError) {
      if !other.list.contains(list) {
        _ = try unsafe other.proxy.subscribeListener(proxy.asListener, at: .last, lifetime: .weak)
      }
    } catch {
      list.configuration.onError(error)
    }
    // One merge at a time, so that two hubs do not become part of each other.
    let successor = Successor(hub: other)
    let moved = HubRegistry.merging.withLock { _ -> State? in
      // First: a thread that finds the successor must find this hub's listeners there.
      let part = Absorbed(hub: self)
      let isAdded = successor.hub.state.withLock { state in
        if state.successor != nil { return false }
        state.parts.append(part)
        return true
      }
      guard isAdded else { return nil }
      return state.withLock { state in
        let moved = state
        (state.forwarders, state.kept, state.keepings, state.parts) = (0, [:], [], [])
        state.successor = successor
        return moved
      }
    }
    // The other has become part of a third hub meanwhile.
    guard let moved else { return state.withLock { $0.settling.ask() } }
    other.state.withLock { state in
      state.forwarders += moved.forwarders
      state.kept.merge(moved.kept) { $0.keeper == nil ? $1 : $0 }
      state.keepings += moved.keepings
      state.parts += moved.parts
    }
    other.settle()
  }
}

// MARK: - Adopting

extension DelegateHub {
  /// Adopts the delegate that was in the slot. False if it has to stay there.
  private func adopt(_ listener: Proxy.Listener, _ object: AnyObject) -> Bool {
    if let adopted = adopted(object) {
      keepAgain(adopted, object)
      return true
    }
    var candidate = Adopted(
      number: state.withLock { state in
        state.nextAdoption += 1
        return state.nextAdoption
      },
      listener: WeakListener(listener, object),
      keeper: options.lifetime == .strong ? SlotKeeper(object: object) : nil)
    if options.original == .adopt {
      do throws(ForwardingError) {
        // SAFETY: it is only looked for in the list, and its class is asked.
        let subscriber = unsafe Proxy.subscriber(for: listener)
        if isDeliveringOnce && lists.contains(where: { $0.contains(subscriber) }) {
          candidate.isSubscriber = true
        } else {
          let subscription = try unsafe proxy.subscribeListener(
            listener, at: .first, lifetime: .weak)
          // The configuration may ignore refusals.
          guard subscription.isLive else {
            if !(subscriber is DynamicProxy) { replace(by: nil) }
            return false
          }
          candidate.subscription = subscription
        }
      } catch {
        // The delegate is a proxy that forwards to this hub, such as that of
        // another hub that has taken the slot over. It stays there.
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

  /// Keeps a delegate that was adopted earlier alive again, if the slot does. The hub may have
  /// given the reference to another hub meanwhile. If the delegate is the proxy of a hub that has
  /// forwarders again, that hub keeps its own delegate.
  private func keepAgain(_ adopted: Adopted, _ object: AnyObject) {
    let keeper = options.lifetime == .strong ? SlotKeeper(object: object) : nil
    let hubs = HubLink.hubs(of: object)
    let keepsItself = !hubs.isEmpty && hubs.allSatisfy(\.hasForwarders)
    let released = state.withLock { state -> [SlotKeeper] in
      guard let known = state.adopted, known.number == adopted.number else { return [] }
      if known.keeper == nil { state.adopted?.keeper = keeper }
      guard keepsItself else { return [] }
      state.adopted?.behind = []
      return known.behind
    }
    withExtendedLifetime(released) {}
  }

  /// Leaves the slot to a delegate that cannot be adopted, and reports it once.
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
    guard let subscription = old.subscription else { return }
    subscription.cancel()
    // The proxy may be in another slot with the same delegate.
    guard let object = old.listener.object, candidate?.listener.object !== object else { return }
    for hub in HubLink.hubs(of: proxy) where hub !== self { hub.adoptAgain(object) }
  }
}

// MARK: - Capabilities

extension DelegateHub {
  /// Sets the slot again if the proxy responds to other methods than before.
  internal func noteCapabilities() {
    let hub = current
    if hub.hasOtherCapabilities && hub.state.withLock({ $0.forwarders }) > 0 { hub.settle() }
  }

  /// Whether the proxy responds to other methods than when that was noted.
  private var hasOtherCapabilities: Bool {
    guard options.reassignsSlot else { return false }
    let capabilities = capabilities
    return state.withLock { $0.capabilities != capabilities }
  }

  /// Notes what the proxy responds to. Gives whether that has changed.
  private func noteCapabilitiesChanged() -> Bool {
    guard options.reassignsSlot else { return false }
    let capabilities = capabilities
    return state.withLock { state in
      defer { state.capabilities = capabilities }
      return state.capabilities != capabilities
    }
  }

  private var capabilities: [Bool] {
    let list = list
    return list.requirements.map { list.responds(to: $0.selector) }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Stands in a delegate slot of one object for any number of listeners.
///
/// A slot of an object has one hub, which all forwarders of the slot share. The hub of
/// a `DelegateSlot` dies with the object; that of a key path when the table of hubs is
/// next searched after the object's death. The hub has the list of listeners, and the
/// proxy that is in the slot while there is a ``DelegateForwarder``. It adopts
/// the delegate that the slot had, and each delegate that the slot is given
/// later: an adopted delegate is called before the listeners, until the slot is
/// set to another delegate or to nil. When the last forwarder leaves, the
/// delegate gets its slot back. The listeners stay subscribed, and are called
/// again when there is another forwarder.
///
/// <doc:ManyObservers> says how a hub notices that the slot has been set, and
/// <doc:ThreadsAndIsolation> on which threads it may be used.
package final class DelegateHub<Proxy: SlotProxy> {
  // Nil in `deinit` only.
  private var heldProxy: Proxy?
  /// The options for the delegate that the hub finds.
  package let options: DelegateSlotOptions

  internal let slot: SlotAccess<Proxy.Listener>
  internal let home: SlotHome
  private let ownKeeping: SlotKeeping?
  private let link: HubLink
  internal let state = Lock(State())

  internal struct State {
    /// The number of forwarders.
    var forwarders = 0
    /// The hub that this one has become part of.
    var successor: Successor?
    /// The hubs that have become part of this one.
    var parts: [Absorbed] = []
    var adopted: Adopted?
    var nextAdoption: UInt64 = 0
    /// Where the hub notes whether it has forwarders: with its own proxy, and with those of
    /// the hubs that have become part of it.
    var keepings: [SlotKeeping] = []
    /// The listeners that are kept alive while there is a forwarder, by
    /// subscription.
    var kept: [UInt64: Kept] = [:]
    /// A delegate that could not be adopted and has been reported.
    var refused: ObjectIdentifier?
    /// Whether the slot is to be set to nil and to the proxy.
    var reassigns = false
    /// Per method, whether anybody responded at the last look.
    var capabilities: [Bool] = []
    var settling = Settling()
  }

  internal struct Successor: @unchecked Sendable {
    // Sendable: the hub is used only by a caller that has its predecessor.
    let hub: DelegateHub
  }

  /// A hub that has become part of another one.
  internal struct Absorbed: @unchecked Sendable {
    // Sendable: the hub is used only by a caller that has the one that it is part of.
    weak var hub: DelegateHub?
  }

  /// The delegate that the slot would have.
  internal struct Adopted: Sendable {
    /// Tells this adoption from others, also of the same object.
    let number: UInt64
    let listener: WeakListener<Proxy.Listener>
    /// Keeps the delegate alive, if the slot does.
    var keeper: SlotKeeper?
    /// Keeps alive what the hubs behind the delegate, which is a hub's proxy, have
    /// adopted and kept.
    var behind: [SlotKeeper] = []
    /// Nil if the delegate is ignored, or has only the subscription of its own.
    var subscription: DynamicProxy.Subscription?
    /// Whether the delegate has subscribed too. Where each object is called
    /// once, it has one subscription for both.
    var isSubscriber = false
  }

  /// A listener that subscribed as strong.
  internal struct Kept: Sendable {
    let subscription: DynamicProxy.Subscription
    let listener: WeakListener<AnyObject>
    /// Nil while there is no forwarder.
    var keeper: SlotKeeper?
  }

  internal init(
    _ proxy: Proxy, _ slot: SlotAccess<Proxy.Listener>, _ options: DelegateSlotOptions,
    home: SlotHome = SlotHome()
  ) {
    heldProxy = proxy
    self.slot = slot
    self.options = options
    self.home = home
    // SAFETY: nothing is forwarded.
    let list = unsafe proxy.forwardingProxy
    if list.isConfined {
      let keeping = SlotKeeping(keeping: .of(list), hub: Numbering.next())
      ownKeeping = keeping
      keeping.keeping.enter(hub: keeping.hub)
      state.withLock { $0.keepings = [keeping] }
    } else {
      ownKeeping = nil
    }
    // The proxy's storage holds a weak reference to the hub only.
    link = list.core.extras.attachments.value(HubLink.self) { HubLink() }
    link.add(self)
  }

  deinit {
    link.remove(ObjectIdentifier(self))
    // Before the proxy may keep listeners again: this may be its last reference, and the
    // thread any.
    heldProxy = nil
    ownKeeping?.forget()
  }

  /// The proxy that the hub puts into the slot.
  package var proxy: Proxy {
    guard let heldProxy else { preconditionFailure("a hub that is being deinitialised") }
    return heldProxy
  }

  /// The proxy's list of subscribers.
  internal var list: DynamicProxy {
    // SAFETY: the caller has the hub, and so may use its listeners.
    unsafe proxy.forwardingProxy
  }

  /// This hub, or the one that it has become part of.
  internal var current: DelegateHub {
    var hub = self
    while let next = hub.state.withLock({ $0.successor }) { hub = next.hub }
    return hub
  }

  /// The hubs that have become part of this one.
  internal var parts: [DelegateHub] { state.withLock { $0.parts }.compactMap(\.hub) }

  /// The lists of this hub and of its parts. Where each object is called once, each is in
  /// one of them.
  internal var lists: [DynamicProxy] { [list] + parts.map(\.list) }
}

/// A strong reference that only keeps its object alive.
internal struct SlotKeeper: @unchecked Sendable {
  // Sendable: no code uses the object through this reference.
  let object: AnyObject
}

/// A note with a typed proxy whether a hub has forwarders.
internal struct SlotKeeping: Sendable {
  let keeping: ListenerKeeping
  /// The number of the hub.
  let hub: UInt64

  func forget() { keeping.forget(hub: hub) }
}

/// How a slot is read and set.
internal struct SlotAccess<Listener> {
  /// The object that has the slot; nil if it is not known, or has died.
  var owner: () -> AnyObject? = { nil }
  let read: () -> Listener?
  let write: (Listener?) -> Void
}

/// Leads from a proxy to the hubs that put it into their slots: one for each slot.
internal final class HubLink: Sendable {
  private struct Reference: @unchecked Sendable {
    // Sendable: a caller that has the proxy may use its hub.
    let identity: ObjectIdentifier
    weak var hub: (any SettlingHub)?
  }

  private let references = Lock<[Reference]>([])

  fileprivate func add(_ hub: any SettlingHub) {
    let new = Reference(identity: ObjectIdentifier(hub), hub: hub)
    references.withLock { $0.append(new) }
  }

  /// Removes a hub that is being deinitialised.
  fileprivate func remove(_ identity: ObjectIdentifier) {
    references.withLock { $0.removeAll { $0.identity == identity } }
  }

  /// The hubs whose proxy an object is, in the order in which they were made.
  internal static func hubs(of object: AnyObject) -> [any SettlingHub] {
    guard let proxy = object as? any SlotProxy else { return [] }
    // SAFETY: nothing is forwarded.
    let link = unsafe proxy.forwardingProxy.core.existingExtras?.attachments.existing(
      HubLink.self)
    // The references are loaded outside of the lock: to release one may end its hub.
    return link?.references.withLock({ $0 }).compactMap(\.hub) ?? []
  }
}

/// A hub with any type of proxy.
internal protocol SettlingHub: AnyObject {
  func settle()
  /// Keeps what another hub of a chain has kept alive, as long as this one has
  /// forwarders and its delegate.
  ///
  /// - Parameter unlessKept: Whether nothing is kept if this hub keeps its own delegate.
  /// - Returns: what is not kept, for the caller to release.
  func keep(behind keepers: [SlotKeeper], unlessKept: Bool) -> [SlotKeeper]
  /// Subscribes the delegate again if it is an object whose subscription another hub of the same
  /// proxy has ended.
  func adoptAgain(_ object: AnyObject)
  /// Whether there are forwarders.
  var hasForwarders: Bool { get }
  /// This hub, or the one that it has become part of.
  var currentHub: any SettlingHub { get }
  /// The delegate that the slot would have.
  var adoptedObject: AnyObject? { get }
  /// The object that has the slot; nil if it is not known, or has died.
  var slotOwner: AnyObject? { get }
  /// The object that is in the slot.
  var occupant: AnyObject? { get }
}

extension DelegateHub: SettlingHub {
  internal var currentHub: any SettlingHub { current }
  internal var hasForwarders: Bool { forwarders > 0 }
  internal var adoptedObject: AnyObject? {
    current.state.withLock { $0.adopted }?.listener.object
  }
  internal var slotOwner: AnyObject? { slot.owner() }
  internal var occupant: AnyObject? { slot.read().map { Proxy.object(of: $0) } }
}

// MARK: - Asking

extension DelegateHub {
  /// The delegate that the slot would have without the hub, while there is a
  /// forwarder; nil if there is none, or it has died.
  package var original: Proxy.Listener? {
    current.state.withLock { $0.adopted }?.listener.listener
  }

  /// The number of forwarders.
  package var forwarders: Int { current.state.withLock { $0.forwarders } }

  /// Whether the proxy is in the slot.
  package var isInstalled: Bool { current.holdsSlot }

  /// Whether this hub's own proxy is in the slot.
  internal var holdsSlot: Bool { occupant === proxy }

  /// Whether a listener is subscribed, or is the slot's delegate and is called.
  package func contains(_ listener: Proxy.Listener) -> Bool {
    // SAFETY: it is only looked for in the list.
    let subscriber = unsafe Proxy.subscriber(for: listener)
    return current.lists.contains { $0.contains(subscriber) }
  }
}

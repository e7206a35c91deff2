// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Keeps a delegate slot of an object for many listeners, as long as it lives.
///
/// ```swift
/// let forwarder = DelegateForwarder(download, \.delegate, proxy: DownloadDelegateProxy())
/// try forwarder.subscribe(progressBar)
/// try forwarder.subscribe(log)
/// download.delegate = controller          // adopted: all three are called
/// ```
///
/// A slot may have any number of forwarders. They share one proxy and one list
/// of listeners, so each listener is called once, and the order in which
/// forwarders end does not matter. The last one gives the slot back to the
/// delegate. The listeners stay subscribed, and are called again when there is
/// another forwarder.
///
/// A forwarder keeps its object alive. It belongs to the actor on which it was
/// made, and is not `Sendable`, since it reads and sets the slot. If the last
/// reference is released elsewhere, as by the `deinit` of a class with a global
/// actor, the slot is given back on that actor a moment later. For a service
/// whose slot any thread may use there is ``SendableDelegateForwarder``.
public final class DelegateForwarder<Service: AnyObject, Proxy: SlotProxy> {
  private let isStopped = Lock(false)
  private let home: SlotHome
  // Nil in `deinit` only.
  private var heldService: Service?
  private var heldHub: DelegateHub<Proxy>?

  internal init(
    _ service: Service, hub: DelegateHub<Proxy>,
    isolation: isolated (any Actor)? = #isolation
  ) {
    home = SlotHome(isolation)
    hub.home.bind(to: isolation)
    heldService = service
    heldHub = hub
    hub.join()
  }

  /// Takes the slot at a key path.
  ///
  /// - Parameters:
  ///   - service: the object that has the slot. It is kept alive.
  ///   - slot: the key path of the slot. Arguments of subscripts in it may be released on
  ///     any thread.
  ///   - options: what is done with the delegate in the slot. The options of the
  ///     slot's first forwarder count.
  ///   - isolation: the actor that the service belongs to; by default the
  ///     caller's. If it is nil, the slot is given back on whatever thread releases
  ///     the forwarder. So never pass nil for the object of an actor, and make the
  ///     forwarder in code that is isolated to that actor.
  ///   - proxy: makes the proxy for the slot, if the slot has none yet.
  public convenience init(
    _ service: Service, _ slot: ReferenceWritableKeyPath<Service, Proxy.Listener?>,
    options: DelegateSlotOptions = DelegateSlotOptions(),
    isolation: isolated (any Actor)? = #isolation, proxy: @autoclosure () -> Proxy
  ) {
    self.init(
      service,
      hub: DelegateSlots.hub(
        of: service, slot, options: options, isolation: isolation, proxy: proxy()),
      isolation: isolation)
  }

  /// Takes a slot that is a `DelegateSlot`: `DelegateForwarder(service, \.$delegate)`.
  public convenience init(
    _ service: Service, _ slot: KeyPath<Service, DelegateSlot<Proxy>>,
    isolation: isolated (any Actor)? = #isolation
  ) {
    self.init(service, hub: service[keyPath: slot].hub, isolation: isolation)
  }

  /// Takes the slot that a class names by `DelegateSlotOwner`.
  public convenience init(
    _ service: Service, isolation: isolated (any Actor)? = #isolation
  ) where Service: DelegateSlotOwner, Service.DelegateProxy == Proxy {
    self.init(service, hub: service.delegateHub(isolation: isolation), isolation: isolation)
  }

  deinit {
    // No reference stays behind: the last one is released on the actor.
    let end = ForwarderEnd(heldService.take(), heldHub.take(), leaves: end())
    home.perform { end.run() }
  }

  /// The hub, which all forwarders of the slot share.
  package var hub: DelegateHub<Proxy> { ownHub.current }

  /// The proxy that stands in the slot. All forwarders of the slot have the same.
  public var proxy: Proxy { hub.proxy }

  /// The object that has the slot. Call the object through this: reading the
  /// property looks at the slot, as ``recheck()`` does.
  public var service: Service {
    guard let heldService else { preconditionFailure("a forwarder that is being deinitialised") }
    ownHub.recheck()
    return heldService
  }

  /// Gives the slot up, as `deinit` does. Nothing happens the second time.
  public func stop() {
    if end() { ownHub.leave() }
  }

  private var ownHub: DelegateHub<Proxy> {
    guard let heldHub else { preconditionFailure("a forwarder that is being deinitialised") }
    return heldHub
  }

  /// Marks the forwarder as stopped. Gives whether it was not before.
  private func end() -> Bool {
    isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
  }
}

/// The last steps of a forwarder that dies: it gives the slot up, and releases
/// its object and hub.
private final class ForwarderEnd<Service: AnyObject, Proxy: SlotProxy> {
  private var service: Service?
  private var hub: DelegateHub<Proxy>?
  private let leaves: Bool

  init(_ service: Service?, _ hub: DelegateHub<Proxy>?, leaves: Bool) {
    (self.service, self.hub, self.leaves) = (service, hub, leaves)
  }

  func run() {
    if leaves { hub?.leave() }
    hub = nil
    guard let identity = service.map({ ObjectIdentifier($0) }) else { return }
    service = nil
    // The hub of an object that this forwarder alone kept alive goes with it.
    HubRegistry.forwarderEnded(identity)
  }
}

@available(*, unavailable)
extension DelegateForwarder: Sendable {}

// MARK: - Slots that must be empty

extension DelegateForwarder {
  /// Takes the slot at a key path, which must be empty.
  ///
  /// - Throws: `ForwardingError` with the code `slotTaken` if the slot has a
  ///   delegate other than the proxy of other forwarders.
  public static func claiming(
    _ service: Service, _ slot: ReferenceWritableKeyPath<Service, Proxy.Listener?>,
    options: DelegateSlotOptions = DelegateSlotOptions(),
    isolation: isolated (any Actor)? = #isolation, proxy: @autoclosure () -> Proxy
  ) throws(ForwardingError) -> DelegateForwarder {
    // Before the hub of the slot is made, whose proxy and options later forwarders have, too.
    if let found = service[keyPath: slot] {
      let object = Proxy.object(of: found)
      guard HubRegistry.hasProxy(service, object, Proxy.self) else {
        throw ForwardingError(
          .slotTaken,
          "the slot has a delegate already, of class \(type(of: object)), expected none")
      }
    }
    return DelegateForwarder(
      service, slot, options: options, isolation: isolation, proxy: proxy())
  }
}

// MARK: - Listening

extension DelegateForwarder {
  /// Subscribes a listener. Nil and the slot's own proxy are ignored. The slot's
  /// delegate may subscribe too, and is called once, unless the proxy's
  /// configuration allows duplicates.
  ///
  /// - Parameters:
  ///   - listener: the object to be called, whatever the slot holds.
  ///   - position: the position in the order of delivery; by default the end.
  ///   - lifetime: whether the listener is kept alive while there is a forwarder
  ///     and the subscription is live; by default it is not. The reference is
  ///     released where the forwarder is used: when a subscription is cancelled
  ///     elsewhere, at the forwarder's next change.
  /// - Returns: the subscription, or nil if the listener was ignored.
  /// - Throws: `ForwardingError` if the listener is refused, or the anchor of
  ///   the position is not subscribed.
  @discardableResult
  public func subscribe(
    _ listener: Proxy.Listener?, at position: DynamicProxy.Position = .last,
    lifetime: DynamicProxy.Lifetime = .weak
  ) throws(ForwardingError) -> DynamicProxy.Subscription? {
    try hub.subscribe(listener, at: position, lifetime: lifetime)
  }

  /// Ends the subscriptions of a listener. If the listener is the slot's delegate,
  /// it is still called as such: set the slot to nil to end that.
  ///
  /// - Returns: whether the listener had subscribed.
  @discardableResult
  public func unsubscribe(_ listener: Proxy.Listener?) -> Bool { hub.unsubscribe(listener) }

  /// Looks at the slot. If it holds another delegate, that is adopted, and the
  /// proxy is put back.
  ///
  /// - Complexity: O(1): it reads the slot and compares. O(*m*) in the number of
  ///   methods with ``DelegateSlotOptions/reassignsSlot``.
  public func recheck() { hub.recheck() }

  /// The delegate that the slot would have without forwarders.
  public var original: Proxy.Listener? { hub.original }
}

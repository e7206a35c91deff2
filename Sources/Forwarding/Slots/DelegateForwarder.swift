// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Keeps a delegate slot of an object for many listeners, as long as it lives.
///
/// ```swift
/// let forwarder = DelegateForwarder(download, \.delegate, proxy: DownloadDelegateProxy())
/// forwarder.subscribe(progressBar)
/// forwarder.subscribe(log)
/// download.delegate = controller          // adopted: all three are delivered to
/// ```
///
/// There may be any number of forwarders for one slot. They share its
/// ``DelegateHub``, so each listener is delivered to once, and it does not matter
/// which of them goes first. With the last the slot is given back to the
/// delegate that it would have.
///
/// A forwarder keeps its object alive. It is `Sendable` if the object and the
/// proxy are. The last reference to it must be given up where the slot may be
/// set: in a class of a global actor, whose objects may die anywhere, declare an
/// `isolated deinit`, or call ``stop()``.
public final class DelegateForwarder<Service: AnyObject, Proxy: SlotProxy> {
  /// What is shared by all forwarders of the slot.
  public let hub: DelegateHub<Proxy>
  private let isStopped = Lock(false)
  /// Nil in `deinit` only.
  private var held: Service?

  internal init(_ service: Service, hub: DelegateHub<Proxy>) {
    self.hub = hub
    held = service
    hub.join()
  }

  /// Takes the slot at a key path.
  ///
  /// - Parameters:
  ///   - service: the object that has the slot. It is kept alive.
  ///   - slot: where the slot is.
  ///   - options: what is done with the delegate that is in it. Those of the
  ///     slot's first forwarder count.
  ///   - proxy: makes what stands in the slot, if the slot has none yet.
  public convenience init(
    _ service: Service, _ slot: ReferenceWritableKeyPath<Service, Proxy.Listener?>,
    options: DelegateSlotOptions = DelegateSlotOptions(), proxy: @autoclosure () -> Proxy
  ) {
    self.init(
      service, hub: DelegateSlots.hub(of: service, slot, options: options, proxy: proxy()))
  }

  /// Takes a slot that is a `DelegateSlot`: `DelegateForwarder(service, \.$delegate)`.
  public convenience init(
    _ service: Service, _ slot: KeyPath<Service, DelegateSlot<Proxy>>
  ) {
    self.init(service, hub: service[keyPath: slot].hub)
  }

  /// Takes the slot of a class that says which one it has.
  public convenience init(_ service: Service)
  where Service: DelegateSlotOwner, Service.DelegateProxy == Proxy {
    self.init(service, hub: service.delegateHub)
  }

  deinit {
    stop()
    guard let service = held.take() else { return }
    let identity = ObjectIdentifier(service)
    _ = consume service
    // Who was kept alive by this forwarder alone is gone now, and leaves a hub.
    HubRegistry.collect(identity)
  }

  /// The object that has the slot.
  public var service: Service {
    guard let held else { preconditionFailure("a forwarder that is being deinitialised") }
    return held
  }

  /// The object that has the slot, after a look at the slot: what is to be
  /// called by those who call the object through the forwarder.
  public var checkedService: Service {
    hub.recheck()
    return service
  }

  /// Gives the slot up, as `deinit` does. Nothing happens if it has been.
  public func stop() {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    if isFirst { hub.leave() }
  }
}

extension DelegateForwarder: @unchecked Sendable where Service: Sendable, Proxy: Sendable {
  // The state of the hub is behind a lock, and what it reads and sets the
  // service's own affair.
}

// MARK: - Slots that must be empty

extension DelegateForwarder {
  /// Takes the slot at a key path, which must be empty.
  ///
  /// - Throws: `ForwardingError` with the code `slotTaken` if there is a delegate
  ///   in it, other than the proxy of other forwarders.
  public static func claiming(
    _ service: Service, _ slot: ReferenceWritableKeyPath<Service, Proxy.Listener?>,
    options: DelegateSlotOptions = DelegateSlotOptions(), proxy: @autoclosure () -> Proxy
  ) throws(ForwardingError) -> DelegateForwarder {
    let hub = DelegateSlots.hub(of: service, slot, options: options, proxy: proxy())
    if let found = hub.slot.read(), Proxy.object(of: found) !== hub.proxy {
      throw ForwardingError(
        .slotTaken,
        """
        the slot has a delegate already, of class \(type(of: Proxy.object(of: found))), expected none
        """)
    }
    return DelegateForwarder(service, hub: hub)
  }
}

// MARK: - Listening

extension DelegateForwarder {
  /// Subscribes a listener; see ``DelegateHub/subscribe(_:lifetime:)``.
  @discardableResult
  public func subscribe(
    _ listener: Proxy.Listener?, lifetime: DynamicProxy.Lifetime = .weak
  ) -> Subscription? { hub.subscribe(listener, lifetime: lifetime) }

  /// Subscribes a listener at a position; see
  /// ``DelegateHub/subscribe(_:at:lifetime:)``.
  ///
  /// - Throws: `ForwardingError` if the listener is refused, or the anchor of
  ///   the position is not subscribed.
  @discardableResult
  public func subscribe(
    _ listener: Proxy.Listener?, at position: DynamicProxy.Position,
    lifetime: DynamicProxy.Lifetime = .weak
  ) throws(ForwardingError) -> Subscription? {
    try hub.subscribe(listener, at: position, lifetime: lifetime)
  }

  /// Ends the subscriptions of a listener; see ``DelegateHub/unsubscribe(_:)``.
  @discardableResult
  public func unsubscribe(_ listener: Proxy.Listener?) -> Bool { hub.unsubscribe(listener) }

  /// Looks at the slot; see ``DelegateHub/recheck()``.
  public func recheck() { hub.recheck() }

  /// The delegate that the slot would have; see ``DelegateHub/original``.
  public var original: Proxy.Listener? { hub.original }
}

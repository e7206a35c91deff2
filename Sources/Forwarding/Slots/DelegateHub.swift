// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Stands in a delegate slot of one object for any number of listeners.
///
/// There is one for each slot of an object, that all who forward for the object
/// share, and that lives as long as the object does. It has the list of
/// listeners, and the proxy that is put into the slot while there is a
/// ``DelegateForwarder``. The delegate that the slot had, or is given
/// meanwhile, is adopted: it is delivered to before the listeners, until the
/// slot is given another or nil. When the last forwarder has gone it gets its
/// slot back. The listeners stay subscribed, but hear nothing until there is a
/// forwarder again.
///
/// How the hub notices that the slot has been set is in <doc:SharingDelegateSlots>.
///
/// A hub is used where its object may be used; the compiler sees to it. Those of
/// objects that may be used anywhere have their state behind a lock, which is
/// held neither while the slot is read or set, nor during a delivery.
public final class DelegateHub<Proxy: SlotProxy> {
  /// What stands in the slot.
  public let proxy: Proxy
  /// What the hub does with the delegate that it finds.
  public let options: DelegateSlotOptions

  internal let slot: SlotAccess<Proxy.Listener>
  internal let state = Lock(State())

  internal struct State {
    /// How many forwarders there are.
    var forwarders = 0
    var adopted: Adopted?
    /// A delegate that could not be adopted, of which the error handler knows.
    var refused: ObjectIdentifier?
    /// Whether the slot is being looked at or set, and is to be looked at again.
    var isSettling = false
    var settlesAgain = false
    /// Whether the slot is to be set to nil and to the proxy.
    var reassigns = false
    /// Which methods somebody responded to when they were last looked at.
    var capabilities: [Bool] = []
  }

  /// The delegate that the slot would have.
  internal struct Adopted: Sendable {
    let listener: WeakListener<Proxy.Listener>
    /// Keeps it, if the slot does.
    let keeper: Keeper?
    /// Nil if it is ignored, or stands in the list by its own subscription.
    var subscription: Subscription?
    /// Whether it has subscribed too. Where objects are delivered to once, that
    /// is one subscription for both.
    var isSubscriber = false
  }

  internal struct Keeper: @unchecked Sendable {
    // Sendable: nobody uses the object by this reference.
    let object: AnyObject
  }

  internal init(
    _ proxy: Proxy, _ slot: SlotAccess<Proxy.Listener>, _ options: DelegateSlotOptions
  ) {
    self.proxy = proxy
    self.slot = slot
    self.options = options
  }

  /// The list of subscribers.
  internal var list: DynamicProxy {
    // SAFETY: whoever has the hub may use its listeners.
    unsafe proxy.forwardingProxy
  }
}

/// How a slot is read and set.
internal struct SlotAccess<Listener> {
  let read: () -> Listener?
  let write: (Listener?) -> Void
}

// MARK: - Asking

extension DelegateHub {
  /// The delegate that the slot would have without the hub, while there is a
  /// forwarder; nil if it has none, or the delegate has died.
  public var original: Proxy.Listener? { state.withLock { $0.adopted }?.listener.listener }

  /// How many forwarders there are.
  public var forwarders: Int { state.withLock { $0.forwarders } }

  /// Whether the proxy is in the slot.
  public var isInstalled: Bool { slot.read().map { Proxy.object(of: $0) === proxy } ?? false }

  /// Whether the listener is subscribed, or is the delegate of the slot that is
  /// delivered to.
  public func contains(_ listener: Proxy.Listener) -> Bool {
    list.contains(Proxy.subscriber(for: listener))
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A ``DelegateForwarder`` for a slot that any thread may use.
///
/// The service and the proxy are `Sendable`, and the slot is isolated to no
/// actor: the compiler refuses the key path of an isolated property, since that
/// is not `Sendable`.
///
/// ```swift
/// final class Sensor: Sendable {
///   var delegate: (any SensorDelegate)? { get { … } set { … } }    // behind a lock
/// }
/// let forwarder = SendableDelegateForwarder(sensor, \.delegate, proxy: SensorDelegateProxy())
/// Task.detached { try forwarder.subscribe(listener) }
/// ```
///
/// While one thread takes the slot or gives it back, another one that wants the
/// same returns at once, and the first one looks again.
public final class SendableDelegateForwarder<
  Service: AnyObject & Sendable, Proxy: SlotProxy & Sendable
>: @unchecked Sendable where Proxy.Listener: Sendable {
  // Sendable: the slot may be used anywhere, and so may the proxy, the listeners and what
  // they hold. The hub has its state behind a lock.
  private let base: DelegateForwarder<Service, Proxy>

  /// Takes the slot at a key path.
  ///
  /// - Parameters:
  ///   - service: the object that has the slot. It is kept alive.
  ///   - slot: the key path of the slot.
  ///   - options: what is done with the delegate in the slot. The options of the
  ///     slot's first forwarder count.
  ///   - proxy: makes the proxy for the slot, if the slot has none yet.
  public init(
    _ service: Service,
    _ slot: any ReferenceWritableKeyPath<Service, Proxy.Listener?> & Sendable,
    options: DelegateSlotOptions = DelegateSlotOptions(), proxy: @autoclosure () -> Proxy
  ) {
    base = DelegateForwarder(service, slot, options: options, isolation: nil, proxy: proxy())
  }

  /// Takes the slot that a class names by `DelegateSlotOwner`.
  public init(_ service: Service)
  where Service: DelegateSlotOwner, Service.DelegateProxy == Proxy {
    base = DelegateForwarder(service, isolation: nil)
  }

  /// The object that has the slot. Call the object through this: reading the
  /// property looks at the slot, as ``recheck()`` does.
  public var service: Service { base.service }

  /// Gives the slot up, as `deinit` does. Nothing happens the second time.
  public func stop() { base.stop() }

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
    try base.subscribe(listener, at: position, lifetime: lifetime)
  }

  /// Ends the subscriptions of a listener. If the listener is the slot's delegate,
  /// it is still called as such: set the slot to nil to end that.
  ///
  /// - Returns: whether the listener had subscribed.
  @discardableResult
  public func unsubscribe(_ listener: Proxy.Listener?) -> Bool { base.unsubscribe(listener) }

  /// Looks at the slot. If it holds another delegate, that is adopted, and the
  /// proxy is put back.
  ///
  /// - Complexity: O(1): it reads the slot and compares. O(*m*) in the number of
  ///   methods with ``DelegateSlotOptions/reassignsSlot``.
  public func recheck() { base.recheck() }

  /// The delegate that the slot would have without forwarders.
  public var original: Proxy.Listener? { base.original }

  /// The proxy that stands in the slot.
  public var proxy: Proxy { base.hub.proxy }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Finds the hub of a delegate slot.
package enum DelegateSlots {
  /// The hub of the slot at a key path, the same each time. It takes the slot
  /// when there is a ``DelegateForwarder``.
  ///
  /// Key paths through a class and through its superclass may name one slot.
  /// While the slot has a forwarder, both give the same hub. Hubs that were made
  /// before that, become one hub when the slot gets forwarders.
  ///
  /// - Parameters:
  ///   - service: the object that has the slot. It is not kept alive.
  ///   - slot: the key path of the slot. The hub does not see that the slot has
  ///     been set until it looks: see ``DelegateHub/recheck()``.
  ///   - options: what is done with the delegate in the slot, if there is no hub
  ///     yet.
  ///   - isolation: the actor that the service belongs to; by default the
  ///     caller's. The hub's listeners are released there.
  ///   - proxy: makes the proxy for the slot, if there is no hub yet.
  /// - Complexity: O(1) in the number of objects with hubs, amortised.
  package static func hub<Service: AnyObject, Proxy: SlotProxy>(
    of service: Service, _ slot: ReferenceWritableKeyPath<Service, Proxy.Listener?>,
    options: DelegateSlotOptions = DelegateSlotOptions(),
    isolation: isolated (any Actor)? = #isolation, proxy: @autoclosure () -> Proxy
  ) -> DelegateHub<Proxy> {
    let access = SlotAccess<Proxy.Listener>(
      owner: { [weak service] in service },
      read: { [weak service] in service?[keyPath: slot] },
      write: { [weak service] in service?[keyPath: slot] = $0 })
    return HubRegistry.hub(service, .path(slot), access, options, SlotHome(isolation), proxy)
  }

  /// Releases the hubs of objects that have died, each on the actor that its
  /// object belonged to. A hub is released without this call when a forwarder
  /// was the last to keep its object alive. The table is searched for the others
  /// whenever a hub is made or a forwarder ends. With more than 64 hubs, it is
  /// searched only when their number has doubled.
  ///
  /// - Returns: the number of hubs.
  /// - Complexity: O(*n*) in the number of hubs.
  @discardableResult
  package static func collect() -> Int { HubRegistry.collect() }
}

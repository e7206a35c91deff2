// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Finds the hub of a delegate slot.
public enum DelegateSlots {
  /// The hub of the slot at a key path, the same each time. It takes the slot
  /// when there is a ``DelegateForwarder``.
  ///
  /// - Parameters:
  ///   - service: the object that has the slot. It is not kept alive.
  ///   - slot: where the slot is. The hub does not see that it has been set
  ///     until it looks: see ``DelegateHub/recheck()``.
  ///   - options: what is done with the delegate that is in the slot, if there
  ///     is no hub yet.
  ///   - proxy: makes what stands in the slot, if there is no hub yet.
  /// - Complexity: O(1) in the number of objects with hubs, amortised.
  public static func hub<Service: AnyObject, Proxy: SlotProxy>(
    of service: Service, _ slot: ReferenceWritableKeyPath<Service, Proxy.Listener?>,
    options: DelegateSlotOptions = DelegateSlotOptions(), proxy: @autoclosure () -> Proxy
  ) -> DelegateHub<Proxy> {
    let access = SlotAccess<Proxy.Listener>(
      read: { [weak service] in service?[keyPath: slot] },
      write: { [weak service] in service?[keyPath: slot] = $0 })
    return HubRegistry.hub(service, .path(slot), access, options, proxy)
  }

  /// The hub of the slot at a key path, or nil if nobody has asked for it yet.
  public static func existingHub<Service: AnyObject, Proxy: SlotProxy>(
    of service: Service, _ slot: ReferenceWritableKeyPath<Service, Proxy.Listener?>,
    as proxy: Proxy.Type = Proxy.self
  ) -> DelegateHub<Proxy>? {
    HubRegistry.find(service, .path(slot), proxy)
  }

  /// Forgets the hubs of objects that have died: a hub notices that by itself
  /// only if a forwarder kept the object last. The dead are looked for too when
  /// there are twice as many hubs as after the last time, and at least 16, so
  /// there is no need to call this but to have memory back at once.
  ///
  /// - Returns: how many hubs there are.
  /// - Complexity: O(*n*) in the number of hubs.
  @discardableResult
  public static func collect() -> Int { HubRegistry.collect() }
}

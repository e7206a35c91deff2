// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The hubs of objects that have no room for them: where there is no
/// Objective-C, nothing can be attached to an object.
///
/// A hub is kept until its object has died. That is noticed by the forwarder
/// that held the object last, by whoever next adds as many hubs as there were,
/// or by `collect`.
///
/// References are taken and given up outside the lock, since an object may die
/// with them: a hub is found in a copy of its object's entries, and added if
/// they are the same still. Whoever looks for the dead takes none to the living,
/// nor to their hubs: those are the affair of other threads.
internal enum HubRegistry {
  /// Which slot of its object a hub stands in.
  internal enum Slot: Equatable {
    case path(AnyKeyPath)
    /// That of `DelegateSlotOwner`.
    case owner
  }

  private struct Entry: @unchecked Sendable {
    // Sendable: a hub is given to those who have its object, and a key path is
    // compared only.

    let number: UInt64
    let service: DeathWatch
    let slot: Slot
    let hub: AnyObject
  }

  private struct Table {
    var entries: [ObjectIdentifier: [Entry]] = [:]
    var count = 0
    /// At how many the dead are looked for.
    var collectsAt = minimum
    var nextNumber: UInt64 = 0

    static let minimum = 16

    mutating func add(
      _ key: ObjectIdentifier, _ service: DeathWatch, _ slot: Slot, _ hub: AnyObject
    ) {
      entries[key, default: []].append(
        Entry(number: nextNumber, service: service, slot: slot, hub: hub))
      nextNumber += 1
      count += 1
    }

    /// Takes entries out, and gives them.
    mutating func remove(_ numbers: Set<UInt64>, of key: ObjectIdentifier) -> [Entry] {
      guard let all = entries[key] else { return [] }
      let left = all.filter { !numbers.contains($0.number) }
      entries[key] = left.isEmpty ? nil : left
      count -= all.count - left.count
      return all
    }
  }

  private static let table = Lock(Table())

  // MARK: Finding

  /// The hub of a slot, or nil.
  internal static func find<Proxy: SlotProxy>(
    _ service: AnyObject, _ slot: Slot, _: Proxy.Type
  ) -> DelegateHub<Proxy>? {
    let entries = table.withLock { $0.entries[ObjectIdentifier(service)] } ?? []
    return hub(service, slot, among: entries)
  }

  private static func hub<Proxy: SlotProxy>(
    _ service: AnyObject, _ slot: Slot, among entries: [Entry]
  ) -> DelegateHub<Proxy>? {
    for entry in entries where entry.slot == slot && entry.service.isOf(service) {
      if let hub = entry.hub as? DelegateHub<Proxy> { return hub }
    }
    return nil
  }

  /// The hub of a slot, made if there is none.
  ///
  /// A class and its superclass have different key paths for one slot, so a hub
  /// is known by its proxy in the slot, too.
  internal static func hub<Proxy: SlotProxy>(
    _ service: AnyObject, _ slot: Slot, _ access: SlotAccess<Proxy.Listener>,
    _ options: DelegateSlotOptions, _ proxy: () -> Proxy
  ) -> DelegateHub<Proxy> {
    let key = ObjectIdentifier(service)
    var made: DelegateHub<Proxy>?
    while true {
      let seen = table.withLock { $0.entries[key] } ?? []
      if let found: DelegateHub<Proxy> = hub(service, slot, among: seen) { return found }
      let occupant = access.read().map { Proxy.object(of: $0) }
      for entry in seen where entry.service.isOf(service) {
        if let hub = entry.hub as? DelegateHub<Proxy>, hub.proxy === occupant { return hub }
      }
      let hub = made ?? DelegateHub(proxy(), access, options)
      made = hub
      let new = Candidate(service: DeathWatch(service), slot: slot, hub: hub)
      let numbers = seen.map(\.number)
      let outcome = table.withLock { table -> (isAdded: Bool, collects: Bool) in
        guard table.entries[key]?.map(\.number) ?? [] == numbers else { return (false, false) }
        table.add(key, new.service, new.slot, new.hub)
        return (true, table.count >= table.collectsAt)
      }
      if outcome.collects { collect() }
      if outcome.isAdded { return hub }
    }
  }

  private struct Candidate: @unchecked Sendable {
    // Sendable: as an entry.
    let service: DeathWatch
    let slot: Slot
    let hub: AnyObject
  }

  // MARK: Collecting

  /// Forgets the hubs of dead objects. Gives how many hubs there are.
  ///
  /// - Complexity: O(*n*) in the number of hubs.
  @discardableResult
  internal static func collect() -> Int {
    let all = table.withLock { $0.entries.mapValues { $0.map(Watched.init) } }
    for (key, watched) in all { collect(key, watched) }
    return table.withLock { table in
      table.collectsAt = max(Table.minimum, 2 * table.count)
      return table.count
    }
  }

  /// Forgets the hubs of an object, if it is dead.
  internal static func collect(_ key: ObjectIdentifier) {
    collect(key, table.withLock { $0.entries[key]?.map(Watched.init) } ?? [])
  }

  /// An entry without its hub, which would live on with a copy.
  private struct Watched: Sendable {
    let number: UInt64
    let service: DeathWatch

    init(_ entry: Entry) { (number, service) = (entry.number, entry.service) }
  }

  private static func collect(_ key: ObjectIdentifier, _ watched: [Watched]) {
    let dead = Set(watched.filter(\.service.hasDied).map(\.number))
    if dead.isEmpty { return }
    let removed = table.withLock { $0.remove(dead, of: key) }
    extendLifetime(removed)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The hubs of objects that have no room for them: without Objective-C, nothing
/// can be attached to an object.
///
/// The registry keeps a hub until its object has died. It learns of a death only
/// from a forwarder that released the object last. So it searches for hubs of dead
/// objects: while there are few hubs, whenever a hub is made or a forwarder ends;
/// otherwise when the number of hubs has doubled. A hub is released on the actor
/// that its object belonged to. A hub without an actor has no strong reference to a
/// listener or delegate by then: it and its typed proxy keep them alive only while there is
/// a forwarder (see `ListenerKeeping`), and a forwarder keeps the object alive too. What a
/// proxy that a program has written refers to, and the arguments of a key path, are released
/// with the hub: `SlotProxy` says so.
///
/// References are taken and released outside the lock, since an object may die
/// with them: a hub is found in a copy of its object's entries, and added if
/// these are still the same. `collect` takes no reference to a living object or
/// its hub.
internal enum HubRegistry {
  /// Names a slot of an object.
  internal enum Slot: Equatable {
    case path(AnyKeyPath)
    /// The slot of a `DelegateSlotOwner`.
    case owner
  }

  private struct Entry: @unchecked Sendable {
    // Sendable: only a caller that has the object is given its hub, and a key
    // path is only compared.

    let number: UInt64
    let service: DeathWatch
    let slot: Slot
    let home: SlotHome
    let hub: AnyObject
  }

  private struct Table {
    var entries: [ObjectIdentifier: [Entry]] = [:]
    var count = 0
    /// The number of hubs from which on a new one makes `collect` run.
    var collectsAt = 2 * few
    var nextNumber: UInt64 = 0

    static let few = 64

    var hasFew: Bool { count <= Table.few }

    mutating func add(_ key: ObjectIdentifier, _ candidate: Candidate) {
      entries[key, default: []].append(
        Entry(
          number: nextNumber, service: candidate.service, slot: candidate.slot,
          home: candidate.home, hub: candidate.hub))
      nextNumber += 1
      count += 1
    }

    /// Removes entries, and gives them to the caller to release.
    mutating func remove(_ numbers: Set<UInt64>, of key: ObjectIdentifier) -> [Entry] {
      guard let all = entries[key] else { return [] }
      let left = all.filter { !numbers.contains($0.number) }
      entries[key] = left.isEmpty ? nil : left
      count -= all.count - left.count
      return all.filter { numbers.contains($0.number) }
    }
  }

  private static let table = Lock(Table())

  /// Held while one hub becomes part of another.
  internal static let merging = Lock<Void>(())

  // MARK: Finding

  /// The hub of a slot, or nil.
  internal static func find<Proxy: SlotProxy>(
    _ service: AnyObject, _ slot: Slot, _: Proxy.Type
  ) -> DelegateHub<Proxy>? {
    hub(slot, among: entries(of: service).own)
  }

  /// Whether an object is the proxy of a hub of a service.
  internal static func hasProxy<Proxy: SlotProxy>(
    _ service: AnyObject, _ object: AnyObject, _: Proxy.Type
  ) -> Bool {
    entries(of: service).own.contains { entry in
      (entry.hub as? DelegateHub<Proxy>)?.current.proxy === object
    }
  }

  private static func hub<Proxy: SlotProxy>(
    _ slot: Slot, among entries: [Entry]
  ) -> DelegateHub<Proxy>? {
    for entry in entries where entry.slot == slot {
      if let hub = entry.hub as? DelegateHub<Proxy> { return hub.current }
    }
    return nil
  }

  /// The entries of an object, and the numbers of all entries at its address. An entry of a
  /// dead object is not copied: this thread would release its hub.
  private static func entries(of service: AnyObject) -> (own: [Entry], numbers: [UInt64]) {
    table.withLock { table in
      let all = table.entries[ObjectIdentifier(service)] ?? []
      return (all.filter { $0.service.isOf(service) }, all.map(\.number))
    }
  }

  /// The hub of a slot, made if there is none.
  ///
  /// A class and its superclass have different key paths for one slot. So the
  /// hub is also the one of the object whose proxy is in the slot. Two hubs that
  /// were made while the slot had no proxy, become one when both have forwarders;
  /// see `DelegateHub.merge(into:)`.
  internal static func hub<Proxy: SlotProxy>(
    _ service: AnyObject, _ slot: Slot, _ access: SlotAccess<Proxy.Listener>,
    _ options: DelegateSlotOptions, _ home: SlotHome, _ proxy: () -> Proxy
  ) -> DelegateHub<Proxy> {
    let key = ObjectIdentifier(service)
    var made: DelegateHub<Proxy>?
    while true {
      let (seen, numbers) = entries(of: service)
      if let found: DelegateHub<Proxy> = hub(slot, among: seen) { return found }
      let hubs = seen.compactMap { ($0.hub as? DelegateHub<Proxy>)?.current }
      // A delegate that was set over a proxy is adopted first.
      for hub in hubs { hub.recheck() }
      let occupant = access.read().map { Proxy.object(of: $0) }
      for hub in hubs where hub.proxy === occupant { return hub }
      let hub = made ?? DelegateHub(proxy(), access, options, home: home)
      made = hub
      let new = Candidate(service: DeathWatch(service), slot: slot, home: home, hub: hub)
      let outcome = table.withLock { table -> (isAdded: Bool, collects: Bool) in
        guard table.entries[key]?.map(\.number) ?? [] == numbers else { return (false, false) }
        table.add(key, new)
        return (true, table.hasFew || table.count >= table.collectsAt)
      }
      if outcome.collects { collect() }
      if outcome.isAdded { return hub }
    }
  }

  private struct Candidate: @unchecked Sendable {
    // Sendable: as an entry.
    let service: DeathWatch
    let slot: Slot
    let home: SlotHome
    let hub: AnyObject
  }

  // MARK: Collecting

  /// Releases the hubs of dead objects. Gives the number of hubs.
  ///
  /// - Complexity: O(*n*) in the number of hubs.
  @discardableResult
  internal static func collect() -> Int {
    let all = table.withLock { $0.entries.mapValues { $0.map(Watched.init) } }
    for (key, watched) in all { collect(key, watched) }
    return table.withLock { table in
      table.collectsAt = 2 * max(Table.few, table.count)
      return table.count
    }
  }

  /// Releases the hubs of an object that a forwarder has released, if it is dead;
  /// and those of all dead objects, if there are few hubs.
  internal static func forwarderEnded(_ key: ObjectIdentifier) {
    collect(key, table.withLock { $0.entries[key]?.map(Watched.init) } ?? [])
    if table.withLock(\.hasFew) { collect() }
  }

  /// An entry without its hub, which a copy would keep alive.
  private struct Watched: Sendable {
    let number: UInt64
    let service: DeathWatch

    init(_ entry: Entry) { (number, service) = (entry.number, entry.service) }
  }

  private static func collect(_ key: ObjectIdentifier, _ watched: [Watched]) {
    let dead = Set(watched.filter(\.service.hasDied).map(\.number))
    if dead.isEmpty { return }
    var removed = table.withLock { $0.remove(dead, of: key) }
    while let entry = removed.popLast() { release(entry) }
  }

  private static func release(_ entry: consuming Entry) {
    let home = entry.home
    let hub = ReleasedHub(entry.hub)
    _ = consume entry
    home.perform { hub.release() }
  }

  /// The last reference to a hub, which is released once, on the hub's actor.
  private final class ReleasedHub {
    private var hub: AnyObject?
    init(_ hub: AnyObject) { self.hub = hub }
    func release() { hub = nil }
  }
}

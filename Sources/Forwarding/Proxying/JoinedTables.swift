// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Joined tables by the address of the table. Those of `DynamicProxy.Subscriber` classes live
/// as long as the process and stay; others are forgotten with their last
/// subscriber, since what their closures capture may be large.
internal struct JoinedTables {
  private struct Entry {
    weak let dispatch: DispatchTable?
  }

  /// The first tables that stay: most proxies have subscribers of few classes,
  /// and to look through these costs less than to hash.
  private var few: [(key: ObjectIdentifier, dispatch: DispatchTable)] = []
  /// Those that stay, too, where there are more.
  private var pinned: [ObjectIdentifier: DispatchTable] = [:]
  private var others: [ObjectIdentifier: Entry] = [:]
  /// The number of others at which forgotten ones are looked for again.
  private var pruneAt = 16

  internal func find(_ key: ObjectIdentifier) -> DispatchTable? {
    for index in few.indices where few[index].key == key { return few[index].dispatch }
    if !pinned.isEmpty, let found = pinned[key] { return found }
    // The copy of a weak reference costs more than the look-up.
    return others.isEmpty ? nil : others[key]?.dispatch
  }

  internal mutating func pin(_ dispatch: DispatchTable, _ key: ObjectIdentifier) {
    // Two threads may have joined a table at the same time.
    if few.contains(where: { $0.key == key }) || pinned[key] != nil { return }
    if few.count < 4 { few.append((key, dispatch)) } else { pinned[key] = dispatch }
  }

  /// Gives references that are to be given up behind the lock: with them a
  /// table may die.
  internal mutating func remember(
    _ dispatch: DispatchTable, _ key: ObjectIdentifier
  ) -> [DispatchTable] {
    var living: [DispatchTable] = []
    if others.count >= pruneAt {
      for (key, entry) in others {
        if let dispatch = entry.dispatch { living.append(dispatch) } else { others[key] = nil }
      }
      pruneAt = max(16, others.count * 2)
    }
    others[key] = Entry(dispatch: dispatch)
    return living
  }
}

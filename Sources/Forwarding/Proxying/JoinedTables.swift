// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The dispatch tables of a proxy's subscribers, by the identity of the function
/// table: subscribers that come with one table share one. Each is forgotten with
/// its last subscriber, since what its closures capture may be large.
internal struct JoinedTables {
  private final class Entry: Sendable {
    private let reference: WeakReference<DispatchTable>

    init(_ dispatch: DispatchTable) { reference = WeakReference(dispatch) }

    var dispatch: DispatchTable? { reference.object }
  }

  private var entries: [ObjectIdentifier: Entry] = [:]
  /// The number of entries at which forgotten ones are looked for again.
  private var pruneAt = 16

  internal func find(_ key: ObjectIdentifier) -> DispatchTable? {
    entries.isEmpty ? nil : entries[key]?.dispatch
  }

  /// Gives references that are to be given up behind the lock: with them a
  /// table may die.
  internal mutating func remember(
    _ dispatch: DispatchTable, _ key: ObjectIdentifier
  ) -> [DispatchTable] {
    var living: [DispatchTable] = []
    if entries.count >= pruneAt {
      for (key, entry) in entries {
        if let dispatch = entry.dispatch { living.append(dispatch) } else { entries[key] = nil }
      }
      pruneAt = max(16, entries.count * 2)
    }
    entries[key] = Entry(dispatch)
    return living
  }
}

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

  /// Many proxies never have a second table, and a dictionary takes longer to make
  /// than the rest of a subscription.
  private enum Entries {
    case none
    case one(ObjectIdentifier, Entry)
    /// With the count at which forgotten entries are looked for again.
    case many([ObjectIdentifier: Entry], pruneAt: Int)
  }

  private var entries = Entries.none

  internal func find(_ key: ObjectIdentifier) -> DispatchTable? {
    switch entries {
    case .none: nil
    case .one(let own, let entry): own == key ? entry.dispatch : nil
    case .many(let entries, _): entries[key]?.dispatch
    }
  }

  /// Remembers a table.
  ///
  /// - Returns: references for the caller to give up after it has left the lock:
  ///   a table may die with them.
  internal mutating func remember(
    _ dispatch: DispatchTable, _ key: ObjectIdentifier
  ) -> [DispatchTable] {
    let entry = Entry(dispatch)
    switch entries {
    case .none:
      entries = .one(key, entry)
      return []
    case .one(let own, let other):
      entries = own == key ? .one(key, entry) : .many([own: other, key: entry], pruneAt: 16)
      return []
    case .many(var many, var pruneAt):
      // One owner, so that the dictionary is changed in place.
      entries = .none
      var living: [DispatchTable] = []
      if many.count >= pruneAt {
        for (key, entry) in many {
          if let dispatch = entry.dispatch { living.append(dispatch) } else { many[key] = nil }
        }
        pruneAt = max(16, many.count * 2)
      }
      many[key] = entry
      entries = .many(many, pruneAt: pruneAt)
      return living
    }
  }
}

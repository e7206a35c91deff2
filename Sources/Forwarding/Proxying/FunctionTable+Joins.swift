// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension FunctionTable {
  /// What has been joined from this table lately; nil if nothing has been.
  internal var existingJoins: Joins? {
    // SAFETY: `joins` stores no object of another class.
    derived.existing.map { unsafe unsafeDowncast($0, to: Joins.self) }
  }

  /// What has been joined from this table lately.
  internal var joins: Joins {
    // SAFETY: as above.
    unsafe unsafeDowncast(derived.object { Joins() }, to: Joins.self)
  }

  /// What has been joined from a table lately. It lives as long as the table, so
  /// the closures of a table are given up with the table and its subscriptions.
  internal final class Joins: Sendable {
    private struct State {
      /// The last table that a proxy got, with the number of the proxy.
      var last: (proxy: UInt64, dispatch: DispatchTable)?
      /// The last plans' tables, with the numbers of the plans.
      var joined: [(plan: UInt64, table: JoinedTable)] = []
      /// Where the next one goes.
      var next = 0
    }

    private let state = Lock(State())

    /// The plans whose tables are kept: few tables are used with more.
    private static let most = 4

    internal func dispatch(for proxy: UInt64) -> DispatchTable? {
      state.withLock { state in
        guard let last = state.last, last.proxy == proxy else { return nil }
        return last.dispatch
      }
    }

    internal func joined(to plan: UInt64) -> JoinedTable? {
      state.withLock { $0.joined.first { $0.plan == plan }?.table }
    }

    internal func remember(_ dispatch: DispatchTable, for proxy: UInt64) {
      let old = state.withLock { state in
        defer { state.last = (proxy, dispatch) }
        return state.last?.dispatch
      }
      withExtendedLifetime(old) {}
    }

    internal func remember(_ table: JoinedTable, for plan: UInt64) {
      let old = state.withLock { state -> JoinedTable? in
        if state.joined.count < Self.most {
          state.joined.append((plan, table))
          return nil
        }
        defer {
          state.joined[state.next] = (plan, table)
          state.next = (state.next + 1) % Self.most
        }
        return state.joined[state.next].table
      }
      withExtendedLifetime(old) {}
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension FunctionTable {
  /// The tables that were joined from this one lately.
  internal var joins: Joins {
    // SAFETY: an object of another class is never stored.
    unsafe unsafeDowncast(derived.object { Joins() }, to: Joins.self)
  }

  /// A cache of the tables that were joined from one table lately. It lives as long as
  /// the table, so the table and its subscriptions alone keep the closures.
  internal final class Joins: Sendable {
    private struct State {
      /// The last proxy that got a table, by its number, and that table.
      var proxy: UInt64 = 0
      var dispatch: DispatchTable?
      /// The last plans' tables, with the numbers of the plans.
      var joined: [(plan: UInt64, table: JoinedTable)] = []
      /// Where the next one goes.
      var next = 0
    }

    /// The cached object that a proxy can use.
    internal enum Found {
      case dispatch(DispatchTable)
      case joined(JoinedTable)
      case nothing
    }

    private let state = Lock(State())

    /// The plans whose tables are kept: few tables are used with more.
    private static let most = 4

    /// Finds a table that was made for a proxy, or for other proxies of its plan. A
    /// table that another proxy no longer uses becomes the table of this one.
    ///
    /// - Parameter check: judges the table of the plan.
    internal func find(
      for proxy: UInt64, _ plan: UInt64,
      _ check: (JoinedTable) throws(ForwardingError) -> Void
    ) throws(ForwardingError) -> Found {
      try state.withLock { state throws(ForwardingError) in
        if state.proxy == proxy, let dispatch = state.dispatch { return .dispatch(dispatch) }
        guard let joined = state.joined.first(where: { $0.plan == plan })?.table else {
          return .nothing
        }
        // The count first: with the only reference, nothing else changes the table.
        guard isKnownUniquelyReferenced(&state.dispatch), let dispatch = state.dispatch,
          dispatch.joined === joined, dispatch.isUnused
        else { return .joined(joined) }
        try check(joined)
        state.proxy = proxy
        return .dispatch(dispatch)
      }
    }

    internal func remember(_ dispatch: DispatchTable, for proxy: UInt64) {
      let old = state.withLock { state in
        defer { (state.proxy, state.dispatch) = (proxy, dispatch) }
        return state.dispatch
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if GRDB
  import ExampleSupport
  import Forwarding
  import Foundation
  import GRDB
  import GRDBSQLite
  import SharedSQLite
  import Synchronization

  /// What happens if a program takes the hooks that GRDB uses. Do not do this: use ``HookSharer``.
  enum TakenHooks {
    static func checkAll() throws {
      try checkUpdateHook()
      try checkCommitHook()
      try checkRollbackHook()
      try checkAuthorizer()
      try checkTrace()
      print(
        "taken: the update hook is lost; commit, rollback and authorizer break GRDB's observers")
    }

    /// GRDB installs its update hook before each statement that an observer wants to know about, and removes it after
    /// the statement. So GRDB does not notice a hook of ours, but ours is gone.
    private static func checkUpdateHook() throws {
      let players = try Players(isObserved: false)
      let hooks = try Hooks(players.queue, [.update])
      try players.insert(3)
      check(hooks.journal.counts[0], is: 3, "the changes without an observer of GRDB's")
      players.observe()
      try players.insert(2)
      players.checkTold([5])
      check(hooks.journal.counts[0], is: 3, "the changes while GRDB observes")
      players.stopObserving()
      try players.insert(1)
      check(hooks.journal.counts[0], is: 3, "the changes after GRDB has observed")
      withExtendedLifetime((players, hooks)) {}
    }

    /// GRDB's commit hook asks its observers. Without it GRDB asks them after the commit, where a refusal comes too
    /// late, or not at all.
    private static func checkCommitHook() throws {
      let players = try Players()
      let sharer = try HookSharer()
      players.queue.add(transactionObserver: sharer, extent: .databaseLifetime)
      let journal = Journal()
      try sharer.proxy.subscribe(journal)
      let hooks = try Hooks(players.queue, [.commit])

      try players.runAlone("INSERT INTO player (name) VALUES ('x')")
      check(hooks.journal.counts, is: [0, 1, 0, 0], "what our hook was told")
      check(journal.counts, is: [1, 0, 0, 0], "what GRDB's observer was told")
      journal.refuses.store(true, ordering: .relaxed)
      do {
        try players.insert(1)
        check(false, "the refusal is not thrown")
      } catch is HookSharer.Refusal {}
      check(try players.count, is: 2, "the rows, although the commit was refused")
      withExtendedLifetime((players, journal, hooks)) {}
    }

    /// Without GRDB's rollback hook, its observers are not told of rollbacks.
    private static func checkRollbackHook() throws {
      let players = try Players()
      let sharer = try HookSharer()
      players.queue.add(transactionObserver: sharer, extent: .databaseLifetime)
      let journal = Journal()
      try sharer.proxy.subscribe(journal)
      let rollBack = {
        try players.queue.inDatabase { db in
          try db.inTransaction {
            try db.execute(sql: "INSERT INTO player (name) VALUES ('x')")
            return .rollback
          }
        }
      }
      try rollBack()
      check(journal.counts, is: [1, 0, 0, 1], "what GRDB's observer was told with its hook")
      let hooks = try Hooks(players.queue, [.rollback])
      try rollBack()
      check(hooks.journal.counts[3], is: 1, "the rollbacks that our hook was told")
      check(journal.counts, is: [2, 0, 0, 1], "what GRDB's observer was told without its hook")
      withExtendedLifetime((players, journal, hooks)) {}
    }

    /// GRDB's authorizer finds out which tables a statement reads and writes.
    private static func checkAuthorizer() throws {
      let players = try Players(isObserved: false)
      let hooks = try Hooks(players.queue, [.authorizer])
      players.observe()
      try players.insert(1)
      check(hooks.actions.load(ordering: .relaxed) > 0, "our authorizer was not asked")
      // GRDB would tell on another thread.
      Thread.sleep(forTimeInterval: 0.1)
      check(players.told.values.withLock { $0 }, is: [], "what GRDB's observation told")
      withExtendedLifetime((players, hooks)) {}
    }

    /// `Database.trace` installs SQLite's trace hook. Of the two, the one that is installed last is called.
    private static func checkTrace() throws {
      let players = try Players()
      let hooks = try Hooks(players.queue, [.trace])
      try players.insert(1)
      let traced = hooks.statements.load(ordering: .relaxed)
      check(traced > 0, "no statement was traced")
      players.checkTold([1])
      try players.queue.write { $0.trace { _ in } }
      try players.insert(1)
      players.checkTold([1, 2])
      check(hooks.statements.load(ordering: .relaxed) <= traced + 1, "traced beside GRDB's trace")
      withExtendedLifetime((players, hooks)) {}
    }
  }

  /// Hooks of SQLite on the connection of a queue, each shared by a proxy, in place of GRDB's.
  private final class Hooks: Sendable {
    enum Kind { case update, commit, rollback, authorizer, trace }

    let journal = Journal()
    let actions = Atomic(0)
    let statements = Atomic(0)
    private let proxy: DynamicProxy
    private let queue: DatabaseQueue

    init(_ queue: DatabaseQueue, _ kinds: Set<Kind>) throws {
      self.queue = queue
      proxy = try DynamicProxy("SQLite") {
        $0.optional(SQLiteKey.updated)
        $0.optional(SQLiteKey.willCommit, default: 0)
        $0.optional(SQLiteKey.rolledBack)
        $0.optional(SQLiteKey.authorize, default: SQLITE_OK)
        $0.optional(SQLiteKey.trace, default: 0)
        $0.optional(HookSharer.committed)
      }
      let updated = try proxy.functionPointer(
        for: SQLiteKey.updated, context: .first, owner: proxy)
      let willCommit = try proxy.functionPointer(
        for: SQLiteKey.willCommit, context: .first, owner: proxy)
      let rolledBack = try proxy.functionPointer(
        for: SQLiteKey.rolledBack, context: .first, owner: proxy)
      let authorize = try proxy.functionPointer(
        for: SQLiteKey.authorize, context: .first, owner: proxy)
      let trace = try proxy.functionPointer(for: SQLiteKey.trace, context: .at(1), owner: proxy)
      try proxy.subscribe(journal)
      try proxy.subscribe(self) {
        $0.on(SQLiteKey.authorize) { hooks, _, _, _, _, _ in
          hooks.actions.add(1, ordering: .relaxed)
          return SQLITE_OK
        }
        $0.on(SQLiteKey.trace) { hooks, _, _, _ in
          hooks.statements.add(1, ordering: .relaxed)
          return 0
        }
      }
      queue.writeWithoutTransaction { db in
        let connection = db.sqliteConnection
        for kind in kinds {
          switch kind {
          case .update: sqlite3_update_hook(connection, updated.unsafeCast(), nil)
          case .commit: sqlite3_commit_hook(connection, willCommit.unsafeCast(), nil)
          case .rollback: sqlite3_rollback_hook(connection, rolledBack.unsafeCast(), nil)
          case .authorizer: sqlite3_set_authorizer(connection, authorize.unsafeCast(), nil)
          case .trace:
            sqlite3_trace_v2(connection, UInt32(SQLITE_TRACE_STMT), trace.unsafeCast(), nil)
          }
        }
      }
    }

    deinit {
      // Without a proxy, a function would answer for nobody.
      queue.writeWithoutTransaction { db in
        let connection = db.sqliteConnection
        sqlite3_update_hook(connection, nil, nil)
        sqlite3_commit_hook(connection, nil, nil)
        sqlite3_rollback_hook(connection, nil, nil)
        sqlite3_set_authorizer(connection, nil, nil)
        sqlite3_trace_v2(connection, 0, nil, nil)
      }
    }
  }
#endif

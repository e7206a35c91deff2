// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if GRDB
  import ExampleSupport
  import GRDB
  import SharedSQLite
  import Synchronization

  /// The recipe for the hooks that GRDB takes: observers behind one of GRDB's transaction observers.
  enum SharedHooks {
    static func checkAll() throws {
      let players = try Players()
      let sharer = try HookSharer()
      players.queue.add(transactionObserver: sharer, extent: .databaseLifetime)
      let journals = [Journal(), Journal(), Journal()]
      for journal in journals { try sharer.proxy.subscribe(journal) }

      try players.insert(3)
      for journal in journals {
        check(journal.counts, is: [3, 1, 1, 0], "what an observer was told")
      }
      players.checkTold([3])

      // One of three refuses. All three are asked, GRDB throws, and its observation tells nothing.
      journals[1].refuses.store(true, ordering: .relaxed)
      do {
        try players.insert(2)
        check(false, "a refused commit has not thrown")
      } catch is HookSharer.Refusal {}
      for journal in journals {
        check(journal.counts, is: [5, 2, 1, 1], "what was told of a refusal")
      }
      journals[1].refuses.store(false, ordering: .relaxed)

      // GRDB holds changes inside a savepoint back, and drops them if it is undone. SQLite's own hook would tell them.
      try players.queue.write { db in
        try db.inSavepoint {
          try db.execute(sql: "INSERT INTO player (name) VALUES ('y')")
          return .rollback
        }
        try db.execute(sql: "INSERT INTO player (name) VALUES ('z')")
      }
      for journal in journals {
        check(journal.counts, is: [6, 3, 2, 1], "what was told of a savepoint")
      }
      players.checkTold([3, 4])

      // Since there is an observer of changes, GRDB has SQLite delete row by row.
      try players.runAlone("DELETE FROM player")
      for journal in journals {
        check(journal.counts, is: [10, 4, 3, 1], "what was told of a DELETE")
      }
      players.checkTold([3, 4, 0])

      // An observer that has died is not called any more, and GRDB need not be told.
      var fourth: Journal? = Journal()
      try sharer.proxy.subscribe(fourth!)
      fourth = nil
      try players.insert(1)
      check(sharer.proxy.count, is: 3, "the observers")
      players.checkTold([3, 4, 0, 1])
      withExtendedLifetime(journals) {}
      print("update, commit and rollback: 3 observers beside GRDB's own, by a transaction observer")
    }
  }
#endif

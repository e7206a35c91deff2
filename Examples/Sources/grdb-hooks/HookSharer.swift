// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if GRDB
  import ExampleSupport
  import Forwarding
  import GRDB
  import SharedSQLite

  /// Shares the update, commit and rollback hooks of a GRDB connection.
  ///
  /// GRDB installs these hooks for itself, and SQLite has one of each. So this
  /// object takes no hook of SQLite. It is one of GRDB's transaction observers,
  /// and forwards what GRDB tells it to any number of weak observers. They use
  /// the keys of SQLite's hooks: an observer in C that was written for
  /// `sqlite3_update_hook` needs no change.
  ///
  /// GRDB calls it on the queue of the writer connection.
  final class HookSharer: TransactionObserver, Sendable {
    /// A commit that an observer has refused. GRDB rolls back and throws it.
    struct Refusal: Error {}

    /// Tells observers that a transaction has been committed. SQLite has no such hook.
    static let committed = Method("committed", (() -> Void).self)

    let proxy: DynamicProxy

    init() throws {
      proxy = try DynamicProxy("GRDB") {
        $0.optional(SQLiteKey.updated)
        // A veto that asks all. An observer that fails has refused.
        $0.optional(
          SQLiteKey.willCommit, result: .reduce(Int32(0)) { $0 != 0 ? $0 : $1 }, default: 0,
          onFailure: 1)
        $0.optional(Self.committed)
        $0.optional(SQLiteKey.rolledBack)
      }
    }

    /// GRDB tells about the tables that this names. If it names none, GRDB removes its update hook.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
      proxy.responds(to: SQLiteKey.updated.selector)
    }

    func databaseDidChange(with event: DatabaseEvent) {
      event.databaseName.withCString { database in
        event.tableName.withCString { table in
          send {
            try proxy.send(SQLiteKey.updated, event.kind.rawValue, database, table, event.rowID)
          }
        }
      }
    }

    func databaseWillCommit() throws {
      // An error that the proxy throws is no permission.
      if try proxy.send(SQLiteKey.willCommit) != 0 { throw Refusal() }
    }

    func databaseDidCommit(_ db: Database) {
      send { try proxy.send(Self.committed) }
    }

    func databaseDidRollback(_ db: Database) {
      send { try proxy.send(SQLiteKey.rolledBack) }
    }

    /// Sends to a method without a result, which fails only if the program has used the proxy in a wrong way.
    private func send(_ body: () throws -> Void) {
      do { try body() } catch { check(false, "\(error)") }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if GRDB
  import ExampleSupport
  import Forwarding
  import GRDB
  import GRDBSQLite
  import SharedSQLite
  import Synchronization

  /// The hooks that GRDB leaves free, each shared by a proxy.
  ///
  /// `Configuration.prepareDatabase` installs them, so each connection of a pool
  /// has them. GRDB keeps its configuration, which keeps this object.
  final class FreeHooks: Sendable {
    // int (*)(void *, sqlite3 *, const char *database, int pages)
    static let written = Method(
      "written:database:pages:", ((OpaquePointer, UnsafePointer<CChar>, Int32) -> Int32).self)
    // void (*)(void *, sqlite3 *, int operation, const char *database, const char *table, sqlite3_int64 old,
    //          sqlite3_int64 new)
    static let willChange = Method(
      "willChange:operation:database:table:old:new:",
      ((OpaquePointer, Int32, UnsafePointer<CChar>, UnsafePointer<CChar>, Int64, Int64) -> Void)
        .self)

    let proxy: DynamicProxy
    private let progress: FunctionPointer
    private let written: FunctionPointer
    private let willChange: FunctionPointer

    init() throws {
      proxy = try DynamicProxy("Free hooks") {
        $0.optional(SQLiteKey.progress, result: .reduce(Int32(0)) { $0 | $1 }, onFailure: 0)
        $0.optional(
          Self.written, result: .reduce(SQLITE_OK) { $0 != SQLITE_OK ? $0 : $1 },
          onFailure: SQLITE_ERROR)
        $0.optional(Self.willChange)
      }
      progress = try proxy.functionPointer(
        for: SQLiteKey.progress, context: .first, owner: proxy)
      written = try proxy.functionPointer(for: Self.written, context: .first, owner: proxy)
      willChange = try proxy.functionPointer(
        for: Self.willChange, context: .first, owner: proxy)
    }

    /// Takes the hooks of a connection.
    func install(_ db: Database) throws {
      sqlite3_progress_handler(db.sqliteConnection, 1000, progress.unsafeCast(), nil)
      // SQLite's automatic checkpoints use this hook too, and end here.
      sqlite3_wal_hook(db.sqliteConnection, written.unsafeCast(), nil)
      try PreupdateHook.install(db.sqliteConnection!, willChange)
    }
  }

  /// `sqlite3_preupdate_hook`, which the header declares only for some builds of SQLite. So it is found at run time.
  private enum PreupdateHook {
    static func install(_ connection: OpaquePointer, _ function: FunctionPointer) throws {
      let install = try Library().function(
        "sqlite3_preupdate_hook",
        as: ((OpaquePointer, UnsafeRawPointer?, UnsafeMutableRawPointer?)
          -> UnsafeMutableRawPointer?).self)
      _ = try install(connection, function.unsafePointer, nil)
    }

    /// Gives a column's value before the change. Only an observer of the hook may call this.
    static func oldValue(_ connection: OpaquePointer, column: Int32) throws -> String? {
      let find = try Library().function(
        "sqlite3_preupdate_old",
        as: ((OpaquePointer, Int32, UnsafeMutablePointer<OpaquePointer?>) -> Int32).self)
      var value: OpaquePointer?
      guard
        try withUnsafeMutablePointer(to: &value, { try find(connection, column, $0) }) == SQLITE_OK
      else { return nil }
      return sqlite3_value_text(value).map { String(cString: $0) }
    }
  }

  // MARK: - Observers

  /// Copies the pages of the write-ahead log to the database. The hook replaces SQLite's automatic checkpoints.
  private final class Checkpointer: Sendable {
    let commits = Atomic(0)
    let checkpoints = Atomic(0)
  }

  /// Measures the write-ahead log.
  private final class LogMeter: Sendable {
    let commits = Atomic(0)
    let largestLog = Atomic<Int32>(0)
  }

  /// Keeps the names that have been replaced.
  private final class Replaced: Sendable {
    let names = Mutex<[String]>([])
  }

  /// Ends statements, if it is told to, and counts how often it was asked.
  private final class Stopper: Sendable {
    let asked = Atomic(0)
    let stops = Atomic(false)
  }

  extension FreeHooks {
    static func checkAll() throws {
      let hooks = try FreeHooks()
      let checkpointer = Checkpointer()
      try hooks.proxy.subscribe(checkpointer) {
        $0.on(written) { checkpointer, connection, database, pages in
          checkpointer.commits.add(1, ordering: .relaxed)
          if pages < 100 { return SQLITE_OK }
          checkpointer.checkpoints.add(1, ordering: .relaxed)
          return sqlite3_wal_checkpoint_v2(
            connection, database, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        }
      }
      let meter = LogMeter()
      try hooks.proxy.subscribe(meter) {
        $0.on(written) { meter, _, _, pages in
          meter.commits.add(1, ordering: .relaxed)
          meter.largestLog.max(pages, ordering: .relaxed)
          return SQLITE_OK
        }
      }
      let stoppers = [Stopper(), Stopper()]
      for stopper in stoppers {
        try hooks.proxy.subscribe(stopper) {
          $0.on(SQLiteKey.progress) { stopper in
            stopper.asked.add(1, ordering: .relaxed)
            return stopper.stops.load(ordering: .relaxed) ? 1 : 0
          }
        }
      }
      let replaced = [Replaced(), Replaced()]
      for replaced in replaced {
        try hooks.proxy.subscribe(replaced) {
          $0.on(willChange) { replaced, connection, operation, _, _, _, _ in
            guard operation == SQLITE_UPDATE else { return }
            let name = try? PreupdateHook.oldValue(connection, column: 1)
            replaced.names.withLock { $0.append(name ?? "?") }
          }
        }
      }

      let players = try Players { db in try hooks.install(db) }
      // GRDB's observation and a shared update hook are at work beside the free hooks.
      let sharer = try HookSharer()
      players.queue.add(transactionObserver: sharer, extent: .databaseLifetime)
      let journal = Journal()
      try sharer.proxy.subscribe(journal)

      try players.insert(2)
      try players.runAlone("UPDATE player SET name = 'new' WHERE id = 2")
      for replaced in replaced {
        check(replaced.names.withLock { $0 }, is: ["x"], "the names that were replaced")
      }
      check(journal.counts, is: [3, 2, 2, 0], "what the shared update hook was told")
      players.checkTold([2])

      for count in 1...300 {
        try players.runAlone("INSERT INTO player (name) VALUES (printf('%05000d', \(count)))")
      }
      check(checkpointer.checkpoints.load(ordering: .relaxed) > 1, "there was no checkpoint")
      let commits = checkpointer.commits.load(ordering: .relaxed)
      check(commits >= 300, "the checkpointer was told of \(commits) commits")
      check(meter.commits.load(ordering: .relaxed), is: commits, "the commits that the meter saw")
      let largest = meter.largestLog.load(ordering: .relaxed)
      check(100..<300 ~= largest, "the log had \(largest) pages")

      // One of two observers ends a statement that takes too long.
      stoppers[1].stops.store(true, ordering: .relaxed)
      do {
        try players.runAlone(
          "INSERT INTO player (name) WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        )
        check(false, "an endless statement has ended")
      } catch let error as DatabaseError {
        check(error.resultCode, is: .SQLITE_INTERRUPT, "the error of an endless statement")
      }
      check(
        stoppers.allSatisfy { $0.asked.load(ordering: .relaxed) > 0 }, "an observer of the progress"
      )
      stoppers[1].stops.store(false, ordering: .relaxed)
      // SQLite's rollback hook would tell of this. GRDB does not tell if a statement outside of a transaction fails.
      check(journal.counts[3], is: 0, "the rollbacks that the shared hooks told")
      check(try players.count, is: 302, "the players")
      print(
        "free: progress handler, write-ahead log hook and preupdate hook, each with several observers"
      )
      withExtendedLifetime((checkpointer, meter, replaced, stoppers, journal)) {}
    }
  }
#endif

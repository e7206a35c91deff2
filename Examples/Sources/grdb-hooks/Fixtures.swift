// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if GRDB
  import ExampleSupport
  import Forwarding
  import GRDB
  import SharedSQLite
  import Synchronization

  /// Counts what the hooks tell.
  final class Journal: DynamicProxy.Subscriber {
    let changes = Atomic(0)
    let asked = Atomic(0)
    let commits = Atomic(0)
    let rollbacks = Atomic(0)
    let refuses = Atomic(false)

    /// Changes, commits that were asked for, commits, rollbacks.
    var counts: [Int] {
      [
        changes.load(ordering: .relaxed), asked.load(ordering: .relaxed),
        commits.load(ordering: .relaxed), rollbacks.load(ordering: .relaxed),
      ]
    }

    static let functionTable = FunctionTable(for: Journal.self) {
      $0.on(SQLiteKey.updated) { journal, _, _, _, _ in
        journal.changes.add(1, ordering: .relaxed)
      }
      $0.on(SQLiteKey.willCommit) { journal in
        journal.asked.add(1, ordering: .relaxed)
        return journal.refuses.load(ordering: .relaxed) ? 1 : 0
      }
      $0.on(HookSharer.committed) { journal in journal.commits.add(1, ordering: .relaxed) }
      $0.on(SQLiteKey.rolledBack) { journal in journal.rollbacks.add(1, ordering: .relaxed) }
    }
  }

  /// A database on disk with a table of players, whose count GRDB observes.
  final class Players {
    /// The counts that GRDB's ValueObservation has told, without the first.
    final class Counts: Sendable {
      let values = Mutex<[Int]>([])
    }

    private let directory: TemporaryDirectory
    let queue: DatabaseQueue
    let told = Counts()
    private var observation: AnyDatabaseCancellable?

    /// - Parameter isObserved: whether a ValueObservation starts at once.
    init(isObserved: Bool = true, prepare: @escaping @Sendable (Database) throws -> Void = { _ in })
      throws
    {
      directory = try TemporaryDirectory()
      var configuration = Configuration()
      configuration.journalMode = .wal
      configuration.prepareDatabase(prepare)
      queue = try DatabaseQueue(path: "\(directory.path)/players.db", configuration: configuration)
      try queue.write {
        try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
      }
      if isObserved { observe() }
    }

    /// Starts a ValueObservation, and waits for its first value.
    func observe() {
      let told = told
      observation =
        ValueObservation
        .tracking { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player") ?? 0 }
        .removeDuplicates()
        .start(
          in: queue, scheduling: .async(onQueue: .global()),
          onError: { error in check(false, "GRDB's observation: \(error)") },
          onChange: { count in told.values.withLock { $0.append(count) } })
      wait(until: "GRDB's observation starts") { told.values.withLock { !$0.isEmpty } }
      told.values.withLock { $0 = [] }
    }

    /// Checks the counts that the ValueObservation has told. It tells them on another thread, after the change.
    func checkTold(_ counts: [Int], line: UInt = #line) {
      wait(until: "GRDB's observation has told of \(counts)", line: line) {
        told.values.withLock { $0 } == counts
      }
    }

    func stopObserving() { observation = nil }

    /// Inserts rows in one transaction.
    func insert(_ count: Int) throws {
      try queue.write { db in
        for _ in 0..<count { try db.execute(sql: "INSERT INTO player (name) VALUES ('x')") }
      }
    }

    var count: Int {
      get throws {
        try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM player") ?? 0 }
      }
    }

    /// Runs one statement without a transaction of GRDB's.
    func runAlone(_ sql: String) throws {
      try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    }
  }
#endif

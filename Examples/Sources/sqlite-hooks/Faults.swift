// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CSQLite
import ExampleSupport
import Forwarding
import Foundation
import SharedSQLite
import Synchronization

/// What the hooks do when statements, the disk, the file or an observer fail.
enum Faults {
  static func checkAll() throws {
    try checkStatements()
    try checkFullDatabase()
    try checkFileSizeLimit()
    try checkDamagedFiles()
    try checkFailingObservers()
    print("faults: statements, a full database, a full disk, damaged files, observers that fail")
  }

  /// Counts what the hooks of a connection tell.
  private final class Journal: Sendable {
    let changes = Atomic(0)
    let commits = Atomic(0)
    let rollbacks = Atomic(0)

    /// Changes, commits and rollbacks, in this order.
    var counts: [Int] {
      [
        changes.load(ordering: .relaxed), commits.load(ordering: .relaxed),
        rollbacks.load(ordering: .relaxed),
      ]
    }
  }

  /// A connection whose hooks have two observers of the same kind.
  private struct Observed {
    let connection: SQLiteConnection
    let hooks: SQLiteHooks
    let journals = [Journal(), Journal()]

    init(_ path: String = ":memory:", onError: (@Sendable (ForwardingError) -> Void)? = nil) throws
    {
      connection = SQLiteConnection(path)
      hooks = try SQLiteHooks(connection, onError: onError)
      for journal in journals {
        try hooks.proxy.subscribe(journal) {
          $0.on(SQLiteKey.updated) { journal, _, _, _, _ in
            journal.changes.add(1, ordering: .relaxed)
          }
          $0.on(SQLiteKey.willCommit) { journal in
            journal.commits.add(1, ordering: .relaxed)
            return 0
          }
          $0.on(SQLiteKey.rolledBack) { journal in journal.rollbacks.add(1, ordering: .relaxed) }
        }
      }
    }

    /// Runs statements, and checks SQLite's status and what both observers have seen meanwhile.
    func run(
      _ statements: String, gives status: Int32, seen: [Int], _ what: String, line: UInt = #line
    ) {
      let before = journals.map(\.counts)
      check(connection.run(statements) & 0xFF, is: status, "the status of \(what)", line: line)
      for (journal, before) in zip(journals, before) {
        check(
          zip(journal.counts, before).map { $0 - $1 }, is: seen, "what was seen of \(what)",
          line: line)
      }
    }
  }

  // MARK: - SQLite's errors

  private static func checkStatements() throws {
    let observed = try Observed()
    observed.run(
      "CREATE TABLE points (x INTEGER UNIQUE)", gives: SQLITE_OK, seen: [0, 1, 0], "a table")
    observed.run("SELEC 1", gives: SQLITE_ERROR, seen: [0, 0, 0], "a statement that is malformed")
    observed.run(
      "INSERT INTO nothing VALUES (1)", gives: SQLITE_ERROR, seen: [0, 0, 0], "a missing table")
    observed.run("INSERT INTO points VALUES (1)", gives: SQLITE_OK, seen: [1, 1, 0], "a row")
    // The first of two rows is told, then the statement fails and is undone. SQLite calls the update hook at the
    // time of the change, and says nothing when a statement inside a transaction is undone.
    observed.run(
      "BEGIN; INSERT INTO points VALUES (2), (1)", gives: SQLITE_CONSTRAINT, seen: [1, 0, 0],
      "a duplicate inside a transaction")
    observed.run(
      "COMMIT", gives: SQLITE_OK, seen: [0, 1, 0], "a transaction whose only change was undone")
    // Without a transaction of its own, the statement's is rolled back.
    observed.run(
      "INSERT INTO points VALUES (2), (1)", gives: SQLITE_CONSTRAINT, seen: [1, 0, 1],
      "a duplicate")
    check(observed.connection.text("SELECT group_concat(x) FROM points"), is: "1", "the rows")
  }

  private static func checkFullDatabase() throws {
    let observed = try Observed()
    observed.connection.run("CREATE TABLE blobs (b); PRAGMA max_page_count = 20")
    observed.run(
      "INSERT INTO blobs VALUES (zeroblob(1000000))", gives: SQLITE_FULL, seen: [0, 0, 1],
      "a row larger than the database")
    observed.run("INSERT INTO blobs VALUES (1)", gives: SQLITE_OK, seen: [1, 1, 0], "a small row")
  }

  /// The system refuses to let a file grow, as it does on a full disk.
  private static func checkFileSizeLimit() throws {
    let directory = try TemporaryDirectory()
    let observed = try Observed("\(directory.path)/limited.db")
    observed.connection.run("CREATE TABLE blobs (b)")

    // By default a signal ends a process that exceeds the limit.
    let handler = signal(SIGXFSZ, SIG_IGN)
    defer { signal(SIGXFSZ, handler) }
    var old = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &old)
    var small = rlimit(rlim_cur: 100_000, rlim_max: old.rlim_max)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &small)
    let before = observed.journals.map(\.counts)
    let status = observed.connection.run("INSERT INTO blobs VALUES (zeroblob(1000000))")
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &old)

    // Which of the two depends on how much of the last page was written.
    check(
      [SQLITE_FULL, SQLITE_IOERR].contains(status & 0xFF),
      "the status on a full disk is \(SQLiteConnection.name(status))")
    for (journal, before) in zip(observed.journals, before) {
      // The commit is asked for before the file is written.
      check(
        zip(journal.counts, before).map { $0 - $1 }, is: [1, 1, 1], "what was seen on a full disk")
    }
    observed.run(
      "INSERT INTO blobs VALUES (1)", gives: SQLITE_OK, seen: [1, 1, 0],
      "a row when the disk has room")
    check(observed.connection.text("PRAGMA integrity_check"), is: "ok", "the database")
  }

  private static func checkDamagedFiles() throws {
    let directory = try TemporaryDirectory()
    let other = "\(directory.path)/other.db"
    try Data(repeating: 0x41, count: 5000).write(to: URL(fileURLWithPath: other))
    try Observed(other).run(
      "CREATE TABLE t (x)", gives: SQLITE_NOTADB, seen: [0, 0, 0], "a file that is no database")

    // A page in the middle of a table is overwritten.
    let damaged = "\(directory.path)/damaged.db"
    SQLiteConnection(damaged).run(
      """
      CREATE TABLE t (x);
      INSERT INTO t WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        SELECT printf('%0100d', i) FROM n;
      """)
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: damaged))
    try file.seek(toOffset: 4096 * 20)
    try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
    try file.close()
    let observed = try Observed(damaged)
    let before = observed.journals.map(\.counts)
    check(observed.connection.run("UPDATE t SET x = 0"), is: SQLITE_CORRUPT, "the damaged page")
    let seen = zip(observed.journals, before).map { zip($0.counts, $1).map { $0 - $1 } }
    check(seen[0], is: seen[1], "what the second observer saw of the damaged table")
    check(
      seen[0][0] > 0 && seen[0][0] < 5000, "\(seen[0][0]) rows were changed before the damaged page"
    )
    check(seen[0][1...], is: [0, 1], "commits and rollbacks of the damaged table")
  }

  // MARK: - Observers that fail

  private final class Errors: Sendable {
    let codes = Mutex<[ForwardingError.Code]>([])
    func takeAll() -> [ForwardingError.Code] {
      codes.withLock { codes in
        defer { codes = [] }
        return codes
      }
    }
  }

  private struct Refusal: Error {}

  /// An observer that fails has not allowed anything: SQLite sees the results of `onFailure:`.
  private static func checkFailingObservers() throws {
    let errors = Errors()
    let observed = try Observed { error in errors.codes.withLock { $0.append(error.code) } }
    observed.run("CREATE TABLE t (x)", gives: SQLITE_OK, seen: [0, 1, 0], "a table")

    // This observer cannot take a null pointer, which SQLite passes for a SELECT.
    let authorizer = try observed.hooks.proxy.subscribe {
      $0.on("authorize:first:second:database:trigger:") {
        (_: Int32, _: UnsafePointer<CChar>, _: UnsafePointer<CChar>, _: UnsafePointer<CChar>)
          -> Int32 in SQLITE_OK
      }
    }
    observed.run("SELECT 1", gives: SQLITE_AUTH, seen: [0, 0, 0], "a query that nobody authorized")
    check(errors.takeAll(), is: [.nullPointer], "the errors of the authorizer")
    authorizer.cancel()
    observed.run("SELECT 1", gives: SQLITE_OK, seen: [0, 0, 0], "a query without the authorizer")

    // An interceptor that throws. The observers behind it are not asked, so nothing has allowed the commit.
    let interceptor = try observed.hooks.proxy.around(SQLiteKey.willCommit.selector) {
      _, _ in
      throw Refusal()
    }
    observed.run(
      "INSERT INTO t VALUES (1)", gives: SQLITE_CONSTRAINT, seen: [1, 0, 1], "a commit that throws")
    check(errors.takeAll(), is: [.deliveryFailed], "the errors of the commit")
    interceptor.cancel()
    observed.run("INSERT INTO t VALUES (1)", gives: SQLITE_OK, seen: [1, 1, 0], "a commit")

    // An observer may end a statement that takes too long.
    let impatient = try observed.hooks.proxy.subscribe { $0.on(SQLiteKey.progress) { 1 } }
    observed.run(
      "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) INSERT INTO t SELECT i FROM n WHERE i < 0",
      gives: SQLITE_INTERRUPT, seen: [0, 0, 1], "an endless statement")
    impatient.cancel()
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Records the changes of an SQLite database in a journal, and replays them to another observer, at once and at their pace:
// sqlite-journal [FILE]. The journal stays in FILE, where `fwd journal show FILE` lists it.

import CSQLite
import ExampleSupport
import Forwarding
import ForwardingJournal
import ForwardingWire
import Foundation
import SharedSQLite

/// The rows that each table has, as the update hook tells of them.
///
/// SQLite calls the hook on the thread that runs the statement. That is the main thread, where the changes are also replayed.
final class TableRows: DynamicProxy.Subscriber, @unchecked Sendable {
  private(set) var rows: [String: Set<Int64>] = [:]
  private(set) var changeCount = 0

  static let functionTable = FunctionTable(for: TableRows.self) {
    $0.on(SQLiteKey.updated) { observer, operation, _, table, row in
      observer.changeCount += 1
      let table = table.map { String(cString: $0) } ?? ""
      switch operation {
      case SQLITE_INSERT: observer.rows[table, default: []].insert(row)
      case SQLITE_DELETE: observer.rows[table]?.remove(row)
      default: check(observer.rows[table]?.contains(row) == true, "an update of no row of \(table)")
      }
    }
  }
}

func makeProxy() throws -> DynamicProxy {
  try DynamicProxy("Changes") { $0.optional(SQLiteKey.updated) }
}

let directory = try TemporaryDirectory()
let path = CommandLine.arguments.dropFirst().first ?? "\(directory.path)/changes.journal"
check(
  !FileManager.default.fileExists(atPath: path), "\(path) exists: delete it or name another file")

// MARK: - Recording

// The connection owns the hook, and the proxy has the observers.
let connection = SQLiteConnection()
let changes = try makeProxy()
let hook = try changes.functionPointer(
  for: SQLiteKey.updated, context: .first, owner: connection)
sqlite3_update_hook(connection.handle, hook.unsafeCast(), nil)
let live = TableRows()
try changes.subscribe(live)

@MainActor func run(_ statements: String) {
  check(connection.run(statements), is: SQLITE_OK, "the status of \(statements)")
}

/// Records changes. Returns the positions of the last three, between which there are pauses.
@MainActor func record(in journal: Journal, _ schema: WireSchema) async throws -> Journal.Filter {
  let recording = try journal.record(changes, schema)
  defer { recording.cancel() }
  run("CREATE TABLE files (name TEXT, size INTEGER); CREATE TABLE removed (name TEXT); BEGIN")
  let names =
    FileManager.default.enumerator(atPath: "/usr/include")?.compactMap { $0 as? String } ?? []
  check(!names.isEmpty, "/usr/include has no files")
  for name in names {
    run("INSERT INTO files VALUES ('\(name.replacing("'", with: "''"))', \(name.utf8.count))")
  }
  run(
    """
    COMMIT;
    UPDATE files SET size = size + 1 WHERE size % 2 = 0;
    INSERT INTO removed SELECT name FROM files WHERE name LIKE '%s.h';
    DELETE FROM files WHERE name IN removed;
    """)
  let last = live.changeCount
  for number in 1...3 {
    run("INSERT INTO files VALUES ('file \(number)', 0)")
    try await Task.sleep(for: pause)
  }
  return Journal.Filter(positions: last + 1...last + 3)
}

let pause = Duration.milliseconds(100)
let schema = try WireSchema(of: changes)
let journal = try Journal(path)
let pacedPart = try await record(in: journal, schema)
try journal.close()

// MARK: - Replaying

// Another proxy, which has no database. Its observer sees the same changes.
let replica = try makeProxy()
let replayed = TableRows()
try replica.subscribe(replayed)
let recorded = try Journal(reading: path)
var start = ContinuousClock.now
let count = try await recorded.replay(to: replica, schema, pace: .infinity)
let timeAtOnce = ContinuousClock.now - start
check(count, is: live.changeCount, "the number of replayed changes")
check(replayed.changeCount, is: live.changeCount, "the number of changes that the observer got")
check(replayed.rows == live.rows, "the observer of the replay has other rows")
for (table, rows) in replayed.rows {
  check(
    connection.text("SELECT count(*) FROM \(table)"), is: "\(rows.count)", "the rows of \(table)")
}

// The pauses are those between the calls: two of them.
for (pace, expected) in [(1.0, pause * 2), (2.0, pause)] {
  start = ContinuousClock.now
  check(
    try await recorded.replay(to: replica, schema, pacedPart, pace: pace), is: 3, "the paced part")
  let time = ContinuousClock.now - start
  check(time > expected * 0.9, "at pace \(pace) the replay takes \(time), not \(expected)")
}

// A program whose method has other types is told so, and no subscriber is called.
let otherTypes = Method(
  "updated:database:table:row:", ((Int32, String?, String?, Int32) -> Void).self)
let changed = try DynamicProxy("Changes") { $0.optional(otherTypes) }
do {
  try await recorded.replay(to: changed, WireSchema(of: changed), pace: .infinity)
  check(false, "the changed method is not refused")
} catch let error as JournalError {
  check(error.code, is: .schemaMismatch, "the error of the changed method")
  check(error.position, is: 1, "the position of that error")
}

print("\(count) changes recorded in \(path), and replayed at once in \(timeAtOnce). The last ones:")
var entries = try recorded.entries(nil, pacedPart)
while let entry = try entries.next() { print(entry) }
withExtendedLifetime((changes, journal, live, replica)) {}
printCheckCount()

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CRemoteSQLite
import RemoteSupport

/// A database with the values of some sensors, and all changes of them.
@safe final class Database: @unchecked Sendable {
  // Sendable: one task at a time uses it.
  let handle: OpaquePointer

  init(_ path: String) throws {
    var handle: OpaquePointer?
    let status = unsafe sqlite3_open(path, &handle)
    guard status == SQLITE_OK, let handle = unsafe handle else {
      let reason = unsafe String(cString: sqlite3_errstr(status))
      throw Failure(description: "\(path) cannot be opened: \(reason)")
    }
    unsafe self.handle = handle
    unsafe sqlite3_busy_timeout(handle, 10_000)
    try run(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE IF NOT EXISTS sensors (id INTEGER PRIMARY KEY, value REAL);
      CREATE TABLE IF NOT EXISTS changes (id INTEGER PRIMARY KEY, sensor INTEGER, value REAL);
      CREATE TRIGGER IF NOT EXISTS note AFTER UPDATE ON sensors BEGIN
        INSERT INTO changes (sensor, value) VALUES (new.id, new.value);
      END;
      """)
    for sensor in 0..<Feed.sensors {
      try run("INSERT OR IGNORE INTO sensors VALUES (\(sensor), 0)")
    }
  }

  deinit { unsafe sqlite3_close_v2(handle) }

  private func fail(_ statement: String) -> Failure {
    // SAFETY: SQLite's message is valid until the next call.
    let message = unsafe String(cString: sqlite3_errmsg(handle))
    return Failure(description: "\(message): \(statement)")
  }

  private func run(_ statements: String) throws {
    guard unsafe sqlite3_exec(handle, statements, nil, nil, nil) == SQLITE_OK else {
      throw fail(statements)
    }
  }

  /// Changes `count` values in one transaction. The values follow from the number of the change.
  func change(_ first: Int64, count: Int) throws {
    try run("BEGIN IMMEDIATE")
    for number in first..<(first + Int64(count)) {
      let value = Double((number &* 7919) % 1000) / 10
      try run("UPDATE sensors SET value = \(value) WHERE id = \(number % Int64(Feed.sensors))")
    }
    try run("COMMIT")
  }

  /// The number of the newest change.
  func newestChange() throws -> Int64 {
    var newest: Int64 = 0
    try unsafe forEachRow("SELECT COALESCE(MAX(id), 0) FROM changes") { row in
      newest = unsafe sqlite3_column_int64(row, 0)
    }
    return newest
  }

  /// Visits the changes after one, in order.
  func forEachChange(after number: Int64, _ body: (Int32, Double) throws -> Void) throws {
    try unsafe forEachRow("SELECT sensor, value FROM changes WHERE id > \(number) ORDER BY id") {
      row in
      try body(unsafe sqlite3_column_int(row, 0), unsafe sqlite3_column_double(row, 1))
    }
  }

  /// The values of all sensors.
  func values() throws -> [Double] {
    var values: [Double] = []
    try unsafe forEachRow("SELECT value FROM sensors ORDER BY id") { row in
      values.append(unsafe sqlite3_column_double(row, 0))
    }
    return values
  }

  private func forEachRow(_ query: String, _ body: (OpaquePointer) throws -> Void) throws {
    var statement: OpaquePointer?
    guard unsafe sqlite3_prepare_v2(handle, query, -1, &statement, nil) == SQLITE_OK,
      let row = unsafe statement
    else { throw fail(query) }
    defer { unsafe sqlite3_finalize(row) }
    while true {
      switch unsafe sqlite3_step(row) {
      case SQLITE_ROW: try unsafe body(row)
      case SQLITE_DONE: return
      default: throw fail(query)
      }
    }
  }
}

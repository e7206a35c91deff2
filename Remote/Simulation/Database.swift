// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CRemoteSQLite
import ForwardingRemote
import Foundation
import RemoteSupport

/// A database of SQLite that has the effects of calls and a consumer's position. Each
/// transaction stores both.
@safe final class Database: RemotePositions, @unchecked Sendable {
  // SAFETY: one thread at a time uses it: the consumer's thread, or the main one that only
  // reads.
  private let handle: OpaquePointer
  private var insertion: OpaquePointer?
  /// The first error of `insert` in a transaction.
  private var failedInsertion: Failure?

  init(_ path: String) throws {
    var handle: OpaquePointer?
    let result = unsafe sqlite3_open(path, &handle)
    guard result == SQLITE_OK, let handle = unsafe handle else {
      throw Failure(description: "\(path) cannot be opened: \(result)")
    }
    unsafe self.handle = handle
    unsafe sqlite3_busy_timeout(handle, 10_000)
    try execute("PRAGMA journal_mode = WAL")
    try execute("CREATE TABLE IF NOT EXISTS effects (id INTEGER PRIMARY KEY, number INTEGER)")
    try execute(
      """
      CREATE TABLE IF NOT EXISTS positions (
        producer TEXT PRIMARY KEY, message INTEGER, calls INTEGER, writer INTEGER NOT NULL)
      """)
    unsafe sqlite3_prepare_v2(
      handle, "INSERT INTO effects (number) VALUES (?)", -1, &insertion, nil)
  }

  deinit {
    unsafe sqlite3_finalize(insertion)
    unsafe sqlite3_close(handle)
  }

  func execute(_ statement: String) throws {
    let result = unsafe sqlite3_exec(handle, statement, nil, nil, nil)
    guard result == SQLITE_OK else { throw failure(statement) }
  }

  private func failure(_ statement: String) -> Failure {
    // SAFETY: SQLite's message is valid until the next call.
    let message = unsafe sqlite3_errmsg(handle).map { unsafe String(cString: $0) } ?? ""
    return Failure(description: "\(statement): \(message)")
  }

  /// Returns the integers of the first row of a result, or an empty array if the result has no rows.
  func row(_ query: String) throws -> [Int64] {
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    guard unsafe sqlite3_prepare_v2(handle, query, -1, &statement, nil) == SQLITE_OK else {
      throw failure(query)
    }
    guard unsafe sqlite3_step(statement) == SQLITE_ROW else { return [] }
    return (0..<(unsafe sqlite3_column_count(statement))).map {
      unsafe sqlite3_column_int64(statement, $0)
    }
  }

  /// The effect of a call. It belongs to the transaction of `commit`, which throws what fails
  /// here.
  func insert(_ number: Int64) {
    unsafe sqlite3_bind_int64(insertion, 1, number)
    let result = unsafe sqlite3_step(insertion)
    if result != SQLITE_DONE && failedInsertion == nil {
      failedInsertion = failure("insert \(number)")
    }
    unsafe sqlite3_reset(insertion)
  }

  // MARK: RemotePositions

  func load(_ producer: String) throws -> RemotePosition? {
    let row = try row("SELECT message, calls, writer FROM positions WHERE producer = '\(producer)'")
    return row.isEmpty
      ? nil
      : RemotePosition(
        message: UInt64(row[0]), calls: UInt64(row[1]),
        writer: row[2] < 0 ? nil : UInt64(row[2]))
  }

  func commit(
    _ position: RemotePosition, of producer: String, delivering deliver: () throws -> Void
  ) throws {
    try execute("BEGIN IMMEDIATE")
    do {
      failedInsertion = nil
      try deliver()
      // Some errors, such as a full disk, have ended the transaction. What is executed then would take effect by itself.
      if let failedInsertion { throw failedInsertion }
      try execute(
        """
        REPLACE INTO positions VALUES (
          '\(producer)', \(position.message), \(position.calls), \(position.writer.map(Int64.init) ?? -1))
        """)
      try execute("COMMIT")
    } catch {
      try? execute("ROLLBACK")
      throw error
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CSQLite
import ExampleSupport

/// An SQLite connection.
public final class SQLiteConnection {
  public let handle: OpaquePointer

  /// Opens a database, by default in memory.
  public init(_ path: String = ":memory:") {
    var handle: OpaquePointer?
    let status = sqlite3_open(path, &handle)
    check(status, is: SQLITE_OK, "the status of opening \(path)")
    self.handle = handle!
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs statements. Gives SQLite's status.
  @discardableResult
  public func run(_ statements: String) -> Int32 {
    sqlite3_exec(handle, statements, nil, nil, nil)
  }

  /// Gives the first column of the first row of a query, or nil without a row.
  public func text(_ query: String) -> String? {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(handle, query, -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW
    else { return nil }
    return sqlite3_column_text(statement, 0).map { String(cString: $0) }
  }

  /// The name of a status, such as "constraint failed".
  public static func name(_ status: Int32) -> String { String(cString: sqlite3_errstr(status)) }
}

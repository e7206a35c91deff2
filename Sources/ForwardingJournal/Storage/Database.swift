// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import CForwardingSQLite

  /// A connection to an SQLite database, for one thread at a time.
  @safe internal final class Database {
    private let connection: OpaquePointer
    internal let path: String

    internal enum Mode {
      case reading, writing
    }

    /// - Parameter lengthLimit: the most bytes of a text or a blob, stored or read.
    /// - Throws: `JournalError` with the code `cannotOpen`.
    internal init(
      _ path: String, _ mode: Mode, lengthLimit: Int32 = 1 << 26
    ) throws(JournalError) {
      self.path = path
      var opened: OpaquePointer?
      let flags =
        mode == .reading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      // SAFETY: the path ends with a NUL. SQLite makes a handle also if it fails.
      let status = unsafe sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
      guard status == SQLITE_OK, let handle = unsafe opened else {
        let reason = unsafe Self.reason(opened, status)
        unsafe sqlite3_close_v2(opened)
        throw JournalError(.cannotOpen, path, "the file cannot be opened: \(reason)")
      }
      unsafe connection = handle
      unsafe fwd_sqlite_distrust(connection)
      // A damaged file may state any size for a blob.
      _ = unsafe sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, lengthLimit)
      unsafe sqlite3_busy_timeout(connection, 10_000)
    }

    deinit {
      // SAFETY: opened in `init`, closed once. Statements hold the database.
      unsafe sqlite3_close_v2(connection)
    }

    /// Runs statements and discards their rows.
    internal func run(_ text: String) throws(JournalError) {
      // SAFETY: the text ends with a NUL.
      let status = unsafe sqlite3_exec(connection, text, nil, nil, nil)
      guard status == SQLITE_OK else { throw error(status) }
    }

    internal func prepare(_ text: String) throws(JournalError) -> Statement {
      var statement: OpaquePointer?
      // SAFETY: the text ends with a NUL.
      let status = unsafe sqlite3_prepare_v3(
        connection, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
      guard status == SQLITE_OK, let handle = unsafe statement else { throw error(status) }
      return unsafe Statement(handle, of: self)
    }

    /// Returns the first column of the first row; nil if there is no row, or NULL.
    internal func number(_ text: String) throws(JournalError) -> Int? {
      let statement = try prepare(text)
      return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
    }

    /// Runs a closure in a transaction. If it throws, nothing is changed.
    internal func transaction(_ body: () throws(JournalError) -> Void) throws(JournalError) {
      do throws(JournalError) {
        try run("BEGIN IMMEDIATE")
        try body()
        try run("COMMIT")
      } catch {
        // Some failures have ended the transaction already.
        _ = try? run("ROLLBACK")
        throw error
      }
    }

    /// Makes SQLite use a write-ahead log, so that readers and the writer do not wait for
    /// each other.
    ///
    /// - Throws: `JournalError` with the code `cannotOpen` if the file system has no shared
    ///   memory, which the log needs. SQLite reports this as the mode that it keeps, not as
    ///   an error.
    internal func useWriteAheadLog() throws(JournalError) {
      let statement = try prepare("PRAGMA journal_mode = WAL")
      let mode = try statement.step() ? statement.text(0) : ""
      guard mode == "wal" else {
        throw JournalError(
          .cannotOpen, path,
          "the file system cannot hold a journal: SQLite was asked for the journal mode \"wal\" and "
            + "keeps \"\(mode)\". Expected a file on a local disk")
      }
    }

    /// The error for a file that no `Journal` has made.
    internal var isNoJournal: JournalError {
      JournalError(
        .notAJournal, path, "the file is not a journal: expected one that Journal has made")
    }

    /// The error for a status.
    internal func error(_ status: Int32) -> JournalError {
      let reason = unsafe Self.reason(connection, status)
      switch status & 0xFF {
      case SQLITE_NOTADB:
        return isNoJournal
      case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY:
        return JournalError(.cannotOpen, path, "the file cannot be opened: \(reason)")
      // The file may be whole.
      case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_IOERR, SQLITE_NOMEM, SQLITE_FULL, SQLITE_INTERRUPT:
        return JournalError(.cannotOpen, path, "the file cannot be read or written: \(reason)")
      default:
        return JournalError(.damaged, path, "SQLite says: \(reason)")
      }
    }

    /// The error for a value that could not be bound.
    internal func bindingError(
      _ status: Int32, _ index: Int32, _ value: String
    ) -> JournalError {
      let limit = unsafe sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, -1)
      let reason = unsafe Self.reason(connection, status)
      return JournalError(
        .invalidArgument, path,
        "parameter \(index) of a statement cannot be \(value), expected at most \(limit) bytes: "
          + reason)
    }

    /// The messages of SQLite and of the system about a failure.
    @unsafe private static func reason(_ connection: OpaquePointer?, _ status: Int32) -> String {
      guard let connection = unsafe connection else { return "out of memory" }
      // SAFETY: the string is copied before the connection is used again.
      let text = unsafe String(cString: sqlite3_errmsg(connection))
      let number = unsafe sqlite3_system_errno(connection)
      let isOfSystem = [SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_FULL].contains(status & 0xFF)
      return isOfSystem && number != 0 ? "\(text) (\(systemReason(number)))" : text
    }
  }
#endif

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

    /// - Throws: `JournalError` with the code `cannotOpen`.
    internal init(_ path: String, _ mode: Mode) throws(JournalError) {
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
      // The file may say that a blob has any size.
      _ = unsafe sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, 1 << 26)
      unsafe sqlite3_busy_timeout(connection, 10_000)
    }

    deinit {
      // SAFETY: opened in `init`, closed once. Statements hold the database.
      unsafe sqlite3_close_v2(connection)
    }

    /// Runs statements that return nothing of interest.
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

    /// The error for a status.
    internal func error(_ status: Int32) -> JournalError {
      let reason = unsafe Self.reason(connection, status)
      switch status & 0xFF {
      case SQLITE_NOTADB:
        return JournalError(.notAJournal, path, "the file is not a journal: \(reason)")
      case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY:
        return JournalError(.cannotOpen, path, "the file cannot be opened: \(reason)")
      // The file may be whole.
      case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_IOERR, SQLITE_NOMEM, SQLITE_FULL, SQLITE_INTERRUPT:
        return JournalError(.cannotOpen, path, "the file cannot be read or written: \(reason)")
      default:
        return JournalError(.damaged, path, "SQLite says: \(reason)")
      }
    }

    /// What SQLite and the system say.
    @unsafe private static func reason(_ connection: OpaquePointer?, _ status: Int32) -> String {
      guard let connection = unsafe connection else { return "out of memory" }
      // SAFETY: the string is copied before the connection is used again.
      let text = unsafe String(cString: sqlite3_errmsg(connection))
      let number = unsafe sqlite3_system_errno(connection)
      let isOfSystem = [SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_FULL].contains(status & 0xFF)
      return isOfSystem && number != 0 ? "\(text) (\(systemReason(number)))" : text
    }
  }

  /// A statement of SQL. Columns are valid until the next step.
  @safe internal final class Statement {
    private let handle: OpaquePointer
    private let database: Database

    @unsafe fileprivate init(_ handle: OpaquePointer, of database: Database) {
      unsafe self.handle = handle
      self.database = database
    }

    deinit {
      // SAFETY: prepared by the database, finalised once.
      _ = unsafe sqlite3_finalize(handle)
    }

    /// Binds the parameters in order, and begins anew.
    @discardableResult
    internal func bind(_ values: Int...) -> Statement {
      reset()
      for (index, value) in values.enumerated() {
        _ = unsafe sqlite3_bind_int64(handle, Int32(index + 1), Int64(value))
      }
      return self
    }

    /// Binds a text, counted from 1.
    internal func bind(_ index: Int32, _ text: String) {
      var text = text
      text.withUTF8 { bytes in
        unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
          // SAFETY: SQLite copies the text: -1 is SQLITE_TRANSIENT.
          let copies = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
          _ = unsafe sqlite3_bind_text(
            handle, index, bytes.baseAddress, Int32(bytes.count), copies)
        }
      }
    }

    /// Binds bytes, which must be valid until the statement is reset.
    @unsafe internal func bind(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
      _ = unsafe sqlite3_bind_blob64(
        handle, index, bytes.baseAddress, UInt64(bytes.count), nil)
    }

    /// Goes to the next row.
    ///
    /// - Returns: false behind the last one.
    internal func step() throws(JournalError) -> Bool {
      let status = unsafe sqlite3_step(handle)
      if status == SQLITE_ROW { return true }
      guard status == SQLITE_DONE else {
        let error = database.error(status)
        reset()
        throw error
      }
      return false
    }

    /// Runs a statement without rows.
    internal func run() throws(JournalError) {
      defer { reset() }
      _ = try step()
    }

    internal func reset() { _ = unsafe sqlite3_reset(handle) }

    internal func isNull(_ column: Int32) -> Bool {
      unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    internal func integer(_ column: Int32) -> Int {
      Int(unsafe sqlite3_column_int64(handle, column))
    }

    internal func text(_ column: Int32) -> String {
      unsafe sqlite3_column_text(handle, column).map { unsafe String(cString: $0) } ?? ""
    }

    /// The bytes of a column, valid until the next step.
    @unsafe internal func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
      // The pointer before the size, as SQLite asks for.
      let base = unsafe sqlite3_column_blob(handle, column)
      return unsafe UnsafeRawBufferPointer(
        start: base, count: base == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }
  }
#endif

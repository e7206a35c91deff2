// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import CForwardingSQLite

  /// A prepared SQL statement. Parameters are counted from 1, columns from 0.
  ///
  /// If a value cannot be bound, the next `step` or `run` throws. SQLite itself would store
  /// NULL.
  @safe internal final class Statement {
    private let handle: OpaquePointer
    private let database: Database
    /// Why a value could not be bound.
    private var bindingError: JournalError?

    @unsafe internal init(_ handle: OpaquePointer, of database: Database) {
      unsafe self.handle = handle
      self.database = database
    }

    deinit {
      // SAFETY: prepared by the database, finalised once.
      _ = unsafe sqlite3_finalize(handle)
    }

    // MARK: Parameters

    /// Resets the statement, and binds its first parameters in order.
    @discardableResult
    internal func bind(_ values: Int...) -> Statement { bind(values) }

    /// The same, with an array.
    @discardableResult
    internal func bind(_ values: [Int]) -> Statement {
      reset()
      bindingError = nil
      for (index, value) in values.enumerated() {
        let index = Int32(index + 1)
        note(unsafe sqlite3_bind_int64(handle, index, Int64(value)), index, "\(value)")
      }
      return self
    }

    /// Binds a copy of a text.
    internal func bind(_ index: Int32, _ text: String) {
      var text = text
      text.withUTF8 { bytes in
        let status = unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
          unsafe sqlite3_bind_text64(
            handle, index, bytes.baseAddress, UInt64(bytes.count), Self.copies,
            UInt8(SQLITE_UTF8))
        }
        note(status, index, "a text of \(bytes.count) bytes")
      }
    }

    /// Binds a copy of bytes.
    internal func bind(_ index: Int32, _ bytes: [UInt8]) {
      unsafe bytes.withUnsafeBytes { unsafe bind(index, $0, Self.copies) }
    }

    /// Binds bytes, which must be valid until the statement is reset.
    @unsafe internal func bind(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
      unsafe bind(index, bytes, nil)
    }

    @unsafe private func bind(
      _ index: Int32, _ bytes: UnsafeRawBufferPointer, _ ownership: sqlite3_destructor_type?
    ) {
      let status = unsafe sqlite3_bind_blob64(
        handle, index, bytes.baseAddress, UInt64(bytes.count), ownership)
      note(status, index, "a blob of \(bytes.count) bytes")
    }

    // SAFETY: SQLITE_TRANSIENT, which is not called: SQLite copies the value while it binds it.
    private static var copies: sqlite3_destructor_type {
      unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    /// Keeps the first error.
    private func note(_ status: Int32, _ index: Int32, _ value: @autoclosure () -> String) {
      guard status != SQLITE_OK, bindingError == nil else { return }
      bindingError = database.bindingError(status, index, value())
    }

    // MARK: Rows

    /// Goes to the next row.
    ///
    /// - Returns: false after the last one.
    internal func step() throws(JournalError) -> Bool {
      if let bindingError { throw bindingError }
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

    // MARK: Columns

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
      // SQLite requires the pointer to be read before the size.
      let base = unsafe sqlite3_column_blob(handle, column)
      return unsafe UnsafeRawBufferPointer(
        start: base, count: base == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }
  }
#endif

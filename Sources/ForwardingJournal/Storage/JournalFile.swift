// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal

  /// Opens journals. Their tables:
  ///
  /// | table | a row |
  /// |---|---|
  /// | `batches` | the records of consecutive positions: the first position, their count, the range of their times, when they were written, and the records in the wire form, one behind the other |
  /// | `schemas` | a schema record of the wire form, by its identifier |
  /// | `latest` | the position of a method's last record |
  /// | `marks` | a named position |
  internal enum JournalFile {
    /// "FWDJ", in the header of the file.
    private static let application = 0x4657_444A
    internal static let version = 1

    /// The statements that make the tables, as SQLite keeps them.
    private static let tables = [
      """
      CREATE TABLE batches(
        first INTEGER PRIMARY KEY, count INTEGER NOT NULL, earliest INTEGER NOT NULL,
        latest INTEGER NOT NULL, session INTEGER NOT NULL, elapsed INTEGER NOT NULL,
        records BLOB NOT NULL)
      """,
      "CREATE TABLE schemas(identifier INTEGER PRIMARY KEY, record BLOB NOT NULL)",
      "CREATE TABLE latest(method TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID",
      "CREATE TABLE marks(name TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID",
    ]

    /// Opens a journal to read it.
    ///
    /// - Throws: `JournalError`: `cannotOpen`, `notAJournal`, `unsupportedVersion`,
    ///   `damaged`, `invalidArgument`.
    internal static func openForReading(_ path: String) throws(JournalError) -> Database {
      let database = try Database(checked(path), .reading)
      try check(database)
      return database
    }

    /// Opens a journal to write it. Makes the file if there is none.
    ///
    /// - Throws: `JournalError`, as `openForReading`.
    internal static func openForWriting(
      _ path: String, isSynced: Bool
    ) throws(JournalError) -> Database {
      let database = try Database(checked(path), .writing)
      let mark = try database.number("PRAGMA application_id")
      let count = try database.number("SELECT count(*) FROM sqlite_schema")
      if mark == 0 && count == 0 { try make(database) } else { try check(database) }
      try database.run(
        """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = \(isSynced ? "FULL" : "NORMAL");
        PRAGMA wal_autocheckpoint = 4096;
        """)
      return database
    }

    /// SQLite takes some names for databases in memory.
    internal static func checked(_ path: String) throws(JournalError) -> String {
      guard !path.isEmpty, !path.utf8.contains(0) else {
        throw JournalError(
          .invalidArgument, String(reflecting: path), "expected the path of a file")
      }
      return path.hasPrefix(":") ? "./" + path : path
    }

    private static func make(_ database: Database) throws(JournalError) {
      try database.run("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE")
      do throws(JournalError) {
        for table in tables { try database.run(table) }
        try database.run(
          """
          PRAGMA application_id = \(application);
          PRAGMA user_version = \(version);
          COMMIT;
          """)
      } catch {
        _ = try? database.run("ROLLBACK")
        throw error
      }
    }

    private static func check(_ database: Database) throws(JournalError) {
      let path = database.path
      guard try database.number("PRAGMA application_id") == application else {
        throw JournalError(
          .notAJournal, path, "the file is not a journal: expected one that Journal has made")
      }
      let number = try database.number("PRAGMA user_version") ?? 0
      guard number == version else {
        throw JournalError(
          .unsupportedVersion, path,
          "the journal has version \(number), but this library reads version \(version)")
      }
      // SQLite's own tables, such as those of ANALYZE, are harmless. Columns of other types, generated columns, views and triggers would give what a
      // journal never has.
      let statement = try database.prepare(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
      )
      var found: [String] = []
      while found.count <= tables.count, try statement.step() { found.append(statement.text(0)) }
      guard found.sorted() == tables.sorted() else {
        throw JournalError(
          .damaged, path, "the file is damaged: its tables are not those of a journal")
      }
    }
  }
#endif

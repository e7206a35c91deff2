// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  /// Opens the files of journals.
  internal enum JournalFile {
    /// Opens a journal to read it.
    ///
    /// - Throws: `JournalError`: `cannotOpen`, `notAJournal`, `unsupportedVersion`,
    ///   `damaged`, `invalidArgument`.
    internal static func openForReading(_ path: String) throws(JournalError) -> JournalTables {
      let database = try Database(checked(path), .reading)
      // In KiB. Most pages are read once, so a small cache is faster: it fits the processor's.
      try database.run("PRAGMA cache_size = -64")
      try check(database)
      return JournalTables(database)
    }

    /// Opens a journal to write it. Makes the file if there is none.
    ///
    /// - Parameter isSynced: whether each commit is synced to the disk.
    /// - Throws: `JournalError`, as `openForReading`.
    internal static func openForWriting(
      _ path: String, isSynced: Bool
    ) throws(JournalError) -> JournalTables {
      let database = try Database(checked(path), .writing)
      let isNew = try isEmpty(database)
      if !isNew { try check(database) }
      try database.useWriteAheadLog()
      if isNew { try make(database) }
      try database.run("PRAGMA wal_autocheckpoint = 4096")
      let tables = JournalTables(database)
      try tables.setSynchronous(isSynced)
      return tables
    }

    /// Makes an empty file if the path names no file. Throws if it names a file that is no
    /// journal, and leaves no file beside it.
    internal static func makeOrCheck(_ path: String) throws(JournalError) {
      let path = try checked(path)
      let database: Database
      do throws(JournalError) {
        // Not `.reading`: such a connection leaves `-wal` and `-shm` beside a database in WAL mode.
        database = try Database(path, .writing)
      } catch {
        if realPath(path) == nil, realPath(directory(of: path)) == nil {
          throw JournalError(
            .cannotOpen, path, "the file cannot be made: its directory does not exist")
        }
        throw error
      }
      if try !isEmpty(database) { try check(database) }
    }

    private static func directory(of path: String) -> String {
      guard let slash = path.lastIndex(of: "/") else { return "." }
      return String(path[...slash])
    }

    /// Returns a path that SQLite takes for that of a file, since it takes some names for
    /// databases in memory.
    internal static func checked(_ path: String) throws(JournalError) -> String {
      guard !path.isEmpty, !path.utf8.contains(0) else {
        throw JournalError(
          .invalidArgument, String(reflecting: path), "expected the path of a file")
      }
      return path.hasPrefix(":") ? "./" + path : path
    }

    private static func isEmpty(_ database: Database) throws(JournalError) -> Bool {
      let application = try database.number("PRAGMA application_id")
      let count = try database.number("SELECT count(*) FROM sqlite_schema")
      return application == 0 && count == 0
    }

    private static func make(_ database: Database) throws(JournalError) {
      try database.transaction { () throws(JournalError) in
        for definition in JournalTables.definitions { try database.run(definition) }
        try database.run(
          """
          PRAGMA application_id = \(JournalTables.application);
          PRAGMA user_version = \(JournalTables.version);
          """)
      }
    }

    private static func check(_ database: Database) throws(JournalError) {
      let path = database.path
      guard try database.number("PRAGMA application_id") == JournalTables.application else {
        throw database.isNoJournal
      }
      let version = try database.number("PRAGMA user_version") ?? 0
      guard version == JournalTables.version else {
        throw JournalError(
          .unsupportedVersion, path,
          "the journal has version \(version) of the file format, expected version "
            + "\(JournalTables.version)")
      }
      // Columns of other types, generated columns, views and triggers would give values that
      // a journal never has. SQLite's own tables, such as those of ANALYZE, are harmless.
      let statement = try database.prepare(
        """
        SELECT sql FROM sqlite_schema
        WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        """)
      let expected = JournalTables.definitions.sorted()
      var found: [String] = []
      while found.count <= expected.count, try statement.step() { found.append(statement.text(0)) }
      guard found.sorted() == expected else {
        throw JournalError(
          .damaged, path, "the file is damaged: its tables are not those of a journal")
      }
    }
  }
#endif

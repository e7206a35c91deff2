// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  import CForwardingSQLite
  import Testing

  @testable import ForwardingJournal

  @Suite struct DatabaseTests {
    @Test func `A text or a blob above the limit is an error that states both sizes, not NULL`()
      throws
    {
      let folder = try Folder()
      let database = try Database(folder.path, .writing, lengthLimit: 1000)
      try database.run("CREATE TABLE t(number, value)")
      let insert = try database.prepare("INSERT INTO t VALUES(?, ?)")
      let bytes = [UInt8](repeating: 7, count: 1001)
      for (value, bind) in [
        ("a text of 1001 bytes", { insert.bind(2, String(repeating: "x", count: 1001)) }),
        ("a blob of 1001 bytes", { insert.bind(2, bytes) }),
        ("a blob of 1001 bytes", { unsafe bytes.withUnsafeBytes { unsafe insert.bind(2, $0) } }),
      ] {
        insert.bind(1)
        bind()
        let error = journalError { try insert.run() }
        #expect(error?.code == .invalidArgument)
        #expect(
          error?.reason
            == "parameter 2 of a statement cannot be \(value), expected at most 1000 bytes: "
            + "string or blob too big")
      }
      // A parameter that the statement does not have.
      insert.bind(1, 2, 3)
      #expect(journalError { try insert.run() }?.reason.contains("parameter 3") == true)
      #expect(try database.number("SELECT count(*) FROM t") == 0)
      // The error is that of one row.
      insert.bind(1).bind(2, Array(bytes.prefix(900)))
      try insert.run()
      #expect(try database.number("SELECT length(value) FROM t") == 900)
    }

    @Test func `A file system without shared memory is refused with both journal modes`()
      async throws
    {
      // SQLite's file system is changed for the whole process. The new one has no shared
      // memory, as some network file systems have none.
      await #expect(processExitsWith: .success) {
        let status = unsafe sqlite3_vfs_register(sqlite3_vfs_find("unix-dotfile"), 1)
        try #require(status == SQLITE_OK)
        let folder = try Folder()
        let error = journalError { _ = try Journal(folder.path) }
        #expect(error?.code == .cannotOpen)
        #expect(
          error?.description
            == "\(folder.path): the file system cannot hold a journal: SQLite was asked for the "
            + "journal mode \"wal\" and keeps \"delete\". Expected a file on a local disk")
        // The next attempt is refused for the same reason.
        #expect(journalError { _ = try Journal(folder.path) } == error)
      }
    }

    @Test func `A journal that another program has taken out of the mode is put back into it`()
      throws
    {
      let folder = try Folder()
      _ = try folder.numbers(1)
      try folder.run("PRAGMA journal_mode = DELETE")
      #expect(try Journal(reading: folder.path).numbers().count == 1)
      let journal = try Journal(folder.path)
      let database = try Database(folder.path, .reading)
      let statement = try database.prepare("PRAGMA journal_mode")
      #expect(try statement.step() && statement.text(0) == "wal")
      try journal.close()
    }
  }
#endif

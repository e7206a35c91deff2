// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  /// The tables of a journal, and every SQL statement that reads or changes them.
  ///
  /// A *batch* is one row of `batches`: whole records of consecutive positions, about 64
  /// KiB of them. A transaction stores one batch or more.
  ///
  /// | table | column | contents |
  /// |---|---|---|
  /// | `batches` | `first_position` | the position of the batch's first record |
  /// | | `record_count` | the number of its records |
  /// | | `earliest_time_ns`, `latest_time_ns` | the range of the records' times: nanoseconds since 1970 in UTC |
  /// | | `session` | the number of the opening of the file that has recorded the batch: 1, 2, 3 and so on |
  /// | | `steady_time_ns` | when the writer took the records from memory: nanoseconds of a clock that is never set, comparable within a session only |
  /// | | `records` | the records in the wire form, one after the other |
  /// | `schemas` | `identifier`, `record` | a schema record of the wire form, by the identifier that its records name |
  /// | `last_positions` | `method`, `producer`, `position` | the position of the last record of a method and a producer |
  /// | `marks` | `name`, `position` | a mark of `append(_:marks:)`; the caller chooses its unit |
  ///
  /// The file's header has `application` as SQLite's `application_id`, and `version` as its
  /// `user_version`. If the tables or the meaning of a column change, increment `version`.
  ///
  /// One thread at a time uses an instance.
  internal final class JournalTables {
    /// "FWDJ".
    internal static let application = 0x4657_444A
    internal static let version = 2

    /// The statements that make the tables. SQLite keeps their text in the file.
    internal static let definitions = [
      """
      CREATE TABLE batches(
        first_position INTEGER PRIMARY KEY, record_count INTEGER NOT NULL,
        earliest_time_ns INTEGER NOT NULL, latest_time_ns INTEGER NOT NULL,
        session INTEGER NOT NULL, steady_time_ns INTEGER NOT NULL, records BLOB NOT NULL)
      """,
      "CREATE TABLE schemas(identifier INTEGER PRIMARY KEY, record BLOB NOT NULL)",
      """
      CREATE TABLE last_positions(
        method TEXT NOT NULL, producer INTEGER NOT NULL, position INTEGER NOT NULL,
        PRIMARY KEY(method, producer)) WITHOUT ROWID
      """,
      "CREATE TABLE marks(name TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID",
    ]

    /// The longest schema record that is read.
    private static let schemaLimit = 1 << 25

    private let database: Database
    /// The prepared statements, by their text.
    private var statements: [String: Statement] = [:]

    internal var path: String { database.path }

    internal init(_ database: Database) { self.database = database }

    private func prepared(_ text: String) throws(JournalError) -> Statement {
      if let statement = statements[text] { return statement }
      let statement = try database.prepare(text)
      statements[text] = statement
      return statement
    }

    /// Returns the first column of the first row; nil if there is no row, or NULL.
    private func number(_ text: String, _ parameters: Int...) throws(JournalError) -> Int? {
      let statement = try prepared(text).bind(parameters)
      // Ends the read transaction.
      defer { statement.reset() }
      return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
    }
  }

  // MARK: - Reading. All contents of a file are hostile

  extension JournalTables {
    /// Runs a closure whose queries all see the file as it is at the first one.
    internal func reading<Output>(
      _ body: () throws(JournalError) -> Output
    ) throws(JournalError) -> Output {
      try prepared("BEGIN").run()
      // Ends also where a damaged page has been met. The writer can shorten its log then.
      defer { try? prepared("ROLLBACK").run() }
      return try body()
    }

    /// Returns the position after the last record.
    internal func nextPosition() throws(JournalError) -> Int {
      let next =
        try number(
          """
          SELECT first_position + record_count FROM batches
          ORDER BY first_position DESC LIMIT 1
          """) ?? 1
      guard (1...Int.max / 2).contains(next) else {
        throw JournalError(
          .damaged, path, "the file is damaged: the next position would be \(next)")
      }
      return next
    }

    /// Returns the session of the last batch; nil if there is no batch.
    internal func lastSession() throws(JournalError) -> Int? {
      try number("SELECT session FROM batches ORDER BY first_position DESC LIMIT 1")
    }

    /// Returns the first position of the batch that a position lies in, or of the last batch
    /// before it.
    internal func firstPosition(ofBatchAt position: Int) throws(JournalError) -> Int? {
      try number("SELECT max(first_position) FROM batches WHERE first_position <= ?", position)
    }

    /// Returns the first position of the next batch after one.
    internal func firstPosition(ofBatchAfter position: Int) throws(JournalError) -> Int? {
      try number("SELECT min(first_position) FROM batches WHERE first_position > ?", position)
    }

    /// Selects the batches whose first positions lie in a range, in order.
    ///
    /// There is no other condition: SQLite would leave a damaged batch out without an error,
    /// since its columns may be NULL.
    internal func batches(
      from first: Int, through last: Int
    ) throws(JournalError) -> BatchRows {
      let statement = try prepared(
        """
        SELECT first_position, record_count, earliest_time_ns, latest_time_ns, session,
          steady_time_ns, records
        FROM batches WHERE first_position BETWEEN ? AND ? ORDER BY first_position
        """)
      return BatchRows(statement.bind(first, last))
    }

    /// Returns the schema record of an identifier, or nil if the file has none or one that is too long.
    internal func schema(_ identifier: UInt32) throws(JournalError) -> [UInt8]? {
      let statement = try prepared(
        "SELECT record FROM schemas WHERE identifier = ? AND length(record) <= \(Self.schemaLimit)")
      statement.bind(Int(identifier))
      defer { statement.reset() }
      return unsafe try statement.step() ? Array(statement.bytes(0)) : nil
    }

    /// Returns the stored schema records by their identifiers.
    internal func schemas() throws(JournalError) -> [UInt32: [UInt8]] {
      let statement = try prepared("SELECT identifier, record FROM schemas")
      defer { statement.reset() }
      var schemas: [UInt32: [UInt8]] = [:]
      while try statement.step() {
        guard let identifier = UInt32(exactly: statement.integer(0)) else { continue }
        schemas[identifier] = unsafe Array(statement.bytes(1))
      }
      return schemas
    }

    /// Returns the position of the last record of a method; nil if none was recorded.
    ///
    /// - Parameter producers: the producers whose records count; nil for all.
    internal func lastPosition(
      of method: String, _ producers: Set<UInt32>?
    ) throws(JournalError) -> Int? {
      let statement = try prepared(
        "SELECT producer, position FROM last_positions WHERE method = ?")
      statement.bind().bind(1, method)
      defer { statement.reset() }
      var last: Int?
      while try statement.step() {
        let producer = UInt32(exactly: statement.integer(0))
        guard let producer, producers?.contains(producer) ?? true else { continue }
        last = max(last ?? .min, statement.integer(1))
      }
      return last
    }

    internal func marks() throws(JournalError) -> [String: Int] {
      let statement = try prepared("SELECT name, position FROM marks")
      defer { statement.reset() }
      var marks: [String: Int] = [:]
      while try statement.step() { marks[statement.text(0)] = statement.integer(1) }
      return marks
    }
  }

  // MARK: - Writing

  extension JournalTables {
    /// Runs a closure in a transaction. If it throws, nothing is changed.
    ///
    /// - Parameter isSynced: whether the commit, and all before it, must be durable, although
    ///   the connection does not sync its commits.
    internal func transaction(
      isSynced: Bool, _ body: () throws(JournalError) -> Void
    ) throws(JournalError) {
      guard isSynced else { return try database.transaction(body) }
      try setSynchronous(true)
      // A failure does not concern the calls that have been committed. Later commits are synced.
      defer { try? setSynchronous(false) }
      try database.transaction { () throws(JournalError) in
        try body()
        // SQLite does not sync a commit that changes nothing.
        try database.run("PRAGMA user_version = \(Self.version)")
      }
    }

    /// Sets whether each commit is synced to the disk.
    internal func setSynchronous(_ isSynced: Bool) throws(JournalError) {
      try database.run("PRAGMA synchronous = \(isSynced ? "FULL" : "NORMAL")")
    }

    /// - Parameter records: whole records, as many as the header says.
    @unsafe internal func insert(
      _ header: BatchHeader, _ records: UnsafeRawBufferPointer
    ) throws(JournalError) {
      let statement = try prepared("INSERT INTO batches VALUES(?, ?, ?, ?, ?, ?, ?)")
      statement.bind(
        header.first, header.count, header.earliest, header.latest, header.session,
        header.steadyTime)
      unsafe statement.bind(7, records)
      try statement.run()
    }

    internal func insert(schema identifier: UInt32, _ record: [UInt8]) throws(JournalError) {
      let statement = try prepared("INSERT INTO schemas VALUES(?, ?)")
      statement.bind(Int(identifier)).bind(2, record)
      try statement.run()
    }

    /// Notes a record of a method and a producer. Only the one of the highest position counts,
    /// since two schemas may have methods of one name.
    internal func noteLastPosition(
      of method: String, _ producer: UInt32, _ position: Int
    ) throws(JournalError) {
      let statement = try prepared(
        """
        INSERT INTO last_positions(producer, position, method) VALUES(?, ?, ?)
        ON CONFLICT(method, producer) DO UPDATE SET position = max(position, excluded.position)
        """)
      statement.bind(Int(producer), position).bind(3, method)
      try statement.run()
    }

    internal func setMark(_ name: String, _ position: Int) throws(JournalError) {
      let statement = try prepared("INSERT OR REPLACE INTO marks(position, name) VALUES(?, ?)")
      statement.bind(position).bind(2, name)
      try statement.run()
    }
  }
#endif

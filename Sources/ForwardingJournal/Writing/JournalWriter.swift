// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import ForwardingWire

  /// Stores batches. One thread uses it.
  internal final class JournalWriter {
    private let database: Database
    private let queue: RecordQueue
    private let names: MethodNames
    private let isSynced: Bool
    private let session: Int

    private let insertBatch: Statement
    private let insertSchema: Statement
    private let insertLatest: Statement
    private let insertMark: Statement

    /// The records of one row. Readers hold that many in memory, and at least one record.
    private static let rowSize = 1 << 16

    internal init(
      _ database: Database, _ queue: RecordQueue, _ names: MethodNames, isSynced: Bool
    ) throws(JournalError) {
      self.database = database
      self.queue = queue
      self.names = names
      self.isSynced = isSynced
      let last = try database.number("SELECT session FROM batches ORDER BY first DESC LIMIT 1")
      session = (last ?? 0) &+ 1
      insertBatch = try database.prepare("INSERT INTO batches VALUES(?, ?, ?, ?, ?, ?, ?)")
      insertSchema = try database.prepare("INSERT INTO schemas VALUES(?, ?)")
      // Two schemas may have methods of one name.
      insertLatest = try database.prepare(
        """
        INSERT INTO latest VALUES(?2, ?1)
        ON CONFLICT(method) DO UPDATE SET position = max(position, excluded.position)
        """)
      insertMark = try database.prepare("INSERT OR REPLACE INTO marks VALUES(?2, ?1)")
    }

    /// Stores batches until the journal is closed, or cannot be written.
    ///
    /// - Returns: why it cannot be written.
    internal func run() -> JournalError? {
      while let batch = queue.take() {
        do throws(JournalError) {
          try store(batch)
          queue.finish(batch)
        } catch {
          let failure = JournalError(
            .notWritten, queue.path,
            "the calls from position \(batch.first) on are not recorded, since the journal cannot "
              + "be written: \(error.reason)")
          queue.fail(failure, batch)
          return failure
        }
      }
      return nil
    }

    private func store(_ batch: RecordQueue.Batch) throws(JournalError) {
      guard batch.mustSync && !isSynced else { return try commit(batch) }
      try database.run("PRAGMA synchronous = FULL")
      try commit(batch) { () throws(JournalError) in
        // A commit that changes nothing would not sync those before it.
        try database.run("PRAGMA user_version = \(JournalFile.version)")
      }
      try database.run("PRAGMA synchronous = NORMAL")
    }

    private func commit(
      _ batch: RecordQueue.Batch, also change: () throws(JournalError) -> Void = {}
    ) throws(JournalError) {
      do throws(JournalError) {
        try database.run("BEGIN IMMEDIATE")
        try storeContents(batch)
        try change()
        try database.run("COMMIT")
      } catch {
        // Some failures have ended the transaction already.
        _ = try? database.run("ROLLBACK")
        throw error
      }
    }

    private func storeContents(_ batch: RecordQueue.Batch) throws(JournalError) {
      for (identifier, record) in batch.schemas {
        insertSchema.bind(Int(identifier))
        var failure: JournalError?
        unsafe record.withUnsafeBytes { bytes in
          do throws(JournalError) {
            unsafe insertSchema.bind(2, bytes)
            try insertSchema.run()
          } catch {
            failure = error
          }
        }
        if let failure { throw failure }
      }
      if let base = unsafe batch.arena.base {
        try unsafe storeRecords(base, batch)
      }
      for (name, position) in batch.marks {
        insertMark.bind(position)
        insertMark.bind(2, name)
        try insertMark.run()
      }
    }

    // MARK: Records

    @unsafe private func storeRecords(
      _ base: UnsafeMutableRawPointer, _ batch: RecordQueue.Batch
    ) throws(JournalError) {
      var latest = LatestRecords()
      let count = batch.arena.used
      var (start, position) = (0, batch.first)
      while start < count {
        // SAFETY: the queue has made or checked each record, and its length.
        let row = unsafe Row(base + start, count - start, position, Self.rowSize, &latest)
        insertBatch.bind(
          position, row.count, row.earliest, row.latest, session, batch.taken)
        unsafe insertBatch.bind(7, UnsafeRawBufferPointer(start: base + start, count: row.size))
        try insertBatch.run()
        start += row.size
        position += row.count
      }
      for (method, position) in latest.all {
        guard let name = names.name(method) else { continue }
        insertLatest.bind(position)
        insertLatest.bind(2, name)
        try insertLatest.run()
      }
    }
  }

  /// The records of one row of the table.
  private struct Row {
    var size = 0
    var count = 0
    var earliest = Int.max
    var latest = Int.min

    /// Writes the checksums of records until they are long enough, and notes the last
    /// one of each method.
    @unsafe init(
      _ base: UnsafeMutableRawPointer, _ end: Int, _ first: Int, _ limit: Int,
      _ methods: inout LatestRecords
    ) {
      while size < end && size < limit {
        let record = unsafe RecordBytes(base + size)
        unsafe record.seal()
        let time = Int(unsafe record.time)
        earliest = min(earliest, time)
        latest = max(latest, time)
        methods.note(MethodNames.Key(unsafe record.schema, unsafe record.method), first + count)
        size += unsafe record.length
        count += 1
      }
    }
  }

  /// The position of the last record of each method of a batch.
  private struct LatestRecords {
    private var positions: [MethodNames.Key: Int] = [:]
    private var method: MethodNames.Key?
    private var position = 0

    /// Consecutive records are mostly of one method, so the dictionary is used only when
    /// it changes.
    @inline(__always)
    mutating func note(_ method: MethodNames.Key, _ position: Int) {
      if method != self.method { change(to: method) }
      self.position = position
    }

    @inline(never)
    private mutating func change(to method: MethodNames.Key) {
      if let method = self.method { positions[method] = position }
      self.method = method
    }

    var all: [MethodNames.Key: Int] {
      var all = positions
      if let method { all[method] = position }
      return all
    }
  }
#endif

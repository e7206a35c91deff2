// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import ForwardingWire

  /// Stores the queue's transactions. One thread uses it.
  internal final class JournalWriter {
    private let tables: JournalTables
    private let queue: RecordQueue
    private let names: MethodNames
    private let isSynced: Bool
    private let session: Int

    /// The size from which on a batch is complete. A reader holds that many bytes in memory,
    /// and one more record.
    private static let batchSize = 1 << 16

    internal init(
      _ tables: JournalTables, _ queue: RecordQueue, _ names: MethodNames, isSynced: Bool
    ) throws(JournalError) {
      self.tables = tables
      self.queue = queue
      self.names = names
      self.isSynced = isSynced
      session = (try tables.lastSession() ?? 0) &+ 1
    }

    /// Stores transactions until the journal is closed, or cannot be written.
    ///
    /// - Returns: why it cannot be written.
    internal func run() -> JournalError? {
      while let transaction = queue.take() {
        do throws(JournalError) {
          try store(transaction)
        } catch {
          let failure = JournalError(
            .notWritten, queue.path,
            "the calls from position \(transaction.first) on are not recorded, since the journal "
              + "cannot be written: \(error.reason)")
          queue.fail(failure)
          return failure
        }
        queue.finish(transaction)
      }
      return nil
    }

    private func store(
      _ transaction: borrowing RecordQueue.Transaction
    ) throws(JournalError) {
      try tables.transaction(isSynced: transaction.mustSync && !isSynced) {
        () throws(JournalError) in
        for (identifier, record) in transaction.schemas {
          try tables.insert(schema: identifier, record)
        }
        if let base = unsafe transaction.arena.base {
          try unsafe storeRecords(base, transaction)
        }
        for (name, position) in transaction.marks { try tables.setMark(name, position) }
      }
    }

    @unsafe private func storeRecords(
      _ base: UnsafeMutableRawPointer, _ transaction: borrowing RecordQueue.Transaction
    ) throws(JournalError) {
      var lastPositions = LastPositions()
      let count = transaction.arena.used
      var (start, position) = (0, transaction.first)
      while start < count {
        var header = BatchHeader(
          first: position, count: 0, earliest: .max, latest: .min, session: session,
          steadyTime: transaction.takenAt)
        // SAFETY: the queue has made or checked each record, and its length.
        let size = unsafe seal(base + start, count - start, &header, &lastPositions)
        try unsafe tables.insert(header, UnsafeRawBufferPointer(start: base + start, count: size))
        start += size
        position = header.end
      }
      for (origin, position) in lastPositions.all {
        guard let name = names.name(origin.method) else { continue }
        try tables.noteLastPosition(of: name, origin.producer, position)
      }
    }

    /// Writes the checksums of a batch's records, and notes them in its header.
    ///
    /// - Parameter end: the size of the records that are not yet stored.
    /// - Returns: the size of the batch.
    @unsafe private func seal(
      _ base: UnsafeMutableRawPointer, _ end: Int, _ header: inout BatchHeader,
      _ lastPositions: inout LastPositions
    ) -> Int {
      var size = 0
      while size < end && size < Self.batchSize {
        let record = unsafe RecordBytes(base + size)
        unsafe record.seal()
        let time = Int(unsafe record.time)
        header.earliest = min(header.earliest, time)
        header.latest = max(header.latest, time)
        let method = MethodNames.Key(unsafe record.schema, unsafe record.method)
        lastPositions.note(
          LastPositions.Origin(method: method, producer: unsafe record.producer), header.end)
        size += unsafe record.length
        header.count += 1
      }
      return size
    }
  }

  /// The position of the last record of each method and producer in a transaction.
  private struct LastPositions {
    struct Origin: Hashable {
      let method: MethodNames.Key
      let producer: UInt32
    }

    private var positions: [Origin: Int] = [:]
    private var origin: Origin?
    private var position = 0

    /// Consecutive records are mostly of one method and producer, so the dictionary is used
    /// only when one of them changes.
    @inline(__always)
    mutating func note(_ origin: Origin, _ position: Int) {
      if origin != self.origin { change(to: origin) }
      self.position = position
    }

    @inline(never)
    private mutating func change(to origin: Origin) {
      if let origin = self.origin { positions[origin] = position }
      self.origin = origin
    }

    var all: [Origin: Int] {
      var all = positions
      if let origin { all[origin] = position }
      return all
    }
  }
#endif

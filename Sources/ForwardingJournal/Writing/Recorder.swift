// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import Forwarding
  internal import ForwardingWire

  /// The parts of a journal that records.
  internal final class Recorder: Sendable {
    internal let queue: RecordQueue
    internal let thread: WriterThread
    internal let methods: MethodNames
    /// Nil when the journal has been closed.
    private let claim: Lock<WriterClaim?>

    internal init(
      _ path: String, _ durability: Journal.Durability, _ limit: Int
    ) throws(JournalError) {
      let claim = try WriterClaim(JournalFile.checked(path))
      let database = try JournalFile.openForWriting(
        path, isSynced: durability != .operatingSystem)
      let next = try database.nextPosition()
      methods = MethodNames(try database.schemas())
      queue = RecordQueue(
        path, first: next, marks: try database.marks(), limit: limit, durability: durability)
      let writer = try JournalWriter(
        database, queue, methods, isSynced: durability != .operatingSystem)
      thread = try WriterThread(writer, path)
      self.claim = Lock(claim)
    }

    /// Stores what has been recorded, and ends the thread. Another call waits until the
    /// first one has done that.
    internal func close() {
      // The claim is given up when the thread has ended.
      let claim = claim.withLock { claim in
        defer { claim = nil }
        return claim
      }
      guard let claim else { return thread.waitForEnd() }
      queue.close()
      thread.join()
      extendLifetime(claim)
    }
  }

  extension Database {
    /// The position behind the last record.
    internal func nextPosition() throws(JournalError) -> Int {
      let next = try number("SELECT first + count FROM batches ORDER BY first DESC LIMIT 1") ?? 1
      guard (1...Int.max / 2).contains(next) else {
        throw JournalError(
          .damaged, path, "the file is damaged: the next position would be \(next)")
      }
      return next
    }

    /// The schema record of an identifier; nil if there is none of a possible length.
    internal func schema(_ identifier: UInt32) throws(JournalError) -> [UInt8]? {
      let statement = try prepare(
        "SELECT record FROM schemas WHERE identifier = ? AND length(record) <= \(1 << 25)")
      statement.bind(Int(identifier))
      return unsafe try statement.step() ? Array(statement.bytes(0)) : nil
    }

    /// The stored schema records.
    internal func schemas() throws(JournalError) -> [UInt32: [UInt8]] {
      let statement = try prepare("SELECT identifier, record FROM schemas")
      var schemas: [UInt32: [UInt8]] = [:]
      while try statement.step() {
        guard let identifier = UInt32(exactly: statement.integer(0)) else { continue }
        schemas[identifier] = unsafe Array(statement.bytes(1))
      }
      return schemas
    }

    internal func marks() throws(JournalError) -> [String: Int] {
      let statement = try prepare("SELECT name, position FROM marks")
      var marks: [String: Int] = [:]
      while try statement.step() { marks[statement.text(0)] = statement.integer(1) }
      return marks
    }
  }
#endif

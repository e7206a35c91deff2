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
      // Before the claim, which makes a file beside the journal. `openForWriting` checks again under the claim.
      try JournalFile.refuseOtherFile(path)
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
#endif

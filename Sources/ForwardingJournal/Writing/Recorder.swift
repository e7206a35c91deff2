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
    /// The recordings whose tokens are kept.
    private let recordings = Lock<[Recording]>([])
    /// Nil when the journal has been closed.
    private let claim: Lock<WriterClaim?>

    internal init(
      _ path: String, _ durability: Journal.Durability, _ limit: Int
    ) throws(JournalError) {
      // Before the claim, which makes a file beside the journal and needs the journal's real path.
      // `openForWriting` checks again under the claim.
      try JournalFile.makeOrCheck(path)
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

    /// A recording of a proxy. It keeps neither the proxy nor the token.
    private struct Recording: Sendable {
      weak var token: DynamicProxy.Token?
      let proxy: ObjectIdentifier
      let producer: UInt32
    }

    internal func add(_ token: DynamicProxy.Token, of proxy: DynamicProxy, _ producer: UInt32) {
      recordings.withLock { recordings in
        recordings.removeAll { $0.token == nil }
        recordings.append(
          Recording(token: token, proxy: ObjectIdentifier(proxy), producer: producer))
      }
    }

    /// Returns the producers of the recordings of a proxy that have not ended.
    internal func producers(of proxy: DynamicProxy) -> Set<UInt32> {
      // A recording whose proxy has been deallocated has ended, so that another proxy at its
      // address is not taken for it.
      let live = recordings.withLock { $0 }.filter {
        $0.proxy == ObjectIdentifier(proxy) && $0.token?.isLive == true
      }
      return Set(live.map(\.producer))
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

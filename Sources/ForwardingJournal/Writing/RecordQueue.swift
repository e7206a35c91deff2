// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import ForwardingWire

  /// Records on their way from the threads that call proxies to the thread that writes
  /// the journal.
  ///
  /// Records are made in one arena, under a lock. The writer takes the whole arena and
  /// leaves an empty one: a *batch*. All that one batch has becomes durable together.
  @safe internal final class RecordQueue: RecordDestination, @unchecked Sendable {
    // Sendable: `lock` protects everything that changes. So accesses are exclusive, and
    // checking that again would cost each recorded call as much as the lock does.
    // SAFETY: of each `unsafe` without another reason below, this.

    /// What the writer takes.
    @safe internal struct Batch {
      var number = 1
      var arena = Arena()
      /// The position of the first record.
      var first: Int
      /// When the writer took it, in `steadyTime`.
      var taken = 0
      var schemas: [(identifier: UInt32, record: [UInt8])] = []
      var marks: [String: Int] = [:]
      /// Whether someone waits until it is durable, whatever the journal's durability.
      var mustSync = false

      var isEmpty: Bool { arena.used == 0 && schemas.isEmpty && marks.isEmpty && !mustSync }
    }

    internal let path: String
    private let limit: Int
    private let interval: Int
    /// Whether each call waits until its record is durable.
    private let waitsForEach: Bool

    private let lock = ConditionLock()
    @exclusivity(unchecked) private var batch: Batch
    /// The empty arena.
    @exclusivity(unchecked) private var spare = Arena()
    /// The position of the next record.
    @exclusivity(unchecked) private var next: Int
    /// The number of the last batch that is stored.
    @exclusivity(unchecked) private var stored = 0
    /// The last position of each mark, stored or about to be.
    private var marks: [String: Int]
    @exclusivity(unchecked) private var isWriterIdle = false
    @exclusivity(unchecked) private var isUrgent = false
    @exclusivity(unchecked) private var isClosed = false
    @exclusivity(unchecked) private var failure: JournalError?
    /// Whether it takes records: neither closed nor failed.
    @exclusivity(unchecked) private var isOpen = true
    /// When the last batch was taken, in `steadyTime`.
    private var lastTaken = 0
    /// The room that `begin` has given out.
    @exclusivity(unchecked) private var pending = 0

    internal init(
      _ path: String, first: Int, marks: [String: Int], limit: Int, durability: Journal.Durability
    ) {
      self.path = path
      self.marks = marks
      self.limit = max(limit, 1)
      interval = durability.interval
      waitsForEach = durability == .everyCall
      unsafe next = first
      unsafe batch = Batch(first: first)
    }

    deinit {
      unsafe batch.arena.release()
      unsafe spare.release()
    }

    // MARK: Calls

    @unsafe internal func begin(_ length: Int) -> (room: UnsafeMutableRawPointer, number: UInt64)? {
      lock.lock()
      // The short way of most calls.
      let hasRoom = unsafe isOpen && batch.arena.used + length <= limit
      guard hasRoom || admits(length), let room = unsafe batch.arena.reserve(length) else {
        lock.unlock()
        return nil
      }
      unsafe pending = length
      return unsafe (room, UInt64(next))
    }

    internal func finish(_ number: UInt64) -> Bool {
      unsafe batch.arena.used += pending
      unsafe next += 1
      var isStored = true
      if unsafe waitsForEach || isWriterIdle || batch.arena.used > limit / 2 {
        isStored = accept(waiting: waitsForEach) == nil
      }
      lock.unlock()
      return isStored
    }

    internal var refusal: String {
      lock.lock()
      defer { lock.unlock() }
      return unsafe (failure ?? closedError).description
    }

    /// Waits for room. The lock is held.
    private func admits(_ length: Int) -> Bool {
      while unsafe isOpen {
        if unsafe batch.arena.used + length <= limit || batch.arena.used == 0 { return true }
        unsafe isUrgent = true
        lock.signal()
        lock.waitForChange()
      }
      return false
    }

    /// Tells the writer of what has been added to the batch. The lock is held.
    ///
    /// - Returns: the failure of the writer, if this waits for it.
    private func accept(waiting: Bool) -> JournalError? {
      if unsafe isWriterIdle || batch.arena.used > limit / 2 && !isUrgent {
        unsafe isUrgent = batch.arena.used > limit / 2
        unsafe isWriterIdle = false
        lock.signal()
      }
      guard waiting else { return nil }
      let number = unsafe batch.number
      while unsafe stored < number && failure == nil { lock.waitForChange() }
      return unsafe stored < number ? failure : nil
    }

    // MARK: Others

    private var closedError: JournalError {
      JournalError(.closed, path, "the journal has been closed")
    }

    /// Adds a schema to the batch.
    internal func add(schema identifier: UInt32, _ record: [UInt8]) {
      lock.lock()
      unsafe batch.schemas.append((identifier, record))
      lock.unlock()
    }

    /// Adds whole records and marks to one batch.
    ///
    /// - Parameter ranges: those of the records in the bytes.
    /// - Throws: the failure of the writer; `closed`.
    internal func add(
      _ bytes: [UInt8], _ ranges: [Range<Int>], _ marks: [String: Int]
    ) throws(JournalError) {
      let length = ranges.reduce(0) { $0 + $1.count }
      lock.lock()
      defer { lock.unlock() }
      guard admits(length), let room = unsafe batch.arena.reserve(max(length, 1)) else {
        throw unsafe failure ?? closedError
      }
      unsafe bytes.withUnsafeBytes { bytes in
        var end = 0
        for range in ranges {
          // SAFETY: there is room for all ranges, which lie in the bytes.
          unsafe UnsafeMutableRawBufferPointer(start: room + end, count: range.count)
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
          end += range.count
        }
      }
      unsafe batch.arena.used += length
      unsafe next += ranges.count
      for (name, position) in marks {
        unsafe batch.marks[name] = position
        self.marks[name] = position
      }
      if let failure = accept(waiting: waitsForEach) { throw failure }
    }

    /// The position of a mark.
    ///
    /// - Throws: the failure of the writer: then only the file says what is stored.
    internal func mark(_ name: String) throws(JournalError) -> Int? {
      lock.lock()
      defer { lock.unlock() }
      if let failure = unsafe failure { throw failure }
      return marks[name]
    }

    /// Waits until everything that has been added is stored.
    ///
    /// - Parameter isSynced: whether it must be durable, whatever the journal's
    ///   durability.
    /// - Throws: the failure of the writer.
    internal func flush(isSynced: Bool) throws(JournalError) {
      lock.lock()
      defer { lock.unlock() }
      if let failure = unsafe failure { throw failure }
      guard unsafe !isClosed else { throw closedError }
      if isSynced { unsafe batch.mustSync = true }
      // What the writer has taken and not yet stored is waited for, too.
      let number = unsafe batch.isEmpty ? batch.number - 1 : batch.number
      unsafe isUrgent = true
      unsafe isWriterIdle = false
      lock.signal()
      while unsafe stored < number {
        if let failure = unsafe failure { throw failure }
        lock.waitForChange()
      }
    }

    /// - Throws: the failure of the writer; `closed`.
    internal func check() throws(JournalError) {
      lock.lock()
      defer { lock.unlock() }
      if let failure = unsafe failure { throw failure }
      if unsafe isClosed { throw closedError }
    }

    /// Whether the journal has been closed, or has failed.
    internal var isEnded: Bool {
      lock.lock()
      defer { lock.unlock() }
      return unsafe !isOpen
    }

    /// Takes no more records. The writer ends when it has stored those that it has, so that
    /// they are durable.
    internal func close() {
      lock.lock()
      if unsafe isOpen { unsafe batch.mustSync = true }
      unsafe isClosed = true
      unsafe isOpen = false
      unsafe isWriterIdle = false
      lock.signal()
      lock.broadcastChange()
      lock.unlock()
    }

    /// Why the writer has ended.
    internal var writerFailure: JournalError? {
      lock.lock()
      defer { lock.unlock() }
      return unsafe failure
    }

    // MARK: The writer

    /// Waits for a batch and for its time.
    ///
    /// - Returns: nil if the journal has been closed.
    internal func take() -> Batch? {
      lock.lock()
      defer { lock.unlock() }
      // Sleeping until the next commit is due, without waiting for a signal, saves the
      // callers the signal.
      if interval > 0 {
        let due = lastTaken + interval
        while unsafe !isUrgent && !isClosed {
          let left = due - steadyTime()
          if left <= 0 { break }
          lock.wait(nanoseconds: left)
        }
      }
      while unsafe batch.isEmpty {
        unsafe isUrgent = false
        if unsafe isClosed { return nil }
        unsafe isWriterIdle = true
        lock.wait()
      }
      unsafe isWriterIdle = false
      unsafe isUrgent = false
      lastTaken = steadyTime()
      var taken = unsafe batch
      taken.taken = lastTaken
      unsafe batch = Batch(number: taken.number + 1, arena: spare, first: next)
      unsafe spare = Arena()
      return taken
    }

    /// Tells the callers that a batch is durable, and takes its arena back.
    internal func finish(_ batch: Batch) {
      lock.lock()
      unsafe spare = batch.arena.emptied()
      unsafe stored = batch.number
      lock.broadcastChange()
      lock.unlock()
    }

    /// Tells the callers that a batch could not be stored.
    internal func fail(_ error: JournalError, _ batch: Batch) {
      lock.lock()
      unsafe spare = batch.arena.emptied()
      unsafe failure = error
      unsafe isOpen = false
      lock.broadcastChange()
      lock.unlock()
    }
  }
#endif

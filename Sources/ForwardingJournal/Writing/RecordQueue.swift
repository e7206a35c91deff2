// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import CForwardingInternal
  internal import ForwardingWire

  /// Records on their way from the threads that call proxies to the thread that writes
  /// the journal.
  ///
  /// Records are made in the arena of the next transaction, under a lock. The writer takes
  /// the whole transaction and leaves an empty one.
  @safe internal final class RecordQueue: RecordDestination, @unchecked Sendable {
    // Sendable: `lock` protects everything that changes. So accesses are exclusive, and
    // checking that again would cost each recorded call as much as the lock does.
    // SAFETY: of each `unsafe` without another reason below, this.

    /// Records that the writer stores together. The queue owns a transaction, then the writer.
    @safe internal struct Transaction: ~Copyable {
      let number: Int
      var arena: Arena
      /// The position of the first record.
      let first: Int
      /// When the writer took the transaction, in `steadyTime`.
      var takenAt = 0
      var schemas: [(identifier: UInt32, record: [UInt8])] = []
      var marks: [String: Int] = [:]
      /// Whether a caller waits until it is durable, whatever the journal's durability.
      var mustSync = false

      /// Whether there is nothing to do but to store records.
      var hasOnlyRecords: Bool { schemas.isEmpty && marks.isEmpty && !mustSync }
    }

    /// Whether the queue takes records.
    private enum State {
      case open
      /// The writer stores what the queue has, and ends.
      case closed
      /// The writer has ended, since the file cannot be written.
      case failed(JournalError)
    }

    /// The activity of the writer's thread.
    private enum Writer {
      /// Stores a transaction, or sleeps until the next one is due.
      case paced
      /// Is to take the next transaction before it is due.
      case urged
      /// Sleeps until it is woken, since there is nothing to store.
      case idle
    }

    internal let path: String
    private let limit: Int
    private let interval: Int
    /// Whether each call waits until its record is durable.
    private let waitsForEach: Bool

    private let lock: ConditionLock
    /// The memory of the transaction's arena, and the position of the next record.
    internal let area: UnsafeMutablePointer<RecordArea>
    @exclusivity(unchecked) private var state = State.open { didSet { unsafe updateLimits() } }
    @exclusivity(unchecked) private var writer = Writer.paced { didSet { unsafe updateLimits() } }
    /// The transaction that records are added to.
    @exclusivity(unchecked) private var transaction: Transaction
    /// The arena of the transaction after it.
    @exclusivity(unchecked) private var spare = Arena()
    /// The number of the last transaction that is stored.
    @exclusivity(unchecked) private var stored = 0
    /// The last position of each mark, stored or about to be.
    private var marks: [String: Int]
    /// When the last transaction was taken, in `steadyTime`.
    private var lastTaken = 0

    internal init(
      _ path: String, first: Int, marks: [String: Int], limit: Int, durability: Journal.Durability
    ) {
      self.path = path
      self.marks = marks
      self.limit = max(limit, 1)
      interval = durability.interval
      waitsForEach = durability == .everyCall
      lock = ConditionLock()
      unsafe area = .allocate(capacity: 1)
      unsafe transaction = Transaction(number: 1, arena: Arena(), first: first)
      unsafe area.initialize(to: RecordArea(next: first))
    }

    deinit {
      // SAFETY: allocated in `init`, and no thread uses it any more.
      unsafe area.deallocate()
    }

    // MARK: Calls

    internal var areaLock: UnsafeMutablePointer<fwd_quick_lock> { unsafe lock.quick }

    internal func makeRoom(_ length: Int) -> Bool {
      guard waitForRoom(length), reserve(length) else { return false }
      unsafe updateLimits()
      // One longer than the limit is the only one of its transaction.
      unsafe area.pointee.roomEnd = max(area.pointee.roomEnd, area.pointee.used + length)
      return true
    }

    internal func recordAdded() -> Bool { wakeWriter(waiting: waitsForEach) == nil }

    internal var refusal: String {
      lock.lock()
      defer { lock.unlock() }
      return refusalError.description
    }

    // MARK: With the lock held

    /// Sets what each record compares with, instead of all that it is made from.
    @unsafe private func updateLimits() {
      unsafe area.pointee.roomEnd = isOpen ? min(transaction.arena.capacity, limit) : 0
      // -1 if the writer must be woken for every record.
      unsafe area.pointee.quietEnd = waitsForEach || writer == .idle ? -1 : halfFull
    }

    /// Gets memory for so many more bytes of records.
    ///
    /// - Returns: false if there is no memory.
    private func reserve(_ length: Int) -> Bool {
      let isReserved = unsafe transaction.arena.reserve(area.pointee.used + length)
      unsafe area.pointee.base = unsafe transaction.arena.base
      return isReserved
    }

    private var isOpen: Bool { if case .open = unsafe state { true } else { false } }

    private var failure: JournalError? {
      if case .failed(let error) = unsafe state { error } else { nil }
    }

    /// Why the queue takes no records.
    private var refusalError: JournalError {
      switch unsafe state {
      case .open: JournalError(.notRecorded, path, "there is no memory for a record")
      case .closed: JournalError(.closed, path, "the journal has been closed")
      case .failed(let error): error
      }
    }

    /// Whether the writer has nothing to do.
    private var isEmpty: Bool {
      unsafe area.pointee.used == 0 && transaction.hasOnlyRecords
    }

    private var halfFull: Int { limit / 2 }

    private var isHalfFull: Bool { unsafe area.pointee.used > halfFull }

    private func hasRoom(_ length: Int) -> Bool {
      unsafe area.pointee.used + length <= limit
    }

    /// Waits for room. A record longer than the limit has room in an empty arena.
    ///
    /// - Returns: false if the queue takes no records.
    private func waitForRoom(_ length: Int) -> Bool {
      while isOpen {
        if unsafe hasRoom(length) || area.pointee.used == 0 { return true }
        unsafe writer = .urged
        lock.signal()
        lock.waitForChange()
      }
      return false
    }

    /// Wakes the writer if it is idle, or if it should not wait for the next commit.
    ///
    /// - Parameter waiting: whether to wait until the transaction is stored.
    /// - Returns: the failure of the writer, if this waits for it.
    private func wakeWriter(waiting: Bool) -> JournalError? {
      if unsafe writer == .idle || isHalfFull && writer == .paced {
        unsafe writer = isHalfFull ? .urged : .paced
        lock.signal()
      }
      guard waiting else { return nil }
      return waitUntilStored(unsafe transaction.number)
    }

    /// - Returns: the failure of the writer.
    private func waitUntilStored(_ number: Int) -> JournalError? {
      while unsafe stored < number {
        if let failure { return failure }
        lock.waitForChange()
      }
      return nil
    }

    // MARK: Other users

    /// Adds a schema to the transaction.
    internal func add(schema identifier: UInt32, _ record: [UInt8]) {
      lock.lock()
      unsafe transaction.schemas.append((identifier, record))
      lock.unlock()
    }

    /// Adds whole records and marks to one transaction.
    ///
    /// - Parameter ranges: those of the records in the bytes.
    /// - Throws: the failure of the writer; `closed`.
    internal func add(
      _ bytes: [UInt8], _ ranges: [Range<Int>], _ marks: [String: Int]
    ) throws(JournalError) {
      let length = ranges.reduce(0) { $0 + $1.count }
      lock.lock()
      defer { lock.unlock() }
      guard waitForRoom(length), reserve(max(length, 1)) else { throw refusalError }
      let room = unsafe area.pointee.base.unsafelyUnwrapped + area.pointee.used
      unsafe bytes.withUnsafeBytes { bytes in
        var end = 0
        for range in ranges {
          // SAFETY: there is room for all ranges, which lie in the bytes.
          unsafe UnsafeMutableRawBufferPointer(start: room + end, count: range.count)
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
          end += range.count
        }
      }
      unsafe area.pointee.used += length
      unsafe area.pointee.next += ranges.count
      for (name, position) in marks {
        unsafe transaction.marks[name] = position
        self.marks[name] = position
      }
      if let failure = wakeWriter(waiting: waitsForEach) { throw failure }
    }

    /// Returns the position of a mark.
    ///
    /// - Throws: the failure of the writer: then only the file says what is stored.
    internal func mark(_ name: String) throws(JournalError) -> Int? {
      lock.lock()
      defer { lock.unlock() }
      if let failure { throw failure }
      return marks[name]
    }

    /// Waits until everything that has been added is stored.
    ///
    /// - Parameter isSynced: whether it must be durable, whatever the journal's
    ///   durability.
    /// - Throws: the failure of the writer; `closed`.
    internal func flush(isSynced: Bool) throws(JournalError) {
      lock.lock()
      defer { lock.unlock() }
      guard isOpen else { throw refusalError }
      if isSynced { unsafe transaction.mustSync = true }
      // If the transaction is empty, the writer may still store the one before it.
      let number = unsafe isEmpty ? transaction.number - 1 : transaction.number
      unsafe writer = .urged
      lock.signal()
      if let failure = waitUntilStored(number) { throw failure }
    }

    /// - Throws: the failure of the writer; `closed`.
    internal func check() throws(JournalError) {
      lock.lock()
      defer { lock.unlock() }
      guard isOpen else { throw refusalError }
    }

    /// Whether the journal has been closed, or has failed.
    internal var isEnded: Bool {
      lock.lock()
      defer { lock.unlock() }
      return !isOpen
    }

    /// Takes no more records. The writer makes what the queue has durable, and ends.
    internal func close() {
      lock.lock()
      defer { lock.unlock() }
      guard isOpen else { return }
      unsafe transaction.mustSync = true
      unsafe state = .closed
      lock.signal()
      lock.broadcastChange()
    }

    /// Why the writer has ended early.
    internal var writerFailure: JournalError? {
      lock.lock()
      defer { lock.unlock() }
      return failure
    }

    // MARK: The writer

    /// Waits for a transaction, and until it is due.
    ///
    /// - Returns: nil if the journal has been closed, and everything is stored.
    internal func take() -> Transaction? {
      lock.lock()
      defer { lock.unlock() }
      // Sleeping until the next commit is due, without waiting for a signal, saves the
      // callers the signal.
      if interval > 0 {
        let due = lastTaken + interval
        while unsafe isOpen && writer != .urged {
          let left = due - steadyTime()
          if left <= 0 { break }
          lock.wait(nanoseconds: left)
        }
      }
      while isEmpty {
        guard isOpen else { return nil }
        unsafe writer = .idle
        lock.wait()
      }
      unsafe writer = .paced
      lastTaken = steadyTime()
      unsafe transaction.takenAt = lastTaken
      unsafe transaction.arena.used = unsafe area.pointee.used
      var taken = unsafe Transaction(
        number: transaction.number + 1, arena: Arena(), first: area.pointee.next)
      unsafe swap(&taken.arena, &spare)
      unsafe swap(&taken, &transaction)
      unsafe area.pointee.base = unsafe transaction.arena.base
      unsafe area.pointee.used = 0
      unsafe updateLimits()
      return taken
    }

    /// Tells the callers that a transaction is stored, and takes its arena back.
    internal func finish(_ transaction: consuming Transaction) {
      lock.lock()
      unsafe stored = transaction.number
      unsafe spare = transaction.arena.emptied()
      lock.broadcastChange()
      lock.unlock()
    }

    /// Tells the callers that a transaction could not be stored.
    internal func fail(_ error: JournalError) {
      lock.lock()
      unsafe state = .failed(error)
      lock.broadcastChange()
      lock.unlock()
    }
  }
#endif

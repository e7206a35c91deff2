// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  public import ForwardingWire

  extension Journal {
    /// Reads recorded calls in the order of their positions.
    ///
    /// ```swift
    /// var entries = try journal.entries(schema, Journal.Filter(positions: 100...200))
    /// while let entry = try entries.next() {
    ///   try entry.record.forward(to: proxy)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - schema: the methods of the proxies that get the calls. They must fit the recorded
    ///     methods: see ``Entries/next()``. If it is nil, each entry is read by its recorded
    ///     schema. Such entries can be shown, but not forwarded.
    ///   - filter: which entries.
    /// - Throws: `JournalError`: `cannotOpen`, `notAJournal`, `unsupportedVersion`,
    ///   `damaged`; `notWritten`, since all calls recorded so far are written first.
    public func entries(
      _ schema: WireSchema? = nil, _ filter: Filter = Filter()
    ) throws(JournalError) -> Entries {
      try entries(schema, filter, isTimed: false)
    }

    /// - Parameter isTimed: whether `Entries.steadyTime` is wanted.
    internal func entries(
      _ schema: WireSchema?, _ filter: Filter, isTimed: Bool
    ) throws(JournalError) -> Entries {
      try flushToRead()
      return Entries(try JournalFile.openForReading(path), schema, filter, isTimed: isTimed)
    }

    /// The position of the last entry; 0 if there is none.
    ///
    /// - Throws: `JournalError`, as ``entries(_:_:)``.
    public var lastPosition: Int {
      get throws(JournalError) {
        try flushToRead()
        return try JournalFile.openForReading(path).nextPosition() - 1
      }
    }

    /// Waits until all calls that this journal has recorded are in the file.
    internal func flushToRead() throws(JournalError) {
      guard let recorder else { return }
      // A journal that is closed or has failed can be read as far as it was written.
      if recorder.queue.isEnded { return recorder.thread.waitForEnd() }
      do throws(JournalError) {
        try recorder.queue.flush(isSynced: false)
      } catch {
        // Another thread is closing the journal, which stores the calls, too.
        guard error.code == .closed else { throw error }
        recorder.thread.waitForEnd()
      }
    }
  }
#endif

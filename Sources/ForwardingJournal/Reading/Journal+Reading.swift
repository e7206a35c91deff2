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
    ///   - schema: the methods of the proxies that get the calls. Its methods must be
    ///     those that were recorded: see ``Entries/next()``. Nil to show entries only:
    ///     then each is read by its recorded schema, and cannot be forwarded.
    ///   - filter: which entries.
    /// - Throws: `JournalError`: `cannotOpen`, `notAJournal`, `unsupportedVersion`,
    ///   `damaged`; `notWritten`, since everything recorded so far is written first.
    public func entries(
      _ schema: WireSchema? = nil, _ filter: Filter = Filter()
    ) throws(JournalError) -> Entries {
      try flushToRead()
      return Entries(try JournalFile.openForReading(path), schema, filter)
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

    /// Has what this journal has recorded written, so that it can be read.
    internal func flushToRead() throws(JournalError) {
      guard let recorder else { return }
      // It has been closed, or has failed. What it has written can be read.
      if recorder.queue.isEnded { return recorder.thread.waitForEnd() }
      do throws(JournalError) {
        try recorder.queue.flush(isSynced: false)
      } catch {
        // Another thread has closed the journal, which writes, too.
        guard error.code == .closed else { throw error }
        recorder.thread.waitForEnd()
      }
    }
  }
#endif

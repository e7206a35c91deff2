// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import Forwarding
  internal import ForwardingWire

  /// A file of recorded calls.
  ///
  /// ```swift
  /// let journal = try Journal("trades.journal")
  /// let recording = try journal.record(proxy, schema)
  /// try proxy.send(tick, 101.5, "ACME")
  /// recording.cancel()
  /// try journal.close()
  /// ```
  ///
  /// Each record has a *position*: 1, 2, 3 and so on, in the order in which the calls
  /// were recorded, whatever the clock does. Positions continue when the file is
  /// opened again.
  ///
  /// One `Journal` at a time records into a file. Any number may read it meanwhile, in
  /// this process and in others. The file is an SQLite database. While it is open, files
  /// with the suffixes `-wal`, `-shm` and `-lock` stand beside it. It must be on a local
  /// disk.
  ///
  /// A journal may be used from several threads. It must not be used in a child of
  /// `fork`.
  public final class Journal: Sendable {
    /// The file.
    internal let path: String
    /// Nil if the journal is open for reading only.
    internal let recorder: Recorder?

    /// Opens a journal to record into it. Creates the file if it does not exist.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - durability: when recorded calls become durable.
    ///   - bufferLimit: the most bytes of records that wait to be written. As many more
    ///     may be in memory while they are being written. If the buffer is full, a call
    ///     waits until there is room.
    /// - Throws: `JournalError`: `cannotOpen`; `inUse` if another `Journal` records into
    ///   the file; `notAJournal`, `unsupportedVersion`, `damaged`.
    /// - Complexity: independent of the number of records in the file.
    public init(
      _ path: String, durability: Durability = .interval(.milliseconds(10)),
      bufferLimit: Int = 1 << 26
    ) throws(JournalError) {
      self.path = path
      recorder = try Recorder(path, durability, bufferLimit)
    }

    /// Opens a journal for reading. Another `Journal` may record into the file meanwhile.
    ///
    /// - Parameter path: the file.
    /// - Throws: `JournalError`: `cannotOpen`, `notAJournal`, `unsupportedVersion`,
    ///   `damaged`.
    public init(reading path: String) throws(JournalError) {
      _ = try JournalFile.openForReading(path)
      self.path = path
      recorder = nil
    }

    /// Closes the journal, as ``close()`` does, but cannot report a failure.
    deinit { recorder?.close() }

    /// Waits until all calls recorded so far are durable, whatever the journal's
    /// durability.
    ///
    /// - Throws: `JournalError` with the codes `notWritten`, `closed`, `readOnly`.
    public func flush() throws(JournalError) {
      try writable().queue.flush(isSynced: true)
    }

    /// Makes all recorded calls durable, and ends recording.
    ///
    /// Cancel the recordings first: later calls of recorded proxies are reported as not
    /// recorded. Does nothing if the journal is closed, or open for reading only.
    ///
    /// - Throws: `JournalError` with the code `notWritten`.
    public func close() throws(JournalError) {
      guard let recorder else { return }
      recorder.close()
      if let failure = recorder.queue.writerFailure { throw failure }
    }

    internal func writable() throws(JournalError) -> Recorder {
      guard let recorder else {
        throw JournalError(
          .readOnly, path, "the journal is open for reading only: expected Journal(path)")
      }
      return recorder
    }
  }
#endif

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
  /// this process and in others. The file is an SQLite database, with `-wal` and `-shm`
  /// beside it while it is open, and `-lock`. It must be on a local disk.
  ///
  /// A journal may be used from several threads. It must not be used in a child of
  /// `fork`.
  public final class Journal: Sendable {
    /// The file.
    internal let path: String
    /// What recording needs; nil if the journal is read only.
    internal let recorder: Recorder?

    /// Opens a journal to record into it. Creates the file if it does not exist.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - durability: when recorded calls become durable.
    ///   - bufferLimit: how many bytes of records may wait until they are written. At
    ///     most twice as many are in memory. If calls come faster than the disk takes
    ///     them, they wait for room.
    /// - Throws: `JournalError`: `cannotOpen`; `inUse` if another `Journal` records into
    ///   the file; `notAJournal`, `unsupportedVersion`, `damaged`.
    /// - Complexity: that of opening a file. It does not depend on its length.
    public init(
      _ path: String, durability: Durability = .interval(.milliseconds(10)),
      bufferLimit: Int = 1 << 26
    ) throws(JournalError) {
      self.path = path
      recorder = try Recorder(path, durability, bufferLimit)
    }

    /// Opens a journal to read it, also while another one records into it.
    ///
    /// - Throws: `JournalError`: `cannotOpen`, `notAJournal`, `unsupportedVersion`,
    ///   `damaged`.
    public init(reading path: String) throws(JournalError) {
      _ = try JournalFile.openForReading(path)
      self.path = path
      recorder = nil
    }

    /// Writes what has been recorded. Closes the journal, but does not report whether
    /// that failed: call ``close()`` for that.
    deinit { recorder?.close() }

    /// Waits until everything that has been recorded is durable, whatever the journal's
    /// durability.
    ///
    /// - Throws: `JournalError` with the codes `notWritten`, `closed`, `readOnly`.
    public func flush() throws(JournalError) {
      try writable().queue.flush(isSynced: true)
    }

    /// Makes what has been recorded durable, and ends recording. Calls of recorded
    /// proxies are then reported as not recorded: cancel the recordings first.
    ///
    /// Does nothing if the journal is closed, or read only.
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

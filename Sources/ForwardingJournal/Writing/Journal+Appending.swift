// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import ForwardingWire

  extension Journal {
    /// Appends records that another process has made, and sets marks, in one transaction.
    ///
    /// A consumer of a stream stores the records that it gets together with its position
    /// in the stream. After a crash, the file has both or neither:
    ///
    /// ```swift
    /// try journal.append(message.bytes, marks: ["consumer-7": message.sequence])
    /// let position = try journal.mark("consumer-7") ?? 0   // after a restart: continue after it
    /// ```
    ///
    /// The records get positions and become durable as recorded calls do. To wait until
    /// they are durable, call ``flush()``.
    ///
    /// - Parameters:
    ///   - bytes: a schema record and then its records; empty to set marks only. The
    ///     records are checked against that schema. The journal keeps the schema in memory.
    ///   - marks: new positions by the names of their marks. A position may count anything.
    ///     A name has 1 to 1024 bytes, and no NUL. Other marks do not change.
    /// - Throws: `JournalError`: `notRecorded` with the `wireError` if the bytes are
    ///   damaged; `invalidArgument` if a name is not as stated; `readOnly`, `closed`,
    ///   `notWritten`. Then nothing has been appended, and no mark has changed.
    /// - Complexity: O(*n*) in the number of bytes.
    public func append(_ bytes: [UInt8], marks: [String: Int] = [:]) throws(JournalError) {
      for name in marks.keys where !(1...1024).contains(name.utf8.count) || name.utf8.contains(0) {
        throw JournalError(
          .invalidArgument, path,
          "the name of a mark has \(name.utf8.count) bytes, expected 1 to 1024 and no NUL")
      }
      let recorder = try writable()
      try recorder.queue.check()
      var decoder = WireDecoder(showing: bytes)
      var ranges: [Range<Int>] = []
      do throws(WireError) {
        while try decoder.next() != nil { ranges.append(decoder.lastRange) }
      } catch {
        throw JournalError(.notRecorded, path, error.description, wireError: error)
      }
      for schema in decoder.recordedSchemas {
        try add(schema.identifier, Array(bytes[schema.range]), schema.methods, to: recorder)
      }
      try recorder.queue.add(bytes, ranges, marks)
    }

    /// Returns the position of a mark; nil if it has never been set.
    ///
    /// - Throws: `JournalError`: `notWritten` if this journal could not be written: open the
    ///   file again to read the position that it has. If the journal is open for reading
    ///   only, as ``init(reading:)``.
    public func mark(_ name: String) throws(JournalError) -> Int? {
      if let recorder { return try recorder.queue.mark(name) }
      return try JournalFile.openForReading(path).marks()[name]
    }
  }
#endif

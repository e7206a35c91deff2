// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import ForwardingWire

  extension Journal {
    /// Appends records that another process has made, and sets marks, in one transaction.
    ///
    /// A consumer of a stream stores what it gets together with its position in the
    /// stream. After a crash both are there, or neither:
    ///
    /// ```swift
    /// try journal.append(message.bytes, marks: ["consumer-7": message.sequence])
    /// let position = try journal.mark("consumer-7") ?? 0   // after a restart: go on behind it
    /// ```
    ///
    /// The records get positions as recorded calls do, and become durable with the
    /// journal's durability. To be sure, call ``flush()``.
    ///
    /// - Parameters:
    ///   - bytes: a schema record, and records; or nothing, to set marks only. They are
    ///     checked by the recorded schema. The names of its methods stay in memory.
    ///   - marks: new positions, in any numbering, by the names of their marks: 1 to 1024
    ///     bytes. Other marks stay as they are.
    /// - Throws: `JournalError`: `notRecorded` with the `wireError` if the bytes are
    ///   damaged; `invalidArgument`, `readOnly`, `closed`, `notWritten`. Then
    ///   nothing has been appended, and the marks are as before.
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
    /// - Throws: `JournalError` with the code `notWritten` if the journal has failed: open the
    ///   file again to know what it has. With the code `damaged` if the journal is read only.
    public func mark(_ name: String) throws(JournalError) -> Int? {
      if let recorder { return try recorder.queue.mark(name) }
      return try JournalFile.openForReading(path).marks()[name]
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import ForwardingWire

  extension Journal {
    /// Reads the entries of a journal one after the other.
    ///
    /// It reads about 128 KiB at a time, or one longer record. It never blocks the writer.
    @safe public struct Entries: ~Copyable {
      private var reader: BatchReader
      private let schema: WireSchema?
      private let filter: Filter
      /// Nil unless steady times are wanted.
      private var clock: RecordedClock?
      /// The time of the last entry in nanoseconds, as `RecordedClock` computes it; 0 if it is
      /// not wanted.
      internal private(set) var steadyTime = 0
      /// The records of the piece that was read last. Their positions are consecutive.
      private var decoder: WireDecoder
      private var batches: [BatchHeader] = []
      /// The index of the batch that the next record lies in.
      private var batch = 0
      /// The position before the piece's first record.
      private var before = 0
      /// The position where the next piece begins.
      private var nextPosition: Int

      /// - Parameter isTimed: whether `steadyTime` is wanted.
      internal init(
        _ tables: JournalTables, _ schema: WireSchema?, _ filter: Filter, isTimed: Bool
      ) {
        clock = isTimed ? RecordedClock() : nil
        reader = BatchReader(tables, filter)
        self.schema = schema
        self.filter = filter
        nextPosition = filter.positions.lowerBound
        decoder = WireDecoder(joining: [], schema: schema, methods: nil)
      }

      /// Returns the next entry; nil after the last one. Call it again later to read newer
      /// entries.
      ///
      /// - Throws: `JournalError`: `schemaMismatch` at the first call of a recorded method
      ///   that does not fit the schema: the description names the method and both
      ///   encodings, and `wireError` has the method's name. Methods that the filter or
      ///   the schema leaves out need not fit. `damaged` if a record or the file is damaged. The next
      ///   call throws the same error. To continue after a damaged record, read from the
      ///   position that the description names.
      /// - Complexity: O(*n*) in the length of the record and of the records before it that
      ///   the filter leaves out.
      public mutating func next() throws(JournalError) -> Entry? {
        var budget = Int.max
        return try next(&budget)
      }

      /// Returns the next entry; nil after the last one, or when the budget is used up.
      ///
      /// - Parameter budget: becomes less with each record that is read, those that the filter
      ///   leaves out included. It is used up when it is 0 or less.
      internal mutating func next(_ budget: inout Int) throws(JournalError) -> Entry? {
        while budget > 0 {
          while let record = try nextRecord() {
            budget -= 1
            // Also for records that the filter leaves out.
            if let time = clock?.steadyTime(record.time, batches[batch]) { steadyTime = time }
            if filter.admits(record) { return Entry(position: position, record: record) }
            if budget <= 0 { return nil }
          }
          guard try readPiece() else { return nil }
          // The decoder passes over records that the schema leaves out. Reading a piece takes as
          // long as decoding some hundred records.
          budget -= 256
        }
        return nil
      }

      private mutating func readPiece() throws(JournalError) -> Bool {
        guard filter.positions.contains(nextPosition),
          let piece = try reader.read(from: nextPosition)
        else { return false }
        nextPosition = piece.end
        decoder = WireDecoder(
          joining: [piece.schemas, piece.records], schema: schema, methods: filter.methods)
        before = piece.first - 1
        batches = piece.batches
        batch = 0
        return true
      }

      /// The position of the piece's last record that was read.
      private var position: Int { before + decoder.invocationCount }

      /// Returns the next record of the piece, and goes to its batch; nil behind the last one.
      private mutating func nextRecord() throws(JournalError) -> WireRecord? {
        do throws(WireError) {
          guard let record = try decoder.next() else { return nil }
          while batch < batches.count - 1 && position >= batches[batch].end { batch += 1 }
          return record
        } catch {
          throw failure(error, at: position + 1)
        }
      }

      private func failure(_ error: WireError, at position: Int) -> JournalError {
        switch error.code {
        case .schemaMismatch, .unknownMethod:
          return JournalError(
            .schemaMismatch, reader.path, error.reason, position: position, wireError: error)
        default:
          return JournalError(
            .damaged, reader.path,
            "the record is damaged: \(error.reason). To continue after it, read from position "
              + "\(position + 1), or from \(batches.first { position < $0.end }?.end ?? nextPosition) "
              + "if that fails", position: position, wireError: error)
        }
      }
    }
  }
#endif

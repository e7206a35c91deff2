// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import ForwardingWire

  /// Reads the batches of a journal. All of their contents are hostile.
  internal struct BatchReader {
    private let tables: JournalTables
    private let filter: Journal.Filter
    private var schemas: [UInt32: [UInt8]] = [:]

    /// Records of consecutive positions, and the schemas that they need.
    internal struct Piece {
      /// The schema records, one after the other.
      var schemas: [UInt8] = []
      var records: [UInt8] = []
      /// The position of the first record.
      var first = 0
      /// The position to read from after this piece.
      var end = 0
      /// The batches that the records lie in.
      var batches: [BatchHeader] = []
    }

    /// How many bytes of records are read at a time.
    private static let size = 1 << 17
    /// How many batches without a wanted time are passed over at a time.
    private static let skipLimit = 64

    internal init(_ tables: JournalTables, _ filter: Journal.Filter) {
      self.tables = tables
      self.filter = filter
    }

    internal var path: String { tables.path }

    /// Reads records from a position on.
    ///
    /// - Returns: nil if no record has one of the filter's positions and times. A piece without
    ///   records if many batches have been passed over: read on from its end.
    internal mutating func read(from position: Int) throws(JournalError) -> Piece? {
      let tables = tables
      return try tables.reading { () throws(JournalError) in try readNow(from: position) }
    }

    private mutating func readNow(from position: Int) throws(JournalError) -> Piece? {
      let start = try tables.firstPosition(ofBatchAt: position) ?? position
      let later = try tables.firstPosition(ofBatchAfter: filter.positions.upperBound)
      let rows = try tables.batches(from: start, through: filter.positions.upperBound)
      defer { rows.end() }
      var records: [UInt8] = []
      var used: Set<UInt32> = []
      var piece = Piece()
      // The position after the last batch.
      var next: Int?
      var skipped = 0
      while records.count < Self.size {
        let kept = (records: records.count, schemas: used)
        do throws(JournalError) {
          guard let batch = try rows.next() else {
            try checkEnd(next ?? max(position, 1), later)
            break
          }
          try check(batch, after: next, from: max(position, 1))
          next = batch.end
          if batch.end <= position { continue }
          guard batch.overlaps(filter.times) else {
            // A piece has consecutive positions.
            guard piece.batches.isEmpty else { break }
            skipped += 1
            if skipped < Self.skipLimit { continue }
            piece.end = batch.end
            break
          }
          let first = max(batch.first, position)
          let last = min(batch.end - 1, filter.positions.upperBound)
          guard first <= last else { break }
          let fault = unsafe Self.copy(rows.records, batch, first...last, to: &records, &used)
          if let fault { throw damaged(batch.first, fault) }
          if piece.batches.isEmpty { piece.first = first }
          piece.batches.append(batch)
        } catch {
          // The batches before a damaged one are read first. The next piece begins with it.
          if piece.batches.isEmpty { throw error }
          records.removeLast(records.count - kept.records)
          used = kept.schemas
          break
        }
      }
      guard let last = piece.batches.last else { return piece.end > 0 ? piece : nil }
      piece.end = last.end
      piece.schemas = try bytes(of: used)
      piece.records = records
      return piece
    }

    /// Checks that no wanted position is missing where the rows end.
    ///
    /// - Parameters:
    ///   - next: the first position that was not found.
    ///   - later: the first position of a batch that the filter leaves out.
    private func checkEnd(_ next: Int, _ later: Int?) throws(JournalError) {
      guard let later, next <= filter.positions.upperBound else { return }
      throw damaged(next, "the records up to position \(later - 1) are missing")
    }

    /// Checks that a batch follows the one before without a gap.
    ///
    /// - Parameters:
    ///   - next: the position after the batch before; nil for the first batch.
    ///   - position: the first position that is read.
    private func check(
      _ batch: BatchHeader, after next: Int?, from position: Int
    ) throws(JournalError) {
      let expected = max(next ?? 1, position)
      guard (1..<Int.max / 2).contains(batch.first), (1...Int.max / 2).contains(batch.count) else {
        throw damaged(
          expected, "a batch has \(batch.count) records from position \(batch.first) on")
      }
      if batch.first > next ?? position {
        throw damaged(expected, "the records up to position \(batch.first - 1) are missing")
      }
      if let next, batch.first < next { throw damaged(expected, "positions overlap") }
    }

    /// Copies those records of a batch that have some positions.
    ///
    /// Only the lengths of the records are checked here. The decoder checks everything else.
    ///
    /// - Returns: the batch's fault, or nil if the batch is sound.
    @unsafe private static func copy(
      _ bytes: UnsafeRawBufferPointer, _ batch: BatchHeader, _ positions: ClosedRange<Int>,
      to records: inout [UInt8], _ schemas: inout Set<UInt32>
    ) -> String? {
      let wanted = positions.lowerBound - batch.first...positions.upperBound - batch.first
      let found = unsafe RecordBytes.find(wanted, in: bytes, &schemas)
      let position = batch.first + found.count
      // If a wanted record is damaged, the bytes behind it cannot be split into records. The decoder
      // names it.
      if !found.isWhole && position < positions.lowerBound {
        return "record \(position) has no length"
      }
      if found.isWhole && position <= positions.upperBound {
        return "the batch has \(found.count) records, expected \(batch.count)"
      }
      // One allocation for most pieces, since most batches are that long.
      if records.isEmpty { records.reserveCapacity(Self.size + found.range.count) }
      unsafe records.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[found.range]))
      return nil
    }

    /// Returns the schema records with some identifiers, one after the other.
    private mutating func bytes(of identifiers: Set<UInt32>) throws(JournalError) -> [UInt8] {
      var bytes: [UInt8] = []
      for identifier in identifiers.sorted() {
        if schemas[identifier] == nil { schemas[identifier] = try tables.schema(identifier) }
        // The decoder reports an identifier without a schema.
        bytes += schemas[identifier] ?? []
      }
      return bytes
    }

    private func damaged(_ position: Int, _ reason: String) -> JournalError {
      let next = try? tables.firstPosition(ofBatchAfter: position)
      let sentence = next.map { ". To continue after it, read from position \($0)" } ?? ""
      return JournalError(
        .damaged, path, "the file is damaged: \(reason)\(sentence)", position: position)
    }
  }
#endif

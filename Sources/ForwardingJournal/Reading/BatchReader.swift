// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import ForwardingWire

  /// Reads the rows of a journal. All of their contents are hostile.
  internal struct BatchReader {
    private let database: Database
    private let filter: Journal.Filter
    private var schemas: [UInt32: [UInt8]] = [:]
    private var statement: Statement?

    /// A row of the journal, or the part of it that is read.
    internal struct Batch {
      /// The position behind the last record.
      var end: Int
      var session: Int
      /// When the writer took it, on the steady clock of its session.
      var taken: Int
    }

    /// Records of consecutive positions, with the schemas that they need before them.
    internal struct Piece {
      var bytes: [UInt8] = []
      var first = 0
      /// The position to read from after this piece.
      var end = 0
      var batches: [Batch] = []
    }

    /// How many bytes of records are read at a time.
    private static let size = 1 << 16

    internal init(_ database: Database, _ filter: Journal.Filter) {
      self.database = database
      self.filter = filter
    }

    internal var path: String { database.path }

    /// Reads records from a position on.
    ///
    /// - Returns: nil if the filter's positions and times have no more.
    internal mutating func read(from position: Int) throws(JournalError) -> Piece? {
      let statement = try prepared()
      // The row that the position lies in begins at it or before.
      let row =
        try database.number(
          "SELECT max(first) FROM batches WHERE first <= \(position)") ?? position
      statement.bind(
        row, filter.positions.upperBound, Int(filter.times.lowerBound),
        Int(filter.times.upperBound))
      // Ends the transaction, so that the writer can shorten its log.
      defer { statement.reset() }
      var records: [UInt8] = []
      var used: Set<UInt32> = []
      var piece = Piece()
      while records.count < Self.size {
        let kept = (records: records.count, schemas: used)
        do throws(JournalError) {
          guard
            let batch = try nextRow(of: statement, from: position, &piece, &records, &used)
          else { break }
          if let batch { piece.batches.append(batch) }
        } catch {
          // The rows before a damaged one are read first. The next piece begins with it.
          if piece.batches.isEmpty { throw error }
          records.removeLast(records.count - kept.records)
          used = kept.schemas
          break
        }
      }
      guard !piece.batches.isEmpty else { return nil }
      piece.bytes = try bytes(of: used) + records
      return piece
    }

    /// Reads the next row.
    ///
    /// - Returns: nil at the end of the piece. The value in it is nil for a row that ends
    ///   before the position.
    private func nextRow(
      of statement: Statement, from position: Int, _ piece: inout Piece, _ records: inout [UInt8],
      _ used: inout Set<UInt32>
    ) throws(JournalError) -> Batch?? {
      guard try statement.step() else { return nil }
      let (first, count) = (statement.integer(0), statement.integer(1))
      guard first > 0, (1...Int.max / 2).contains(count), first < Int.max / 2 else {
        throw damaged(first, "the row has \(count) records")
      }
      if first + count <= position { return .some(nil) }
      let start = piece.batches.isEmpty ? max(first, position) : piece.end
      if !piece.batches.isEmpty && first != piece.end {
        // Rows that the filter leaves out lie between.
        guard first > piece.end else { throw damaged(first, "positions overlap") }
        return nil
      }
      let last = min(first + count - 1, filter.positions.upperBound)
      guard max(first, position) <= last else { return nil }
      let fault = unsafe Self.copy(
        statement.bytes(4), first, count, max(first, position)...last, to: &records, &used)
      if let fault { throw damaged(first, fault) }
      if piece.batches.isEmpty { piece.first = start }
      piece.end = first + count
      return Batch(end: piece.end, session: statement.integer(2), taken: statement.integer(3))
    }

    private mutating func prepared() throws(JournalError) -> Statement {
      if let statement { return statement }
      let made = try database.prepare(
        """
        SELECT first, count, session, elapsed, records FROM batches
        WHERE first >= ?1 AND first <= ?2 AND latest >= ?3 AND earliest <= ?4 ORDER BY first
        """)
      statement = made
      return made
    }

    /// Copies the records of a row that lie at some positions.
    ///
    /// Only lengths are read here. What is wrong with a record, the decoder says.
    ///
    /// - Returns: what is wrong with the row.
    @unsafe private static func copy(
      _ bytes: UnsafeRawBufferPointer, _ first: Int, _ count: Int, _ positions: ClosedRange<Int>,
      to records: inout [UInt8], _ schemas: inout Set<UInt32>
    ) -> String? {
      var (start, position) = (0, first)
      var schema: UInt32?
      let size = bytes.count
      var (from, through) = (size, size)
      while start < size {
        if position == positions.lowerBound { from = start }
        if position > positions.upperBound {
          through = start
          break
        }
        // SAFETY: the range is checked before it is read.
        let header = unsafe RecordBytes.header(bytes, at: start)
        guard let header else {
          // From here on there is no telling where records begin.
          if position < positions.lowerBound { return "record \(position) has no length" }
          position = first + count
          break
        }
        // Consecutive records mostly have one schema.
        if position >= positions.lowerBound && header.schema != schema {
          schemas.insert(header.schema)
          schema = header.schema
        }
        start += header.length
        position += 1
      }
      if position < min(first + count, positions.upperBound + 1) {
        return "the row has \(position - first) records, expected \(count)"
      }
      // One allocation for most pieces, since rows have that many bytes, too.
      if records.isEmpty { records.reserveCapacity(Self.size + through - from) }
      unsafe records.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[from..<through]))
      return nil
    }

    /// The schema records with some identifiers.
    private mutating func bytes(of identifiers: Set<UInt32>) throws(JournalError) -> [UInt8] {
      var bytes: [UInt8] = []
      for identifier in identifiers.sorted() {
        if schemas[identifier] == nil { schemas[identifier] = try database.schema(identifier) }
        // An identifier that is not there is reported by the decoder.
        bytes += schemas[identifier] ?? []
      }
      return bytes
    }

    private func damaged(_ position: Int, _ reason: String) -> JournalError {
      let next = try? database.number("SELECT min(first) FROM batches WHERE first > \(position)")
      let sentence = next.map { ". To go on behind it, read from position \($0)" } ?? ""
      return JournalError(
        .damaged, path, "the file is damaged: \(reason)\(sentence)", position: position)
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  /// The columns of a batch, without its records. `JournalTables` describes them.
  internal struct BatchHeader {
    /// The position of the first record.
    internal var first: Int
    internal var count: Int
    /// The range of the records' times, in nanoseconds since 1970 in UTC.
    internal var earliest: Int
    internal var latest: Int
    internal var session: Int
    /// When the writer took the records, in `steadyTime`.
    internal var steadyTime: Int

    /// The position after the last record.
    internal var end: Int { first + count }

    /// Returns whether a record of the batch may have one of some times.
    internal func overlaps(_ times: ClosedRange<Int64>) -> Bool {
      latest >= times.lowerBound && earliest <= times.upperBound
    }
  }

  /// The batches that a query has selected, one after the other. All values are hostile.
  internal struct BatchRows {
    private let statement: Statement

    internal init(_ statement: Statement) { self.statement = statement }

    /// Goes to the next batch, and returns its header; nil after the last one.
    internal func next() throws(JournalError) -> BatchHeader? {
      guard try statement.step() else { return nil }
      return BatchHeader(
        first: statement.integer(0), count: statement.integer(1), earliest: statement.integer(2),
        latest: statement.integer(3), session: statement.integer(4),
        steadyTime: statement.integer(5))
    }

    /// The records of the batch, valid until `next` or `end`.
    @unsafe internal var records: UnsafeRawBufferPointer { unsafe statement.bytes(6) }

    /// Ends the read transaction, so that the writer can shorten its log.
    internal func end() { statement.reset() }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  /// The times of recorded calls on a clock that nobody sets.
  ///
  /// Records have the time of day, which may be set while calls are recorded. The rows
  /// that they lie in have times of a steady clock. A call of a row was recorded after the
  /// writer had taken the row before, and before it took this one. Differences of the time
  /// of day count only inside these bounds.
  internal struct RecordedClock {
    private var session: Int?
    /// The result at the session's first row, and when that was taken.
    private var (start, startTaken) = (0, 0)
    /// When the row of the last record was taken, and the one before.
    private var taken = 0
    private var lowerBound = 0
    /// The last result, and the time of day of the last record.
    private var last = 0
    private var lastTime: Int64 = 0

    /// Returns the time of a record in nanoseconds, which is never less than that of the
    /// record before. Only differences mean something.
    internal mutating func elapsed(_ time: Int64, _ batch: BatchReader.Batch) -> Int {
      let passed = session == nil ? 0 : max(0, Int(Self.difference(time, lastTime)))
      let guess = Self.sum(last, passed)
      lastTime = time
      if batch.session != session {
        // No steady clock connects two sessions: another process, or another start of the
        // system.
        (session, start, startTaken) = (batch.session, guess, batch.taken)
        (taken, lowerBound, last) = (batch.taken, guess, guess)
        return guess
      }
      if batch.taken != taken {
        lowerBound = upperBound(taken)
        taken = batch.taken
      }
      last = max(last, min(max(guess, lowerBound), upperBound(taken)))
      return last
    }

    private func upperBound(_ taken: Int) -> Int {
      Self.sum(start, max(0, Int(Self.difference(Int64(taken), Int64(startTaken)))))
    }

    // The numbers of a forged file may be any.

    private static func difference(_ left: Int64, _ right: Int64) -> Int64 {
      let (difference, overflow) = left.subtractingReportingOverflow(right)
      return overflow ? 0 : difference
    }

    private static func sum(_ left: Int, _ right: Int) -> Int {
      let (sum, overflow) = left.addingReportingOverflow(right)
      return overflow ? left : sum
    }
  }
#endif

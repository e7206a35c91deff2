// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  /// Converts the times of recorded calls, which are times of day, to a clock that is never
  /// set.
  ///
  /// The time of day may be set while calls are recorded. But each batch has the time of a
  /// steady clock at which the writer took its records. A call was recorded after the
  /// writer had taken the batch before, and before it took this one. Within these bounds, the
  /// differences of the times of day count.
  internal struct RecordedClock {
    private var session: Int?
    /// The result for the session's first batch, and the steady time of that batch.
    private var (start, startTaken) = (0, 0)
    /// The steady time of the last record's batch.
    private var taken = 0
    /// The result for the moment at which the batch before it was taken.
    private var lowerBound = 0
    /// The last result, and the time of day of the last record.
    private var last = 0
    private var lastTime: Int64 = 0

    /// Returns the time of a record in nanoseconds, which is never less than that of the
    /// record before. Only differences between results have a meaning.
    internal mutating func steadyTime(_ time: Int64, _ batch: BatchHeader) -> Int {
      let passed = session == nil ? 0 : max(0, Int(Self.difference(time, lastTime)))
      let guess = Self.sum(last, passed)
      lastTime = time
      if batch.session != session {
        // The steady clocks of two sessions cannot be compared: they may be of two starts of the
        // system.
        (session, start, startTaken) = (batch.session, guess, batch.steadyTime)
        (taken, lowerBound, last) = (batch.steadyTime, guess, guess)
        return guess
      }
      if batch.steadyTime != taken {
        lowerBound = upperBound(taken)
        taken = batch.steadyTime
      }
      last = max(last, min(max(guess, lowerBound), upperBound(taken)))
      return last
    }

    /// Returns the result for the moment at which a batch of this session was taken.
    private func upperBound(_ taken: Int) -> Int {
      Self.sum(start, max(0, Int(Self.difference(Int64(taken), Int64(startTaken)))))
    }

    // A forged file may have any numbers.

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

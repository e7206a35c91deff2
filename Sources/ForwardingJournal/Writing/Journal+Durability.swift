// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  extension Journal {
    /// When recorded calls become durable.
    ///
    /// | durability | lost if the process is killed | lost if the power fails | what a call waits for |
    /// |---|---|---|---|
    /// | `operatingSystem` | the last 10 milliseconds and the commit under way | what the system has not yet written: usually the last 30 seconds, at most since the last `flush()` or checkpoint | nothing, unless the buffer is full |
    /// | `interval(d)` | the last *d*, and the commit under way | the last *d*, and the commit under way | nothing, unless the buffer is full |
    /// | `everyCall` | nothing | nothing | an `fsync`, which threads share |
    ///
    /// Records are lost at the end of the journal only: if a record is kept, all before it
    /// are, too. The file stays readable.
    @nonexhaustive
    public enum Durability: Sendable, Hashable {
      /// Commits every 10 milliseconds. The operating system decides when the data reach
      /// the disk.
      case operatingSystem
      /// Commits and syncs once in each interval that has calls. A negative interval counts
      /// as 0, and one above an hour as an hour.
      case interval(Duration)
      /// Syncs the record of each call before the call is forwarded.
      case everyCall

      /// The nanoseconds between commits.
      internal var interval: Int {
        switch self {
        case .operatingSystem: 10_000_000
        case .interval(let duration):
          Int(min(max(duration, .zero), .seconds(3600)) / .nanoseconds(1))
        case .everyCall: 0
        }
      }
    }
  }
#endif

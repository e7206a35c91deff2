// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  extension Journal {
    /// When recorded calls become durable.
    ///
    /// | durability | lost if the process is killed | lost if the power fails | what a call waits for |
    /// |---|---|---|---|
    /// | `operatingSystem` | the last 10 milliseconds and the commit under way | what the system has not yet written: usually the last 30 seconds, at most since the last `flush()` or checkpoint | nothing |
    /// | `interval(d)` | the last *d*, and the commit under way | the last *d*, and the commit under way | nothing, unless the buffer is full |
    /// | `everyCall` | nothing | nothing | an `fsync`, which threads share |
    ///
    /// In no case is a record lost that precedes one that is kept, and the file stays whole.
    @nonexhaustive
    public enum Durability: Sendable, Hashable {
      /// Commits every 10 milliseconds. The operating system decides when it writes to
      /// the disk.
      case operatingSystem
      /// Commits and syncs once in each interval in which there are calls.
      case interval(Duration)
      /// A call is forwarded when its record has been synced.
      case everyCall

      /// The nanoseconds between commits.
      internal var interval: Int {
        switch self {
        case .operatingSystem: 10_000_000
        case .interval(let duration):
          // Below 0 or above an hour is as good as these.
          Int(min(max(duration, .zero), .seconds(3600)) / .nanoseconds(1))
        case .everyCall: 0
        }
      }
    }
  }
#endif

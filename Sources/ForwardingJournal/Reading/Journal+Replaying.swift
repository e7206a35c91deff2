// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  public import Forwarding
  public import ForwardingWire

  extension Journal {
    /// Forwards recorded calls to the subscribers of a proxy, at their original pace,
    /// faster or slower, or at once.
    ///
    /// ```swift
    /// try await journal.replay(to: proxy, schema)                          // as it was
    /// try await journal.replay(to: proxy, schema, pace: 10)                // ten times as fast
    /// try await journal.replay(to: proxy, schema, Journal.Filter(positions: 100...200), pace: .infinity)
    /// ```
    ///
    /// Subscribers are called in the caller's isolation: on its actor, if it has one. To
    /// stop, cancel the task: no further call is forwarded. At any pace, the replay yields
    /// once in about a thousand calls, those that the filter leaves out included. A function
    /// that is not `async` can forward calls at once with ``entries(_:_:)``.
    ///
    /// The pace does not change if the time of day was set during the recording. Only the
    /// pause between two openings of the journal follows the time of day. Pauses of less
    /// than some milliseconds are not reproduced. If a subscriber is slow, the next calls
    /// are forwarded without a pause until the replay has caught up.
    ///
    /// The replay ends after the entry that was the last one when the replay began. If this
    /// journal records the proxy, the calls are recorded again.
    ///
    /// - Parameters:
    ///   - proxy: the proxy.
    ///   - schema: the proxy's methods. They must fit the recorded methods.
    ///   - filter: which entries.
    ///   - pace: 1 for the original pace, 2 for twice as fast, `.infinity` for no pauses.
    /// - Returns: the number of forwarded calls.
    /// - Throws: `CancellationError` if the task is cancelled. `JournalError`:
    ///   `schemaMismatch`, before the first call that does not fit; `notForwarded` with
    ///   the proxy's error; `invalidArgument` if the pace is not above 0; `damaged`, and
    ///   as ``entries(_:_:)``. The error's `position` is that of the call; those before
    ///   it have been forwarded.
    @discardableResult
    nonisolated(nonsending) public func replay(
      to proxy: DynamicProxy, _ schema: WireSchema, _ filter: Filter = Filter(), pace: Double = 1
    ) async throws -> Int {
      try await replay(schema, filter, pace: pace) { entry in
        do throws(WireError) {
          try entry.record.forward(to: proxy)
        } catch {
          throw JournalError(
            .notForwarded, path, error.description, position: entry.position, wireError: error)
        }
      }
    }

    /// Calls a closure with each recorded call, at the pace at which they were recorded,
    /// faster or slower, or at once.
    ///
    /// ```swift
    /// try await journal.replay(pace: 10) { entry in print(entry) }
    /// ```
    ///
    /// - Parameters:
    ///   - schema: as for ``entries(_:_:)``. Nil to show entries only.
    ///   - filter: which entries.
    ///   - pace: as for ``replay(to:_:_:pace:)``.
    ///   - body: called in the caller's isolation. If it throws, the replay ends.
    /// - Returns: the number of entries.
    /// - Throws: what `body` throws, and as ``replay(to:_:_:pace:)``.
    @discardableResult
    nonisolated(nonsending) public func replay(
      _ schema: WireSchema? = nil, _ filter: Filter = Filter(), pace: Double = 1,
      _ body: (Entry) throws -> Void
    ) async throws -> Int {
      guard pace > 0 else {
        throw JournalError(.invalidArgument, path, "the pace is \(pace), expected one above 0")
      }
      var filter = filter
      let last = try lastPosition
      guard filter.positions.lowerBound <= last else { return 0 }
      filter.positions = filter.positions.clamped(to: filter.positions.lowerBound...last)
      var entries = try entries(schema, filter, isTimed: pace.isFinite)
      var pacer = Pacer(pace)
      var count = 0
      while true {
        // Lets other tasks use the actor.
        await Task.yield()
        try Task.checkCancellation()
        var budget = 1024
        if pace.isFinite {
          while let entry = try entries.next(&budget) {
            try await pacer.wait(for: entries.steadyTime)
            try Task.checkCancellation()
            try body(entry)
            count += 1
          }
        } else {
          // The task is found and retained once, which takes a fifth of a replayed call.
          try unsafe withUnsafeCurrentTask { task in
            // An asynchronous function runs in a task.
            guard let task = unsafe task else { return }
            while let entry = try entries.next(&budget) {
              // A subscriber may cancel the task.
              if unsafe task.isCancelled { throw CancellationError() }
              try body(entry)
              count += 1
            }
          }
        }
        // Otherwise `next` has stopped for the budget, not behind the last entry.
        if budget > 0 { return count }
      }
    }
  }

  /// Waits until the calls of a journal are due.
  internal struct Pacer {
    private let pace: Double
    private let start = ContinuousClock.now
    /// The recorded time of the first call.
    private var first: Int?

    internal init(_ pace: Double) { self.pace = pace }

    /// Waits until a call is due.
    ///
    /// - Throws: `CancellationError`.
    nonisolated(nonsending) internal mutating func wait(for steadyTime: Int) async throws {
      let passed = steadyTime - (first ?? steadyTime)
      first = first ?? steadyTime
      // A forged time must not overflow the clock, so no pause is longer than a century.
      let nanoseconds = min(Double(passed) / pace, 3.2e18)
      let due = start.advanced(by: .nanoseconds(Int64(nanoseconds)))
      if ContinuousClock.now < due { try await Task.sleep(until: due, clock: .continuous) }
    }
  }
#endif

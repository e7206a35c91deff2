// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Decides whether an object that has lost its link connects again, and how long it waits before.
internal struct Backoff {
  private let lostLogWait: Duration
  private var nextPause = Timing.firstPause
  /// When the log was first found lost, if every attempt since then has found it so.
  private var loss: SuspendingClock.Instant?

  /// - Parameter lostLogWait: for how long attempts go on if the log is lost.
  internal init(lostLogWait: Duration = Timing.lostLog) { self.lostLogWait = lostLogWait }

  /// Makes the next pause the shortest one. Called when a link has done its work.
  internal mutating func reset() { nextPause = Timing.firstPause }

  /// Forgets that the log was lost.
  internal mutating func logFound() { loss = nil }

  /// Returns how long to wait before the next attempt.
  ///
  /// - Throws: the error, if no attempt can help.
  internal mutating func pause(after error: RemoteError) throws(RemoteError) -> Duration {
    if error.code == .logLost {
      let since = loss ?? .now
      loss = since
      if since.duration(to: .now) > lostLogWait { throw error }
    } else {
      loss = nil
      if !error.isTransient { throw error }
    }
    defer { nextPause = min(nextPause * 2, Timing.longestPause) }
    return nextPause
  }
}

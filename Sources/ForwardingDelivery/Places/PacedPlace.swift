// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

/// Delays the drains of another place by a clock.
internal struct PacedPlace<Source: Clock>: MailPlace where Source.Instant: Sendable {
  internal let place: any MailPlace
  internal let interval: Source.Duration
  internal let clock: Source
  /// Whether a drain waits until no message has come for an interval.
  internal let waitsForQuiet: Bool

  internal func makeAttachment(for driver: MailboxDriver) -> AnyObject? {
    place.makeAttachment(for: driver)
  }

  internal func start(_ driver: MailboxDriver) -> Bool {
    // The rest belongs to an interval that has ended.
    if driver.isInterrupted { return place.start(driver) }
    // Detached, or it would keep the task-local values of this thread.
    Task.detached {
      var seen = driver.postCount
      while true {
        // The task is never cancelled, so only the clock could throw.
        try? await clock.sleep(until: clock.now.advanced(by: interval), tolerance: nil)
        let count = driver.postCount
        if !waitsForQuiet || count == seen { break }
        seen = count
      }
      if !place.start(driver) { driver.abandon() }
    }
    return true
  }

  internal var isCurrent: Bool { place.isCurrent }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

/// When the messages of a subscription are delivered.
///
/// ```swift
/// try proxy.subscribe(
///   model, on: MainActor.shared, to: typed, overflow: .latest,
///   pace: .debounced(for: .milliseconds(300))
/// ) { model, text in model.search(text) }
/// ```
///
/// A pace delays messages and drops none. Combine it with an overflow rule: `.latest`
/// delivers only the last message of each interval. An interval that is not positive
/// delays nothing.
///
/// A subscription with a pace has a mailbox of its own, so its messages keep their
/// order among themselves, but not with those of other subscriptions.
public struct Pace: Sendable {
  /// Makes the place of a mailbox from that of the executor; nil for the mailbox that
  /// the executor's subscriptions share.
  private let pacing: (@Sendable (any MailPlace) -> any MailPlace)?

  /// Delivers as soon as the executor is free.
  public static var immediate: Pace { Pace(pacing: nil) }

  /// Delivers all waiting messages at the end of an interval. The first message starts
  /// the interval. Messages that come during the deliveries wait for the next interval,
  /// which starts when the deliveries end.
  public static func throttled<Source: Clock>(
    every interval: Source.Duration, clock: Source = ContinuousClock()
  ) -> Pace where Source.Instant: Sendable, Source.Duration: Sendable {
    pacing(by: interval, clock, waitsForQuiet: false)
  }

  /// Delivers all waiting messages once none has come for an interval. While messages
  /// keep coming, nothing is delivered. Messages that come during the deliveries wait
  /// for an interval without messages, too.
  public static func debounced<Source: Clock>(
    for interval: Source.Duration, clock: Source = ContinuousClock()
  ) -> Pace where Source.Instant: Sendable, Source.Duration: Sendable {
    pacing(by: interval, clock, waitsForQuiet: true)
  }

  private static func pacing<Source: Clock>(
    by interval: Source.Duration, _ clock: Source, waitsForQuiet: Bool
  ) -> Pace where Source.Instant: Sendable, Source.Duration: Sendable {
    // A longer interval would overflow the instants of Swift's own clocks, which trap.
    let longest = Duration.seconds(Int64.max / 4)
    let interval =
      (interval as? Duration).flatMap { min($0, longest) as? Source.Duration } ?? interval
    return Pace {
      PacedPlace(place: $0, interval: interval, clock: clock, waitsForQuiet: waitsForQuiet)
    }
  }

  internal var isImmediate: Bool { pacing == nil }

  /// The mailbox of a subscription.
  ///
  /// - Returns: the mailbox, and whether it is the subscription's own.
  internal func mailbox(
    _ shared: Mailbox
  ) throws(ForwardingError) -> (mailbox: Mailbox, ownsMailbox: Bool) {
    guard let pacing, let place = shared.place else { return (shared, false) }
    return (try Mailbox(pacing(place), isPaced: true), true)
  }
}

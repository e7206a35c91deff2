// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CUV
import ExampleSupport
import Forwarding
import SharedUV
import Synchronization

/// Observers of a timer that come and go on the main thread, while the loop's thread calls them.
enum Timers {
  /// Counts ticks.
  private final class TickCounter: DynamicProxy.Subscriber {
    let loop: EventLoop
    let count = Atomic(0)

    init(_ loop: EventLoop) { self.loop = loop }

    static let functionTable = FunctionTable(for: TickCounter.self) {
      $0.on(UVKey.ticked) { counter in
        check(counter.loop.isCurrent, "a tick on another thread")
        counter.count.add(1, ordering: .relaxed)
      }
    }

    var ticks: Int { count.load(ordering: .relaxed) }
  }

  static func checkAll(_ loop: EventLoop, rounds: Int) throws {
    let proxy = try DynamicProxy("Timer") { $0.optional(UVKey.ticked) }
    let callback = try proxy.functionPointer(for: UVKey.ticked, context: .first, owner: proxy)
    let timer = loop.perform { loop in
      let timer = Handle(loop.allocate(uv_timer_t.self))
      EventLoop.require(uv_timer_init(loop.loop, timer.pointer), "making a timer")
      EventLoop.require(
        uv_timer_start(timer.pointer, callback.unsafeCast(), 1, 1), "starting a timer")
      return timer
    }

    let clock = TickCounter(loop)
    try proxy.subscribe(clock)
    for round in 0..<rounds {
      var guests = (0..<4).map { _ in TickCounter(loop) }
      let subscriptions = try guests.map { try proxy.subscribe($0) }
      wait(until: "all observers have seen a tick") { guests.allSatisfy { $0.ticks > 0 } }

      // Two leave by cancelling, two by dying.
      for subscription in subscriptions[..<2] {
        check(subscription.cancel(), "a subscription was cancelled already")
      }
      let cancelled = Array(guests[..<2])
      weak let dead = guests[3]
      guests = []
      // A tick that had begun may still call those that have left. The second one after it cannot.
      waitForTicks(clock)
      let counts = cancelled.map(\.ticks)
      waitForTicks(clock)
      check(cancelled.map(\.ticks), is: counts, "the ticks of cancelled observers")
      check(dead == nil, "an observer is alive in round \(round)")
      check(proxy.count, is: 1, "the observers after round \(round)")
    }

    loop.perform { _ in
      uv_timer_stop(timer.pointer)
      uv_close(timer.handle, nil)
    }
    let ticks = clock.ticks
    print("timer: \(rounds * 4) observers joined and left during \(ticks) ticks")
    withExtendedLifetime((proxy, clock)) {}
  }

  private static func waitForTicks(_ clock: TickCounter) {
    let begin = clock.ticks
    wait(until: "the timer ticks") { clock.ticks >= begin + 2 }
  }
}

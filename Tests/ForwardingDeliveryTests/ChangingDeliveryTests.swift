// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Forwarding
import ForwardingDelivery
import Testing

/// Queued subscriptions inside of `DynamicProxy.change(_:)`.
@Suite struct ChangingDeliveryTests {
  private struct Failure: Error {}

  @Test func `A queued subscription is swapped by a change`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "swap")
    let log = Log()
    let old = try proxy.subscribe(log, on: queue, to: Feed.number) { log, number in
      log.numbers.append(number)
    }
    let new = try proxy.change { inner in
      #expect(old.cancel())
      let new = try inner.subscribe(log, on: queue, to: Feed.number) { log, number in
        log.numbers.append(-number)
      }
      // The old subscription still gets this one.
      try inner.send(Feed.number, 1)
      wait(for: queue)
      return new
    }
    try proxy.send(Feed.number, 2)
    await new.drained()
    #expect(log.numbers == [1, -2])
  }

  /// Waits for what is on a queue.
  private func wait(for queue: DispatchQueue) { queue.sync {} }

  @Test func `A queued subscription that a failed change has cancelled goes on`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "failed")
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: Feed.number) { log, number in
      log.numbers.append(number)
    }
    #expect(throws: Failure.self) {
      try proxy.change { _ in
        #expect(subscription.cancel())
        throw Failure()
      }
    }
    try proxy.send(Feed.number, 1)
    await subscription.drained()
    #expect(log.numbers == [1])
    #expect(subscription.cancel())
    try proxy.send(Feed.number, 2)
    await subscription.drained()
    #expect(log.numbers == [1])
  }
}

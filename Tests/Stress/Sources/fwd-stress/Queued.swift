// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Dispatch
internal import Forwarding
internal import ForwardingDelivery
internal import Synchronization

/// Subscribers whose deliveries are made later, on queues and actors.
final class Queued: Sendable {
  private static let take = Method("take:from:text:", ((Int64, Int64, String) -> Void).self)
  private static let slotCount = 12

  private let proxy: DynamicProxy
  private let queues: [DispatchQueue]
  /// Those that stay, get every message.
  private let steady: [Steady]
  private let slots: [PosixLock<Member?>]
  /// The last number of each worker, and of all.
  private let numbers: [Counter]
  private let sent = Counter()

  private final class Counter: Sendable {
    let value = Atomic<Int>(0)
  }

  private struct Steady: Sendable {
    let listener: any QueuedListener
    let subscription: DynamicProxy.QueuedSubscription
  }

  private struct Member: Sendable {
    let listener: any QueuedListener
    let subscription: DynamicProxy.QueuedSubscription
    /// Whether the proxy keeps the listener alive.
    var isStrong = false
  }

  init(workers: Int, _ configuration: DynamicProxy.Configuration) throws {
    proxy = try DynamicProxy("Queued", configuration: configuration) { $0.optional(Self.take) }
    queues = [
      DispatchQueue(label: "one"), DispatchQueue(label: "many", attributes: .concurrent),
    ]
    numbers = (0..<workers).map { _ in Counter() }
    slots = (0..<Self.slotCount).map { _ in PosixLock(nil) }
    var steady: [Steady] = []
    for queue in queues {
      let listener = QueueListener(workers, missesNone: true)
      let subscription = try proxy.subscribe(
        listener, on: queue, to: Self.take, overflow: .block(limit: 4096)
      ) { listener, number, worker, text in listener.take(number, worker, text) }
      steady.append(Steady(listener: listener, subscription: subscription))
    }
    self.steady = steady
  }

  /// Sends a message of a worker.
  func send(from worker: Int, isEmpty: Bool) {
    let number = numbers[worker].value.add(1, ordering: .relaxed).newValue
    sent.value.add(1, ordering: .relaxed)
    violations.unfailing("a message") {
      try proxy.send(
        Self.take, Int64(number), Int64(worker), isEmpty ? "" : QueuedText.of(number))
    }
  }

  /// Fills an empty place, or ends who is in it. Gives whether somebody has joined.
  func change(_ random: inout Random) -> Bool {
    let slot = slots[random.below(slots.count)]
    let left = slot.withLock { slot in
      defer { slot = nil }
      return slot
    }
    if let left {
      // Otherwise it dies, with messages queued.
      if left.isStrong || random.isOneOf(2) { left.subscription.cancel() }
      return false
    }
    violations.unfailing("a queued subscription") {
      let made = try subscribe(&random)
      // Another thread may have filled it in the meantime.
      let other = slot.withLock { slot in
        defer { slot = made }
        return slot
      }
      other?.subscription.cancel()
    }
    return true
  }

  private func subscribe(_ random: inout Random) throws -> Member {
    let rules: [DynamicProxy.Overflow] = [
      .unbounded, .latest, .dropOldest(limit: 8), .dropNewest(limit: 8),
    ]
    let rule = rules[random.below(rules.count)]
    let times = random.isOneOf(4) ? random.below(50) + 1 : nil
    if random.isOneOf(2) {
      let listener = ActorListener(numbers.count)
      let subscription = try proxy.subscribe(
        actor: listener, to: Self.take, times: times, overflow: rule
      ) { (listener: isolated ActorListener, number: Int64, worker: Int64, text: String) in
        listener.take(number, worker, text)
      }
      return Member(listener: listener, subscription: subscription)
    }
    let listener = QueueListener(numbers.count, missesNone: false)
    let isStrong = random.isOneOf(3)
    let subscription = try proxy.subscribe(
      listener, on: queues[random.below(queues.count)], to: Self.take,
      lifetime: isStrong ? .strong : .weak, times: times, overflow: rule
    ) { listener, number, worker, text in listener.take(number, worker, text) }
    if random.isOneOf(3) {
      // Its messages are dropped.
      subscription.cancel()
    }
    return Member(listener: listener, subscription: subscription, isStrong: isStrong)
  }

  /// Ends what is left, and checks that those that have stayed got all.
  func end() {
    for slot in slots { slot.withLock { $0 = nil } }
    for member in steady {
      let done = DispatchSemaphore(value: 0)
      Task.detached {
        await member.subscription.drained()
        done.signal()
      }
      done.wait()
      let got = (member.listener as? QueueListener)?.count ?? 0
      let all = sent.value.load(ordering: .relaxed)
      violations.check(got == all, "a queued subscriber got \(got) of \(all) messages")
      violations.check(member.subscription.droppedCount == 0, "messages were dropped")
    }
  }
}

/// The text that goes with a number.
private enum QueuedText {
  static func of(_ number: Int) -> String { String(repeating: "x", count: number % 70) }
}

private protocol QueuedListener: AnyObject, Sendable {}

/// What has come from each worker.
private struct Received {
  private var last: [Int64]
  private let missesNone: Bool
  private(set) var count = 0

  init(_ workers: Int, missesNone: Bool) {
    last = Array(repeating: 0, count: workers)
    self.missesNone = missesNone
  }

  mutating func take(_ number: Int64, _ worker: Int64, _ text: String) {
    let expected = last[Int(worker)] + 1
    violations.check(
      missesNone ? number == expected : number >= expected,
      "message \(number) of worker \(worker) came where \(expected) was due")
    violations.check(
      text.isEmpty || text.utf8.count == number % 70, "message \(number) has another text")
    last[Int(worker)] = number
    count += 1
  }
}

/// Used on one queue, one delivery at a time.
private final class QueueListener: QueuedListener, @unchecked Sendable {
  private var received: Received
  private let isBusy = Atomic(false)

  init(_ workers: Int, missesNone: Bool) { received = Received(workers, missesNone: missesNone) }

  var count: Int { received.count }

  func take(_ number: Int64, _ worker: Int64, _ text: String) {
    violations.check(
      !isBusy.exchange(true, ordering: .relaxed), "two deliveries of one queue at once")
    received.take(number, worker, text)
    isBusy.store(false, ordering: .relaxed)
  }
}

private actor ActorListener: QueuedListener {
  private var received: Received

  init(_ workers: Int) { received = Received(workers, missesNone: false) }

  func take(_ number: Int64, _ worker: Int64, _ text: String) {
    preconditionIsolated()
    received.take(number, worker, text)
  }
}

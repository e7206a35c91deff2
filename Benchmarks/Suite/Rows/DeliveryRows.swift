// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import CFwdMeasure
internal import Dispatch
public import Forwarding
internal import ForwardingDelivery
public import FwdBenchDriver
internal import Synchronization

/// Deliveries on actors and queues, beside what a program writes without them. CPU
/// time of the whole process, from the first message until the last is delivered.
public enum DeliveryRows {
  /// The group's name.
  public static let name = "delivery"

  private static let actor = "actor: subscription"
  private static let actorTask = "actor: Task for each message"
  private static let actorStream = "actor: AsyncStream"
  private static let main = "main actor: subscription"
  private static let mainTask = "main actor: Task for each message"
  private static let mainQueue = "main actor: DispatchQueue.main.async"
  /// Peers are compared with this one.
  public static let queue = "queue: subscription"
  private static let queueAsync = "queue: async for each message"
  private static let queuePaced = "queue, one at a time: subscription"
  private static let queueAsyncPaced = "queue, one at a time: async"
  private static let queueFour = "queue, four threads: subscription"
  private static let queueAsyncFour = "queue, four threads: async"
  private static let callerQueue = "caller's time: queue subscription"
  private static let callerDirect = "caller's time: direct delivery"
  private static let numbers = "queue, numbers: subscription"
  private static let mainNumbers = "main actor, numbers: subscription"

  /// The way of OpenCombine, which another program has.
  public static let openCombine = "queue: OpenCombine's receive(on:)"

  /// The rows and goals.
  ///
  /// - Parameter peers: what other libraries do.
  public static func group(peers: @escaping () -> [Row] = { [] }) -> RowGroup {
    RowGroup(
      name: name, comparisons: [Comparison(title: "/ queue.async", way: queueAsync)],
      startsThreads: true, rows: { rows + peers() }, goals: { goals })
  }

  private static var goals: [Goal] {
    func goal(_ title: String, _ way: String, _ bases: [(String, Double, String)]) -> Goal {
      Goal(
        group: name, title: title,
        bounds: bases.map { base, limit, unit in
          Bound(
            quantity: .ratio(of: Row.name(way, nil), to: Row.name(base, nil)), limit: limit,
            unit: unit)
        })
    }
    func allocations(_ title: String, _ way: String) -> Goal {
      Goal(
        group: name, title: title,
        bounds: [
          Bound(
            quantity: .allocations(of: Row.name(way, nil)), limit: 0.01 * Double(burst), unit: "",
            detail: "per \(burst)")
        ])
    }
    return [
      goal(
        "actor, a message", actor,
        [(actorTask, 0.2, "a Task for each"), (actorStream, 0.2, "AsyncStream")]),
      goal(
        "main actor, a message", main,
        [(mainTask, 0.2, "a Task for each"), (mainQueue, 0.2, "DispatchQueue.main.async")]),
      goal("queue, a message", queue, [(queueAsync, 0.35, "queue.async")]),
      Goal(
        group: name, title: "queue, a message",
        bounds: [
          Bound(
            quantity: .ratio(of: Row.name(queue, nil), to: Row.name(openCombine, nil)),
            limit: 0.33, unit: "OpenCombine", measuredBy: "fwd-bench-peers")
        ]),
      goal(
        "queue, one message at a time", queuePaced, [(queueAsyncPaced, 1.1, "queue.async")]),
      goal("queue, four producers", queueFour, [(queueAsyncFour, 1.0, "queue.async")]),
      goal("the caller's time", callerQueue, [(callerDirect, 3, "a direct delivery")]),
      allocations("allocations a message, numbers, queue", numbers),
      allocations("allocations a message, numbers, main actor", mainNumbers),
    ]
  }

  private static var rows: [Row] {
    [
      row(actor) { try ActorLine(.subscription) },
      row(actorTask) { try ActorLine(.task) },
      row(actorStream) { try ActorLine(.stream) },
      row(main) { try MainLine(.subscription) },
      row(mainTask) { try MainLine(.task) },
      row(mainQueue) { try MainLine(.queue) },
      row(queue) { try QueueLine(isQueued: true) },
      row(queueAsync) { try QueueLine(isQueued: false) },
      row(queuePaced, sending: .one) { try QueueLine(isQueued: true) },
      row(queueAsyncPaced, sending: .one) { try QueueLine(isQueued: false) },
      row(queueFour, sending: .fourThreads) { try QueueLine(isQueued: true) },
      row(queueAsyncFour, sending: .fourThreads) { try QueueLine(isQueued: false) },
      row(callerQueue, sending: .callerOnly) { try QueueLine(isQueued: true) },
      row(callerDirect, sending: .callerOnly) { try DirectLine() },
      row(numbers) { try QueueLine(isQueued: true, onlyNumbers: true) },
      row(mainNumbers) { try MainLine(.subscription, onlyNumbers: true) },
    ]
  }

  // MARK: - Measuring

  /// How many messages an iteration sends.
  private static let burst = 1000

  /// How messages are sent.
  enum Sending {
    /// As fast as one thread can.
    case all
    /// The next one when the last has been delivered.
    case one
    case fourThreads
    /// As fast as one thread can; only its time counts.
    case callerOnly
  }

  /// A row for a line of another module: as fast as one thread can send.
  public static func row(
    _ way: String, _ make: @escaping () throws -> any DeliveryLine
  ) -> Row { row(way, sending: .all, make) }

  private static func row(
    _ way: String, sending: Sending = .all, _ make: @escaping () throws -> any DeliveryLine
  ) -> Row {
    let kept = Kept(make)
    // Bursts, so that executors are saturated also if an iteration takes long.
    let burst = sending == .one ? 1 : burst
    return Row(group: name, way: way, deliveries: burst) { iterations in
      orWrong { Sample(measure(try kept.get(), iterations * burst, sending)) }
    }
  }

  private static func measure(
    _ line: any DeliveryLine, _ iterations: Int, _ sending: Sending
  ) -> bench_sample {
    let count = sending == .fourThreads ? iterations * 4 : iterations
    line.sink.begin(count)
    var sample: bench_sample
    switch sending {
    case .callerOnly:
      let start = bench_start()
      for number in 0..<Int64(iterations) { line.send(number) }
      sample = bench_finish(start, 0, 0)
      line.wait()
    case .one:
      let start = bench_start_process()
      for number in 0..<Int64(iterations) {
        line.send(number)
        line.sink.waitForOne()
      }
      sample = bench_finish_process(start, 0, 0)
      line.wait()
    case .all:
      let start = bench_start_process()
      line.sendAll(iterations)
      line.wait()
      sample = bench_finish_process(start, 0, 0)
    case .fourThreads:
      let start = bench_start_process()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for number in 0..<Int64(iterations) { line.send(number) }
      }
      line.wait()
      sample = bench_finish_process(start, 0, 0)
      sample.nanoseconds /= 4
    }
    let each = Int64(iterations) * Int64(iterations - 1) / 2
    sample.sum = UInt64(bitPattern: line.sink.sum)
    sample.expected_sum = UInt64(
      bitPattern: each * Int64(count / max(iterations, 1)) + line.textSum * Int64(count))
    return sample
  }
}

// MARK: - Lines

/// What gets messages.
public final class DeliverySink: @unchecked Sendable {
  // Sendable: one delivery at a time uses it, and the sum is read behind the
  // semaphore.
  public private(set) var sum: Int64 = 0
  private var expected = 0
  private var count = 0
  private let done = DispatchSemaphore(value: 0)
  private let taken = Atomic(0)
  private let finished = Atomic(false)

  public init() {}

  func begin(_ count: Int) {
    (sum, self.count, expected) = (0, 0, count)
    finished.store(count == 0, ordering: .releasing)
    if count == 0 { done.signal() }
  }

  public func take(_ number: Int64, _ text: String) { take(number &+ Int64(text.utf8.count)) }

  public func take(_ number: Int64) {
    sum &+= number
    count += 1
    taken.store(count, ordering: .releasing)
    if count == expected {
      finished.store(true, ordering: .releasing)
      done.signal()
    }
  }

  /// Waits until one more message is there. Spins: a thread that sleeps would be woken
  /// in one way only.
  func waitForOne() {
    waited += 1
    while taken.load(ordering: .acquiring) < waited {}
    if waited == expected { waited = 0 }
  }

  private var waited = 0

  var isFinished: Bool { finished.load(ordering: .acquiring) }

  public func wait() { done.wait() }
}

/// What sends messages at one end and takes them at the other.
public protocol DeliveryLine: Sendable {
  var sink: DeliverySink { get }
  /// What the text of a message adds to the sum.
  var textSum: Int64 { get }
  func send(_ number: Int64)
  /// Sends so many messages.
  func sendAll(_ count: Int)
  /// Waits until all messages are there.
  func wait()
}

extension DeliveryLine {
  public var textSum: Int64 { Int64(text.utf8.count) }
  public func sendAll(_ count: Int) {
    for number in 0..<Int64(count) { send(number) }
  }
  public func wait() { sink.wait() }
}

/// A short string, which Swift keeps without an allocation.
public let text = "AAPL.O"

/// A proxy that a C library calls.
@safe public struct DeliveryFeed: @unchecked Sendable {
  // Sendable: immutable.

  public static let tick = Method("tick:text:", ((Int64, String) -> Void).self)
  public static let number = Method("number:", ((Int64) -> Void).self)

  public let proxy: DynamicProxy
  private let callTick: @convention(c) (Int64, UnsafePointer<CChar>) -> Void
  private let callNumber: @convention(c) (Int64) -> Void
  /// Keeps the functions.
  private let functions: [FunctionPointer]

  public init() throws {
    proxy = try DynamicProxy {
      $0.optional(Self.tick)
      $0.optional(Self.number)
    }
    let (tick, number) = (
      try proxy.functionPointer(for: Self.tick), try proxy.functionPointer(for: Self.number)
    )
    unsafe callTick = unsafe tick.unsafeCast()
    callNumber = unsafe number.unsafeCast()
    unsafe bytes = Self.copyOfText()
    functions = [tick, number]
  }

  /// Calls a callback, as a C library does.
  public func send(_ number: Int64, _ withText: Bool = true) {
    if withText {
      unsafe callTick(number, bytes)
    } else {
      callNumber(number)
    }
  }

  /// The text as C has it; never freed.
  private let bytes: UnsafePointer<CChar>

  private static func copyOfText() -> UnsafePointer<CChar> {
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.utf8.count + 1)
    for (index, byte) in text.utf8.enumerated() { unsafe copy[index] = CChar(byte) }
    unsafe copy[text.utf8.count] = 0
    return unsafe UnsafePointer(copy)
  }
}

private actor Taker {
  let sink: DeliverySink
  init(_ sink: DeliverySink) { self.sink = sink }
  func take(_ number: Int64, _ text: String) { sink.take(number, text) }
}

private final class ActorLine: DeliveryLine {
  enum Way { case subscription, task, stream }

  let sink = DeliverySink()
  private let feed: DeliveryFeed
  private let taker: Taker
  private let kept: any Sendable

  init(_ way: Way) throws {
    let (feed, taker) = (try DeliveryFeed(), Taker(sink))
    (self.feed, self.taker) = (feed, taker)
    let proxy = feed.proxy
    switch way {
    case .subscription:
      kept = try proxy.subscribe(actor: taker, to: DeliveryFeed.tick) {
        (taker: isolated Taker, number: Int64, text: String) in taker.take(number, text)
      }
    case .task:
      kept = try proxy.subscribe {
        $0.on(DeliveryFeed.tick) { number, text in Task { await taker.take(number, text) } }
      }
    case .stream:
      let (stream, continuation) = AsyncStream.makeStream(of: (Int64, String).self)
      let token = try proxy.subscribe {
        $0.on(DeliveryFeed.tick) { number, text in continuation.yield((number, text)) }
      }
      Task {
        for await (number, text) in stream { await taker.take(number, text) }
      }
      kept = token
    }
  }

  func send(_ number: Int64) { feed.send(number) }
}

private final class MainLine: DeliveryLine {
  enum Way { case subscription, task, queue }

  let sink = DeliverySink()
  private let feed: DeliveryFeed
  private let kept: any Sendable
  private let onlyNumbers: Bool
  private let sender = DispatchQueue(label: "sender")
  let textSum: Int64

  init(_ way: Way, onlyNumbers: Bool = false) throws {
    let (feed, sink) = (try DeliveryFeed(), sink)
    self.feed = feed
    let proxy = feed.proxy
    self.onlyNumbers = onlyNumbers
    textSum = onlyNumbers ? 0 : Int64(text.utf8.count)
    switch way {
    case .subscription where onlyNumbers:
      kept = try proxy.subscribe(sink, on: MainActor.shared, to: DeliveryFeed.number) {
        sink, number in sink.take(number)
      }
    case .subscription:
      kept = try proxy.subscribe(sink, on: MainActor.shared, to: DeliveryFeed.tick) {
        sink, number, text in sink.take(number, text)
      }
    case .task:
      kept = try proxy.subscribe {
        $0.on(DeliveryFeed.tick) { number, text in
          Task { @MainActor in sink.take(number, text) }
        }
      }
    case .queue:
      kept = try proxy.subscribe {
        $0.on(DeliveryFeed.tick) { number, text in
          DispatchQueue.main.async { sink.take(number, text) }
        }
      }
    }
  }

  func send(_ number: Int64) { feed.send(number, !onlyNumbers) }

  /// Another thread sends, and this one, the main thread, delivers.
  func sendAll(_ count: Int) {
    sender.async { for number in 0..<Int64(count) { self.send(number) } }
  }

  func wait() {
    while !sink.isFinished { bench_run_main_queue() }
    sink.wait()
  }
}

private final class QueueLine: DeliveryLine {
  let sink = DeliverySink()
  let textSum: Int64
  private let feed: DeliveryFeed
  private let kept: any Sendable
  private let onlyNumbers: Bool

  init(isQueued: Bool, onlyNumbers: Bool = false) throws {
    let (feed, sink) = (try DeliveryFeed(), sink)
    self.feed = feed
    let proxy = feed.proxy
    self.onlyNumbers = onlyNumbers
    textSum = onlyNumbers ? 0 : Int64(text.utf8.count)
    let queue = DispatchQueue(label: "line")
    if !isQueued {
      kept = try proxy.subscribe {
        $0.on(DeliveryFeed.tick) { number, text in queue.async { sink.take(number, text) } }
      }
    } else if onlyNumbers {
      kept = try proxy.subscribe(sink, on: queue, to: DeliveryFeed.number) { sink, number in
        sink.take(number)
      }
    } else {
      kept = try proxy.subscribe(sink, on: queue, to: DeliveryFeed.tick) { sink, number, text in
        sink.take(number, text)
      }
    }
  }

  func send(_ number: Int64) { feed.send(number, !onlyNumbers) }
}

/// Delivers on the caller's thread.
private final class DirectLine: DeliveryLine {
  let sink = DeliverySink()
  private let feed: DeliveryFeed
  private let kept: any Sendable

  init() throws {
    feed = try DeliveryFeed()
    kept = try feed.proxy.subscribe(sink) {
      $0.on(DeliveryFeed.tick) { sink, number, text in sink.take(number, text) }
    }
  }

  func send(_ number: Int64) { feed.send(number) }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import CFwdMeasure
internal import Forwarding
internal import FwdBenchDriver
internal import FwdBenchReceivers

/// Joining, leaving and dying.
enum MembershipRows {
  static func rows(_ stage: Stage) -> [Row] {
    var rows: [Row] = []
    if stage.size >= 64 { rows += [subscribing(stage), appending(stage)] }
    if stage.size >= 64 && stage.size <= 100_000 { rows.append(leaving(stage)) }
    if stage.size == 64 { rows.append(rejoining(stage)) }
    if stage.size == 1 { rows += RemakingRows.rows }
    if stage.size >= 8 { rows.append(withDead(stage)) }
    return rows
  }

  // MARK: - Joining

  /// A row in which as many new receivers join something new.
  private static func joining<List>(
    _ way: String, _ stage: Stage, _ join: @escaping ([any Receiver]) throws -> List,
    count: @escaping (List) -> Int
  ) -> Row {
    Row(group: FanOutRows.name, way: way, size: stage.size, deliveries: stage.size) { iterations in
      orWrong {
        // Receivers of their own, to which nobody has referred yet.
        let crowds = (0..<iterations).map { _ in Crowd(stage.size) }
        var lists: [List] = []
        lists.reserveCapacity(iterations)
        let bytes = bench_allocated_bytes()
        let start = bench_start()
        for crowd in crowds { lists.append(try join(crowd.receivers)) }
        let sample = bench_finish(start, 0, 0)
        let made = Int(bench_allocated_bytes() &- bytes)
        // The receivers live until here, or the lists would be of the dead.
        return withExtendedLifetime(crowds) {
          Sample(
            sample, bytes: bytes == .max ? nil : made,
            isRight: lists.allSatisfy { count($0) == stage.size })
        }
      }
    }
  }

  private static func subscribing(_ stage: Stage) -> Row {
    joining(Way.subscribing, stage, { try Stage.proxy(of: $0) }, count: \.count)
  }

  private static func appending(_ stage: Stage) -> Row {
    joining(Way.weakBoxAppending, stage, WeakBoxes.init(holding:), count: \.count)
  }

  // MARK: - Leaving

  /// A row in which one leaves by token, and joins again at the end.
  private static func leaving(_ stage: Stage) -> Row {
    changing(Way.replacing, stage, deliveries: 1) { try $0.replaceNext() }
  }

  /// A row in which all leave by token, and then join again.
  private static func rejoining(_ stage: Stage) -> Row {
    changing(Way.rejoining, stage, deliveries: stage.size) { try $0.replaceAll() }
  }

  /// A row in which members leave and join. An emission afterwards has to reach
  /// each of them once.
  private static func changing(
    _ way: String, _ stage: Stage, deliveries: Int, _ change: @escaping (Members) throws -> Void
  ) -> Row {
    let state = Kept {
      let proxy = try Stage.emptyProxy()
      let subscribers = stage.crowd.receivers
      return Members(proxy, subscribers, try subscribers.map { try proxy.subscribe($0) })
    }
    return Row(group: FanOutRows.name, way: way, size: stage.size, deliveries: deliveries) {
      iterations in
      orWrong {
        let members = try state.get()
        let start = bench_start()
        for _ in 0..<iterations { try change(members) }
        let sample = bench_finish(start, 0, 0)
        let before = stage.crowd.sum
        let arguments = Arguments(.notify)
        // SAFETY: the frame is that of the message.
        try unsafe members.proxy.method(for: Message.notify.selector).forward(
          frame: arguments.frame)
        let expected = Int64(stage.size) * Int64(BENCH_MESSAGE_SUM)
        return Sample(
          sample,
          isRight: members.proxy.count == stage.size && stage.crowd.sum &- before == expected)
      }
    }
  }

  /// Keeps the members in a raw buffer. An array of a class would add exclusivity checks, which the
  /// peers' programs in C++ do not have.
  @safe private final class Members {
    let proxy: DynamicProxy
    private let members: UnsafeMutableBufferPointer<Member>
    private var next = 0

    private struct Member {
      let subscriber: any DynamicProxy.Subscriber
      var subscription: DynamicProxy.Subscription
    }

    init(
      _ proxy: DynamicProxy, _ subscribers: [any DynamicProxy.Subscriber],
      _ subscriptions: [DynamicProxy.Subscription]
    ) {
      self.proxy = proxy
      unsafe members = .allocate(capacity: subscribers.count)
      _ = unsafe members.initialize(
        fromContentsOf: zip(subscribers, subscriptions).map(Member.init))
    }

    deinit {
      unsafe members.deinitialize()
      unsafe members.deallocate()
    }

    /// Anywhere: not always the first, which may be easy to find.
    func replaceNext() throws {
      next = unsafe (next + 7919) % members.count
      // SAFETY: the index is that of a member.
      let member = unsafe members.baseAddress! + next
      unsafe member.pointee.subscription.cancel()
      let subscriber = unsafe member.pointee.subscriber
      unsafe member.pointee.subscription = try proxy.subscribe(subscriber)
    }

    func replaceAll() throws {
      for index in unsafe members.indices { unsafe members[index].subscription.cancel() }
      for index in unsafe members.indices {
        let subscriber = unsafe members[index].subscriber
        unsafe members[index].subscription = try proxy.subscribe(subscriber)
      }
    }
  }

  // MARK: - Dying

  /// A row in which a fan-out meets a tenth of dead subscribers, which the proxy
  /// then forgets: so each emission has a proxy of its own.
  private static func withDead(_ stage: Stage) -> Row {
    let way = "proxy: a tenth of the list has died"
    let arguments = Kept { Arguments(.notify) }
    let run = { (iterations: Int) in
      orWrong {
        let before = stage.crowd.sum
        var total = bench_sample()
        var left = iterations
        while left > 0 {
          let count = min(left, max(1, 4096 / stage.size))
          let methods = try (0..<count).map { _ in try proxyWithDead(stage) }
          let arguments = try arguments.get()
          let start = bench_start()
          // SAFETY: the frame is that of the message.
          for method in methods { try unsafe method.forward(frame: arguments.frame) }
          total.add(bench_finish(start, 0, 0))
          left -= count
        }
        let expected = Int64(iterations * stage.size) * Int64(BENCH_MESSAGE_SUM)
        return Sample(total, isRight: stage.crowd.sum &- before == expected)
      }
    }
    return Row(
      group: FanOutRows.name, way: way, size: stage.size, deliveries: stage.size, share: 0.1,
      run: run)
  }

  private static func proxyWithDead(_ stage: Stage) throws -> ResolvedMethod {
    var receivers: [any Receiver] = []
    var dying = Crowd(max(1, stage.size / 9)).receivers
    for (index, receiver) in stage.crowd.receivers.enumerated() {
      receivers.append(receiver)
      if index % 9 == 4, let next = dying.popLast() { receivers.append(next) }
    }
    receivers += dying
    dying = []
    let proxy = try Stage.proxy(of: receivers)
    receivers = []
    return try proxy.method(for: MethodSelector(validating: Message.notify.rawValue))
  }
}

extension bench_sample {
  fileprivate mutating func add(_ other: bench_sample) {
    nanoseconds += other.nanoseconds
    allocations = other.allocations == .max ? .max : allocations + other.allocations
    locks = other.locks == .max ? .max : locks + other.locks
  }
}

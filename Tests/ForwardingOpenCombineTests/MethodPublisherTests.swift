// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if OpenCombine
  import Forwarding
  import ForwardingOpenCombine
  import OpenCombine
  import Synchronization
  import Testing

  /// A value that is set on one thread and read on another.
  private final class Box<Value: Sendable>: Sendable {
    private let state: Mutex<Value>
    init(_ value: Value) { state = Mutex(value) }
    var value: Value { state.withLock { $0 } }
    func update<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
      state.withLock { body(&$0) }
    }
  }

  /// Asks for as much as the test says.
  private final class Demanding: OpenCombine.Subscriber {
    typealias Input = Int32
    typealias Failure = Never

    private(set) var elements: [Int32] = []
    private(set) var isComplete = false
    var subscription: (any OpenCombine.Subscription)?
    /// Asked for with each element.
    var more = Subscribers.Demand.none
    var action: ((Demanding) -> Void)?

    func receive(subscription: any OpenCombine.Subscription) { self.subscription = subscription }
    func receive(_ element: Int32) -> Subscribers.Demand {
      elements.append(element)
      action?(self)
      return more
    }
    func receive(completion: Subscribers.Completion<Never>) { isComplete = true }
    func request(_ count: Int) { subscription?.request(.max(count)) }
  }

  @Suite struct MethodPublisherTests {
    private func proxy() throws -> DynamicProxy {
      let table = try ProtocolTable("Pinging") {
        $0.required("ping:", "v@:i")
        $0.optional("score:", "i@:i")
      }
      return try DynamicProxy(adopting: table)
    }

    private func numbers(
      _ proxy: DynamicProxy, _ overflow: DynamicProxy.Overflow = .unbounded
    ) throws -> MethodPublisher<Int32> {
      try proxy.publisher(for: "ping:", overflow: overflow) { (number: Int32) in number }
    }

    private func ping(_ proxy: DynamicProxy, _ numbers: ClosedRange<Int32>) throws {
      for number in numbers { try proxy.send("ping:", number) }
    }

    @Test func `subscribers get the elements while they are subscribed`() throws {
      let proxy = try proxy()
      let (all, even) = (Box<[Int32]>([]), Box<[String]>([]))
      let runs = Box(0)
      let publisher = try proxy.publisher(for: "ping:") { (number: Int32) in
        runs.update { $0 += 1 }
        return number
      }
      #expect(!proxy.responds(to: "ping:"))
      let first = publisher.sink { number in all.update { $0.append(number) } }
      let second = publisher.filter { $0 % 2 == 0 }.map { "\($0)" }
        .sink { text in even.update { $0.append(text) } }
      try ping(proxy, 1...4)
      #expect(all.value == [1, 2, 3, 4] && even.value == ["2", "4"])
      // One subscription, one run of the closure.
      #expect(proxy.count == 1 && runs.value == 4)
      first.cancel()
      try ping(proxy, 5...6)
      #expect(all.value == [1, 2, 3, 4] && even.value == ["2", "4", "6"])
      second.cancel()
      #expect(!proxy.responds(to: "ping:") && proxy.count == 0)
    }

    @Test func `an iterator and a subscriber share the subscription`() async throws {
      let proxy = try proxy()
      let publisher = try numbers(proxy)
      var iterator = publisher.signal.makeAsyncIterator()
      let sum = Box<Int32>(0)
      let cancellable = publisher.sink { number in sum.update { $0 += number } }
      #expect(proxy.count == 1)
      try ping(proxy, 3...3)
      #expect(await iterator.next() == 3)
      #expect(sum.value == 3)
      cancellable.cancel()
      #expect(proxy.responds(to: "ping:"))
    }

    @Test func `a method with a result has a publisher, too`() throws {
      let proxy = try proxy()
      let seen = Box<[Int32]>([])
      let cancellable = try proxy.publisher(for: "score:", of: Int32.self) {
        (emit, number: Int32) -> Int32 in
        emit(number)
        return number * 2
      }.sink { number in seen.update { $0.append(number) } }
      #expect(try proxy.send("score:", Int32(4)) == Int32(8))
      #expect(seen.value == [4])
      withExtendedLifetime(cancellable) {}
    }

    @Test func `wrong closures are refused at once`() throws {
      let proxy = try proxy()
      #expect(throws: ForwardingError.self) {
        _ = try proxy.publisher(for: "ping:") { (number: Double) in number }
      }
      #expect(throws: ForwardingError.self) {
        _ = try proxy.publisher(for: "score:") { (number: Int32) in number }
      }
    }

    // MARK: Demand

    @Test func `nobody gets more than was asked for, and the rest is buffered`() throws {
      let (proxy, subscriber) = (try proxy(), Demanding())
      try numbers(proxy).subscribe(subscriber)
      try ping(proxy, 1...3)
      #expect(subscriber.elements.isEmpty)
      subscriber.request(2)
      #expect(subscriber.elements == [1, 2])
      subscriber.request(3)
      #expect(subscriber.elements == [1, 2, 3])
      try ping(proxy, 4...6)
      #expect(subscriber.elements == [1, 2, 3, 4, 5])
      subscriber.more = .max(1)
      subscriber.request(1)
      try ping(proxy, 7...9)
      #expect(subscriber.elements == [1, 2, 3, 4, 5, 6, 7, 8, 9])
    }

    @Test(arguments: [
      (DynamicProxy.Overflow.dropOldest(limit: 2), [1, 5, 6] as [Int32]),
      (.dropNewest(limit: 2), [1, 2, 3]), (.unbounded, [1, 2, 3, 4, 5, 6]),
    ])
    func `what is buffered is chosen`(_ overflow: DynamicProxy.Overflow, _ kept: [Int32]) throws {
      let (proxy, subscriber) = (try proxy(), Demanding())
      try numbers(proxy, overflow).subscribe(subscriber)
      subscriber.request(1)
      try ping(proxy, 1...6)
      #expect(subscriber.elements == [1])
      subscriber.subscription?.request(.unlimited)
      #expect(subscriber.elements == kept)
      try ping(proxy, 7...8)
      #expect(subscriber.elements == kept + [7, 8])
    }

    @Test func `what a subscriber sends comes behind what it takes`() throws {
      let (proxy, subscriber) = (try proxy(), Demanding())
      try numbers(proxy).subscribe(subscriber)
      let depth = Box(0)
      subscriber.action = { subscriber in
        #expect(
          depth.update {
            $0 += 1
            return $0
          } == 1)
        if let last = subscriber.elements.last, last < 3 { try? proxy.send("ping:", last + 1) }
        subscriber.request(1)
        depth.update { $0 -= 1 }
      }
      subscriber.request(1)
      try ping(proxy, 1...1)
      #expect(subscriber.elements == [1, 2, 3])
    }

    // MARK: The end

    @Test func `it completes when the proxy dies, after what is buffered`() throws {
      let (waiting, done) = (Demanding(), Demanding())
      var publisher: MethodPublisher<Int32>?
      weak var tracked: DynamicProxy?
      do {
        let proxy = try proxy()
        tracked = proxy
        publisher = try numbers(proxy)
        publisher?.subscribe(waiting)
        publisher?.subscribe(done)
        done.request(9)
        try ping(proxy, 1...2)
        #expect(!done.isComplete)
      }
      #expect(tracked == nil)
      #expect(done.isComplete && done.elements == [1, 2])
      #expect(!waiting.isComplete)
      waiting.request(1)
      #expect(!waiting.isComplete)
      waiting.request(1)
      #expect(waiting.isComplete && waiting.elements == [1, 2])
      let late = Demanding()
      publisher?.subscribe(late)
      #expect(late.isComplete && late.subscription != nil)
    }

    @Test func `one who cancels gets nothing more, also while it takes an element`() throws {
      let (proxy, subscriber) = (try proxy(), Demanding())
      try numbers(proxy).subscribe(subscriber)
      try ping(proxy, 1...3)
      subscriber.action = { subscriber in
        if subscriber.elements.count == 2 { subscriber.subscription?.cancel() }
      }
      subscriber.subscription?.request(.unlimited)
      try ping(proxy, 4...5)
      #expect(subscriber.elements == [1, 2])
      #expect(proxy.count == 0)
      subscriber.request(1)
      #expect(subscriber.elements == [1, 2] && !subscriber.isComplete)
    }

    @Test func `one who cancels at once is never subscribed to the proxy`() throws {
      final class Refusing: OpenCombine.Subscriber {
        func receive(subscription: any OpenCombine.Subscription) { subscription.cancel() }
        func receive(_ element: Int32) -> Subscribers.Demand { .none }
        func receive(completion: Subscribers.Completion<Never>) {}
      }
      let proxy = try proxy()
      try numbers(proxy).subscribe(Refusing())
      #expect(!proxy.responds(to: "ping:"))
    }

    @Test func `subscriptions leave nothing behind`() throws {
      weak var (tracked, subscriber): (DynamicProxy?, Demanding?) = (nil, nil)
      let living = Box(0)
      final class Tracked: Sendable {
        let living: Box<Int>
        init(_ living: Box<Int>) {
          self.living = living
          living.update { $0 += 1 }
        }
        deinit { living.update { $0 -= 1 } }
      }
      do {
        let proxy = try proxy()
        tracked = proxy
        let demanding = Demanding()
        subscriber = demanding
        try numbers(proxy).subscribe(demanding)
        let captured = Tracked(living)
        let cancellable = try proxy.publisher(for: "ping:") { (_: Int32) in
          withExtendedLifetime(captured) { Tracked(living) }
        }.sink { _ in }
        try ping(proxy, 1...3)
        demanding.subscription?.cancel()
        demanding.subscription = nil
        withExtendedLifetime(cancellable) {}
      }
      #expect(tracked == nil && subscriber == nil)
      #expect(living.value == 0)
    }
  }
#endif

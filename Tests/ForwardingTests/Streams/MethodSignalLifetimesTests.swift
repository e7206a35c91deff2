// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// Notes what it receives.
private final class Sink: SignalSink {
  let numbers = Box<[Int32]>([])

  func receive(_ number: Int32) { numbers.update { $0.append(number) } }
  func finish() { numbers.update { $0.append(-1) } }
}

@Suite struct MethodSignalLifetimesTests {
  let journal = Journal()

  func number(_ proxy: DynamicProxy) throws -> MethodSignal<Int32> {
    try proxy.signal(for: "ping:") { (number: Int32) in number }
  }

  // MARK: Registration

  @Test func `the method is observed until the first iterator, and while there are iterators`()
    throws
  {
    let changes = Box<[String]>([])
    let proxy = try DynamicProxy.pinging { configuration in
      configuration.onCapabilityChange = { selector, responds in
        changes.update { $0.append("\(selector)\(responds)") }
      }
    }
    let signal = try number(proxy)
    #expect(proxy.responds(to: "ping:"))
    #expect(proxy.count == 1)
    do {
      let first = signal.makeAsyncIterator()
      #expect(proxy.responds(to: "ping:"))
      do {
        let (second, third) = (signal.makeAsyncIterator(), first)
        #expect(proxy.count == 1)
        withExtendedLifetime((second, third)) {}
      }
      #expect(proxy.responds(to: "ping:"))
      withExtendedLifetime(first) {}
    }
    #expect(!proxy.responds(to: "ping:"))
    #expect(proxy.count == 0)
    #expect(changes.value == ["ping:true", "ping:false"])
    // And again.
    let iterator = signal.makeAsyncIterator()
    #expect(proxy.responds(to: "ping:"))
    withExtendedLifetime(iterator) {}
  }

  @Test func `an iterator that subscribes the registration once more keeps the later subscription`()
    async throws
  {
    // While the first iterator subscribes the registration, that subscription ends, and another
    // iterator subscribes it again.
    let step = Box<(@Sendable () -> Void)?>(nil)
    let proxy = try DynamicProxy.pinging { configuration in
      configuration.onMembershipChange = { _, change in
        guard change == .joined, let action = step.value else { return }
        step.value = nil
        action()
      }
    }
    let source = try number(proxy).withoutBuffer.source
    let (early, late) = (Sink(), Sink())
    // They have references to the sinks.
    let memberships = Box<[SignalMembership<Int32>?]>([])
    step.value = {
      proxy.unsubscribeAll()
      let membership = source.join(late)
      memberships.update { $0.append(membership) }
    }
    let membership = source.join(early)
    try proxy.ping(1)
    // Looks whether the subscription lives.
    let third = Sink()
    let last = source.join(third)
    try proxy.ping(2)
    #expect(late.numbers.value == [1, 2] && third.numbers.value == [2])
    #expect(proxy.count == 1)
    withExtendedLifetime((membership, last)) {}
  }

  @Test func `several signals of one method each have their own closure`() async throws {
    let proxy = try DynamicProxy.pinging()
    let numbers = try number(proxy)
    let texts = try proxy.signal(for: "ping:") { (number: Int32) in "\(number)!" }
    var (first, second) = (numbers.makeAsyncIterator(), texts.makeAsyncIterator())
    #expect(proxy.count == 2)
    try proxy.ping(3)
    #expect(await first.next() == 3)
    #expect(await second.next() == "3!")
  }

  @Test func `required methods may be observed one by one`() throws {
    let table = ProtocolTable.table("Strict") {
      $0.required("one", "v@:")
      $0.required("two", "v@:")
    }
    var configuration = DynamicProxy.Configuration()
    configuration.conformance = .all
    let proxy = try DynamicProxy(adopting: table, configuration: configuration)
    let iterator = try proxy.signal(for: "one") { 1 }.makeAsyncIterator()
    #expect(proxy.responds(to: "one") && !proxy.responds(to: "two"))
    withExtendedLifetime(iterator) {}
  }

  // MARK: The end

  @Test func `iterators end when the proxy dies, after what is buffered`() async throws {
    weak var tracked: DynamicProxy?
    var iterators: [MethodSignal<Int32>.AsyncIterator] = []
    let signal: MethodSignal<Int32>
    do {
      let proxy = try DynamicProxy.pinging()
      tracked = proxy
      signal = try number(proxy)
      iterators = [signal.makeAsyncIterator(), signal.makeAsyncIterator()]
      try proxy.ping(1)
    }
    #expect(tracked == nil)
    for var iterator in iterators {
      #expect(await iterator.next() == 1)
      #expect(await iterator.next() == nil)
      #expect(await iterator.next() == nil)
    }
    var late = signal.makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  @Test func `those who wait end when the proxy dies`() async throws {
    let proxy = Box<DynamicProxy?>(try .pinging())
    let signal = try number(proxy.value!)
    let waiting = Box(0)
    let elements = await withTaskGroup(of: [Int32].self) { group in
      for _ in 0..<4 {
        group.addTask {
          var elements: [Int32] = []
          let iterator = signal.makeAsyncIterator()
          waiting.update { $0 += 1 }
          var copy = iterator
          while let element = await copy.next() { elements.append(element) }
          return elements
        }
      }
      while waiting.value < 4 { await Task.yield() }
      try? proxy.value?.ping(5)
      proxy.value = nil
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(elements == [[5], [5], [5], [5]])
  }

  @Test func `ending all subscriptions ends the iterators, and new ones begin again`() async throws
  {
    let proxy = try DynamicProxy.pinging()
    let signal = try number(proxy)
    var iterator = signal.makeAsyncIterator()
    proxy.unsubscribeAll()
    #expect(await iterator.next() == nil)
    var next = signal.makeAsyncIterator()
    try proxy.ping(2)
    #expect(await next.next() == 2)
  }

  @Test func `cancelling the task that waits ends its iterator only`() async throws {
    let proxy = try DynamicProxy.pinging()
    let signal = try number(proxy)
    var other: MethodSignal<Int32>.AsyncIterator? = signal.makeAsyncIterator()
    let isObserved = Box(false)
    let task = Task {
      var iterator = signal.makeAsyncIterator()
      isObserved.value = true
      let element = await iterator.next()
      // The observation has ended though the iterator is there.
      let again = await iterator.next()
      return [element, again]
    }
    while !isObserved.value { await Task.yield() }
    task.cancel()
    #expect(await task.value == [nil, nil])
    #expect(proxy.responds(to: "ping:"))
    try proxy.ping(1)
    #expect(await other?.next() == 1)
    other = nil
    #expect(!proxy.responds(to: "ping:"))
  }

  @Test func `the last one's cancellation unregisters, before its iterator dies`() async throws {
    let proxy = try DynamicProxy.pinging()
    let signal = try number(proxy)
    let (isObserved, responded) = (Box(false), Box(true))
    let task = Task {
      var iterator = signal.makeAsyncIterator()
      isObserved.value = true
      _ = await iterator.next()
      responded.value = proxy.responds(to: "ping:")
      withExtendedLifetime(iterator) {}
    }
    while !isObserved.value { await Task.yield() }
    task.cancel()
    await task.value
    #expect(!responded.value)
  }

  @Test func `a task that is cancelled already gets nothing, buffered or not`() async throws {
    let proxy = try DynamicProxy.pinging()
    let signal = try number(proxy)
    let go = Box(false)
    let task = Task { () -> Int32? in
      var iterator = signal.makeAsyncIterator()
      try? proxy.ping(1)
      while !go.value { await Task.yield() }
      return await iterator.next()
    }
    task.cancel()
    go.value = true
    #expect(await task.value == nil)
    #expect(proxy.count == 0)
  }

  // MARK: No leaks

  @Test func `nothing keeps the proxy, and all is given up with the last one`() async throws {
    let population = Population()
    weak var tracked: DynamicProxy?
    do {
      let proxy = try DynamicProxy.pinging()
      tracked = proxy
      let captured = population.make()
      let signal = try proxy.signal(for: "ping:") { (number: Int32) in
        withExtendedLifetime(captured) { population.make() }
      }
      var iterator = signal.makeAsyncIterator()
      let unused = signal.makeAsyncIterator()
      try proxy.ping()
      try proxy.ping()
      #expect(population.living == 3)
      _ = await iterator.next()
      withExtendedLifetime(unused) {}
    }
    #expect(tracked == nil)
    #expect(population.living == 0)
  }

  @Test func `a registration keeps its closure, not its signal's proxy`() throws {
    let population = Population()
    let proxy = try DynamicProxy.pinging()
    var iterator: MethodSignal<Int32>.AsyncIterator?
    do {
      let captured = population.make()
      iterator = try proxy.signal(for: "ping:") { (number: Int32) in
        withExtendedLifetime(captured) { number }
      }.makeAsyncIterator()
    }
    #expect(population.living == 1)
    withExtendedLifetime(iterator) {}
    iterator = nil
    #expect(population.living == 0)
    withExtendedLifetime(proxy) {}
  }

  @Test func `elements are dropped under no lock`() async throws {
    /// Its end forwards into the signal that drops it.
    final class Bouncing: Sendable {
      let proxy: DynamicProxy
      let number: Int32
      init(_ proxy: DynamicProxy, _ number: Int32) { (self.proxy, self.number) = (proxy, number) }
      deinit { if number > 0 { try? proxy.ping(number - 1) } }
    }
    let proxy = try DynamicProxy.pinging()
    let runs = Box<[Int32]>([])
    let signal = try proxy.signal(for: "ping:", overflow: .dropOldest(limit: 1)) {
      [weak proxy] number in
      runs.update { $0.append(number) }
      return Bouncing(proxy!, number)
    }
    var iterator: MethodSignal<Bouncing>.AsyncIterator? = signal.makeAsyncIterator()
    try proxy.ping(3)
    try proxy.ping(0)
    #expect(runs.value == [3, 0, 2])
    withExtendedLifetime(iterator) {}
    iterator = nil
    #expect(proxy.count == 0)
  }

  @Test func `a task that ends its loop leaves nothing`() async throws {
    let population = Population()
    let proxy = try DynamicProxy.pinging()
    let signal = try proxy.signal(for: "ping:") { (_: Int32) in population.make() }
    let isObserved = Box(false)
    let task = Task {
      var iterator = signal.makeAsyncIterator()
      isObserved.value = true
      var count = 0
      while await iterator.next() != nil {
        count += 1
        if count == 2 { break }
      }
    }
    while !isObserved.value { await Task.yield() }
    for number: Int32 in 1...5 { try proxy.ping(number) }
    await task.value
    #expect(population.living == 0)
    #expect(proxy.count == 0)
  }

  // MARK: Threads

  @Test func `iterators come and go on many threads while others forward`() throws {
    let proxy = try DynamicProxy.pinging()
    let signal = try number(proxy).withoutBuffer
    let missed = Box(0)
    onThreads(6) { thread in
      for round in 0..<200 {
        if thread < 2 {
          try? proxy.ping(-1)
          continue
        }
        // Whoever has an iterator gets what is sent afterwards, once.
        let channel =
          round % 2 == 0
          ? SignalChannel<Int32>(.unbounded) : SignalChannel<Int32>(.unbounded, signal.source.lock)
        let membership = signal.source.join(channel)
        let own = Int32(thread * 1000 + round)
        try? proxy.ping(own)
        channel.finish()
        membership?.end()
        let count = channel.drained().count { $0 == own }
        if count != 1 { missed.update { $0 += 1 } }
      }
    }
    #expect(missed.value == 0)
    #expect(!proxy.responds(to: "ping:"))
    #expect(proxy.count == 0)
  }

  @Test func `a method with a result is answered while iterators come and go`() throws {
    let proxy = try DynamicProxy.pinging()
    let signal = try proxy.signal(for: "score:", of: Int32.self) { (emit, number: Int32) -> Int32 in
      emit(number)
      return number
    }.withoutBuffer
    let wrong = Box(0)
    onThreads(4) { thread in
      for round in 0..<200 {
        let channel =
          round % 2 == 0
          ? SignalChannel<Int32>(.unbounded) : SignalChannel<Int32>(.unbounded, signal.source.lock)
        let membership = signal.source.join(channel)
        let own = Int32(thread * 1000 + round)
        let answer = try? proxy.send("score:", own) as Int32
        channel.finish()
        membership?.end()
        if answer != own || channel.drained().count(where: { $0 == own }) != 1 {
          wrong.update { $0 += 1 }
        }
      }
    }
    #expect(wrong.value == 0)
    #expect(!proxy.responds(to: "score:"))
  }
}

extension SignalChannel {
  /// What is in the buffer.
  fileprivate func drained() -> [Element] {
    var elements: [Element] = []
    while let element = poll() { elements.append(element) }
    return elements
  }
}

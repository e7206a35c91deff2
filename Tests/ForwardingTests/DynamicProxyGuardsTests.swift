// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Synchronization
import Testing

@testable import Forwarding

/// Subscriptions that end after some deliveries, and such as are blocked.
@Suite struct DynamicProxyGuardsTests {
  private let journal = Journal()

  /// Counts its calls, which the loop of plain functions makes.
  private final class Plain: DynamicProxy.Subscriber {
    let calls = Atomic<Int>(0)

    var count: Int { calls.load(ordering: .acquiring) }

    static let functionTable = FunctionTable(for: Plain.self) {
      let ping: @convention(c) (UnsafeRawPointer, OpaquePointer, Int32) -> Void = {
        receiver, _, _ in
        let plain = unsafe Unmanaged<Plain>.fromOpaque(receiver).takeUnretainedValue()
        plain.calls.add(1, ordering: .relaxed)
      }
      unsafe $0.function("ping:", "v@:i", calling: ping)
    }
  }

  // MARK: Limits

  @Test func `a subscription for one delivery gets one`() throws {
    let proxy = try DynamicProxy.pinging()
    let listener = Listener("a", journal)
    let subscription = try proxy.subscribe(listener, times: 1)
    #expect(subscription.isLive && proxy.count == 1 && proxy.contains(listener))
    try proxy.ping(1)
    #expect(!subscription.isLive && proxy.count == 0 && !proxy.contains(listener))
    #expect(!subscription.cancel() && !proxy.unsubscribe(listener))
    try proxy.ping(2)
    #expect(journal.take() == ["a1"])
    #expect(!proxy.responds(to: "ping:"))
  }

  @Test func `deliveries of all methods count, those that it does not implement do not`() throws {
    let proxy = try DynamicProxy.pinging()
    let listener = Listener("a", journal, score: 7)
    let subscription = try proxy.subscribe(listener, times: 3)
    try proxy.ping(1)
    try proxy.send("finish")
    let score: Int32 = try proxy.send("score:", Int32(2))
    #expect(score == 7 && subscription.isLive)
    try proxy.ping(3)
    #expect(!subscription.isLive)
    #expect(throws: ForwardingError.self) { let _: Int32 = try proxy.send("score:", Int32(4)) }
    #expect(journal.take() == ["a1", "a2", "a3"])
  }

  @Test(arguments: [DynamicProxy.Lifetime.weak, .strong])
  func `the loop of plain functions counts too`(_ lifetime: DynamicProxy.Lifetime) throws {
    let proxy = try DynamicProxy.pinging()
    let limited = Plain()
    let other = Plain()
    let subscription = try proxy.subscribe(limited, lifetime: lifetime, times: 2)
    try proxy.subscribe(other, lifetime: lifetime)
    for _ in 0..<5 { try proxy.ping() }
    #expect(limited.count == 2 && other.count == 5 && !subscription.isLive)
  }

  @Test func `the last delivery ends the subscription when it begins`() throws {
    let proxy = try DynamicProxy.pinging()
    let listener = Listener("a", journal)
    let subscription = try proxy.subscribe(listener, times: 1)
    listener.action.value = { _ in
      #expect(!subscription.isLive)
      // One that is forwarded inside of it is none of its deliveries any more.
      #expect(throws: Never.self) { try proxy.ping(2) }
    }
    try proxy.ping(1)
    #expect(journal.take() == ["a1"])
  }

  @Test func `a subscriber may subscribe again inside of its last delivery`() throws {
    let proxy = try DynamicProxy.pinging()
    let listener = Listener("a", journal)
    listener.action.value = { listener in
      #expect(throws: Never.self) { try proxy.subscribe(listener, times: 1) }
    }
    try proxy.subscribe(listener, times: 1)
    try proxy.ping(1)
    try proxy.ping(2)
    #expect(journal.take() == ["a1", "a2"] && proxy.count == 1)
  }

  @Test func `what a used-up subscription held is given up with the fan-out`() throws {
    let proxy = try DynamicProxy.pinging()
    weak var weakListener: Listener?
    do {
      let listener = Listener("a", journal)
      listener.action.value = { [journal] listener in
        listener.onDeath.value = { journal.note("died") }
      }
      weakListener = listener
      try proxy.subscribe(listener, lifetime: .strong, times: 1)
    }
    #expect(weakListener != nil)
    try proxy.ping(1)
    #expect(weakListener == nil && journal.take() == ["a1", "died"])
    #expect(proxy.subscribers.places == 0)
  }

  @Test func `closures and tokens may be limited`() throws {
    let proxy = try DynamicProxy.pinging { $0.conformance = .lenient }
    let population = Population()
    let token = try proxy.subscribe(times: 1) { [journal, tracked = population.make()] in
      $0.on("ping:") { (number: Int32) in
        journal.note("token\(number)")
        withExtendedLifetime(tracked) {}
      }
    }
    let owner = Bystander()
    try proxy.subscribe(owner, times: 2) { [journal] in
      $0.on("ping:") { (_: Bystander, number: Int32) in journal.note("owner\(number)") }
    }
    for number: Int32 in 1...3 { try proxy.ping(number) }
    #expect(journal.take() == ["token1", "owner1", "owner2"])
    #expect(!token.isLive && proxy.count == 0 && population.living == 0)
  }

  @Test func `a chained proxy may be limited`() throws {
    let proxy = try DynamicProxy.pinging()
    let chained = try DynamicProxy.pinging()
    let listener = Listener("a", journal)
    try chained.subscribe(listener)
    let subscription = try proxy.subscribe(chained, times: 2)
    for number: Int32 in 1...3 { try proxy.ping(number) }
    #expect(journal.take() == ["a1", "a2"] && !subscription.isLive)
  }

  @Test(arguments: [0, -1, Int.min])
  func `less than one delivery is refused`(_ times: Int) throws {
    let proxy = try DynamicProxy.pinging()
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(Plain(), lifetime: .strong, times: times)
    }
    #expect(error?.code == .invalidLimit)
    let expected = "is \(times), expected 1 or more"
    #expect(error?.description == "\"times\" for \"ping:\" \(expected)")
    let chain = #expect(throws: ForwardingError.self) { try proxy.subscribe(proxy, times: times) }
    #expect(chain?.description == "\"times\" for the subscription of a proxy \(expected)")
    let empty = #expect(throws: ForwardingError.self) {
      _ = try proxy.subscribe(times: times) { _ in }
    }
    #expect(empty?.description == "\"times\" for the subscription of closures \(expected)")
    let closure = #expect(throws: ForwardingError.self) {
      _ = try proxy.subscribe(times: times) { $0.on("ping:") { (_: Int32) in } }
    }
    #expect(closure?.description == "\"times\" for \"ping:\" \(expected)")
    #expect(closure?.selector == "ping:")
    let owner = Bystander()
    let owned = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(owner, times: times) {
        $0.on("ping:") { (_: Bystander, _: Int32) in }
        $0.on("score:") { (_: Bystander, number: Int32) -> Int32 in number }
      }
    }
    #expect(
      owned?.description
        == "\"times\" for the subscription of an object of class Bystander \(expected)")
    #expect(owned?.selector == nil)
    #expect(proxy.count == 0)
  }

  @Test func `the end of a limited subscription is a change of capabilities`() throws {
    let proxy = try DynamicProxy.pinging { [journal] in
      $0.onCapabilityChange = { journal.note("\($0) \($1)") }
    }
    let listener = Plain()
    try proxy.subscribe(listener, times: 1)
    #expect(journal.take() == ["ping: true"])
    try proxy.ping()
    #expect(journal.take() == ["ping: false"])
  }

  // MARK: Blocking

  @Test(arguments: [DynamicProxy.Lifetime.weak, .strong])
  func `a blocked subscription is passed over and keeps its place`(
    _ lifetime: DynamicProxy.Lifetime
  ) throws {
    let proxy = try DynamicProxy.pinging()
    let listeners = ["a", "b", "c"].map { Listener($0, journal) }
    let subscriptions = try listeners.map { try proxy.subscribe($0, lifetime: lifetime) }
    let pause = try subscriptions[1].block()
    #expect(pause.isLive && subscriptions[1].isBlocked)
    try proxy.ping(1)
    #expect(journal.take() == ["a1", "c1"])
    #expect(proxy.count == 3 && proxy.contains(listeners[1]) && subscriptions[1].isLive)
    #expect(
      proxy.liveSubscribers.map { ObjectIdentifier($0) } == listeners.map { ObjectIdentifier($0) })
    #expect(pause.cancel() && !subscriptions[1].isBlocked)
    try proxy.ping(2)
    #expect(journal.take() == ["a2", "b2", "c2"])
  }

  @Test func `each token blocks by itself, and is undone once`() throws {
    let proxy = try DynamicProxy.pinging()
    let plain = Plain()
    let subscription = try proxy.subscribe(plain)
    #expect(!subscription.isBlocked)
    let (first, second) = (try subscription.block(), try subscription.block())
    #expect(first.cancel() && !first.isLive && !first.cancel() && subscription.isBlocked)
    try proxy.ping()
    #expect(plain.count == 0)
    #expect(second.isLive && second.cancel() && !subscription.isBlocked && !second.cancel())
    try proxy.ping()
    #expect(plain.count == 1)
  }

  @Test func `who is blocked does not respond`() throws {
    let proxy = try DynamicProxy.pinging { [journal] in
      $0.onCapabilityChange = { journal.note("\($0) \($1)") }
    }
    let plains = [Plain(), Plain()]
    let subscriptions = try plains.map { try proxy.subscribe($0) }
    #expect(journal.take() == ["ping: true"])
    let pauses = [try subscriptions[0].block()]
    #expect(proxy.responds(to: "ping:") && journal.take() == [])
    let other = try subscriptions[1].block()
    #expect(!proxy.responds(to: "ping:") && journal.take() == ["ping: false"])
    // One that is blocked ends without a further word.
    subscriptions[1].cancel()
    #expect(journal.take() == [] && !other.isLive && !other.cancel())
    pauses[0].cancel()
    #expect(proxy.responds(to: "ping:") && journal.take() == ["ping: true"])
    subscriptions[0].cancel()
    #expect(!proxy.responds(to: "ping:") && journal.take() == ["ping: false"])
  }

  @Test func `with all blocked nobody answers`() throws {
    let proxy = try DynamicProxy.pinging()
    let listener = Listener("a", journal, score: 3)
    let subscription = try proxy.subscribe(listener)
    let error = #expect(throws: ForwardingError.self) {
      try subscription.block().during { let _: Int32 = try proxy.send("score:", Int32(1)) }
    }
    #expect(error?.code == .noResponder)
  }

  @Test func `a fan-out under way does not call whom it has blocked, but whom it has unblocked`()
    throws
  {
    let proxy = try DynamicProxy.pinging()
    let listeners = ["a", "b", "c"].map { Listener($0, journal) }
    let subscriptions = try listeners.map { try proxy.subscribe($0) }
    let pauses = Box([try subscriptions[2].block()])
    listeners[0].action.value = { _ in pauses.value = [try! subscriptions[1].block()] }
    try proxy.ping(1)
    #expect(journal.take() == ["a1", "c1"])
  }

  @Test func `a batch asks at each delivery`() throws {
    let proxy = try DynamicProxy.pinging()
    let plains = [Plain(), Plain(), Plain()]
    let subscriptions = try plains.map { try proxy.subscribe($0) }
    let limited = Plain()
    let last = try proxy.subscribe(limited, times: 2)
    let pauses = Box([try subscriptions[0].block()])
    try proxy.withBatch {
      try proxy.send("ping:", Int32(1))
      pauses.value = [try! subscriptions[1].block()]
      try proxy.send("ping:", Int32(1))
      try proxy.send("ping:", Int32(1))
      #expect(!last.isLive)
    }
    #expect(plains.map(\.count) == [2, 1, 3] && limited.count == 2)
  }

  /// Counts the calls of all its objects, since a dead one cannot tell.
  private final class Mortal: DynamicProxy.Subscriber {
    static let calls = Atomic<Int>(0)

    static let functionTable = FunctionTable(for: Mortal.self) {
      let ping: @convention(c) (UnsafeRawPointer, OpaquePointer, Int32) -> Void = { _, _, _ in
        Mortal.calls.add(1, ordering: .relaxed)
      }
      unsafe $0.function("ping:", "v@:i", calling: ping)
    }
  }

  /// The array that is made while it is blocked has to know that it is weak.
  @Test func `a weak subscriber that was blocked when the list was rebuilt may die`() throws {
    let proxy = try DynamicProxy.pinging()
    let steady = Plain()
    var passing: Mortal? = Mortal()
    weak let observed = passing
    let subscription = try proxy.subscribe(passing!)
    try subscription.block().during {
      _ = try proxy.subscribe(steady, at: .first, lifetime: .strong)
    }
    try proxy.ping()
    #expect(observed != nil && Mortal.calls.load(ordering: .relaxed) == 1)
    passing = nil
    #expect(observed == nil)
    try proxy.ping()
    #expect(Mortal.calls.load(ordering: .relaxed) == 1 && steady.count == 2 && proxy.count == 1)
  }

  @Test func `who has ended cannot be blocked`() throws {
    let proxy = try DynamicProxy.pinging()
    let cancelled = try proxy.subscribe(Plain(), lifetime: .strong)
    let pause = try cancelled.block()
    cancelled.cancel()
    #expect(!pause.isLive && !pause.cancel() && !cancelled.isBlocked)
    #expect(try !cancelled.block().isLive)
    let dead = try proxy.subscribe(Plain())
    #expect(try !dead.block().isLive && !dead.isBlocked)
  }

  @Test func `a C context may be blocked and is destroyed once`() throws {
    let proxy = try DynamicProxy.pinging()
    let table = Plain.functionTable
    let count = Box(0)
    // SAFETY: the context is alive until its destructor has run.
    let plain = unsafe Unmanaged.passRetained(CountedPlain(count)).toOpaque()
    let candidate = unsafe SubscriberList.Candidate(
      context: plain, limit: .none,
      destroy: { unsafe Unmanaged<CountedPlain>.fromOpaque($0!).release() })
    let subscription = try proxy.admit(candidate, table, .none)
    try subscription.block().during { try proxy.ping() }
    try proxy.send("finish")
    let pause = try subscription.block()
    #expect(proxy.count == 1 && count.value == 0 && pause.isLive)
    subscription.cancel()
    #expect(proxy.count == 0 && count.value == 1)
  }

  private final class CountedPlain: Sendable {
    let deaths: Box<Int>
    init(_ deaths: Box<Int>) { self.deaths = deaths }
    deinit { deaths.value += 1 }
  }

  // MARK: Threads

  @Test(arguments: [DynamicProxy.Lifetime.weak, .strong])
  func `under threads there are exactly as many deliveries as were asked for`(
    _ lifetime: DynamicProxy.Lifetime
  ) throws {
    let proxy = try DynamicProxy.pinging()
    let steady = Plain()
    try proxy.subscribe(steady)
    for round in 1...20 {
      let limited = Plain()
      let subscription = try proxy.subscribe(limited, lifetime: lifetime, times: round)
      onThreads(4) { _ in
        for _ in 0..<20 { #expect(throws: Never.self) { try proxy.ping() } }
      }
      #expect(limited.count == round && !subscription.isLive)
    }
    #expect(steady.count == 20 * 4 * 20 && proxy.count == 1)
  }

  @Test func `blocking while others forward loses nobody`() throws {
    let proxy = try DynamicProxy.pinging()
    let plain = Plain()
    let subscription = try proxy.subscribe(plain)
    let forwarders = Atomic<Int>(3)
    onThreads(4) { thread in
      if thread > 0 {
        for _ in 0..<500 { #expect(throws: Never.self) { try proxy.ping() } }
        forwarders.subtract(1, ordering: .acquiringAndReleasing)
      } else {
        while forwarders.load(ordering: .acquiring) > 0 {
          #expect(try! subscription.block().cancel())
        }
      }
    }
    let before = plain.count
    try proxy.ping()
    #expect(plain.count == before + 1 && before <= 1500)
  }
}

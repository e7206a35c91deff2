// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

private struct Iterators: @unchecked Sendable {
  // Sendable: used by one task.
  var list: [MethodSignal<Int32>.AsyncIterator] = []
}

@Suite struct SignalPositionTests {
  let journal = Journal()

  // MARK: Positions

  @Test func `a signal stands where it is told to`() async throws {
    let proxy = try DynamicProxy.pinging()
    let a = Listener("a", journal)
    try proxy.subscribe(a)
    let journal = journal
    let first = try proxy.signal(for: "ping:", at: .first) { (number: Int32) in
      journal.note("first")
      return number
    }
    let last = try proxy.signal(for: "ping:") { (_: Int32) in journal.note("last") }
    let iterators = (first.makeAsyncIterator(), last.makeAsyncIterator())
    try proxy.ping()
    #expect(journal.take() == ["first", "a1", "last"])
    withExtendedLifetime((a, iterators)) {}
  }

  @Test func `a signal that stands first answers a method with a result`() async throws {
    let proxy = try DynamicProxy.pinging()
    let token = try proxy.feed("score:") { (number: Int32) -> Int32 in -1 }
    let signal = try proxy.signal(for: "score:", of: Int32.self, at: .first) {
      (emit, number: Int32) -> Int32 in
      emit(number)
      return number * 2
    }
    var iterator = signal.makeAsyncIterator()
    #expect(try proxy.send("score:", 4 as Int32) == 8 as Int32)
    #expect(await iterator.next() == 4)
    withExtendedLifetime(token) {}
  }

  @Test func `a signal beside a stranger is refused`() throws {
    let proxy = try DynamicProxy.pinging()
    let stranger = Listener("a", journal)
    let error = #expect(throws: ForwardingError.self) {
      _ = try proxy.signal(for: "ping:", at: .before(stranger)) { (number: Int32) in number }
    }
    #expect(error?.code == .notSubscribed)
    #expect(proxy.count == 0)
  }

  // MARK: Subscribing early

  @Test func `a signal keeps what comes before its first iterator`()
    async throws
  {
    let proxy = try DynamicProxy.pinging()
    let signal = try proxy.signal(for: "ping:") { (number: Int32) in number }
    #expect(proxy.responds(to: "ping:"))
    try proxy.ping(1)
    try proxy.ping(2)
    var (first, second) = (signal.makeAsyncIterator(), signal.makeAsyncIterator())
    try proxy.ping(3)
    #expect(await first.next() == 1)
    #expect(await first.next() == 2)
    #expect(await first.next() == 3)
    #expect(await second.next() == 3)
    #expect(proxy.count == 1)
  }

  @Test func `a signal leaves when it dies without an iterator`() throws {
    let proxy = try DynamicProxy.pinging()
    let population = Population()
    do {
      let signal = try proxy.signal(for: "ping:") { (_: Int32) in population.make() }
      let copy = signal
      try proxy.ping()
      #expect(population.living == 1)
      withExtendedLifetime((signal, copy)) {}
    }
    #expect(population.living == 0 && !proxy.responds(to: "ping:") && proxy.count == 0)
  }

  @Test func `its place is that of the moment at which it was made`() throws {
    let proxy = try DynamicProxy.pinging()
    let journal = journal
    let signal = try proxy.signal(for: "ping:") { (_: Int32) in
      journal.note("signal")
    }
    let a = Listener("a", journal)
    try proxy.subscribe(a)
    let iterator = signal.makeAsyncIterator()
    try proxy.ping()
    #expect(journal.take() == ["signal", "a1"])
    withExtendedLifetime((a, iterator)) {}
  }

  // MARK: The end of a subscription

  @Test func `iterators that have been ended inside a delivery stay ended`() async throws {
    let proxy = try DynamicProxy.pinging()
    let made = Box<MethodSignal<Int32>?>(nil)
    let new = Box<Iterators>(Iterators())
    let signal = try proxy.signal(for: "ping:") { [weak proxy] (number: Int32) -> Int32 in
      if number == 2, let signal = made.value {
        proxy?.unsubscribeAll()
        new.value = Iterators(list: [signal.makeAsyncIterator()])
      }
      return number
    }
    made.value = signal
    var old = signal.makeAsyncIterator()
    try proxy.ping(1)
    try proxy.ping(2)
    try proxy.ping(3)
    proxy.unsubscribeAll()
    #expect(await old.next() == 1)
    #expect(await old.next() == nil)
    var iterator = new.value.list[0]
    #expect(await iterator.next() == 3)
    #expect(await iterator.next() == nil)
    made.value = nil
    new.value = Iterators()
  }

  // MARK: Buffers

  @Test func `a buffer that has been emptied gives its memory back`() {
    let buffer = SignalBuffer<Int>(.unbounded)
    for number in 0..<100_000 { _ = buffer.append(number) }
    #expect(buffer.capacity >= 100_000)
    for number in 0..<99_000 { #expect(buffer.popFirst() == number) }
    #expect(buffer.count == 1000 && buffer.capacity < 5000)
    for number in 99_000..<100_000 { #expect(buffer.popFirst() == number) }
    #expect(buffer.isEmpty && buffer.capacity <= 64)
  }
}

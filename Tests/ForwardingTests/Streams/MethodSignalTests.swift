// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import Testing

@testable import Forwarding

@Suite struct MethodSignalTests {
  let journal = Journal()

  /// Takes as many elements as there are now, then ends.
  func taken<Element>(
    _ iterator: inout MethodSignal<Element>.AsyncIterator, _ count: Int
  ) async -> [Element] {
    var elements: [Element] = []
    for _ in 0..<count {
      guard let element = await iterator.next() else { break }
      elements.append(element)
    }
    return elements
  }

  // MARK: Elements

  @Test func `each invocation gives an element, in order`() async throws {
    let proxy = try DynamicProxy.pinging()
    let signal = try proxy.signal(for: "ping:") { (number: Int32) in "ping \(number)" }
    var iterator = signal.makeAsyncIterator()
    for number in 1...20 { try proxy.ping(Int32(number)) }
    #expect(await taken(&iterator, 20) == (1...20).map { "ping \($0)" })
  }

  @Test func `one who waits is resumed by the invocation`() async throws {
    let proxy = try DynamicProxy.pinging()
    let signal = try proxy.signal(for: "ping:") { (number: Int32) in number }
    let isObserved = Box(false)
    let task = Task {
      var iterator = signal.makeAsyncIterator()
      isObserved.value = true
      return await iterator.next()
    }
    while !isObserved.value { await Task.yield() }
    try proxy.ping(7)
    #expect(await task.value == 7)
  }

  @Test func `the first iterator gets all since the signal was made, a later one what comes`()
    async throws
  {
    let proxy = try DynamicProxy.pinging()
    let signal = try proxy.signal(for: "ping:") { (number: Int32) in number }
    try proxy.ping(1)
    var first = signal.makeAsyncIterator()
    try proxy.ping(2)
    var second = signal.makeAsyncIterator()
    try proxy.ping(3)
    #expect(await taken(&first, 3) == [1, 2, 3])
    #expect(await taken(&second, 1) == [3])
  }

  @Test func `a method without arguments, and a closure without parameters`() async throws {
    let proxy = try DynamicProxy.pinging()
    let finished: MethodSignal<Void> = try proxy.signal(for: "finish") {}
    let pinged = try proxy.signal(for: "ping:") { "pinged" }
    var (ends, pings) = (finished.makeAsyncIterator(), pinged.makeAsyncIterator())
    try proxy.send("finish")
    try proxy.ping()
    #expect(await ends.next() != nil)
    #expect(await pings.next() == "pinged")
  }

  @Test func `a closure may have the first few parameters of the method`() async throws {
    let table = ProtocolTable.table("Moving") { $0.required("move:to:by:", "v@:iqd") }
    let proxy = try DynamicProxy(adopting: table)
    let one = try proxy.signal(for: "move:to:by:") { (item: Int32) in item }
    let all = try proxy.signal(for: "move:to:by:") { (item: Int32, place: Int64, speed: Double) in
      "\(item) \(place) \(speed)"
    }
    var (few, every) = (one.makeAsyncIterator(), all.makeAsyncIterator())
    try proxy.send("move:to:by:", Int32(1), Int64(2), 3.5)
    #expect(await few.next() == 1)
    #expect(await every.next() == "1 2 3.5")
  }

  @Test func `enums, objects and optional objects are arguments like others`() async throws {
    enum Phase: Int32 {
      case began = 1
      case ended
    }
    let table = ProtocolTable.table("Gestures") { $0.required("gesture:of:with:", "v@:i@@") }
    let proxy = try DynamicProxy(adopting: table)
    let signal = try proxy.signal(for: "gesture:of:with:") {
      (phase: Phase, listener: Listener, other: Listener?) in
      "\(phase) \(listener.name) \(other?.name ?? "-")"
    }
    var iterator = signal.makeAsyncIterator()
    let a = Listener("a", journal)
    try proxy.send("gesture:of:with:", Phase.ended, a, Listener?.none)
    try proxy.send("gesture:of:with:", Phase.began, a, Listener?.some(a))
    #expect(await taken(&iterator, 2) == ["ended a -", "began a a"])
  }

  @Test func `an argument that is no value of its type is reported, and gives no element`()
    async throws
  {
    enum Phase: Int32 { case began = 1 }
    let errors = Box<[ForwardingError]>([])
    let proxy = try DynamicProxy.pinging { configuration in
      configuration.onError = { error in errors.update { $0.append(error) } }
    }
    let signal = try proxy.signal(for: "ping:") { (phase: Phase) in phase }
    var iterator = signal.makeAsyncIterator()
    #expect(throws: ForwardingError.self) { try proxy.ping(9) }
    try proxy.ping(1)
    #expect(await iterator.next() == .began)
    #expect(errors.value.map(\.code) == [.valueNotRepresentable])
  }

  // MARK: Mistakes

  @Test func `wrong closures are refused when the signal is made`() throws {
    let proxy = try DynamicProxy.pinging()
    func error(_ body: () throws -> Void) -> ForwardingError? {
      do {
        try body()
        return nil
      } catch {
        return error as? ForwardingError
      }
    }
    let wrongType = error { _ = try proxy.signal(for: "ping:") { (number: Double) in number } }
    #expect(wrongType?.code == .signatureMismatch)
    #expect(
      wrongType?.description
        == """
        the method key "ping:" of type (Double) -> () does not fit "v@:i": parameter 1 of "ping:" \
        is 'i' (Int32), got Double
        """)
    let tooMany = error {
      _ = try proxy.signal(for: "ping:") { (number: Int32, other: Int32) in number }
    }
    #expect(tooMany?.code == .signatureMismatch)
    #expect(tooMany?.description.contains("at most 1 argument") == true)
    #expect(tooMany?.selector == "ping:")
    let unknown = error { _ = try proxy.signal(for: "pong:") { (number: Int32) in number } }
    #expect(unknown?.code == .unknownSelector)
    let noResult = error { _ = try proxy.signal(for: "score:") { (number: Int32) in number } }
    #expect(noResult?.code == .signatureMismatch)
    #expect(
      noResult?.description
        == """
        "score:" has a result, 'i' (Int32), which the closure of a signal has to give: use \
        signal(for:of:)
        """)
    let wrongResult = error {
      _ = try proxy.signal(for: "score:", of: Int32.self) { (emit, number: Int32) -> Double in 0 }
    }
    #expect(wrongResult?.code == .signatureMismatch)
    #expect(proxy.count == 0)
  }

  // MARK: Methods with a result

  @Test func `a closure with an emitter gives the method's result and any elements`() async throws {
    let proxy = try DynamicProxy.pinging()
    let signal = try proxy.signal(for: "score:", of: String.self) {
      (emit, number: Int32) -> Int32 in
      for index in 0..<number { emit("\(index) of \(number)") }
      return number * 10
    }
    #expect(try proxy.send("score:", Int32(1)) as Int32 == 10)
    var iterator = signal.makeAsyncIterator()
    let scores: [Int32] = try [0, 2].map { try proxy.send("score:", Int32($0)) }
    #expect(scores == [0, 20])
    #expect(await taken(&iterator, 3) == ["0 of 1", "0 of 2", "1 of 2"])
  }

  @Test func `an object that the closure returns is the caller's`() throws {
    let table = ProtocolTable.table("Cells") { $0.required("cell:", "@@:q") }
    let proxy = try DynamicProxy(adopting: table)
    let population = Population()
    let signal = try proxy.signal(for: "cell:", of: Int64.self) {
      (emit, row: Int64) -> Population.Tracked in population.make()
    }
    let iterator = signal.makeAsyncIterator()
    do {
      let cell: Population.Tracked = try proxy.send("cell:", Int64(1))
      #expect(population.living == 1)
      withExtendedLifetime(cell) {}
    }
    #expect(population.living == 0)
    withExtendedLifetime(iterator) {}
  }

  @Test func `an emitter may be kept, and is nothing when the signal has ended`() async throws {
    let kept = Box<SignalEmitter<Int32>?>(nil)
    var proxy: DynamicProxy? = try .pinging()
    let signal = try proxy!.signal(for: "ping:", of: Int32.self) { (emit, number: Int32) in
      kept.value = emit
    }
    var iterator = signal.makeAsyncIterator()
    try proxy!.ping()
    kept.value?(4)
    kept.value?(5)
    weak let tracked = proxy
    proxy = nil
    #expect(tracked == nil)
    kept.value?(6)
    #expect(await taken(&iterator, 3) == [4, 5])
  }

  @Test func `an emitter of nothing is called without an argument`() async throws {
    let proxy = try DynamicProxy.pinging()
    let signal = try proxy.signal(for: "finish", of: Void.self) { emit in emit() }
    var iterator = signal.makeAsyncIterator()
    try proxy.send("finish")
    #expect(await iterator.next() != nil)
  }

  // MARK: Buffers

  @Test(arguments: [
    (DynamicProxy.Overflow.unbounded, [1, 2, 3, 4, 5] as [Int32]), (.dropOldest(limit: 2), [4, 5]),
    (.dropNewest(limit: 2), [1, 2]), (.dropOldest(limit: 1), [5]), (.dropNewest(limit: 1), [1]),
    (.dropOldest(limit: 9), [1, 2, 3, 4, 5]),
  ])
  func `the buffer keeps what its policy says`(_ policy: DynamicProxy.Overflow, _ kept: [Int32])
    async throws
  {
    var proxy: DynamicProxy? = try .pinging()
    let signal = try proxy!.signal(for: "ping:", overflow: policy) { (number: Int32) in number }
    var iterator = signal.makeAsyncIterator()
    for number: Int32 in 1...5 { try proxy!.ping(number) }
    proxy = nil
    #expect(await taken(&iterator, 9) == kept)
  }

  @Test func `a full buffer makes threads wait if the rule says so, until it ends`() async throws {
    let proxy = try DynamicProxy.pinging()
    let signal = try proxy.signal(for: "ping:", overflow: .block(limit: 3)) { (number: Int32) in
      number
    }
    let sent = Box(0)
    let thread = Thread {
      for number: Int32 in 0..<100 {
        try? proxy.ping(number)
        sent.update { $0 += 1 }
      }
    }
    thread.start()
    var iterator: MethodSignal<Int32>.AsyncIterator? = signal.makeAsyncIterator()
    for number: Int32 in 0..<50 {
      #expect(await iterator?.next() == number)
      #expect(sent.value <= Int(number) + 5)
    }
    // The others are let go when nobody takes elements any more.
    iterator = nil
    while sent.value < 100 { await Task.yield() }
    #expect(proxy.count == 0)
  }

  @Test func `iterators have buffers of their own`() async throws {
    let proxy = try DynamicProxy.pinging()
    let runs = Box(0)
    let signal = try proxy.signal(for: "ping:", overflow: .dropOldest(limit: 1)) {
      (number: Int32) in
      runs.update { $0 += 1 }
      return number
    }
    var slow = signal.makeAsyncIterator()
    var fast = signal.makeAsyncIterator()
    for number: Int32 in 1...3 {
      try proxy.ping(number)
      #expect(await taken(&fast, 1) == [number])
    }
    #expect(await taken(&slow, 1) == [3])
    // One subscription, and the closure runs once for both.
    #expect(proxy.count == 1)
    #expect(runs.value == 3)
  }

  @Test(arguments: [
    DynamicProxy.Overflow.block(limit: 0), .dropNewest(limit: -5), .dropOldest(limit: 0),
  ])
  func `limits below one are refused`(_ overflow: DynamicProxy.Overflow) throws {
    let proxy = try DynamicProxy.pinging()
    let error = #expect(throws: ForwardingError.self) {
      try proxy.signal(for: "ping:", overflow: overflow) { (number: Int32) in number }
    }
    #expect(error?.code == .invalidLimit)
    #expect(proxy.count == 0)
  }

  @Test func `a buffer grows and wraps around as a queue of the library does`() {
    var random = SystemRandomNumberGenerator()
    for policy in [DynamicProxy.Overflow.unbounded, .dropOldest(limit: 5), .dropNewest(limit: 5)] {
      let buffer = SignalBuffer<Int>(policy)
      var model: [Int] = []
      for number in 0..<1000 {
        if Int.random(in: 0..<5, using: &random) < 3 {
          let dropped = buffer.append(number)
          switch policy {
          case .unbounded: model.append(number)
          case .dropOldest:
            model.append(number)
            #expect(dropped == (model.count > 5 ? model.removeFirst() : nil))
          case .dropNewest:
            #expect(dropped == (model.count == 5 ? number : nil))
            if model.count < 5 { model.append(number) }
          case .latest, .block: Issue.record("\(policy) is not among them")
          }
        } else {
          #expect(buffer.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
        }
        #expect(buffer.count == model.count)
      }
      #expect(buffer.removeAll() == model)
      #expect(buffer.isEmpty && buffer.popFirst() == nil)
    }
  }
}

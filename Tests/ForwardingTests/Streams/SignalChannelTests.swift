// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// Channels that have the lock of their emitter, as those of iterators do, and
/// channels that do not.
@Suite struct SignalChannelTests {
  private final class Item: Sendable {
    let number: Int
    private let tracked: Population.Tracked
    init(_ number: Int, _ population: Population) {
      self.number = number
      tracked = population.make()
    }
  }

  /// What a policy keeps of all elements, and how many may live.
  private struct Model {
    let policy: DynamicProxy.Overflow
    var kept: [Int] = []

    mutating func add(_ number: Int) {
      switch policy {
      case .unbounded: kept.append(number)
      case .dropOldest(let limit):
        kept.append(number)
        if kept.count > max(limit, 0) { kept.removeFirst() }
      case .dropNewest(let limit):
        if kept.count < limit { kept.append(number) }
      case .latest: kept = [number]
      case .block: Issue.record("waits")
      }
    }
  }

  private static let policies: [DynamicProxy.Overflow] = [
    .unbounded, .dropOldest(limit: 1), .dropOldest(limit: 3), .dropOldest(limit: 4),
    .dropOldest(limit: 5), .dropNewest(limit: 1), .dropNewest(limit: 3), .dropNewest(limit: 4),
    .dropNewest(limit: 5),
  ]

  @Test(arguments: policies, [true, false])
  func `policies hold where the ring wraps around, and own their objects`(
    _ policy: DynamicProxy.Overflow, isShared: Bool
  ) {
    let (population, lock) = (Population(), SignalLock(()))
    let emitter = SignalEmitter<Item>(lock)
    let channel = isShared ? SignalChannel<Item>(policy, lock) : SignalChannel<Item>(policy)
    emitter.add(channel)
    var model = Model(policy: policy)
    // Each round takes fewer than it gives, so that the head moves through all
    // cells, and unbounded buffers grow at many heads.
    for round in 0..<40 {
      for number in 0..<(2 + round % 5) {
        emitter(Item(100 * round + number, population))
        model.add(100 * round + number)
        #expect(population.living == model.kept.count)
      }
      for _ in 0..<(1 + round % 4) {
        let expected = model.kept.isEmpty ? nil : model.kept.removeFirst()
        #expect(channel.poll()?.number == expected)
      }
      #expect(population.living == model.kept.count)
    }
    channel.cancel()
    #expect(population.living == 0 && channel.poll() == nil)
    emitter(Item(0, population))
    #expect(population.living == 0)
  }

  @Test(arguments: policies)
  func `values without references are kept as objects are`(_ policy: DynamicProxy.Overflow) {
    struct Wide: Sendable, Equatable {
      var number: Int
      var byte: UInt8
    }
    let lock = SignalLock(())
    let (wides, nothings) = (SignalEmitter<Wide>(lock), SignalEmitter<Void>(lock))
    let (wide, nothing) = (SignalChannel<Wide>(policy, lock), SignalChannel<Void>(policy, lock))
    wides.add(wide)
    nothings.add(nothing)
    var model = Model(policy: policy)
    for round in 0..<30 {
      for number in 0..<(1 + round % 6) {
        wides(Wide(number: 100 * round + number, byte: UInt8(number)))
        nothings()
        model.add(100 * round + number)
      }
      for _ in 0..<(round % 4) {
        let expected = model.kept.isEmpty ? nil : model.kept.removeFirst()
        #expect(wide.poll() == expected.map { Wide(number: $0, byte: UInt8($0 % 100)) })
        #expect((nothing.poll() == nil) == (expected == nil))
      }
    }
  }

  @Test func `a full and wrapped buffer grows and shrinks in order`() {
    let population = Population()
    let buffer = SignalBuffer<Item>(.unbounded)
    for offset in 0..<4 {
      for number in 0..<offset { _ = buffer.append(Item(number, population)) }
      for number in 0..<offset { #expect(buffer.popFirst()?.number == number) }
      for number in 0..<1000 { _ = buffer.append(Item(number, population)) }
      #expect(population.living == 1000 && buffer.capacity == 1024)
      for number in 0..<1000 { #expect(buffer.popFirst()?.number == number) }
      #expect(population.living == 0 && buffer.capacity == 64)
    }
    for number in 0..<70 { _ = buffer.append(Item(number, population)) }
    #expect(buffer.removeAll().map(\.number) == Array(0..<70))
    #expect(population.living == 0 && buffer.capacity == 0)
  }

  @Test func `a buffer that dies releases its elements`() {
    let population = Population()
    for count in [1, 4, 70] {
      let buffer = SignalBuffer<Item>(.unbounded)
      for number in 0..<3 { _ = buffer.append(Item(number, population)) }
      for _ in 0..<3 { _ = buffer.popFirst() }
      for number in 0..<count { _ = buffer.append(Item(number, population)) }
      #expect(population.living == count)
      withExtendedLifetime(buffer) {}
    }
    #expect(population.living == 0)
  }

  // MARK: Sinks

  @Test func `a sole sink gets company and becomes the sole one again`() {
    let lock = SignalLock(())
    let emitter = SignalEmitter<Int>(lock)
    let (a, b) = (
      SignalChannel<Int>(.unbounded, lock), SignalChannel<Int>(.dropOldest(limit: 2), lock)
    )
    let foreign = SignalChannel<Int>(.unbounded)
    emitter.add(a)
    emitter(1)
    emitter.add(b)
    emitter(2)
    emitter.add(foreign)
    emitter(3)
    #expect(!emitter.remove(a))
    #expect(!emitter.remove(a))
    emitter(4)
    #expect(!emitter.remove(foreign))
    emitter(5)
    #expect(emitter.remove(b))
    emitter(6)
    #expect(!emitter.remove(b))
    #expect(drained(a) == [1, 2, 3] && drained(b) == [4, 5] && drained(foreign) == [3, 4])
  }

  @Test func `copies of an iterator wait in order`() async {
    let lock = SignalLock(())
    let emitter = SignalEmitter<Int>(lock)
    let channel = SignalChannel<Int>(.unbounded, lock)
    emitter.add(channel)
    var tasks: [Task<Int?, Never>] = []
    for count in 1...4 {
      tasks.append(Task { await channel.next() })
      while waiting(channel) < count { await Task.yield() }
    }
    for number in 1...3 { emitter(number) }
    channel.finish()
    for (index, task) in tasks.enumerated() {
      #expect(await task.value == (index < 3 ? index + 1 : nil))
    }
  }

  @Test func `a sink that is cancelled while it is resumed gets one answer`() async throws {
    let population = Population()
    let proxy = try DynamicProxy.pinging()
    let signal = try proxy.signal(for: "ping:") { (number: Int32) in
      Item(Int(number), population)
    }
    for round in 0..<300 {
      let task = Task {
        var iterator = signal.makeAsyncIterator()
        return await iterator.next()?.number
      }
      while proxy.count == 0 { await Task.yield() }
      if round % 3 > 0 { for _ in 0..<round { await Task.yield() } }
      async let sent: Void = Task.detached { try? proxy.ping(7) }.value
      async let cancelled: Void = Task.detached { task.cancel() }.value
      _ = await (sent, cancelled)
      let answer = await task.value
      #expect(answer == nil || answer == 7)
      while proxy.count > 0 { await Task.yield() }
      #expect(population.living == 0)
    }
  }

  @Test func `each element of several threads comes once, in their orders`() async {
    let lock = SignalLock(())
    let emitter = SignalEmitter<Int>(lock)
    let channel = SignalChannel<Int>(.unbounded, lock)
    emitter.add(channel)
    let (threads, each) = (3, 3000)
    let task = Task {
      var elements: [Int] = []
      while let element = await channel.next() { elements.append(element) }
      return elements
    }
    await withTaskGroup { group in
      for thread in 0..<threads {
        group.addTask {
          for number in 0..<each { emitter(thread * each + number) }
        }
      }
    }
    channel.finish()
    let elements = await task.value
    for thread in 0..<threads {
      let own = elements.filter { $0 / each == thread }
      #expect(own == Array(thread * each..<(thread + 1) * each))
    }
  }

  private func drained(_ channel: SignalChannel<Int>) -> [Int] {
    var elements: [Int] = []
    while let element = channel.poll() { elements.append(element) }
    return elements
  }

  /// How many tasks wait.
  private func waiting(_ channel: SignalChannel<Int>) -> Int {
    channel.lock.withLock { _ in unsafe channel.ring.pointee.waiters.count }
  }
}

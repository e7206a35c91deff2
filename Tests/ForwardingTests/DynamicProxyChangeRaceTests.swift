// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Synchronization
import Testing

@testable import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Threads that forward while another one changes sets of subscribers by
/// `DynamicProxy.change(_:)`. Meant for the thread and the address sanitizer as
/// well.
@Suite(.serialized) struct DynamicProxyChangeRaceTests {
  private static let mark = Method("mark:", ((Int64) -> Void).self)
  private static let sum = Method("sum:", ((Int64) -> Int64).self)
  private static let pad = Method("pad:", ((Int64) -> Void).self)

  /// The digits of the subscribers that one invocation has reached, in order. Only
  /// one thread uses it.
  private final class Trace: @unchecked Sendable {
    // Sendable: see above.
    var digits: Int64 = 0
    func take() -> Int64 {
      defer { digits = 0 }
      return digits
    }
  }

  /// Counts the threads that are done.
  private final class Flag: Sendable {
    private let raised = Atomic(0)
    var count: Int { raised.load(ordering: .acquiring) }
    func raise() { raised.add(1, ordering: .releasing) }
  }

  private final class Scene: Sendable {
    let proxy: DynamicProxy
    let traces: [Trace]
    /// They stay.
    let fixed: [DynamicProxy.Token]
    private let padding: [Bystander]

    init(padding count: Int) throws {
      let traces = (0..<3).map { _ in Trace() }
      let proxy = try DynamicProxy("Race") {
        $0.optional(mark)
        $0.optional(sum, result: .reduce(Int64(0), +))
        $0.optional(pad)
      }
      let table = FunctionTable(for: Bystander.self) { $0.on(pad) { _, _ in } }
      let padding = (0..<count).map { _ in Bystander() }
      for owner in padding.prefix(count / 2) { try proxy.subscribe(owner, table: table) }
      fixed = try (1...3).map { try Self.add($0, to: proxy, traces, .last) }
      for owner in padding.suffix(count - count / 2) { try proxy.subscribe(owner, table: table) }
      (self.proxy, self.traces, self.padding) = (proxy, traces, padding)
    }

    private static func add(
      _ digit: Int64, to proxy: DynamicProxy, _ traces: [Trace],
      _ position: DynamicProxy.Position
    ) throws -> DynamicProxy.Token {
      try proxy.subscribe(at: position) {
        $0.on(mark) { thread in
          let trace = traces[Int(thread)]
          trace.digits = trace.digits * 16 + digit
        }
        $0.on(sum) { _ in Int64(1) << (4 * digit) }
      }
    }

    /// Subscribes a set of four at different positions: 4, 5, 6, 7 or 8, 9, 10, 11.
    func addSet(_ number: Int) throws -> [DynamicProxy.Token] {
      let first = Int64(4 + 4 * (number % 2))
      let positions: [DynamicProxy.Position] = [
        .first, .after(fixed[0].subscription!), .last, .priority(3),
      ]
      return try positions.enumerated().map {
        try Self.add(first + Int64($0.offset), to: proxy, traces, $0.element)
      }
    }

    /// What an invocation reaches.
    static func digits(_ number: Int) -> Int64 { number % 2 == 0 ? 0x741_5236 : 0xb81_923a }
    static func sums(_ number: Int) -> Int64 { number % 2 == 0 ? 0x1111_1110 : 0x1111_0000_1110 }

    func isWhole(_ digits: Int64) -> Bool {
      digits == Self.digits(0) || digits == Self.digits(1)
    }
    func isWhole(sum: Int64) -> Bool { sum == Self.sums(0) || sum == Self.sums(1) }
  }

  /// One list of one segment, and one of several.
  @Test(arguments: [(padding: 0, rounds: 20_000), (padding: 600, rounds: 2_000)])
  func `every fan-out reaches one whole set`(padding: Int, rounds: Int) throws {
    let scene = try Scene(padding: padding)
    let (proxy, traces) = (scene.proxy, scene.traces)
    let isDone = Flag()
    var set = try scene.addSet(0)
    try proxy.send(Self.mark, 0)
    #expect(traces[0].take() == Scene.digits(0))
    let sets = Box(set)
    set = []
    let pointer = try proxy.functionPointer(for: Self.mark)
    let wrong = Box<[Int64]>([])
    let note: @Sendable (Int64) -> Void = { found in wrong.update { $0.append(found) } }
    onThreads(4) { thread in
      #expect(throws: Never.self) {
        if thread == 3 {
          for round in 1...rounds {
            let new = try proxy.change { _ in
              for token in sets.value { token.cancel() }
              return try scene.addSet(round)
            }
            sets.value = new
          }
          isDone.raise()
          return
        }
        let call = unsafe pointer.unsafeCast(to: (@convention(c) (Int64) -> Void).self)
        var round = 0
        while isDone.count < 1 {
          round += 1
          // Changes are what the test needs many of.
          sched_yield()
          switch (thread, round % 4) {
          case (0, _), (1, 0): try proxy.send(Self.mark, Int64(thread))
          case (1, _):
            let sum = try proxy.send(Self.sum, 0)
            if !scene.isWhole(sum: sum) { note(sum) }
            continue
          case (_, 0):
            let sum = try proxy.collect(Self.sum, 0).reduce(0) { $0 + $1.value }
            if !scene.isWhole(sum: sum) { note(sum) }
            continue
          default: call(Int64(thread))
          }
          let digits = traces[thread].take()
          if !scene.isWhole(digits) { note(digits) }
        }
      }
    }
    #expect(wrong.value.first == nil)
    try proxy.send(Self.mark, 0)
    #expect(traces[0].take() == Scene.digits(rounds))
    #expect(proxy.count == 7 + padding)
    withExtendedLifetime(scene) {}
  }

  /// Each thread swaps its own handler. An invocation reaches one handler of each
  /// thread.
  @Test func `threads that change one proxy at the same time do not mix`() throws {
    let proxy = try DynamicProxy("Race") { $0.optional(Self.sum, result: .reduce(Int64(0), +)) }
    let wrong = Box<[Int64]>([])
    let isDone = Flag()
    let first: [DynamicProxy.Token] = try (0..<4).map { thread in
      try proxy.subscribe { $0.on(Self.sum) { _ in Int64(1) << (8 * Int64(thread)) } }
    }
    let tokens = first.map { Box($0) }
    onThreads(5) { thread in
      #expect(throws: Never.self) {
        if thread == 4 {
          while isDone.count < 4 {
            let sum = try proxy.send(Self.sum, 0)
            if sum != 0x0101_0101 { wrong.update { $0.append(sum) } }
          }
          return
        }
        defer { isDone.raise() }
        for round in 0..<2_000 {
          let position: DynamicProxy.Position = round % 2 == 0 ? .first : .last
          tokens[thread].value = try proxy.change { inner in
            let new = try inner.subscribe(at: position) {
              $0.on(Self.sum) { _ in Int64(1) << (8 * Int64(thread)) }
            }
            tokens[thread].value.cancel()
            // Some changes are undone.
            if round % 7 == 0 { try? proxy.change { _ in try Self.fail(inner) } }
            return new
          }
        }
      }
    }
    #expect(wrong.value.first == nil && proxy.count == 4)
    withExtendedLifetime(tokens) {}
  }

  private struct Failure: Error {}

  private static func fail(_ proxy: DynamicProxy) throws {
    let token = try proxy.subscribe { $0.on(sum) { _ in 7 } }
    proxy.unsubscribeAll()
    withExtendedLifetime(token) {}
    throw Failure()
  }
}

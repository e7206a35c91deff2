// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdMeasure
internal import Dispatch
internal import Forwarding
public import FwdBenchDriver

/// Elements of signals with one iterator, beside those of an `AsyncStream`.
public enum SignalRows {
  /// The group's name.
  public static let name = "signal"

  private static let yielded = "AsyncStream: yield"
  private static let yieldedAndTaken = "AsyncStream: yield and next"
  private static let sent = "signal: send by key"
  private static let sentAndTaken = "signal: send by key and next"

  /// The rows and goals.
  public static var group: RowGroup {
    RowGroup(
      name: name,
      comparisons: [Comparison(title: "/ yield", way: yielded)],
      startsThreads: true,
      rows: {
        [
          row(yielded, Streamed.self), row(sent, Signalled.self),
          row(yieldedAndTaken, Streamed.self, takes: true),
          row(sentAndTaken, Signalled.self, takes: true),
        ]
      },
      goals: { goals })
  }

  private static var goals: [Goal] {
    let ratio = { (way: String, base: String, limit: Double, unit: String) in
      Bound(
        quantity: .ratio(of: Row.name(way, nil), to: Row.name(base, nil)), limit: limit, unit: unit)
    }
    return [
      Goal(
        group: name, title: "a signal's element, one iterator",
        bounds: [ratio(sent, yielded, 0.3, "AsyncStream's yield")]),
      Goal(
        group: name, title: "a signal's element, given and taken",
        bounds: [ratio(sentAndTaken, yieldedAndTaken, 0.5, "AsyncStream's")]),
      Goal(
        group: name, title: "allocations per element",
        bounds: [Bound(quantity: .allocations(of: Row.name(sent, nil)), limit: 0.01, unit: "")]),
    ]
  }

  // MARK: - Rows

  /// How many elements are given before they are taken.
  private static let chunk = 64

  /// - Parameter takes: whether taking the elements is measured, too. They are
  ///   taken in any case, so that buffers stay as small as in a program.
  private static func row<Line: ElementLine>(
    _ way: String, _: Line.Type, takes: Bool = false
  ) -> Row {
    let kept = Kept { try Line() }
    return Row(group: name, way: way) { iterations in
      orWrong {
        let line = try kept.get()
        let sample = waiting { await measure(line, iterations, takes) }
        return Sample(sample)
      }
    }
  }

  private static func measure<Line: ElementLine>(
    _ line: Line, _ iterations: Int, _ takes: Bool
  ) async -> bench_sample {
    var total = bench_sample()
    var taker = line.taker
    var next: Int64 = 0
    while next < iterations {
      let end = min(next + Int64(chunk), Int64(iterations))
      let start = bench_start()
      for number in next..<end { line.give(number) }
      if !takes { total.add(bench_finish(start, 0, 0)) }
      for _ in next..<end { total.sum &+= UInt64(bitPattern: await taker.take()) }
      // No element is missing, so the task has stayed on its thread.
      if takes { total.add(bench_finish(start, 0, 0)) }
      total.expected_sum &+= UInt64((next..<end).reduce(0, +))
      next = end
    }
    return total
  }

  /// Runs a task, and waits for it.
  private static func waiting(
    _ body: @escaping @Sendable () async -> bench_sample
  ) -> bench_sample {
    let room = Room()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      room.sample = await body()
      done.signal()
    }
    done.wait()
    return room.sample
  }

  private final class Room: @unchecked Sendable {
    // Sendable: read behind the semaphore only.
    var sample = bench_sample()
  }
}

extension bench_sample {
  /// Unless one cannot be counted.
  private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
    left == .max || right == .max ? .max : left + right
  }

  fileprivate mutating func add(_ other: bench_sample) {
    nanoseconds += other.nanoseconds
    allocations = Self.sum(allocations, other.allocations)
    locks = Self.sum(locks, other.locks)
  }
}

// MARK: - Lines

/// What takes elements at one end and gives them at the other.
private protocol ElementLine: Sendable {
  associatedtype Taker: ElementTaker
  init() throws
  func give(_ number: Int64)
  var taker: Taker { get }
}

private protocol ElementTaker {
  mutating func take() async -> Int64
}

/// Iterators are made once: their buffers stay.
private final class Streamed: ElementLine, @unchecked Sendable {
  // Sendable: one task uses it at a time.
  struct Taker: ElementTaker {
    var iterator: AsyncStream<Int64>.AsyncIterator
    mutating func take() async -> Int64 { await iterator.next() ?? -1 }
  }

  private let continuation: AsyncStream<Int64>.Continuation
  let taker: Taker

  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Int64.self)
    self.continuation = continuation
    taker = Taker(iterator: stream.makeAsyncIterator())
  }

  func give(_ number: Int64) { continuation.yield(number) }
}

private final class Signalled: ElementLine, @unchecked Sendable {
  // Sendable: one task uses it at a time.
  struct Taker: ElementTaker {
    var iterator: MethodSignal<Int64>.AsyncIterator
    mutating func take() async -> Int64 { await iterator.next() ?? -1 }
  }

  private static let tick = Method("tick:", ((Int64) -> Void).self)

  private let proxy: DynamicProxy
  let taker: Taker

  init() throws {
    proxy = try DynamicProxy { $0.required(Self.tick) }
    taker = Taker(iterator: try proxy.signal(for: Self.tick) { $0 }.makeAsyncIterator())
  }

  func give(_ number: Int64) {
    // The sum misses elements that were not delivered.
    try? proxy.send(Self.tick, number)
  }
}

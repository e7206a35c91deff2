// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Forwarding
import ForwardingDelivery
import Foundation
import Synchronization

/// The methods of the tests.
enum Feed {
  static let number = Method("number:", ((Int64) -> Void).self)
  static let tick = Method("tick:symbol:", ((Double, String) -> Void).self)
  static let name = Method("name:", ((String?) -> Void).self)
  static let object = Method("object:", ((Tracked) -> Void).self)
  static let point = Method("point:small:", ((Point, Int8) -> Void).self)
  static let sum = Method("sum:", ((Int64) -> Int64).self)
  static let ask = Method("ask:", ((Int64) -> Int64).self)

  static func proxy(
    _ configuration: DynamicProxy.Configuration = DynamicProxy.Configuration()
  ) throws -> DynamicProxy {
    try DynamicProxy("Feed", configuration: configuration) {
      $0.optional(number)
      $0.optional(tick)
      $0.optional(name)
      $0.optional(object)
      $0.optional(point)
      $0.optional(sum, result: .reduce(Int64(0)) { $0 + $1 })
      $0.optional(ask, default: -1)
      $0.optional("bytes:count:", "v@:^vQ")
    }
  }
}

struct Point: TypeEncodable, BitwiseCopyable, Equatable, Sendable {
  var x: Double
  var y: Int32
  static var typeEncoding: String { "{Point=di}" }
}

/// Counts the live objects of one test.
final class Life: Sendable {
  let count = Atomic(0)
  var live: Int { count.load(ordering: .sequentiallyConsistent) }
}

final class Tracked: Sendable {
  let life: Life

  init(_ life: Life) {
    self.life = life
    life.count.add(1, ordering: .sequentiallyConsistent)
  }

  deinit { life.count.subtract(1, ordering: .sequentiallyConsistent) }
}

/// Counts the deliveries of one test.
final class Deliveries: Sendable {
  private let number = Atomic(0)
  var count: Int { number.load(ordering: .sequentiallyConsistent) }
  func add() { number.add(1, ordering: .sequentiallyConsistent) }
}

/// What several threads collect. Not behind a `Mutex`, which the thread sanitizer does not
/// know on Linux.
final class Collection<Element: Sendable>: @unchecked Sendable {
  // Sendable: the lock protects the elements.
  private let lock = NSLock()
  private var elements: [Element] = []

  func append(_ element: Element) { lock.withLock { elements.append(element) } }

  /// Takes all elements out.
  func take() -> [Element] {
    lock.withLock {
      defer { elements = [] }
      return elements
    }
  }
}

actor Counter {
  var numbers: [Int64] = []
  var texts: [String] = []
}

/// A subscriber that is used on one queue or executor only.
final class Log: @unchecked Sendable {
  var numbers: [Int64] = []
  var texts: [String?] = []
  var points: [Point] = []
}

@MainActor final class View {
  var rows: [String] = []
}

/// Runs a body on some threads, and waits until all have ended.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
  await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
    let group = DispatchGroup()
    for index in 0..<count {
      group.enter()
      let thread = Thread {
        body(index)
        group.leave()
      }
      thread.start()
    }
    group.notify(queue: .global()) { continuation.resume() }
  }
}

/// A serial executor on a queue of its own.
final class QueueExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "executor")
  private let key = DispatchSpecificKey<Void>()

  init() { queue.setSpecific(key: key, value: ()) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  var isHere: Bool { DispatchQueue.getSpecific(key: key) != nil }

  func isIsolatingCurrentContext() -> Bool? { isHere }
}

/// A clock that a test sets.
final class ManualClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var milliseconds: Int

    func advanced(by duration: Duration) -> Instant {
      Instant(milliseconds: milliseconds + Int(duration / .milliseconds(1)))
    }

    func duration(to other: Instant) -> Duration {
      .milliseconds(other.milliseconds - milliseconds)
    }

    static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }
  }

  private struct State {
    var now = 0
    var sleepers: [(deadline: Instant, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var now: Instant { Instant(milliseconds: state.withLock { $0.now }) }
  var minimumResolution: Duration { .milliseconds(1) }
  var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if deadline.milliseconds <= state.now { return true }
        state.sleepers.append((deadline, continuation))
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  func advance(by milliseconds: Int) {
    let woken = state.withLock { state in
      state.now += milliseconds
      let now = Instant(milliseconds: state.now)
      let woken = state.sleepers.filter { $0.deadline <= now }.map(\.continuation)
      state.sleepers.removeAll { $0.deadline <= now }
      return woken
    }
    for continuation in woken { continuation.resume() }
  }
}

/// Waits until a condition holds. False after ten seconds.
func eventually(_ condition: () async -> Bool) async -> Bool {
  for _ in 0..<10_000 {
    if await condition() { return true }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return false
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CStressSupport
internal import Forwarding
internal import Synchronization

/// One thread: what it is doing, and what it has done.
@safe final class Worker {
  /// The limit of `--threads`, and that of short-lived threads at one time.
  static let limit = 64
  static let passingLimit = 8
  /// How many fan-outs of one thread may be inside of one another.
  static let depthLimit = 10
  /// At this depth a delivery begins nothing random.
  static let actLimit = 4

  /// The index under which members remember the thread's fan-outs. Short-lived
  /// threads use the number of an earlier one.
  let number: Int
  let stage: Stage
  /// Whether the thread is short-lived.
  let isPassing: Bool
  var random: Random
  private(set) var depth = 0
  /// The batch of the main proxy that the thread is in: the moment by which its
  /// members had joined, and those of them that are held.
  private var batch: (joinedBy: Int, present: [Member])?
  /// How many destroy notifiers are running inside of one another.
  var notifierDepth = 0
  private let serial: Int64
  private var tickets: Int64 = 0
  var tally = Tally()

  init(_ number: Int, _ stage: Stage, seed: UInt64, isPassing: Bool = false) {
    self.number = number
    self.stage = stage
    self.isPassing = isPassing
    serial = workerSerials.add(1, ordering: .relaxed).newValue
    random = Random(seed: seed &+ UInt64(serial) &* 0xD6E8_FEB8_6659_FD93)
  }

  /// The worker of the calling thread.
  static var current: Worker? {
    // SAFETY: a worker that has set itself is there until its thread has ended.
    unsafe stress_thread_pointer().map {
      unsafe Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Runs the body as this worker.
  func run(_ body: () -> Void) {
    makeCurrent()
    withExtendedLifetime(self, body)
    stress_set_thread_pointer(nil)
  }

  /// Makes it the worker of the calling thread. It must live until the thread
  /// has ended.
  func makeCurrent() {
    unsafe stress_set_thread_pointer(Unmanaged.passUnretained(self).toOpaque())
  }

  func nextTicket() -> Int64 {
    tickets += 1
    return serial << 32 | tickets
  }

  /// Runs a fan-out of the main proxy, then checks who was called.
  func fan(
    _ method: Fan.Method, joinedBy: Int? = nil, present: [Member]? = nil,
    _ body: (Fan) throws -> Void
  ) {
    // Those that are held are there throughout, unless their end begins. To hold
    // them all each time would let nobody die in a fan-out.
    let members =
      present ?? batch?.present ?? (random.isOneOf(4) ? stage.presentMembers() : [])
    let fan = run(Fan(self, method, joinedBy: joinedBy ?? batch?.joinedBy), body)
    if stage.isEnding.load(ordering: .sequentiallyConsistent) { return }
    if method == .claim {
      violations.check(fan.deliveries == 1, "\(fan.deliveries) members answered for the first")
      return
    }
    fan.checkSteady()
    for member in members where member.implements(method) && !member.hasSeen(fan) {
      violations.check(!member.wasThere(fan), "a member missed a fan-out (\(method))")
    }
  }

  /// Whether the thread's next fan-out of the main proxy calls members that join
  /// now.
  var callsNewMembers: Bool { batch == nil }

  /// Runs the body in a batch of the main proxy.
  func inBatch(_ body: () -> Void) {
    let joinedBy = clock.load(ordering: .sequentiallyConsistent)
    let present = stage.presentMembers()
    let outer = batch
    tally.batches += 1
    violations.unfailing("a batch") {
      try stage.main.withBatch {
        batch = (joinedBy, present)
        body()
        batch = outer
      }
    }
  }

  /// Does each rare operation once, so that the shortest run has them all.
  func beginRare() {
    forkChild()
    startPassingThreads()
    nest()
    followNotifiers()
    forwardQueued()
    changeQueued()
  }

  /// Runs a fan-out of any proxy.
  @discardableResult
  func run(_ fan: Fan, _ body: (Fan) throws -> Void) -> Fan {
    depth += 1
    violations.unfailing("a fan-out of \(fan.method)") { try body(fan) }
    depth -= 1
    tally.fans += 1
    tally.deliveries += fan.deliveries
    if depth > 0 { tally.nested += 1 }
    return fan
  }

  /// Called in deliveries: sometimes fans out or changes members there.
  func mayActInside(_ fan: Fan) {
    // Changes take locks, which another thread of the parent may have held.
    guard depth < Self.actLimit, random.isOneOf(200), !isChild.load(ordering: .relaxed)
    else { return }
    if random.isOneOf(2) { forward() } else { change() }
  }
}

/// The number of workers that there may be at one time, the main thread's
/// included. It is set before there are members.
let workerCount = Atomic<Int>(0)

/// Counts the workers, so that no ticket is used twice.
private let workerSerials = Atomic<Int64>(0)

/// What a thread has done.
struct Tally {
  var fans = 0
  var nested = 0
  var deliveries = 0
  var batches = 0
  var joined = 0
  var cancelled = 0
  var dropped = 0
  var moved = 0
  var blocked = 0
  var limited = 0
  var intercepted = 0
  var targets = 0
  var nestings = 0
  var nestingFans = 0
  var deepest = 0
  var notifiers = 0
  var children = 0
  var passing = 0
  var exits = 0
  var queued = 0
  var swaps = 0

  static func += (left: inout Tally, right: Tally) {
    left.fans += right.fans
    left.nested += right.nested
    left.deliveries += right.deliveries
    left.batches += right.batches
    left.joined += right.joined
    left.cancelled += right.cancelled
    left.dropped += right.dropped
    left.moved += right.moved
    left.blocked += right.blocked
    left.limited += right.limited
    left.intercepted += right.intercepted
    left.targets += right.targets
    left.nestings += right.nestings
    left.nestingFans += right.nestingFans
    left.deepest = max(left.deepest, right.deepest)
    left.notifiers += right.notifiers
    left.children += right.children
    left.passing += right.passing
    left.exits += right.exits
    left.queued += right.queued
    left.swaps += right.swaps
  }
}

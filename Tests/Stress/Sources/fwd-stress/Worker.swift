// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding
internal import Synchronization

/// One thread: what it is doing, and what it has done.
final class Worker {
  /// At most so many threads, and fan-outs inside of fan-outs.
  static let limit = 64
  static let depthLimit = 4

  let number: Int
  let stage: Stage
  var random: Random
  private(set) var depth = 0
  private var tickets: Int64 = 0
  var tally = Tally()

  init(_ number: Int, _ stage: Stage, seed: UInt64) {
    self.number = number
    self.stage = stage
    random = Random(seed: seed &+ UInt64(number) &* 0xD6E8_FEB8_6659_FD93)
  }

  func nextTicket() -> Int64 {
    tickets += 1
    return Int64(number + 1) << 40 | tickets
  }

  /// Runs a fan-out of the main proxy, then checks who was called.
  func fan(
    _ method: Fan.Method, joinedBy: Int? = nil, present: [Member]? = nil,
    _ body: (Fan) throws -> Void
  ) {
    // Those that are held are there throughout, unless their end begins. To hold
    // them all each time would let nobody die in a fan-out.
    let members = present ?? (random.isOneOf(4) ? stage.presentMembers() : [])
    let fan = run(Fan(self, method, joinedBy: joinedBy), body)
    if method == .claim {
      violations.check(fan.deliveries == 1, "\(fan.deliveries) members answered for the first")
      return
    }
    fan.checkSteady()
    for member in members where member.implements(method) && !member.hasSeen(fan) {
      violations.check(!member.wasThere(fan), "a member missed a fan-out (\(method))")
    }
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
    guard depth < Self.depthLimit, random.isOneOf(200) else { return }
    if random.isOneOf(2) { forward() } else { change() }
  }
}

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
  }
}

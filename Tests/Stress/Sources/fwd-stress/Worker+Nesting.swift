// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

/// What members do in a fan-out of `nest:fan:level:`: they forward again, one
/// level lower, until level 0.
struct Nesting {
  var level: Int
  /// Two bits for each level.
  let steps: UInt64

  /// What the members of one level do.
  enum Step: UInt64, CaseIterable {
    /// One forwards again to the same proxy.
    case same
    /// One forwards to the other proxy.
    case across
    /// Both do, one after the other.
    case both
  }

  /// Makes random steps. At most three of them double the number of fan-outs.
  init(level: Int, _ random: inout Random) {
    self.level = level
    var steps: UInt64 = 0
    var doublings = 0
    for _ in 0..<level {
      var step = Step.allCases.randomElement(using: &random)!
      if step == .both {
        doublings += 1
        if doublings > 3 { step = .across }
      }
      steps = steps << 2 | step.rawValue
    }
    self.steps = steps
  }

  /// What members do that are called at this level, or `nil` at the last one.
  var step: Step? { level == 0 ? nil : Step(rawValue: steps >> (2 * UInt64(level - 1)) & 3) }

  /// The next level.
  var next: Nesting {
    var next = self
    next.level -= 1
    return next
  }

  /// How many fan-outs there are from this level on.
  var fanCount: Int {
    switch step {
    case nil: 1
    case .same, .across: 1 + next.fanCount
    case .both: 1 + 2 * next.fanCount
    }
  }
}

extension Worker {
  /// Forwards to the main proxy, whose members forward again: to it and to
  /// another proxy, whose members do the same.
  func nest() {
    let level = min(1 + random.below(Self.depthLimit - 1), Self.depthLimit - 1 - depth)
    let nesting = Nesting(level: level, &random)
    let root = fanNested(nesting, isMain: true)
    violations.check(
      root.nestedFans + 1 == nesting.fanCount,
      "\(root.nestedFans + 1) fan-outs of \(nesting.fanCount) inside of one another")
    tally.nestings += 1
    tally.nestingFans += root.nestedFans
    tally.deepest = max(tally.deepest, root.depth + level)
  }

  /// Makes one fan-out of a nesting. The result of the method is the number of
  /// its deliveries and of all deliveries of the fan-outs inside of it.
  @discardableResult
  private func fanNested(_ nesting: Nesting, isMain: Bool) -> Fan {
    let scope = isMain ? Stage.mainMembers : Stage.otherMembers
    let fan = Fan(self, .nest, scope: scope, nesting: nesting)
    run(fan) { fan in
      var sum: Int32 = -1
      if random.isOneOf(2) {
        try unsafe fan.withFrame { frame in
          // SAFETY: the result is an `Int32`.
          try unsafe withUnsafeMutableBytes(of: &sum) {
            try unsafe (isMain ? stage.nest : stage.otherNest).forward(frame: frame, result: $0)
          }
        }
      } else {
        sum = try (isMain ? stage.main : stage.other).send(
          "nest:fan:level:", fan.ticket, fan.address, Int64(nesting.level))
      }
      violations.check(
        Int(sum) == fan.deliveries + fan.nestedSum,
        "the sum is \(sum) of \(fan.deliveries) and \(fan.nestedSum) inside")
      fan.nestedSum += fan.deliveries
    }
    fan.checkSteady()
    return fan
  }

  /// Forwards again, in a delivery of a nesting. One member of each proxy
  /// forwards to the same proxy, and one to the other proxy. The second one of
  /// the main proxy is a member of the child, which is chained to it. Returns the
  /// number of deliveries.
  func forwardAgain(from member: Member, in fan: Fan) -> Int {
    guard let nesting = fan.nesting, let step = nesting.step, let number = member.steady else {
      return 0
    }
    let isMain: Bool
    switch number {
    case Stage.mainMembers.lowerBound + 1 where step != .across: isMain = true
    case Stage.mainCount where step != .same: isMain = false
    case Stage.otherMembers.lowerBound where step != .across: isMain = false
    case Stage.otherMembers.lowerBound + 1 where step != .same: isMain = true
    default: return 0
    }
    let nested = fanNested(nesting.next, isMain: isMain)
    fan.nestedFans += 1 + nested.nestedFans
    fan.nestedSum += nested.nestedSum
    return nested.nestedSum
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CStressSupport
internal import Forwarding
internal import Synchronization

/// The arguments of a method as they stand in a frame. The third is a `Double`
/// or an `Int64`.
private struct Frame {
  var ticket: Int64
  var fan: Int64
  var third: UInt64

  init(_ fan: Fan) {
    ticket = fan.ticket
    self.fan = fan.address
    third = fan.nesting.map { UInt64($0.level) } ?? (0.5).bitPattern
  }
}

extension Fan {
  func withFrame(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    // SAFETY: the bytes are valid during the call.
    try unsafe withUnsafeBytes(of: Frame(self)) { bytes in
      let size = method == .shade || method == .nest ? 24 : 16
      try unsafe body(UnsafeRawBufferPointer(rebasing: bytes.prefix(size)))
    }
  }
}

// MARK: - Ways to forward

extension Worker {
  /// Sends some messages to subscribers whose deliveries are made later.
  func forwardQueued() {
    if isChild.load(ordering: .relaxed) { return }
    for _ in 0..<4 { stage.queued.send(from: number, isEmpty: random.isOneOf(8)) }
    tally.queued += 4
    stage.swapping.forward()
  }

  /// Fans out in one of all ways.
  func forward() {
    // A short-lived thread starts no other one, so that it ends soon.
    if !isPassing {
      if random.isOneOf(500) { return forkChild() }
      if random.isOneOf(300) { return startPassingThreads() }
    }
    switch random.below(24) {
    case 21, 22, 23: forwardQueued()
    case 0, 1, 2: forward(.strike, stage.strike)
    case 3: forward(.shade, stage.shade)
    case 4, 5: forwardForResult()
    case 6, 7: forwardBatch()
    case 8: forwardNamed()
    case 9: forwardByFunction()
    case 10: fan(.strike) { try stage.main.send("strike:fan:", $0.ticket, $0.address) }
    case 11: collect()
    case 12:
      let strike = MethodSelector("strike:fan:")
      fan(.strike) { try stage.main.send(Method(strike), $0.ticket, $0.address) }
    case 13: forwardLoose()
    case 14: followOne(Membership.Kind.allCases.randomElement(using: &random)!)
    case 15: followBlocked()
    case 16: followLimited()
    case 17: nest()
    case 18: followNotifiers()
    case 19: forwardPlain()
    default: forwardToPassingProxy()
    }
  }

  func forward(_ name: Fan.Method, _ method: ResolvedMethod) {
    fan(name) { fan in
      try unsafe fan.withFrame { try unsafe method.forward(frame: $0) }
    }
  }

  /// Forwards where all members are C functions.
  func forwardPlain() {
    // SAFETY: the stage keeps the proxy.
    let isRight = unsafe stress_plain_forward(stage.plain.unsafeHandle, nextTicket())
    violations.check(isRight, "a fan-out to C functions was wrong")
    tally.fans += 1
    tally.deliveries += STRESS_PLAIN_COUNT
  }

  private func forwardNamed() {
    fan(.strike) { fan in
      try unsafe fan.withFrame {
        guard let strike = MethodSelector(known: "strike:fan:") else { return }
        try unsafe stage.main.method(for: strike).forward(frame: $0)
      }
    }
  }

  func forwardByFunction() {
    fan(.strike) { fan in
      // SAFETY: the function has this type, and the stage keeps it.
      let function = unsafe stage.pointer.unsafeCast(
        to: (@convention(c) (Int64, Int64) -> Void).self)
      function(fan.ticket, fan.address)
    }
  }

  /// The sum of all, or the first answer.
  private func forwardForResult() {
    if random.isOneOf(3) {
      fan(.claim) { fan in
        let answer: Int64 = try stage.main.send("claim:fan:", fan.ticket, fan.address)
        violations.check(answer == fan.ticket, "the answer was another's")
      }
      return
    }
    fan(.weigh) { fan in
      var sum: Int32 = -1
      try unsafe fan.withFrame { frame in
        // SAFETY: the result is an `Int32`.
        try unsafe withUnsafeMutableBytes(of: &sum) {
          try unsafe stage.weigh.forward(frame: frame, result: $0)
        }
      }
      violations.check(Int(sum) == fan.deliveries, "the sum is \(sum) of \(fan.deliveries)")
    }
  }

  private func collect() {
    fan(.weigh) { fan in
      let answers: [DynamicProxy.Answer<Int32>] = try stage.main.collect(
        "weigh:fan:", as: Int32.self, fan.ticket, fan.address)
      let sum = answers.reduce(0) { $0 + Int($1.value) }
      violations.check(sum == fan.deliveries, "the answers make \(sum) of \(fan.deliveries)")
    }
  }

  func forwardBatch() {
    inBatch {
      forward(.strike, stage.strike)
      if depth == 0 && random.isOneOf(4) && !isChild.load(ordering: .relaxed) { change() }
      forward(.shade, stage.shade)
      forwardByFunction()
      forwardForResult()
    }
  }

  /// Where members are thrown out together.
  private func forwardLoose() {
    run(Fan(self, .strike)) { fan in
      try unsafe fan.withFrame { try unsafe stage.looseStrike.forward(frame: $0) }
    }
  }
}

// MARK: - Lives from beginning to end

extension Worker {
  /// Subscribes a member: the next fan-out of this thread calls it, and none
  /// after its end.
  func followOne(_ kind: Membership.Kind) {
    violations.unfailing("a life") {
      let membership = try Membership(Member(), kind, in: stage.main, at: somePosition())
      tally.joined += 1
      let member = membership.member
      fan(.strike, present: [member]) { fan in
        try stage.main.send("strike:fan:", fan.ticket, fan.address)
        violations.check(
          member.hasSeen(fan) == callsNewMembers,
          callsNewMembers
            ? "a new member was not called (\(kind))"
            : "a batch called a new member (\(kind))")
      }
      membership.cancel(byObject: random.isOneOf(3))
      tally.cancelled += 1
      fan(.strike) { fan in
        try unsafe fan.withFrame { try unsafe stage.strike.forward(frame: $0) }
        violations.check(!member.hasSeen(fan), "a former member was called (\(kind))")
      }
    }
  }

  /// A proxy with members of its own, which die with it.
  func forwardToPassingProxy() {
    violations.unfailing("a proxy") {
      let proxy = try DynamicProxy(adopting: Member.protocolTable)
      var memberships: [Membership] = []
      for kind in Membership.Kind.allCases {
        memberships.append(try Membership(Member(), kind, in: proxy))
      }
      let pointer = try proxy.functionPointer(for: "strike:fan:")
      run(Fan(self, .strike)) { fan in
        // SAFETY: the function has this type.
        let function = unsafe pointer.unsafeCast(
          to: (@convention(c) (Int64, Int64) -> Void).self)
        function(fan.ticket, fan.address)
        for membership in memberships {
          violations.check(
            membership.member.hasSeen(fan), "a member of a new proxy was not called")
        }
      }
      tally.joined += memberships.count
      memberships.removeAll()
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import Forwarding
internal import Synchronization

/// What stands before deliveries for a while: interceptors, forward targets, and
/// subscriptions that others block and end.
final class Guarding: Sendable {
  static let count = 8

  /// Each lets invocations of the main proxy through, once.
  let letting: [PosixLock<DynamicProxy.Token?>]
  /// Those of the loose proxy do what they like.
  let wild: [PosixLock<DynamicProxy.Token?>]
  /// Of the loose proxy.
  let subscriptions: [PosixLock<DynamicProxy.Subscription?>]
  /// Tokens that block some of them.
  let pauses: [PosixLock<DynamicProxy.Token?>]

  init() {
    letting = (0..<Self.count).map { _ in PosixLock(nil) }
    wild = (0..<Self.count).map { _ in PosixLock(nil) }
    subscriptions = (0..<Self.count).map { _ in PosixLock(nil) }
    pauses = (0..<Self.count).map { _ in PosixLock(nil) }
  }

  func end() {
    for token in letting + wild { token.exchange(nil) }
    for pause in pauses { pause.exchange(nil) }
    for subscription in subscriptions { subscription.exchange(nil) }
  }
}

extension PosixLock {
  /// Gives up what there was behind the lock.
  @discardableResult
  func exchange(_ new: State) -> State {
    withLock { state in
      defer { state = new }
      return state
    }
  }
}

// MARK: - On the main proxy

extension Worker {
  /// Puts an interceptor there that changes nothing, or takes it away.
  func changeLetting() {
    let place = stage.guarding.letting[random.below(Guarding.count)]
    if place.exchange(nil) != nil { return }
    violations.unfailing("an interception") {
      let selectors: [MethodSelector] = ["strike:fan:", "weigh:fan:"]
      let selector = selectors.randomElement(using: &random)!
      let check: @Sendable (Int64, Int64) -> Void = { ticket, fan in
        violations.check(Fan.at(fan).ticket == ticket, "an interceptor's arguments were mixed up")
      }
      let token =
        switch random.below(4) {
        case 0: try stage.main.before(Method(selector), check)
        case 1: try stage.main.after(Method(selector), check)
        case 2: try stage.main.around(selector) { _, proceed in try proceed() }
        default: try stage.main.around("nest:fan:level:") { _, proceed in try proceed() }
        }
      tally.intercepted += 1
      // Another thread's goes as this one comes.
      place.exchange(token)?.cancel()
    }
  }

  /// A member that is blocked is passed over, and is called when it is not.
  func followBlocked() {
    violations.unfailing("a member that is blocked") {
      let member = Member()
      let lifetime: DynamicProxy.Lifetime = random.isOneOf(2) ? .weak : .strong
      let subscription = try stage.main.subscribe(member, at: somePosition(), lifetime: lifetime)
      for _ in 0...random.below(2) {
        let pause = try subscription.block()
        violations.check(pause.isLive, "a subscription could not be blocked")
        fan(.strike) { fan in
          try unsafe fan.withFrame { try unsafe stage.strike.forward(frame: $0) }
          violations.check(!member.hasSeen(fan), "a blocked member was called")
        }
        violations.check(pause.cancel(), "a blocked subscription was not blocked")
        fan(.strike) { fan in
          try unsafe fan.withFrame { try unsafe stage.strike.forward(frame: $0) }
          violations.check(
            member.hasSeen(fan) == callsNewMembers,
            "a member was not called after it had been blocked, or a batch called a new one")
        }
      }
      violations.check(subscription.cancel(), "a subscription that was blocked was gone")
      tally.blocked += 1
    }
  }

  /// A member that is there for some deliveries gets no more of all threads'.
  func followLimited() {
    violations.unfailing("a member for some deliveries") {
      let member = Member()
      let times = 1 + random.below(4)
      let subscription = try stage.main.subscribe(
        member, at: somePosition(), lifetime: random.isOneOf(2) ? .weak : .strong, times: times)
      inBatch { for _ in 0...(times / 2) { forward(.strike, stage.strike) } }
      // A batch that the thread was in before does not call the member.
      if callsNewMembers { for _ in 0...times { forward(.strike, stage.strike) } }
      violations.check(
        !callsNewMembers || !subscription.isLive,
        "a subscription goes on after all its deliveries")
      let count = member.deliveries.load(ordering: .sequentiallyConsistent)
      violations.check(count <= times, "\(count) deliveries to a member for \(times)")
      tally.limited += 1
    }
  }
}

// MARK: - On the loose proxy

extension Worker {
  /// Changes what stands before the deliveries of the loose proxy.
  func changeGuards() {
    switch random.below(6) {
    case 0: changeWild()
    case 1: changeTarget()
    default: changeSubscription()
    }
  }

  private func changeWild() {
    let place = stage.guarding.wild[random.below(Guarding.count)]
    if place.exchange(nil) != nil { return }
    violations.unfailing("an interception of the loose proxy") {
      let loose = stage.loose
      let token =
        switch random.below(4) {
        case 0: try loose.before("strike:fan:") { (_: Int64, _: Int64) in }
        case 1:
          try loose.instead("strike:fan:", replacing: true) { (ticket: Int64, fan: Int64) in
            violations.check(Fan.at(fan).ticket == ticket, "a stub's arguments were mixed up")
          }
        case 2:
          // Ends itself, and whoever is in its place.
          try loose.around("strike:fan:") { [place] _, proceed in
            place.exchange(nil)
            try proceed()
          }
        default: try loose.around("strike:fan:") { _, _ in }
        }
      tally.intercepted += 1
      place.exchange(token)?.cancel()
    }
  }

  private func changeTarget() {
    let scope: DynamicProxy.ForwardScope = random.isOneOf(2) ? .unhandled : .everything
    violations.unfailing("a forward target") {
      switch random.below(4) {
      case 0: stage.loose.removeForwardTarget()
      // Dies at once.
      case 1: try stage.loose.setForwardTarget(Member(), for: scope)
      default: try stage.loose.setForwardTarget(Member(), for: scope, lifetime: .strong)
      }
      tally.targets += 1
    }
  }

  /// Subscribes a member, or blocks, unblocks or ends whoever is there.
  private func changeSubscription() {
    let place = stage.guarding.subscriptions[random.below(Guarding.count)]
    if let subscription = place.withLock({ $0 }), subscription.isLive {
      switch random.below(6) {
      case 0: subscription.cancel()
      case 1, 2: stage.guarding.pauses[random.below(Guarding.count)].exchange(nil)?.cancel()
      case 3: _ = subscription.isBlocked
      default:
        let place = stage.guarding.pauses[random.below(Guarding.count)]
        violations.unfailing("a block of a guarded subscription") {
          place.exchange(try subscription.block())?.cancel()
        }
      }
      return
    }
    violations.unfailing("a guarded subscription") {
      let times = random.isOneOf(2) ? nil : 1 + random.below(3)
      let made = try stage.loose.subscribe(
        Member(), at: random.isOneOf(2) ? .first : .last, lifetime: .strong, times: times)
      tally.joined += 1
      place.exchange(made)?.cancel()
    }
  }
}

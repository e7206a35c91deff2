// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import Forwarding
internal import Synchronization

extension Worker {
  /// Changes who is subscribed, or where.
  func change() {
    switch random.below(25) {
    case 0...9: changeSlot(stage.slots, of: stage.main)
    case 10: changeSlot(stage.otherSlots, of: stage.other)
    case 11, 12: moveSteady()
    case 13: look()
    case 14: changeLetting()
    case 15, 16, 17: changeGuards()
    case 18, 19: changeNotifier()
    case 20: changePlain()
    case 21, 22: changeQueued()
    default: changeLoose()
    }
  }

  func somePosition() -> DynamicProxy.Position {
    switch random.below(10) {
    case 0: .first
    case 1: .index(random.below(Stage.mainCount))
    case 2: .before(stage.steady[0].member)
    case 3: .after(stage.steady[Stage.fixedCount - 1].member)
    case 4: .priority(random.below(5) - 2)
    default: .last
    }
  }

  /// Fills an empty place, or ends who is in it.
  private func changeSlot(_ slots: [PosixLock<Membership?>], of proxy: DynamicProxy) {
    let slot = slots[random.below(slots.count)]
    let left = slot.withLock { slot in
      defer { slot = nil }
      return slot
    }
    if let left {
      if left.endsWithMember && random.isOneOf(2) {
        left.drop()
        tally.dropped += 1
      } else {
        left.cancel(byObject: random.isOneOf(3))
        tally.cancelled += 1
      }
      return
    }
    violations.unfailing("a subscription") {
      let kind = Membership.Kind.allCases.randomElement(using: &random)!
      let member = Member(isPartial: kind == .weakClosures && random.isOneOf(2))
      let made = try Membership(
        member, kind, in: proxy,
        at: proxy === stage.main ? somePosition() : random.isOneOf(2) ? .first : .last)
      tally.joined += 1
      // Another thread may have filled it in the meantime.
      let other = slot.withLock { slot in
        defer { slot = made }
        return slot
      }
      other?.cancel(byObject: random.isOneOf(3))
    }
  }

  /// Subscribes a C function to the plain proxy, or ends a subscription there.
  private func changePlain() {
    let place = stage.plainPlaces[random.below(stage.plainPlaces.count)]
    var left = place.exchange(0)
    if left == 0 {
      left = place.exchange(stage.subscribe(UInt32.max, to: stage.plain))
      tally.joined += 1
    }
    if left == 0 { return }
    // SAFETY: the stage keeps the proxy.
    let status = unsafe fwd_proxy_unsubscribe(stage.plain.unsafeHandle, left)
    violations.check(status == FWD_OK, "a C function could not be unsubscribed: \(status)")
    tally.cancelled += 1
  }

  /// Adds or ends a subscriber whose deliveries are made later.
  func changeQueued() {
    // The executors are threads that a child does not have.
    if isChild.load(ordering: .relaxed) { return }
    stage.swapping.swap(&random)
    tally.swaps += 1
    if stage.queued.change(&random) {
      tally.joined += 1
    } else {
      tally.cancelled += 1
    }
  }

  /// Moves one of those that stay and have no fixed order: a fan-out under way
  /// still calls it once.
  private func moveSteady() {
    let movable = Stage.fixedCount..<Stage.mainCount
    let membership = stage.steady[movable.lowerBound + random.below(movable.count)]
    violations.unfailing("a move") { try membership.move(to: somePosition()) }
    tally.moved += 1
  }

  /// Looks at the main proxy.
  private func look() {
    let main = stage.main
    switch random.below(4) {
    case 0: violations.check(main.count > Stage.mainCount, "the proxy counts \(main.count)")
    case 1: violations.check(main.responds(to: "weigh:fan:"), "nobody responds")
    case 2:
      let objects = main.subscriptions().compactMap(\.subscriber)
      violations.check(objects.count >= Stage.mainCount - 1, "\(objects.count) objects are live")
    default:
      let steady = stage.steady[0].member
      violations.check(main.contains(steady), "a member that stays is not in the proxy")
    }
  }

  /// Fills the loose proxy, or throws all out.
  private func changeLoose() {
    if random.isOneOf(24) {
      stage.loose.unsubscribeAll()
      return
    }
    violations.unfailing("a subscription to the loose proxy") {
      let kinds: [Membership.Kind] = [.strong, .context, .chainedStrong, .weak]
      let kind = kinds.randomElement(using: &random)!
      _ = try Membership(Member(), kind, in: stage.loose)
      tally.joined += 1
    }
  }
}

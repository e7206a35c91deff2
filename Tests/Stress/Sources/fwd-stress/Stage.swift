// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import CStressSupport
internal import Forwarding
internal import Synchronization

/// The proxies, who stays in them, and who is there for a while.
final class Stage: Sendable {
  /// Those that keep their order, those in the main proxy, and all.
  static let fixedCount = 3
  static let mainCount = 8
  static let steadyCount = 14
  /// Those that a fan-out of the main proxy calls, and one of the other proxy.
  static let mainMembers = 0..<11
  static let otherMembers = 11..<14
  static let slotCount = 24
  static let otherSlotCount = 6

  let main: DynamicProxy
  /// Subscribed to the main one.
  let child: DynamicProxy
  /// The second proxy of nested fan-outs.
  let other: DynamicProxy
  /// Where all are thrown out now and then.
  let loose: DynamicProxy
  /// All its members are C functions.
  let plain: DynamicProxy
  /// As `plain`, but no thread changes it.
  let still: DynamicProxy
  let plainPlaces: [NotifierProxy.Place]
  let steady: [Membership]
  /// Members that come and go.
  let slots: [PosixLock<Membership?>]
  let otherSlots: [PosixLock<Membership?>]
  let strike: ResolvedMethod
  let weigh: ResolvedMethod
  let shade: ResolvedMethod
  let claim: ResolvedMethod
  let looseStrike: ResolvedMethod
  let pointer: FunctionPointer
  let nest: ResolvedMethod
  let otherNest: ResolvedMethod
  let guarding = Guarding()
  let queued: Queued
  let swapping: Swapping
  /// The main proxy, as its destroy notifiers use it.
  let notifying: NotifierProxy
  /// The numbers of workers that no short-lived thread has now.
  let freeNumbers: PosixLock<[Int]>
  /// Whether the members that stay are ending.
  let isEnding = Atomic<Bool>(false)

  /// Makes all proxies for so many threads, which have the first numbers.
  init(threads: Int) throws {
    let count = threads + Worker.passingLimit + 1
    workerCount.store(count, ordering: .relaxed)
    freeNumbers = PosixLock(Array(threads..<count - 1))
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { violations.note("an error was reported: \($0)") }
    let table = Member.protocolTable
    main = try DynamicProxy(adopting: table, configuration: configuration)
    child = try DynamicProxy(adopting: table, configuration: configuration)
    other = try DynamicProxy(adopting: table, configuration: configuration)
    loose = try DynamicProxy(adopting: table, configuration: configuration)
    plain = try DynamicProxy(adopting: table, configuration: configuration)
    still = try DynamicProxy(adopting: table, configuration: configuration)
    queued = try Queued(workers: count, configuration)
    swapping = try Swapping(configuration)
    plainPlaces = (0..<NotifierProxy.count).map { _ in NotifierProxy.Place() }
    let kinds: [Membership.Kind] = [
      .weak, .strong, .tied, .context, .weak, .strong, .token, .weakClosures,
      .weak, .strong, .context, .context, .weak, .strong,
    ]
    var steady: [Membership] = []
    for (number, kind) in kinds.enumerated() {
      let proxy =
        Self.otherMembers.contains(number) ? other : number < Self.mainCount ? main : child
      steady.append(try Membership(Member(steady: number), kind, in: proxy))
    }
    try main.subscribe(child)
    self.steady = steady
    slots = (0..<Self.slotCount).map { _ in PosixLock(nil) }
    otherSlots = (0..<Self.otherSlotCount).map { _ in PosixLock(nil) }
    strike = try main.method(for: "strike:fan:")
    weigh = try main.method(for: "weigh:fan:")
    shade = try main.method(for: "shade:fan:depth:")
    claim = try main.method(for: "claim:fan:")
    looseStrike = try loose.method(for: "strike:fan:")
    pointer = try main.functionPointer(for: "strike:fan:")
    nest = try main.method(for: "nest:fan:level:")
    otherNest = try other.method(for: "nest:fan:level:")
    notifying = NotifierProxy(main, least: Self.mainCount)
    for number in 0..<UInt32(STRESS_PLAIN_COUNT) {
      _ = subscribe(number, to: plain)
      _ = subscribe(number, to: still)
    }
  }

  /// Members of the main proxy that are there now, which live as long as the
  /// result.
  func presentMembers() -> [Member] {
    // Another thread of the parent may have held the locks.
    if isChild.load(ordering: .relaxed) { return [] }
    return slots.compactMap { slot in slot.withLock { $0?.member } }
  }

  /// Subscribes a C function to one of the plain proxies.
  func subscribe(_ number: UInt32, to proxy: DynamicProxy) -> fwd_subscription {
    var subscription: fwd_subscription = 0
    // SAFETY: the proxy is there.
    let status = unsafe stress_plain_subscribe(proxy.unsafeHandle, number, &subscription)
    violations.check(status == FWD_OK, "a C function could not be subscribed: \(status)")
    return subscription
  }

  /// Ends what is left, in the one way or the other.
  func end(seed: UInt64) {
    var random = Random(seed: seed)
    isEnding.store(true, ordering: .sequentiallyConsistent)
    notifying.end()
    queued.end()
    for slot in slots + otherSlots {
      let left = slot.withLock { slot in
        defer { slot = nil }
        return slot
      }
      if random.isOneOf(2) {
        left?.cancel(byObject: random.isOneOf(3))
      } else {
        left?.drop()
      }
    }
    if random.isOneOf(2) { loose.unsubscribeAll() }
    guarding.end()
    for membership in steady where random.isOneOf(2) {
      membership.cancel(byObject: random.isOneOf(3))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding
internal import Synchronization

/// The proxies, who stays in them, and who is there for a while.
final class Stage: Sendable {
  /// Those that keep their order, those in the main proxy, and all.
  static let fixedCount = 3
  static let mainCount = 8
  static let steadyCount = 11
  static let slotCount = 24

  let main: DynamicProxy
  /// Subscribed to the main one.
  let child: DynamicProxy
  /// Where all are thrown out now and then.
  let loose: DynamicProxy
  let steady: [Membership]
  /// Members that come and go.
  let slots: [PosixLock<Membership?>]
  let strike: ResolvedMethod
  let weigh: ResolvedMethod
  let shade: ResolvedMethod
  let claim: ResolvedMethod
  let looseStrike: ResolvedMethod
  let pointer: FunctionPointer
  let guarding = Guarding()

  init() throws {
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { violations.note("an error was reported: \($0)") }
    let table = Member.protocolTable
    main = try DynamicProxy(adopting: table, configuration: configuration)
    child = try DynamicProxy(adopting: table, configuration: configuration)
    loose = try DynamicProxy(adopting: table, configuration: configuration)
    let kinds: [Membership.Kind] = [
      .weak, .strong, .tied, .context, .weak, .strong, .token, .weakClosures,
      .weak, .strong, .context,
    ]
    var steady: [Membership] = []
    for (number, kind) in kinds.enumerated() {
      let proxy = number < Self.mainCount ? main : child
      steady.append(try Membership(Member(steady: number), kind, in: proxy))
    }
    try main.subscribe(child)
    self.steady = steady
    slots = (0..<Self.slotCount).map { _ in PosixLock(nil) }
    strike = try main.method(for: "strike:fan:")
    weigh = try main.method(for: "weigh:fan:")
    shade = try main.method(for: "shade:fan:depth:")
    claim = try main.method(for: "claim:fan:")
    looseStrike = try loose.method(for: "strike:fan:")
    pointer = try main.functionPointer(for: "strike:fan:")
  }

  /// Members that are there now, which live as long as the result.
  func presentMembers() -> [Member] {
    slots.compactMap { slot in slot.withLock { $0?.member } }
  }

  /// Ends what is left, in the one way or the other.
  func end(_ random: inout Random) {
    for slot in slots {
      let left = slot.withLock { slot in
        defer { slot = nil }
        return slot
      }
      if random.isOneOf(2) { left?.cancel(&random) } else { left?.drop() }
    }
    if random.isOneOf(2) { loose.unsubscribeAll() }
    guarding.end()
    for membership in steady where random.isOneOf(2) { membership.cancel(&random) }
  }
}

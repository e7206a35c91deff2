// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import FwdBenchDriver

extension FanOutRows {
  /// The table of goals. Where it names no number, 64 subscribers are
  /// meant.
  static var goals: [Goal] {
    timeGoals + typedGoals + sizeGoals + peerGoals + [
      Goal(
        group: name, title: "two threads, disjoint subscribers: speed-up",
        bounds: [
          speedUp(Way.disjointThreads, "on one proxy"), speedUp(Way.twoProxies, "on a proxy each"),
        ]),
      Goal(
        group: name, title: "allocations per emission",
        bounds: frugal.map { way in
          // A batch allocates when it begins, and never again.
          Bound(
            quantity: .allocations(of: Row.name(way, 64)), limit: way == Way.batch ? 0.01 : 0,
            unit: "", detail: way)
        }),
      Goal(
        group: name, title: "locks per emission",
        bounds: frugal.map { way in
          Bound(quantity: .locks(of: Row.name(way, 64)), limit: 0, unit: "", detail: way)
        }),
    ]
  }

  private static var timeGoals: [Goal] {
    [
      goal(
        "weak delivery by resolved method",
        ratio(Way.resolved, Way.weakBoxes, 0.20, "a loop over [WeakBox<any P>]")),
      goal(
        "the same, receivers with a side table",
        ratio(Way.sideTables, Way.weakBoxes, 0.62, "a loop over [WeakBox<any P>]")),
      goal(
        "weak delivery by resolved method, beside other libraries",
        ratio(
          Way.resolved, Way.glibGeneric, 0.10, "GLib", detail: "GLib, generic marshaller",
          measuredBy: "scripts/bench"),
        ratio(
          Way.resolved, Way.gnustep, 0.17, "GNUstep", size: 512,
          detail: "GNUstep's forwardInvocation:, N = 512", measuredBy: "scripts/bench"),
        ratio(
          Way.resolved, Way.openCombineWeak, 0.09, "OpenCombine", detail: "OpenCombine, weak sinks",
          measuredBy: "scripts/bench")),
      goal(
        "emission at N = 1",
        ratio(Way.resolved, Way.weakBoxes, 0.30, "a loop over [WeakBox<any P>]", size: 1)),
      goal("batch, per delivery", ratio(Way.batch, Way.functionPointers, 1.6, "C pointers")),
      goal(
        "strong", ratio(Way.strong, Way.strongReferences, 0.25, "a loop over [any P], strong")),
      goal(
        "send by key",
        ratio(Way.key, Way.resolved, 1.05, "a resolved method", size: 1, detail: "N = 1"),
        ratio(
          Way.keyResult, Way.resolvedResult, 1.1, "a resolved method", size: 1,
          detail: "N = 1, with a result"),
        ratio(Way.key, Way.resolved, 1.05, "a resolved method", detail: "N = 64"),
        ratio(
          Way.keyResult, Way.resolvedResult, 1.1, "a resolved method",
          detail: "N = 64, with a result")),
      goal(
        "forwarded from C",
        ratio(Way.fromC, Way.resolved, 1.1, "a resolved method", size: 1, detail: "N = 1"),
        ratio(Way.fromC, Way.resolved, 1.1, "a resolved method", detail: "N = 64")),
      goal(
        "closures that look at results",
        ratio(Way.until, Way.resolvedResult, 1.3, "all called", detail: "until"),
        ratio(Way.reduced, Way.resolvedResult, 1.3, "all called", detail: "reduce")),
      // A tenth and 0.3 of what it took when each result was boxed.
      goal(
        "all results collected",
        ratio(Way.collected, Way.resolvedResult, 5.7, "all called", size: 1, detail: "N = 1"),
        ratio(Way.collected, Way.resolvedResult, 4.3, "all called", detail: "N = 64")),
      goal(
        "an interceptor, on top of an emission at N = 1", onTop(Way.before), onTop(Way.after),
        onTop(Way.instead)),
      goal("recorded, N = 1", ratio(Way.recorded, Way.resolved, 2, "not recorded", size: 1)),
      goal(
        "decoded and replayed", ratio(Way.replayed, Way.invocation, 1.5, "the same invocations")),
      goal("by name, N = 1", ratio(Way.name, Way.resolved, 2.5, "by resolved method", size: 1)),
    ]
  }

  /// Beside C++ libraries, so only in the program that has their rows.
  private static var peerGoals: [Goal] {
    let sigslot = Way.sigslotTracked
    let beside = { (way: String, base: String, limit: Double, size: Int, detail: String) in
      ratio(
        way, base, limit, base.hasPrefix(sigslot) ? "sigslot" : "Boost.Signals2", size: size,
        detail: detail, measuredBy: "scripts/bench")
    }
    return [
      goal(
        "weak closures beside sigslot's tracked slots, receivers of two classes in turn",
        beside(Way.closures, sigslot, 0.85, 1, "N = 1"),
        beside(Way.closuresByKey, sigslot, 0.85, 1, "N = 1, send by key"),
        beside(Way.closures, sigslot, 1, 64, "N = 64"),
        beside(Way.closuresByKey, sigslot, 1, 64, "N = 64, send by key")),
      goal(
        "subscribing and cancelling beside sigslot's tracked slots",
        beside(Way.replacing, Way.replacing(sigslot), 1.1, 64, "one of 64"),
        beside(Way.rejoining, Way.rejoining(sigslot), 1.1, 64, "64 at a time")),
      goal(
        "making and ending a proxy beside a Boost signal",
        beside(
          Way.remakingWithOne, Way.remakingWithOne(Way.signals2), 1.2, 1, "with a subscriber"),
        beside(Way.remaking, Way.remaking(Way.signals2), 1.2, 1, "empty")),
    ]
  }

  private static var typedGoals: [Goal] {
    #if Macros
      [
        goal(
          "typed delivery", ratio(Way.typedProxy, Way.resolved, 1.15, "an untyped one"))
      ]
        + TypedRows.kinds.map { kind in
          goal(
            "typed delivery, \(kind)",
            ratio(
              TypedRows.typedName(kind), TypedRows.untypedName(kind), 1.15, "an untyped one"))
        }
    #else
      []
    #endif
  }

  private static var sizeGoals: [Goal] {
    let million = 1_000_000
    let growth = { (way: String, limit: Double, detail: String) in
      Bound(
        quantity: .ratio(of: Row.name(way, million), to: Row.name(Way.resolved, 64)),
        limit: limit, unit: "a delivery at N = 64", detail: detail)
    }
    return [
      Goal(
        group: name, title: "a delivery at N = 1000000",
        bounds: [
          growth(Way.resolved, 1.5, "subscribers in allocation order"),
          growth(Way.shuffled, 2, "shuffled"),
        ]),
      Goal(
        group: name, title: "subscribing 1000000",
        bounds: [
          ratio(
            Way.subscribing, Way.weakBoxAppending, 2, "appending as many",
            size: million, detail: "beside appending WeakBoxes to an array"),
          Bound(
            quantity: .time(of: Row.name(Way.subscribing, million)), limit: 2000, unit: "ns each",
            detail: "in under 2 s"),
          Bound(
            quantity: .bytes(of: Row.name(Way.subscribing, million)), limit: 64,
            unit: "bytes each", detail: "memory"),
        ]),
    ]
  }

  /// The ways that take no lock and allocate nothing. Those that box arguments
  /// or give an array are not among them.
  private static let frugal = [
    Way.resolved, Way.sideTables, Way.strong, Way.batch, Way.selector, Way.name, Way.key,
    Way.literal, Way.functionPointer, Way.before, Way.after, Way.instead,
  ]

  // MARK: - Making

  private static func goal(_ title: String, _ bounds: Bound...) -> Goal {
    Goal(group: name, title: title, bounds: bounds)
  }

  private static func ratio(
    _ way: String, _ base: String, _ limit: Double, _ unit: String, size: Int = 64,
    detail: String = "", measuredBy: String? = nil
  ) -> Bound {
    Bound(
      quantity: .ratio(of: Row.name(way, size), to: Row.name(base, size)), limit: limit,
      unit: unit, detail: detail, measuredBy: measuredBy)
  }

  private static func onTop(_ way: String) -> Bound {
    Bound(
      quantity: .difference(of: Row.name(way, 1), from: Row.name(Way.resolved, 1)), limit: 15,
      unit: "ns", detail: way)
  }

  private static func speedUp(_ way: String, _ detail: String) -> Bound {
    let base = Way.functionPointerThreads
    let size = ThreadRows.size
    return Bound(
      quantity: .speedUp(
        of: Row.name(way, size), onOne: Row.name(ThreadRows.onOneThread(way), size),
        to: Row.name(base, size), toOne: Row.name(ThreadRows.onOneThread(base), size)),
      limit: 0.9, unit: "the speed-up of C pointers", detail: detail)
  }
}

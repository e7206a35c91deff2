// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the rows of fan-outs are called, where goals and peers name them too.
public enum Way {
  /// What the others are compared with.
  public static let weakBoxes = "Swift: loop over [WeakBox<any P>]"
  /// The least that a delivery can cost.
  public static let functionPointers = "C: loop over function pointers"

  static let strongReferences = "Swift: loop over [any P], strong"
  static let weakBoxAppending = "Swift: appending to [WeakBox<any P>]"

  static let resolved = "proxy: resolved method"
  static let selector = "proxy: selector"
  static let name = "proxy: name"
  static let key = "proxy: send by key"
  static let keyResult = "proxy: send by key, result"
  static let resolvedResult = "proxy: all called, last result"
  static let literal = "proxy: send by literal"
  static let until = "proxy: until a closure holds"
  static let reduced = "proxy: reduced by a closure"
  static let collected = "proxy: all results collected"
  static let collectedByKey = "proxy: all results collected, by key"
  /// Only with the trait "Macros".
  static let typedProxy = "typed proxy"
  static let functionPointer = "proxy: C function pointer"
  static let fromC = "proxy: fwd_forward"
  static let sideTables = "proxy: receivers with a side table"
  static let strong = "proxy: strong"
  static let batch = "proxy: batch"
  static let shuffled = "proxy: shuffled in memory"
  static let subscribing = "proxy: subscribing"
  static let closures = "proxy: typed closures"
  static let closuresByKey = "proxy: typed closures, send by key"
  static let replacing = "proxy: leaving by token, and joining again"
  static let rejoining = "proxy: all leave by token, and join again"
  static let remaking = "proxy: made and ended"
  static let remakingWithOne = "proxy: made and ended, a weak closure"

  static let before = "proxy: before, typed closure"
  static let after = "proxy: after, typed closure"
  static let instead = "proxy: instead"
  static let recorded = "proxy: recorded"
  static let replayed = "proxy: decoded and replayed"
  static let invocation = "proxy: Invocation"

  static let disjointThreads = "two threads, proxy: different subscribers of one"
  static let twoProxies = "two threads, proxy: one each"
  static let functionPointerThreads = "two threads, C: different function pointers"

  /// Only in the program of the peers.
  public static let glibGeneric = "GLib: g_signal_emit, generic marshaller"
  /// Only in the program of the peers.
  public static let gnustep = "GNUstep: forwardInvocation:, strong targets"
  /// Only in the program of the peers.
  public static let signals2 = "Boost.Signals2: tracked slots"
  /// Only in the program of the peers.
  public static let sigslotTracked = "sigslot: tracked slots"
  /// Only in the program of the peers.
  public static let sigslotLambda = "sigslot: tracked lambda, 2 arguments"
  /// Only in the program of the peers.
  public static let openCombineWeak = "OpenCombine: PassthroughSubject, weak sinks"

  // Rows of a peer that has the one above. They are only in its program.

  /// One slot disconnects and connects again.
  public static func replacing(_ peer: String) -> String { "\(peer), one leaves and joins again" }
  /// All slots disconnect, then connect again.
  public static func rejoining(_ peer: String) -> String { "\(peer), all leave and join again" }
  /// A signal without slots is made and ended.
  public static func remaking(_ peer: String) -> String { "\(peer), signal made and ended" }
  /// A signal is made, connected to a slot and ended.
  public static func remakingWithOne(_ peer: String) -> String {
    "\(peer), signal with a slot made and ended"
  }
}

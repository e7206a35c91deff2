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
  static let typedSend = "proxy: typed send"
  /// Only with the trait "Macros".
  static let typedProxy = "typed proxy"
  static let functionPointer = "proxy: C function pointer"
  static let sideTables = "proxy: receivers with a side table"
  static let strong = "proxy: strong"
  static let batch = "proxy: batch"
  static let shuffled = "proxy: shuffled in memory"
  static let subscribing = "proxy: subscribing"

  static let disjointThreads = "two threads, proxy: different subscribers of one"
  static let twoProxies = "two threads, proxy: one each"
  static let functionPointerThreads = "two threads, C: different function pointers"

  /// Only in the program of the peers.
  public static let glibGeneric = "GLib: g_signal_emit, generic marshaller"
  /// Only in the program of the peers.
  public static let openCombineWeak = "OpenCombine: PassthroughSubject, weak sinks"
}

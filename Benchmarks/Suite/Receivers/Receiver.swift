// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench

/// Takes deliveries and adds them up. Two classes conform, in a module that the
/// callers do not see into: of one class that it sees, the compiler calls the
/// methods directly.
public protocol Receiver: AnyObject, Sendable {
  /// Makes one to which nothing has been delivered.
  init()

  /// Takes two numbers.
  func notify(_ count: Int64, _ scale: Double)
  /// Takes two numbers and gives the first back.
  func answer(_ count: Int64, _ scale: Double) -> Int64

  /// `BENCH_MESSAGE_SUM` for each delivery, of whatever message.
  var sum: Int64 { get }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding

/// Takes deliveries and adds them up. Two classes conform, in a module that the
/// callers do not see into: of one class that it sees, the compiler calls the
/// methods directly.
public protocol Receiver: DynamicProxy.Subscriber {
  /// Makes one to which nothing has been delivered.
  init()

  /// Takes two numbers.
  func notify(_ count: Int64, _ scale: Double)
  /// Takes two numbers and gives the first back.
  func answer(_ count: Int64, _ scale: Double) -> Int64

  /// `BENCH_MESSAGE_SUM` for each delivery, of whatever message.
  var sum: Int64 { get }
}

/// A C function that takes a receiver and two numbers.
typealias NotifyFunction = @convention(c) (UnsafeMutableRawPointer, Int64, Double) -> Void
/// The same with a number as its result.
typealias AnswerFunction = @convention(c) (UnsafeMutableRawPointer, Int64, Double) -> Int64
/// The same with a truth value.
typealias BoolFunction = @convention(c) (UnsafeMutableRawPointer, Int64, Double) -> Bool

extension Receiver {
  /// Calls `body` with the receiver that a C function got, whose caller keeps it
  /// alive: it is not retained.
  @unsafe @inline(__always)
  static func of<Result>(
    _ receiver: UnsafeMutableRawPointer, _ body: (Self) -> Result
  ) -> Result {
    // SAFETY: the caller says that it is one.
    unsafe Unmanaged<Self>.fromOpaque(receiver)._withUnsafeGuaranteedRef(body)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
public import Forwarding

/// Counts up.
public final class Tally: Receiver, DynamicProxy.Subscriber, @unchecked Sendable {
  // Sendable: those who deliver on several threads have receivers of another
  // class.
  private var total: Int64 = 0
  private var weight = 0.0

  /// Makes one to which nothing has been delivered.
  public init() {}

  /// Takes two numbers.
  public func notify(_ count: Int64, _ scale: Double) {
    total &+= count
    weight += scale
  }

  /// Takes two numbers and gives the first back.
  public func answer(_ count: Int64, _ scale: Double) -> Int64 {
    notify(count, scale)
    return count
  }

  /// Takes a struct in memory.
  private func take(_ large: bench_large) {
    total &+= large.first &+ large.second &+ large.third
  }

  /// What has been delivered.
  public var sum: Int64 { total &+ Int64(2 * weight) }
}

// MARK: - Function tables

extension Tally {
  /// C functions, which is what a delivery is fastest by.
  public static let functionTable = FunctionTable(for: Tally.self) {
    // SAFETY: a receiver is an object of the class, alive during the call.
    let notify: NotifyFunction = { receiver, count, scale in
      unsafe Tally.of(receiver) { $0.notify(count, scale) }
    }
    let answer: AnswerFunction = { receiver, count, scale in
      unsafe Tally.of(receiver) { $0.answer(count, scale) }
    }
    let zero: AnswerFunction = { receiver, count, scale in
      unsafe Tally.of(receiver) { $0.notify(count, scale) }
      return 0
    }
    let no: BoolFunction = { receiver, count, scale in
      unsafe Tally.of(receiver) { $0.notify(count, scale) }
      return false
    }
    let yes: BoolFunction = { receiver, count, scale in
      unsafe Tally.of(receiver) { $0.notify(count, scale) }
      return true
    }
    let takeLarge: @convention(c) (UnsafeMutableRawPointer, bench_large) -> Void = {
      receiver, large in unsafe Tally.of(receiver) { $0.take(large) }
    }
    let takeMixed: @convention(c) (UnsafeMutableRawPointer, bench_mixed) -> Void = {
      receiver, mixed in
      unsafe Tally.of(receiver) { $0.notify(mixed.integer, mixed.real) }
    }
    // SAFETY: the functions have the types that the messages' encodings say.
    unsafe $0.add([.notify, .notifyUntilHandled], notify)
    unsafe $0.add(
      [.answer, .answerAllFirst, .answerAllLast, .answerUntil, .answerReduce], answer)
    unsafe $0.add([.answerUntilNonzero], zero)
    unsafe $0.add([.any], no)
    unsafe $0.add([.all], yes)
    unsafe $0.add([.large], takeLarge)
    unsafe $0.add([.mixed], takeMixed)
  }

  /// Typed closures, which is what is easiest to write.
  public static let closureTable = FunctionTable(for: Tally.self) {
    $0.on(Method(Message.notify.selector)) { (self: Tally, count: Int64, scale: Double) in
      self.notify(count, scale)
    }
    $0.on(Method(Message.answer.selector)) { (self: Tally, count: Int64, scale: Double) -> Int64 in
      self.answer(count, scale)
    }
  }
}

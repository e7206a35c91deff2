// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
public import Forwarding

/// Receives on several threads at once: adds to the sum of the thread, so that
/// receivers' memory is not what threads contend for.
public final class ThreadedReceiver: Receiver, Sendable {
  /// Makes one.
  public init() {}

  /// Takes two numbers.
  public func notify(_ count: Int64, _ scale: Double) {
    bench_thread_notify(count, scale)
  }

  /// Takes two numbers and gives the first back.
  public func answer(_ count: Int64, _ scale: Double) -> Int64 {
    notify(count, scale)
    return count
  }

  /// Nothing: the sum is that of the thread.
  public var sum: Int64 { 0 }

  /// None: they subscribe with tables of their own.
  public static let functionTable: FunctionTable = FunctionTable(for: ThreadedReceiver.self) { _ in
  }

  /// A table with functions for some messages.
  public static func functionTable(_ messages: [String]) -> FunctionTable {
    FunctionTable(for: ThreadedReceiver.self) { table in
      let notify: NotifyFunction = { receiver, count, scale in
        // SAFETY: a receiver is an object of the class, alive during the call.
        unsafe ThreadedReceiver.of(receiver) { $0.notify(count, scale) }
      }
      for message in messages {
        // SAFETY: the function has these types.
        unsafe table.function(message, "v@qd", calling: notify)
      }
    }
  }
}

/// Receivers for one of several threads, which share no cache line with those of
/// others.
public final class ThreadedCrowd {
  /// In order.
  public let receivers: [ThreadedReceiver]
  /// What lies before and behind them.
  private let margins: [ThreadedReceiver]

  /// Makes as many.
  public init(_ count: Int) {
    let margin = 8
    let all = (0..<count + 2 * margin).map { _ in ThreadedReceiver() }
    receivers = Array(all.dropFirst(margin).dropLast(margin))
    margins = Array(all.prefix(margin) + all.suffix(margin))
  }
}

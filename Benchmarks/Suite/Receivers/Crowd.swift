// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench

/// Receivers whose sum can be looked at.
public protocol SummedCrowd {
  /// The sum of all.
  var sum: Int64 { get }
  /// Whether each has taken as many deliveries.
  func isEven(_ deliveries: Int) -> Bool
}

/// Receivers of the two classes, which take turns.
public final class Crowd: SummedCrowd {
  /// In the order in which they were made, and lie in memory.
  public let receivers: [any Receiver]
  private var earlier: [Int64]
  /// Kept, so that nobody finds them unused.
  private var references: WeakBoxes

  /// Makes as many.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - hasSideTables: whether Swift's `weak` refers to them, which makes the
  ///     runtime keep their counts elsewhere from then on.
  public init(_ count: Int, hasSideTables: Bool = false) {
    receivers = (0..<count).map { index -> any Receiver in
      index.isMultiple(of: 2) ? Tally() : Ledger()
    }
    earlier = Array(repeating: 0, count: count)
    references = WeakBoxes()
    if hasSideTables {
      for receiver in receivers { references.add(receiver) }
    }
  }

  /// The sum of all.
  public var sum: Int64 { receivers.reduce(0) { $0 &+ $1.sum } }

  /// Whether each has taken as many deliveries since this was asked last.
  public func isEven(_ deliveries: Int) -> Bool {
    var isEven = true
    for (index, receiver) in receivers.enumerated() {
      let sum = receiver.sum
      isEven = isEven && sum &- earlier[index] == Int64(deliveries) * Int64(BENCH_MESSAGE_SUM)
      earlier[index] = sum
    }
    return isEven
  }
}

/// Receivers written in C.
@safe public final class CCrowd: SummedCrowd {
  private let handle: OpaquePointer
  private let count: Int
  private var earlier = 0

  /// Makes as many.
  public init(_ count: Int) {
    guard let handle = unsafe bench_crowd_create(count) else { fatalError("no memory") }
    unsafe self.handle = handle
    self.count = count
  }

  /// The crowd, for the loops in C.
  @unsafe public var unsafeHandle: OpaquePointer { unsafe handle }

  /// The sum of all.
  public var sum: Int64 { unsafe bench_crowd_sum(handle) }

  /// Whether each has taken as many deliveries since this was asked last, and
  /// all as many before.
  public func isEven(_ deliveries: Int) -> Bool {
    let isEven = unsafe bench_crowd_is_even(handle, earlier + deliveries)
    earlier = Int(sum) / Int(BENCH_MESSAGE_SUM) / count
    return isEven
  }
}

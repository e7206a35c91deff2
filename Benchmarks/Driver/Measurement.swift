// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a row took, over all rounds.
struct Measurement {
  let row: Row
  /// Nanoseconds for one delivery, by round. Of rows of one run, numbers of one
  /// round can be compared.
  private(set) var times: [(round: Int, nanoseconds: Double)] = []
  /// The most that one iteration allocated on a thread, on average over a round:
  /// 0 only if none did. Nil where it cannot be counted.
  private(set) var allocations: Double? = 0
  /// The most memory that it left behind for one delivery, or whatever else it
  /// counts; nil where nobody asks.
  private(set) var bytes: Double?
  private var lockCounts: [Double]? = []
  var iterations = 1
  /// The rounds from one in which the row is measured to the next: long ones
  /// are measured less often.
  var stride = 1
  private(set) var isRight = true

  init(_ row: Row) {
    self.row = row
  }

  var summary: Summary { Summary(times.map(\.nanoseconds)) }

  /// The locks that an iteration takes on a thread. The median, since a thread may have to
  /// wait for reasons that are not the row's. Nil where it cannot be counted.
  var locks: Double? { lockCounts.map { Summary($0).median } }

  mutating func check(_ sample: Sample) {
    isRight = isRight && sample.isRight
  }

  mutating func add(_ sample: Sample, round: Int) {
    check(sample)
    let spent = Double(sample.nanoseconds) / Double(iterations * row.deliveries)
    times.append((round, spent))
    let count = Double(iterations * row.threads)
    allocations = sample.allocations.flatMap { counted in
      allocations.map { max($0, Double(counted) / count) }
    }
    if let left = sample.bytes {
      bytes = max(bytes ?? 0, Double(left) / Double(iterations * row.deliveries))
    }
    if let counted = sample.locks {
      lockCounts?.append(Double(counted) / count)
    } else {
      lockCounts = nil
    }
  }

  /// The ratios to another row of the same run, by round. What slows a round
  /// down, slows both of its times down.
  func ratios(to other: Measurement) -> [Int: Double] {
    rounds(with: other).compactMapValues { own, other in other > 0 ? own / other : nil }
  }

  /// The spread of the ratios to another row; nil if there are none.
  func ratio(to other: Measurement?) -> Summary? {
    guard let other else { return nil }
    let ratios = ratios(to: other)
    return ratios.isEmpty ? nil : Summary(Array(ratios.values))
  }

  /// The spread of the differences to another row; nil if there are none.
  func difference(from other: Measurement?) -> Summary? {
    guard let other else { return nil }
    let differences = rounds(with: other).values.map { own, other in own - other }
    return differences.isEmpty ? nil : Summary(differences)
  }

  /// The nanoseconds of this row and of another in the rounds that both have.
  private func rounds(with other: Measurement) -> [Int: (own: Double, other: Double)] {
    let others = Dictionary(other.times.map { ($0.round, $0.nanoseconds) }) { first, _ in first }
    var rounds: [Int: (own: Double, other: Double)] = [:]
    for (round, nanoseconds) in times {
      if let other = others[round] { rounds[round] = (nanoseconds, other) }
    }
    return rounds
  }
}

/// The spread of some numbers.
struct Summary {
  let minimum: Double
  let lowerQuartile: Double
  let median: Double
  let upperQuartile: Double
  let maximum: Double

  /// Of no numbers all are 0.
  init(_ numbers: [Double]) {
    let sorted = numbers.sorted()
    minimum = Summary.quantile(0, sorted)
    lowerQuartile = Summary.quantile(0.25, sorted)
    median = Summary.quantile(0.5, sorted)
    upperQuartile = Summary.quantile(0.75, sorted)
    maximum = Summary.quantile(1, sorted)
  }

  private static func quantile(_ fraction: Double, _ sorted: [Double]) -> Double {
    guard let last = sorted.indices.last else { return 0 }
    let place = fraction * Double(last)
    let below = Int(place)
    let above = min(below + 1, last)
    return sorted[below] + (sorted[above] - sorted[below]) * (place - Double(below))
  }
}

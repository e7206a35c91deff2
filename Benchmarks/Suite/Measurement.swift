// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a row took, over all rounds.
struct Measurement {
  let row: Row
  /// Nanoseconds for one iteration, one number a round. Rows of one run have
  /// the same rounds, so that numbers of one round can be compared.
  var times: [Double] = []
  /// The most that one iteration allocated, on average over a round: 0 only if
  /// none did. Nil where it cannot be counted.
  var allocations: Double? = 0
  var iterations = 1
  var isRight = true

  init(_ row: Row) {
    self.row = row
  }

  var summary: Summary { Summary(times) }

  mutating func check(_ sample: Sample) {
    isRight = isRight && sample.isRight
  }

  mutating func add(_ sample: Sample) {
    check(sample)
    times.append(Double(sample.nanoseconds) / Double(iterations))
    if let counted = sample.allocations, let most = allocations {
      allocations = max(most, Double(counted) / Double(iterations))
    } else {
      allocations = nil
    }
  }

  /// The ratio to another row of the same run: the median of the ratios of each
  /// round. What slows a round down, slows both of its times down.
  func ratio(to other: Measurement) -> Summary {
    Summary(zip(times, other.times).map { $0 / $1 })
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Measures rows in rounds, each row once a round: A B C A B C. Whatever
/// slows the machine down for a while then slows down all of them alike.
struct Runner {
  let isQuick: Bool
  let progress: Progress

  private var rounds: Int { isQuick ? 3 : 41 }
  /// How long a row runs in a round: long beside the reading of the clock,
  /// short beside the time for which a neighbour is loud.
  private var nanoseconds: Double { isQuick ? 20_000 : 1_000_000 }
  private let iterationLimit = 1 << 24

  func measure(_ rows: [Row]) -> [Measurement] {
    var measurements = rows.map(Measurement.init)
    for index in measurements.indices {
      progress.show("calibrating", index, measurements.count, rows[index].name)
      calibrate(&measurements[index])
    }
    for round in 0..<rounds {
      for index in measurements.indices
      where measurements[index].isRight && round % measurements[index].stride == 0 {
        let stage = "round \(round + 1) of \(rounds)"
        progress.show(stage, index, measurements.count, rows[index].name)
        measurements[index].add(rows[index].run(measurements[index].iterations), round: round)
      }
    }
    progress.end()
    return measurements
  }

  /// Finds how often a row is repeated, warms it up, and looks that it is right.
  /// A row that is wrong is not run again: its times would mean nothing.
  private func calibrate(_ measurement: inout Measurement) {
    let deliveries = measurement.row.deliveries
    measurement.check(measurement.row.verify(min(max(20_000 / deliveries, 1), 100)))
    let nanoseconds = nanoseconds * measurement.row.share
    var iterations = deliveries > 1000 ? 1 : 16
    while true {
      let sample = measurement.row.run(iterations)
      measurement.check(sample)
      guard measurement.isRight else { return }
      let spent = max(Double(sample.nanoseconds), 1)
      if spent >= nanoseconds / 4 || iterations >= iterationLimit {
        let scaled = Double(iterations) * nanoseconds / spent
        measurement.iterations = min(max(Int(scaled), 1), iterationLimit)
        if !measurement.row.isInEachRound {
          measurement.stride = stride(spent / Double(iterations))
        }
        return
      }
      iterations *= 2
    }
  }

  /// Powers of two, so that rows of any length have rounds in common.
  private func stride(_ iteration: Double) -> Int {
    if isQuick { return 1 }
    return iteration > 20_000_000 ? 8 : iteration > 3_000_000 ? 4 : 1
  }
}

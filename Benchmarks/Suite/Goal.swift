// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// One row of an issue's table of goals.
struct Goal {
  let group: RowGroup
  /// In the words.
  let title: String
  let bounds: [Bound]
}

/// Something that must not be more than a limit.
struct Bound {
  enum Quantity {
    /// The time of a row, by that of another.
    case ratio(of: String, to: String)
    /// The nanoseconds of a row.
    case time(of: String)
    /// What an iteration of a row allocates.
    case allocations(of: String)
  }

  let quantity: Quantity
  let limit: Double
  /// What the limit is of: "ffi_call", "ns".
  let unit: String
  /// Which of several bounds of one goal it is; may be empty.
  let detail: String
  /// Whether it is aimed at only: to miss it is no failure.
  var isAim = false

  var rows: [String] {
    switch quantity {
    case .ratio(let measured, let base): [measured, base]
    case .time(let measured), .allocations(let measured): [measured]
    }
  }

  private var isTime: Bool {
    switch quantity {
    case .ratio, .time: true
    case .allocations: false
    }
  }

  /// Judges by the measurements, of which some may be missing.
  func judge(_ measurements: [String: Measurement], judgesTimes: Bool) -> Judgement {
    let value: Double?
    switch quantity {
    case .ratio(let measured, let base):
      if let measured = measurements[measured], let base = measurements[base] {
        value = measured.ratio(to: base).median
      } else {
        value = nil
      }
    case .time(let measured): value = measurements[measured]?.summary.median
    case .allocations(let measured): value = measurements[measured]?.allocations
    }
    guard let value else { return Judgement(value: nil, verdict: .notMeasured) }
    if isTime && !judgesTimes { return Judgement(value: value, verdict: .notJudged) }
    let verdict: Judgement.Verdict = value <= limit ? .met : isAim ? .aimedAt : .missed
    return Judgement(value: value, verdict: verdict)
  }
}

/// What came of a bound.
struct Judgement {
  enum Verdict: String {
    case met
    case missed
    case aimedAt = "aimed at"
    case notJudged = "not judged"
    case notMeasured = "not measured"
  }

  let value: Double?
  let verdict: Verdict
}

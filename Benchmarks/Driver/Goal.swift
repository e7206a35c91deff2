// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// One row of an issue's table of goals.
public struct Goal {
  /// The name of its group of rows.
  public let group: String
  /// In the words.
  public let title: String
  /// What must hold.
  public let bounds: [Bound]

  /// Makes a goal.
  public init(group: String, title: String, bounds: [Bound]) {
    self.group = group
    self.title = title
    self.bounds = bounds
  }

  /// The part that needs these rows only; nil if that is nothing.
  func only(_ names: Set<String>) -> Goal? {
    let bounds = bounds.filter { names.isSuperset(of: $0.rows) }
    return bounds.isEmpty ? nil : Goal(group: group, title: title, bounds: bounds)
  }
}

/// Something that must not be more, or less, than a limit.
public struct Bound {
  /// What is compared with the limit.
  public enum Quantity {
    /// The time of a row, by that of another.
    case ratio(of: String, to: String)
    /// The nanoseconds that a row takes more than another, for one delivery.
    case difference(of: String, from: String)
    /// How much faster a row with several threads is than one with one, by how
    /// much another pair is. It must not be less.
    case speedUp(of: String, onOne: String, to: String, toOne: String)
    /// The nanoseconds of a row.
    case time(of: String)
    /// What an iteration of a row allocates.
    case allocations(of: String)
    /// The locks that an iteration of a row takes.
    case locks(of: String)
    /// The memory that a row leaves behind for each that it counts.
    case bytes(of: String)
  }

  /// What is compared.
  public let quantity: Quantity
  /// What with.
  public let limit: Double
  /// What the limit is of: "ffi_call", "ns".
  public let unit: String
  /// Which of several bounds of one goal it is; may be empty.
  public let detail: String
  /// Whether it is aimed at only: to miss it is no failure.
  public var isAim = false
  /// Which program measures it, if this one may not have the rows.
  public var measuredBy: String?

  /// Makes a bound.
  public init(
    quantity: Quantity, limit: Double, unit: String, detail: String = "", isAim: Bool = false,
    measuredBy: String? = nil
  ) {
    self.quantity = quantity
    self.limit = limit
    self.unit = unit
    self.detail = detail
    self.isAim = isAim
    self.measuredBy = measuredBy
  }

  var rows: [String] {
    switch quantity {
    case .ratio(let measured, let base), .difference(let measured, let base): [measured, base]
    case .speedUp(let measured, let one, let base, let baseOne): [measured, one, base, baseOne]
    case .time(let measured), .allocations(let measured), .locks(let measured),
      .bytes(let measured):
      [measured]
    }
  }

  var isAtLeast: Bool {
    if case .speedUp = quantity { true } else { false }
  }

  private var isTime: Bool {
    switch quantity {
    case .ratio, .difference, .speedUp, .time: true
    case .allocations, .locks, .bytes: false
    }
  }

  /// What was measured; nil if some of it was not.
  private func value(_ measurements: [String: Measurement]) -> Double? {
    switch quantity {
    case .ratio(let measured, let base):
      return measurements[measured]?.ratio(to: measurements[base])?.median
    case .difference(let measured, let base):
      return measurements[measured]?.difference(from: measurements[base])?.median
    case .speedUp(let measured, let one, let base, let baseOne):
      guard let measured = measurements[measured], let one = measurements[one],
        let base = measurements[base], let baseOne = measurements[baseOne]
      else { return nil }
      let ours = one.ratios(to: measured)
      let theirs = baseOne.ratios(to: base)
      let ratios = ours.compactMap { round, ours in theirs[round].map { ours / $0 } }
      return ratios.isEmpty ? nil : Summary(ratios).median
    case .time(let measured): return measurements[measured]?.summary.median
    case .allocations(let measured): return measurements[measured]?.allocations
    case .locks(let measured): return measurements[measured]?.locks
    case .bytes(let measured): return measurements[measured]?.bytes
    }
  }

  /// Judges by the measurements, of which some may be missing.
  func judge(_ measurements: [String: Measurement], judgesTimes: Bool) -> Judgement {
    if rows.contains(where: { measurements[$0]?.isRight == false }) {
      return Judgement(value: nil, verdict: .wrong)
    }
    guard let value = value(measurements) else {
      return Judgement(value: nil, verdict: .notMeasured)
    }
    if isTime && !judgesTimes { return Judgement(value: value, verdict: .notJudged) }
    let holds = isAtLeast ? value >= limit : value <= limit
    return Judgement(value: value, verdict: holds ? .met : isAim ? .aimedAt : .missed)
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
    /// A row failed or has a wrong sum.
    case wrong
  }

  let value: Double?
  let verdict: Verdict
}

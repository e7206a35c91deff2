// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The tables that are printed.
struct Report {
  let measurements: [Measurement]
  let groups: [RowGroup]
  let goals: [(goal: Goal, judgements: [Judgement])]
  private let byName: [String: Measurement]

  init(_ measurements: [Measurement], groups: [RowGroup], goals: [Goal], judgesTimes: Bool) {
    let byName = Dictionary(measurements.map { ($0.row.name, $0) }) { first, _ in first }
    self.measurements = measurements
    self.groups = groups
    self.byName = byName
    self.goals = goals.map { goal in
      (goal, goal.bounds.map { $0.judge(byName, judgesTimes: judgesTimes) })
    }
  }

  var wrongRows: [String] { measurements.filter { !$0.isRight }.map(\.row.name) }

  var hasMissedGoals: Bool {
    goals.contains { $0.judgements.contains { $0.verdict == .missed } }
  }

  /// The ratios to what the rows of a group are compared with, one a column.
  func ratios(_ measurement: Measurement) -> [(title: String, ratio: Summary?)] {
    let group = groups.first { $0.name == measurement.row.group }
    return (group?.comparisons ?? []).map { comparison in
      let name = Row.name(comparison.way, measurement.row.size)
      return (comparison.title, measurement.ratio(to: byName[name]))
    }
  }

  /// How much faster a row is than the same on one thread.
  func speedUp(_ measurement: Measurement) -> Double? {
    guard let one = measurement.row.onOneThread.flatMap({ byName[$0] }) else { return nil }
    return one.ratio(to: measurement).map { $0.median * Double(measurement.row.threads) }
  }
}

// MARK: - Rows

extension Report {
  var rowTables: String {
    groups.compactMap { group in
      let own = measurements.filter { $0.row.group == group.name }
      return own.isEmpty ? nil : TextTable(rows: rowTable(group, own)).text
    }.joined(separator: "\n\n")
  }

  private func rowTable(_ group: RowGroup, _ own: [Measurement]) -> [[String]] {
    let hasThreads = own.contains { $0.row.threads > 1 }
    let hasBytes = own.contains { $0.bytes != nil }
    let unit =
      own.contains { $0.row.size != nil } ? "ns of CPU time per delivery" : "ns of CPU time"
    var head = [unit, "median", "min", "25 %", "75 %", "max"]
    head += group.comparisons.map(\.title) + ["allocations", "locks"]
    if hasBytes { head.append("bytes each") }
    if hasThreads { head += ["million/s", "speed-up"] }
    var cells = [head + [""]]
    let empty = Array(repeating: "", count: head.count)
    var size: Int?
    for measurement in own {
      if measurement.row.size != size {
        size = measurement.row.size
        cells.append([""] + empty)
        cells.append([size.map { "N = \($0)" } ?? ""] + empty)
      }
      cells.append(line(measurement, hasBytes, hasThreads))
    }
    return cells
  }

  private func line(
    _ measurement: Measurement, _ hasBytes: Bool, _ hasThreads: Bool
  ) -> [String] {
    let row = measurement.row
    let times = measurement.summary
    var line = [(row.size == nil ? "" : "  ") + row.way]
    line += [times.median, times.minimum, times.lowerQuartile, times.upperQuartile, times.maximum]
      .map { $0.inDigits() }
    line += ratios(measurement).map { $0.ratio?.median.inDigits() ?? "-" }
    line += [measurement.allocations, measurement.locks].map { $0?.inDigits() ?? "?" }
    if hasBytes { line.append(measurement.bytes?.inDigits() ?? "") }
    if hasThreads {
      let perSecond = times.median > 0 ? Double(row.threads) * 1000 / times.median : 0
      line.append(row.threads > 1 ? perSecond.inDigits() : "")
      line.append(speedUp(measurement)?.inDigits() ?? "")
    }
    return line + [measurement.isRight ? "" : "WRONG"]
  }
}

// MARK: - Goals

extension Report {
  var goalTables: String {
    groups.compactMap { group in
      let own = goals.filter { $0.goal.group == group.name }
      guard !own.isEmpty else { return nil }
      let head = [["goals: \(group.name)", "measured", "limit", ""]]
      return TextTable(rows: head + own.flatMap(goalLines)).text
    }.joined(separator: "\n\n")
  }

  private func goalLines(_ goal: Goal, _ judgements: [Judgement]) -> [[String]] {
    let lines = zip(goal.bounds, judgements).map { bound, judgement in
      var verdict = judgement.verdict.rawValue
      if judgement.verdict == .notMeasured, let program = bound.measuredBy {
        verdict += " (\(program))"
      }
      return [
        "  " + (bound.detail.isEmpty ? goal.title : bound.detail),
        judgement.value.map { $0.inDigits() } ?? "-",
        bound.limitText,
        verdict,
      ]
    }
    guard goal.bounds.contains(where: { !$0.detail.isEmpty }) else {
      return lines.map { [String($0[0].dropFirst(2))] + $0.dropFirst() }
    }
    return [[goal.title, "", "", ""]] + Report.fold(lines)
  }

  /// Many lines that say the same become one.
  private static func fold(_ lines: [[String]]) -> [[String]] {
    guard lines.count > 8, let first = lines.first,
      lines.allSatisfy({ $0.dropFirst() == first.dropFirst() })
    else { return lines }
    return [["  all \(lines.count) of them"] + first.dropFirst()]
  }
}

extension Bound {
  fileprivate var limitText: String {
    let number = (isAtLeast ? "at least " : "at most ") + limit.inDigits()
    switch quantity {
    case .ratio, .speedUp: return "\(number) of \(unit)"
    case .difference, .time, .allocations, .locks, .bytes:
      return unit.isEmpty ? number : "\(number) \(unit)"
    }
  }
}

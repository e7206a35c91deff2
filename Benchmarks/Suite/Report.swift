// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The tables that are printed.
struct Report {
  let measurements: [Measurement]
  let goals: [(goal: Goal, judgements: [Judgement])]

  init(_ measurements: [Measurement], goals: [Goal], judgesTimes: Bool) {
    self.measurements = measurements
    let byName = Dictionary(measurements.map { ($0.row.name, $0) }) { first, _ in first }
    self.goals = goals.map { goal in
      (goal, goal.bounds.map { $0.judge(byName, judgesTimes: judgesTimes) })
    }
  }

  var wrongRows: [String] { measurements.filter { !$0.isRight }.map(\.row.name) }

  var hasMissedGoals: Bool {
    goals.contains { $0.judgements.contains { $0.verdict == .missed } }
  }

  // MARK: - Rows

  var rowTable: String {
    let cells = measurements.map { measurement in
      let times = measurement.summary
      return [
        measurement.row.name, times.median.formatted(), times.minimum.formatted(),
        times.lowerQuartile.formatted(), times.upperQuartile.formatted(),
        times.maximum.formatted(),
        measurement.allocations.map { $0.formatted() } ?? "?", measurement.isRight ? "" : "WRONG",
      ]
    }
    let head = ["ns of CPU time", "median", "min", "25 %", "75 %", "max", "allocations", ""]
    return table([head] + cells)
  }

  // MARK: - Goals

  var goalTable: String {
    var cells = [["", "measured", "at most", ""]]
    for (goal, judgements) in goals {
      let lines = zip(goal.bounds, judgements).map { bound, judgement in
        [
          "  " + (bound.detail.isEmpty ? goal.title : bound.detail),
          judgement.value.map { $0.formatted() } ?? "-",
          bound.limit.formatted() + Report.unit(bound),
          judgement.verdict.rawValue,
        ]
      }
      let isDetailed = goal.bounds.contains { !$0.detail.isEmpty }
      if isDetailed {
        cells.append([goal.title, "", "", ""])
        cells += Report.fold(lines)
      } else {
        cells += lines.map { [String($0[0].dropFirst(2))] + $0.dropFirst() }
      }
    }
    return table(cells)
  }

  private static func unit(_ bound: Bound) -> String {
    switch bound.quantity {
    case .ratio: " of \(bound.unit)"
    case .time, .allocations: bound.unit.isEmpty ? "" : " \(bound.unit)"
    }
  }

  /// Many lines that say the same become one.
  private static func fold(_ lines: [[String]]) -> [[String]] {
    guard lines.count > 8, let first = lines.first,
      lines.allSatisfy({ $0.dropFirst() == first.dropFirst() })
    else { return lines }
    return [["  all \(lines.count) of them"] + first.dropFirst()]
  }

  // MARK: - Layout

  /// Columns as wide as they need to be; the first flush left, numbers flush
  /// right.
  private func table(_ rows: [[String]]) -> String {
    let widths = (rows.first ?? []).indices.map { column in
      rows.map { $0[column].count }.max() ?? 0
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        let isLeft = column == 0 || cell.first?.isLetter == true || column == row.count - 1
        line += (column == 0 ? "" : "  ") + (isLeft ? cell + padding : padding + cell)
      }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }
}

extension Double {
  /// Three significant digits, as far as they are to be had behind the point.
  fileprivate func formatted() -> String {
    let digits = self == 0 || self >= 100 ? 0 : self >= 10 ? 1 : self >= 1 ? 2 : 3
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let number = Int((self * scale).rounded())
    guard digits > 0 else { return String(number) }
    let whole = String(number / Int(scale))
    let fraction = String(number % Int(scale))
    return whole + "." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}

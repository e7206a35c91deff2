// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Columns as wide as they need to be; the first flush left, numbers flush
/// right.
struct TextTable {
  /// All of the same length. The first is the head.
  let rows: [[String]]

  var text: String {
    let widths = (rows.first ?? []).indices.map { column in
      rows.map { $0[column].count }.max() ?? 0
    }
    return rows.enumerated().map { index, row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        let isLeft = column == 0 || column == row.count - 1 || index > 0 && isText(cell)
        line += (column == 0 ? "" : "  ") + (isLeft ? cell + padding : padding + cell)
      }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  private func isText(_ cell: String) -> Bool { cell.first?.isLetter == true }
}

extension Double {
  /// Returns three significant digits, but at most three behind the point, and
  /// "-" if the number is not finite or is too large for an `Int`.
  func inDigits() -> String {
    let digits = self == 0 || magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    guard let number = Int(exactly: (magnitude * scale).rounded()) else { return "-" }
    let sign = self < 0 && number > 0 ? "-" : ""
    guard digits > 0 else { return sign + String(number) }
    let whole = String(number / Int(scale))
    let fraction = String(number % Int(scale))
    return sign + whole + "." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}

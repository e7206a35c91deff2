// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Rows of cells in columns, as wide as the widest cell.
struct TextTable {
  enum Alignment {
    case left
    case right
  }

  private let alignments: [Alignment]
  private var rows: [[String]] = []

  init(_ alignments: [Alignment]) {
    self.alignments = alignments
  }

  mutating func add(_ cells: [String]) { rows.append(cells) }

  /// The columns that all cells but those of the last column take.
  var widthBeforeLast: Int {
    widths.dropLast().reduce(0) { $0 + $1 + 2 }
  }

  private var widths: [Int] {
    alignments.indices.map { column in
      rows.map { DisplayText.columns($0[column]) }.max() ?? 0
    }
  }

  /// The lines, indented, without blanks at their ends.
  func lines(indent: Int = 2) -> String {
    let widths = widths
    return rows.map { line($0, widths, indent) + "\n" }.joined()
  }

  private func line(_ cells: [String], _ widths: [Int], _ indent: Int) -> String {
    var line = ""
    // Blanks are written only before a cell, so none end a line. Those behind a cell would be most of the work if another
    // row's cell has 4,000 columns.
    var blanks = indent
    for (column, cell) in cells.enumerated() {
      let padding = widths[column] - DisplayText.columns(cell)
      if alignments[column] == .right { blanks += padding }
      if !cell.isEmpty {
        line += String(repeating: " ", count: blanks) + cell
        blanks = 0
      }
      if alignments[column] == .left { blanks += padding }
      blanks += 2
    }
    return line
  }
}

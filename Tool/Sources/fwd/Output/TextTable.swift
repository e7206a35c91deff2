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
    return rows.map { cells in
      var line = String(repeating: " ", count: indent)
      for (column, cell) in cells.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - DisplayText.columns(cell))
        switch alignments[column] {
        case .left: line += column == cells.count - 1 ? cell : cell + padding
        case .right: line += padding + cell
        }
        if column < cells.count - 1 { line += "  " }
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }
}

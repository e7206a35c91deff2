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
    let indentation = Self.blanks(indent)
    return rows.map { indentation + line($0, widths) + "\n" }.joined()
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    // The blanks before the next cell that is not empty. None are made after the last one: beside a cell of 4,000 columns
    // they would cost more than all else.
    var blanks = 0
    for (cell, (alignment, width)) in zip(cells, zip(alignments, widths)) {
      let padding = width - DisplayText.columns(cell)
      if alignment == .right { blanks += padding }
      if !cell.isEmpty {
        line += Self.blanks(blanks) + cell
        blanks = 0
      }
      if alignment == .left { blanks += padding }
      blanks += 2
    }
    return line
  }

  private static func blanks(_ count: Int) -> String {
    String(decoding: repeatElement(UInt8(ascii: " "), count: count), as: UTF8.self)
  }
}

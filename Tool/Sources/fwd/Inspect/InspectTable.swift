// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding

/// The rows that explain an encoding: a type, or the result and the arguments
/// of a method, each with the fields that it has inside.
struct InspectTable {
  private struct Row {
    /// For each level that it stands inside of: whether more follows there.
    var branches: [Bool] = []
    var index = ""
    let encoding: String
    var meaning: String
    let size: String
    let alignment: String
    let offset: String

    init(_ type: TypeEncoding, offset: String = "") {
      encoding = DisplayText.escaped(type.text)
      meaning = DisplayText.escaped(type.typeName) + Self.words(for: type.qualifiers)
      let layout = try? type.layout()
      size = layout.map { String($0.size) } ?? "?"
      alignment = layout.map { String($0.alignment) } ?? "?"
      self.offset = offset
    }

    /// The qualifiers that `typeName` does not tell.
    private static func words(for qualifiers: String) -> String {
      let words: [Character: String] = [
        "n": "in", "N": "inout", "o": "out", "O": "bycopy", "R": "byref", "V": "oneway",
      ]
      let present = qualifiers.compactMap { words[$0] }
      return present.isEmpty ? "" : " (\(present.joined(separator: ", ")))"
    }
  }

  /// What is widest of an encoding before it is cut.
  private static let encodingWidth = 36

  private let title: String
  private let text: String
  private let canonicalText: String
  private var rows: [Row] = []
  /// What is to be said below the table.
  private var notes: [String] = []

  /// Explains one type.
  init(_ type: TypeEncoding) {
    title = "type"
    text = type.text
    canonicalText = type.description
    add(type, Row(type))
    do throws(ForwardingError) {
      _ = try type.layout()
    } catch {
      notes.append(error.description)
    }
  }

  /// Explains a method.
  init(_ signature: MethodSignature) {
    title = "method signature"
    text = signature.text
    canonicalText = signature.description
    var result = Row(signature.result)
    result.index = "result"
    add(signature.result, result)
    for (index, argument) in signature.arguments.enumerated() {
      var row = Row(argument.encoding, offset: argument.frameOffset.map(String.init) ?? "")
      row.index = String(index)
      if index == 0 && signature.firstArgumentIndex > 0 { row.meaning += ", the receiver" }
      add(argument.encoding, row)
    }
    let outside =
      ["", ", without the receiver", ", without the receiver and the selector"][
        signature.firstArgumentIndex]
    let alignment =
      signature.arguments.lazy.filter { $0.frameOffset != nil }.map(\.layout.alignment).max() ?? 1
    notes.append(
      "argument frame: \(DisplayText.count(UInt64(signature.frameSize), "byte")) "
        + "aligned to \(alignment)\(outside)")
  }

  private mutating func add(_ type: TypeEncoding, _ row: Row) {
    rows.append(row)
    let parts = Self.parts(of: type)
    for (index, part) in parts.enumerated() {
      let isElement = type.kind == .array
      // Offsets inside a type count from its beginning, and are marked as such.
      let offset = isElement ? "" : (try? part.layout()).map { "+\($0.offset)" } ?? "?"
      var inner = Row(part, offset: offset)
      inner.branches = row.branches + [index < parts.count - 1]
      if let name = part.fieldName {
        inner.meaning = "\(DisplayText.escaped(name)): \(inner.meaning)"
      }
      if isElement { inner.meaning = "each: \(inner.meaning)" }
      add(part, inner)
    }
  }

  /// What has lines of its own below a type: fields, and elements that have
  /// fields.
  private static func parts(of type: TypeEncoding) -> [TypeEncoding] {
    switch type.kind {
    case .structure, .union: return type.fields
    case .array:
      guard let element = type.element, !parts(of: element).isEmpty else { return [] }
      return [element]
    default: return []
    }
  }
}

// MARK: - Drawing

extension InspectTable {
  /// The table as text.
  func text(style: Style) -> String {
    let isMethod = rows.contains { !$0.index.isEmpty }
    var table = TextTable((isMethod ? [.left] : []) + [.left, .left, .right, .right, .right])
    func add(_ index: String, _ cells: [String]) { table.add((isMethod ? [index] : []) + cells) }

    add("", ["encoding", "meaning", "size", "alignment", "offset"])
    for row in rows {
      let encoding = DisplayText.prefix(row.encoding, width: Self.encodingWidth, style: style)
      add(
        row.index,
        [
          branches(row.branches, style: style) + encoding, row.meaning, row.size, row.alignment,
          row.offset,
        ])
    }
    var lines = style.bold(title) + " " + DisplayText.escaped(text) + "\n"
    if canonicalText != text {
      lines += "canonical spelling: " + DisplayText.escaped(canonicalText) + "\n"
    }
    return lines + "\n" + table.lines() + notes.map { "\n\($0)\n" }.joined()
  }

  private func branches(_ levels: [Bool], style: Style) -> String {
    guard let last = levels.last else { return "" }
    let (line, more, end) = style.isUnicode ? ("│  ", "├─ ", "└─ ") : ("|  ", "|- ", "`- ")
    return levels.dropLast().map { $0 ? line : "   " }.joined() + (last ? more : end)
  }
}

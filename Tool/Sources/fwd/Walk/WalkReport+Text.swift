// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How many extensions are shown one by one.
private let shownExtensionCount = 12

/// The widest bar that still reads well, and the narrowest that says anything.
private let barWidths = 6...48

extension WalkReport {
  /// The report for people: tables with bars, as wide as the terminal.
  func text(style: Style) -> String {
    let width = StandardStream.output.width
    var text = style.bold(DisplayText.escaped(directory)) + "\n" + summary
    if let bins {
      text += heading("Sizes of files", .histogram, style)
      text += histogram(bins, width: width, style: style)
    }
    if let largest {
      text += heading("Largest files", .largest, style)
      text += table(of: largest, width: width, style: style)
    }
    if let extensions {
      text += heading("Extensions", .extensions, style)
      text += table(of: extensions, width: width, style: style)
    }
    if let explanations {
      text += "\n" + style.bold("Observers before the walk") + "\n" + explanations.before + "\n"
      text += "\n" + style.bold("Observers after the walk") + "\n" + explanations.after + "\n"
    }
    return text
  }

  private func heading(_ title: String, _ name: TreeWalk.ObserverName, _ style: Style) -> String {
    let departure = left.first { $0.name == name }
    let note =
      departure.map { " (unsubscribed after \(DisplayText.count($0.files, "file")))" } ?? ""
    return "\n" + style.bold(title) + note + "\n"
  }

  private var summary: String {
    var table = TextTable([.left, .right, .left])
    table.add(["files", DisplayText.count(counts.files), DisplayText.size(counts.bytes)])
    let unreadable =
      counts.unreadable > 0 ? "\(DisplayText.count(counts.unreadable)) of them not readable" : ""
    table.add(["directories", DisplayText.count(counts.directories), unreadable])
    table.add(["links", DisplayText.count(counts.links), ""])
    if counts.others > 0 {
      table.add(["others", DisplayText.count(counts.others), "sockets, pipes, devices"])
    }
    if counts.unknown > 0 {
      table.add(["unknown", DisplayText.count(counts.unknown), "listed, but not accessible"])
    }
    let note =
      switch end {
      case .complete, .stopped(.none): ""
      case .stopped(.limit): "  stopped at the limit of files; there is more\n"
      case .stopped(.interrupt): "  interrupted; there is more\n"
      case .failed: "  broken off; there is more\n"
      }
    return table.lines() + note
  }
}

// MARK: - Tables

extension WalkReport {
  private func histogram(_ bins: [SizeHistogram.Bin], width: Int, style: Style) -> String {
    guard let last = bins.lastIndex(where: { $0.files > 0 }) else { return "  no files\n" }
    return Self.bars(
      bins[...last].map {
        let size =
          if let below = $0.below {
            below == 1 ? "empty" : "below \(DisplayText.wholeSize(below))"
          } else {
            "from \(DisplayText.wholeSize($0.from))"
          }
        return ([size, DisplayText.count($0.files), DisplayText.size($0.bytes)], $0.files)
      }, width: width, style: style)
  }

  private func table(
    of extensions: [ExtensionCounts.Count], width: Int, style: Style
  ) -> String {
    if extensions.isEmpty { return "  no files\n" }
    var rows: [([String], UInt64)] = extensions.prefix(shownExtensionCount).map {
      let name = $0.name.isEmpty ? "(none)" : "." + DisplayText.escaped($0.name)
      return (
        [
          DisplayText.prefix(name, width: max(8, width / 4), style: style),
          DisplayText.count($0.files), DisplayText.size($0.bytes),
        ], $0.files
      )
    }
    let rest = extensions.dropFirst(shownExtensionCount)
    if !rest.isEmpty {
      var bytes: UInt64 = 0
      for count in rest { bytes.addClamping(count.bytes) }
      let files = rest.reduce(0) { $0 + $1.files }
      let name = "\(DisplayText.count(rest.count)) more"
      rows.append(([name, DisplayText.count(files), DisplayText.size(bytes)], files))
    }
    return Self.bars(rows, width: width, style: style)
  }

  private func table(of files: [LargestFiles.File], width: Int, style: Style) -> String {
    if files.isEmpty { return "  no files\n" }
    var table = TextTable([.right, .left])
    // A pipe gets whole paths.
    let fits = StandardStream.output.isTerminal
    let sizes = files.map { DisplayText.size($0.size) }
    let room = width - 4 - (sizes.map(\.count).max() ?? 0)
    for (file, size) in zip(files, sizes) {
      let path = DisplayText.escaped(file.path)
      table.add([size, fits ? DisplayText.suffix(path, width: max(8, room), style: style) : path])
    }
    return table.lines()
  }

  /// A name, a count and a size each, and a bar for the count.
  private static func bars(
    _ rows: [(cells: [String], count: UInt64)], width: Int, style: Style
  ) -> String {
    var table = TextTable([.left, .right, .right, .left])
    for row in rows { table.add(row.cells + [""]) }
    let room = min(barWidths.upperBound, width - 2 - table.widthBeforeLast)
    guard room >= barWidths.lowerBound, let most = rows.map(\.count).max() else {
      return table.lines()
    }
    var barred = TextTable([.left, .right, .right, .left])
    for row in rows {
      let share = Double(row.count) / Double(max(1, most))
      barred.add(row.cells + [style.bar(share, width: room)])
    }
    return barred.lines()
  }
}

extension DisplayText {
  /// "4 KiB": a power of two that is a whole number of its unit.
  fileprivate static func wholeSize(_ bytes: UInt64) -> String {
    let text = size(bytes)
    return text.split(separator: " ").map { $0.hasSuffix(".0") ? $0.dropLast(2) : $0 }
      .joined(separator: " ")
  }
}

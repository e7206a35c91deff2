// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The summary of a walk that has ended.
struct WalkReport {
  let directory: [UInt8]
  let end: TreeWalk.End
  let counts: Totals.Counts
  let bins: [SizeHistogram.Bin]?
  let largest: [LargestFiles.File]?
  let extensions: [ExtensionCounts.Count]?
  /// Who left in the middle, and after how many files.
  let left: [(name: TreeWalk.ObserverName, files: UInt64)]

  /// Which observers a file reached before the walk and after it, if that was asked.
  let explanations: (before: String, after: String)?

  init(
    directory: [UInt8], root: WalkRoot, walk: TreeWalk, end: TreeWalk.End,
    explanations: (before: String, after: String)?
  ) {
    self.directory = directory
    self.explanations = explanations
    self.end = end
    counts = walk.totals.counts
    bins = walk.histogram?.bins
    largest = walk.largest?.files.map {
      LargestFiles.File(path: root.shown($0.path), size: $0.size)
    }
    extensions = walk.extensions?.counts
    let left = [
      (TreeWalk.ObserverName.histogram, walk.histogram?.membership.leftAfter),
      (.largest, walk.largest?.membership.leftAfter),
      (.extensions, walk.extensions?.leftAfter),
    ]
    self.left = left.compactMap { name, files in files.map { (name, $0) } }
  }

  /// Why the walk did not come to its end, in a word; nil if it did.
  var stopped: String? {
    switch end {
    case .complete, .stopped(.none): nil
    case .stopped(.limit): "limit"
    case .stopped(.interrupt): "interrupt"
    case .failed: "error"
    }
  }
}

// MARK: - JSON

extension WalkReport {
  /// The report for programs. The names of its members are part of the tool's
  /// interface.
  var json: JSON {
    var members = JSON.members("directory", directory)
    members += [
      ("entries", .number(counts.entries)),
      ("files", .number(counts.files)),
      ("directories", .number(counts.directories)),
      ("links", .number(counts.links)),
      ("others", .number(counts.others)),
      ("unknown", .number(counts.unknown)),
      ("unreadable", .number(counts.unreadable)),
      ("bytes", .number(counts.bytes)),
      ("stopped", stopped.map(JSON.string) ?? .null),
      ("left", .object(left.map { ($0.name.rawValue, .number($0.files)) })),
    ]
    if let bins {
      members.append(("histogram", .array(bins.map(Self.json))))
    }
    if let largest {
      members.append(
        (
          "largest",
          .array(
            largest.map { .object([("size", .number($0.size))] + JSON.members("path", $0.path)) })
        ))
    }
    if let extensions {
      members.append(("extensions", .array(extensions.map(Self.json))))
    }
    if let explanations {
      members.append(
        (
          "explanations",
          .object([
            ("before", .string(explanations.before)), ("after", .string(explanations.after)),
          ])
        ))
    }
    return .object(members)
  }

  private static func json(_ bin: SizeHistogram.Bin) -> JSON {
    .object([
      ("from", .number(bin.from)), ("below", bin.below.map(JSON.number) ?? .null),
      ("files", .number(bin.files)), ("bytes", .number(bin.bytes)),
    ])
  }

  private static func json(_ count: ExtensionCounts.Count) -> JSON {
    .object(
      JSON.members("extension", count.name) + [
        ("files", .number(count.files)), ("bytes", .number(count.bytes)),
      ])
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import FwdBenchDriver

/// The rows of the issue on fan-outs.
public enum FanOutRows {
  /// The group's name.
  public static let name = "fanout"

  /// How many subscribers there are.
  static let sizes = [1, 8, 64, 512, 100_000, 1_000_000]

  /// The rows and goals.
  ///
  /// - Parameter peers: rows of other libraries, for some receivers.
  public static func group(peers: @escaping (Stage) -> [Row] = { _ in [] }) -> RowGroup {
    RowGroup(
      name: name,
      comparisons: [
        Comparison(title: "/ WeakBox", way: Way.weakBoxes),
        Comparison(title: "/ C", way: Way.functionPointers),
      ],
      rows: {
        sizes.flatMap { size -> [Row] in
          let stage = Stage(size)
          var rows = HandWrittenRows.rows(stage)
          rows += peers(stage)
          rows += ProxyRows.rows(stage)
          rows += EntryRows.rows(stage)
          rows += MembershipRows.rows(stage)
          rows += RecordingRows.rows(stage)
          if size == ThreadRows.size { rows += ThreadRows.rows }
          return rows
        }
      },
      goals: { goals })
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Rows that are compared with one another, and have a table of goals.
enum RowGroup: String, CaseIterable {
  /// Calls, closures and the creation of signatures.
  case call

  var rows: [Row] {
    switch self {
    case .call: CallRows.all
    }
  }

  var goals: [Goal] {
    switch self {
    case .call: CallRows.goals
    }
  }
}

/// Something that is measured.
struct Row {
  let group: RowGroup
  let name: String
  /// Does it a number of times, as fast as it can, and looks at nothing.
  let run: (Int) -> Sample
  /// Does it a number of times, and looks at everything. The time means nothing.
  let verify: (Int) -> Sample
}

/// What doing something a number of times took.
struct Sample {
  /// CPU time of the thread.
  let nanoseconds: UInt64
  /// Nil where allocations cannot be counted.
  let allocations: UInt64?
  /// Whether the sums are those that had to come out.
  let isRight: Bool
}

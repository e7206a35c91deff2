// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The rows and goals that a command line asks for.
struct Selection {
  /// Larger ones take longer to make than a look whether all runs may take.
  private static let quickLimit = 100_000

  let groups: [RowGroup]
  private(set) var rows: [Row] = []
  private(set) var goals: [Goal] = []

  /// - Throws: `Options.UsageError` if there are no such rows.
  init(_ options: Options, from all: [RowGroup]) throws(Options.UsageError) {
    groups = all.filter { group in
      (options.group == nil || group.name == options.group)
        && !(options.hasOneThread && group.startsThreads)
    }
    goals = options.showsGoals ? groups.flatMap { $0.goals() } : []
    let needed = Set(goals.flatMap(\.bounds).flatMap(\.rows))
    let candidates = groups.flatMap { $0.rows() }.filter { row in
      (options.sizes.isEmpty || row.size.map(options.sizes.contains) ?? false)
        && !(options.hasOneThread && row.threads > 1)
        && (!options.isQuick || options.sizes.contains(row.size ?? 0)
          || row.size ?? 0 <= Self.quickLimit)
    }
    rows = candidates.filter { row in
      options.filters.isEmpty
        ? goals.isEmpty || needed.contains(row.name)
        : options.filters.allSatisfy { row.name.contains($0) }
    }
    for size in options.sizes.sorted() where !candidates.contains(where: { $0.size == size }) {
      throw Options.UsageError("there is no row for N = \(size)")
    }
    if rows.isEmpty && goals.isEmpty {
      var asked = options.filters.map { "whose name contains \"\($0)\"" }
      if !options.sizes.isEmpty {
        asked.append("for N = \(options.sizes.sorted().map(String.init).joined(separator: ", "))")
      }
      if let group = options.group { asked.append("in the group \(group) of this program") }
      throw Options.UsageError("there is no row " + asked.joined(separator: " and "))
    }
    if !options.filters.isEmpty { addCompared(candidates) }
    if !options.filters.isEmpty || !options.sizes.isEmpty || options.hasOneThread {
      let names = Set(rows.map(\.name))
      goals = goals.compactMap { $0.only(names) }
    }
  }

  /// Adds what the rows are compared with, each in its place.
  private mutating func addCompared(_ candidates: [Row]) {
    var names = Set(rows.map(\.name))
    for group in groups {
      for row in rows where row.group == group.name {
        names.formUnion(group.comparisons.map { Row.name($0.way, row.size) })
        if let one = row.onOneThread { names.insert(one) }
      }
    }
    rows = candidates.filter { names.contains($0.name) }
  }
}

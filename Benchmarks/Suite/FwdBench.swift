// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Foundation

/// Measures what this package does beside what else could be done.
@main struct FwdBench {
  static func main() {
    let options: Options
    do throws(Options.UsageError) {
      options = try Options(Array(CommandLine.arguments.dropFirst()))
    } catch {
      complain("\(error.message); see --help")
      exit(64)
    }
    if options.printsHelp {
      print(Options.help)
      return
    }
    #if DEBUG
      complain("built for debugging: the times mean nothing; use -c release")
    #endif
    exit(run(options) ? 0 : 1)
  }

  /// Gives whether everything is as it has to be.
  private static func run(_ options: Options) -> Bool {
    let groups = options.group.map { [$0] } ?? RowGroup.allCases
    var goals = options.showsGoals ? groups.flatMap(\.goals) : []
    let needed = Set(goals.flatMap(\.bounds).flatMap(\.rows))
    let rows = groups.flatMap(\.rows).filter { row in
      options.filter.map { row.name.contains($0) } ?? (goals.isEmpty || needed.contains(row.name))
    }
    guard !rows.isEmpty else {
      complain("no row's name contains \"\(options.filter ?? "")\"")
      exit(64)
    }
    if options.filter != nil {
      let names = Set(rows.map(\.name))
      goals = goals.compactMap { $0.only(names) }
    }

    let runner = Runner(isQuick: options.isQuick, progress: Progress())
    let report = Report(runner.measure(rows), goals: goals, judgesTimes: !options.isQuick)
    if options.printsJSON {
      guard let text = try? JSONReport(report, isQuick: options.isQuick).text() else {
        complain("the results cannot be written as JSON")
        return false
      }
      print(text)
    } else {
      print(options.showsGoals ? report.goalTable : report.rowTable)
    }
    for name in report.wrongRows { complain("wrong sums: \(name)") }
    return report.wrongRows.isEmpty && !report.hasMissedGoals
  }

  private static func complain(_ message: String) {
    FileHandle.standardError.write(Data("fwd-bench: \(message)\n".utf8))
  }
}

extension Goal {
  /// The part that needs these rows only; nil if that is nothing.
  fileprivate func only(_ names: Set<String>) -> Goal? {
    let bounds = bounds.filter { names.isSuperset(of: $0.rows) }
    return bounds.isEmpty ? nil : Goal(group: group, title: title, bounds: bounds)
  }
}

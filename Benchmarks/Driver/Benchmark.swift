// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdMeasure
internal import Foundation

/// A program that measures.
public enum Benchmark {
  /// Does what the command line asks for with these rows, and ends the process.
  ///
  /// - Parameters:
  ///   - program: the program's name.
  ///   - groups: all rows and goals.
  ///   - help: what `--help` prints besides the options.
  ///   - missing: a line for each library whose rows are left out. The lines are
  ///     printed below the tables, or with JSON on standard error.
  public static func main(
    _ program: String, _ groups: [RowGroup], help: String? = nil, missing: [String] = []
  ) -> Never {
    let complain = { (message: String) in
      FileHandle.standardError.write(Data("\(program): \(message)\n".utf8))
    }
    do throws(Options.UsageError) {
      let names = groups.map(\.name)
      let options = try Options(Array(CommandLine.arguments.dropFirst()), groups: names)
      if options.printsHelp {
        print(Options.help(program, groups: names))
        if let help { print("\n\(help)") }
        exit(0)
      }
      let selection = try Selection(options, from: groups)
      #if DEBUG
        complain("built for debugging: the times mean nothing; use -c release")
      #endif
      let isRight = run(selection, options, complain)
      if options.printsJSON {
        missing.forEach(complain)
      } else if !missing.isEmpty {
        print("\n" + missing.joined(separator: "\n"))
      }
      exit(isRight ? 0 : 1)
    } catch {
      complain("\(error.message); see --help")
      exit(64)
    }
  }

  /// Gives whether everything is as it has to be.
  private static func run(
    _ selection: Selection, _ options: Options, _ complain: (String) -> Void
  ) -> Bool {
    // Most programs have threads. It must not depend on the order of the rows from when on this one has.
    if !options.hasOneThread { bench_start_and_join_thread() }
    let runner = Runner(isQuick: options.isQuick, progress: Progress())
    let report = Report(
      runner.measure(selection.rows), groups: selection.groups, goals: selection.goals,
      judgesTimes: !options.isQuick)
    if options.printsJSON || options.jsonPath != nil {
      do {
        let text = try JSONReport(report, isQuick: options.isQuick).text()
        if options.printsJSON { print(text) }
        try options.jsonPath.map {
          try (text + "\n").write(toFile: $0, atomically: true, encoding: .utf8)
        }
      } catch {
        complain("the results cannot be written as JSON: \(error)")
        return false
      }
    }
    if !options.printsJSON { print(options.showsGoals ? report.goalTables : report.rowTables) }
    if options.hasOneThread && !bench_has_one_thread() {
      complain("a row has started a thread: the times are those of a program with several threads")
      return false
    }
    for name in report.wrongRows { complain("wrong sums: \(name)") }
    return report.wrongRows.isEmpty && !report.hasMissedGoals
  }
}

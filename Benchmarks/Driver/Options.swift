// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the command line asks for.
struct Options {
  /// Print the tables of goals rather than the rows.
  var showsGoals = false
  /// The group whose goals, and rows, are wanted; nil for all.
  var group: String?
  /// Only rows whose name contains all of these.
  var filters: [String] = []
  /// Only rows of these sizes; empty for all.
  var sizes: Set<Int> = []
  var printsJSON = false
  /// Where to write JSON as well; nil for nowhere.
  var jsonPath: String?
  /// Look that everything runs and that sums are right; judge no times.
  var isQuick = false
  /// Start no thread, as programs with one thread do.
  var hasOneThread = false
  var printsHelp = false

  static func help(_ program: String, groups: [String]) -> String {
    """
    Measures calls and fan-outs beside direct C calls, libffi and what else could be done, in one
    interleaved run.

    usage: \(program) [--goals [GROUP]] [--group GROUP] [--filter TEXT]... [--size N]...
           [--one-thread] [--json] [--json-to FILE] [--quick] [--help]

      --goals [GROUP]  print the goals with what was measured; exit 1 if one is missed
      --group GROUP    only the rows of a group
      --filter TEXT    only rows whose name contains TEXT, those that they are compared with, and
                       the goals that need no others
      --size N         only rows with N subscribers, and the goals that need no others
      --one-thread     only rows that start no thread, measured before the process has a second one:
                       then references are counted without atomic instructions
      --json           print JSON rather than tables
      --json-to FILE   write JSON to a file, besides
      --quick          look that everything runs and that sums are right; judge no times
      --help           print this

    groups: \(groups.joined(separator: ", "))

    Exit status: 0; 1 if a sum is wrong or a goal is missed; 64 for wrong arguments.
    """
  }

  init(_ arguments: [String], groups: [String]) throws(UsageError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--goals":
        showsGoals = true
        if let next = rest.first, !next.hasPrefix("-") {
          try choose(next, groups)
          rest.removeFirst()
        }
      case "--group": try choose(try Options.text(argument, &rest), groups)
      case "--filter": filters.append(try Options.text(argument, &rest))
      case "--size":
        let text = try Options.text(argument, &rest)
        guard let size = Int(text), size > 0 else {
          throw UsageError("--size needs a number of subscribers, not \(text)")
        }
        sizes.insert(size)
      case "--one-thread": hasOneThread = true
      case "--json": printsJSON = true
      case "--json-to": jsonPath = try Options.text(argument, &rest)
      case "--quick": isQuick = true
      case "--help", "-h": printsHelp = true
      case "": throw UsageError("an argument is empty")
      default: throw UsageError("unknown argument: \(argument)")
      }
    }
  }

  private mutating func choose(_ name: String, _ groups: [String]) throws(UsageError) {
    guard groups.contains(name) else {
      throw UsageError("unknown group: \(name); there are \(groups.joined(separator: ", "))")
    }
    group = name
  }

  private static func text(
    _ argument: String, _ rest: inout ArraySlice<String>
  ) throws(UsageError) -> String {
    guard let text = rest.popFirst(), !text.isEmpty else {
      throw UsageError("\(argument) needs a value")
    }
    return text
  }

  /// A command line that cannot be read.
  struct UsageError: Error {
    let message: String

    init(_ message: String) {
      self.message = message
    }
  }
}

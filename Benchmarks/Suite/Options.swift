// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the command line asks for.
struct Options {
  /// Print the tables of goals rather than the rows.
  var showsGoals = false
  /// The group whose goals, and rows, are wanted; nil for all.
  var group: RowGroup?
  /// Only rows whose name contains this.
  var filter: String?
  var printsJSON = false
  /// Look that everything runs and that sums are right; judge no times.
  var isQuick = false
  var printsHelp = false

  static let help = """
    Measures calls and fan-outs beside direct C calls and libffi, in one interleaved run.

    usage: fwd-bench [--goals [GROUP]] [--filter TEXT] [--json] [--quick] [--help]

      --goals [GROUP]  print the goals with what was measured; exit 1 if one is missed
      --filter TEXT    only rows whose name contains TEXT, and the goals that need no others
      --json           print JSON rather than tables
      --quick          look that everything runs and that sums are right; judge no times
      --help           print this

    groups: \(RowGroup.allCases.map(\.rawValue).joined(separator: ", "))

    Exit status: 0; 1 if a sum is wrong or a goal is missed; 64 for wrong arguments.
    """

  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--goals":
        showsGoals = true
        if let next = rest.first, !next.hasPrefix("-") {
          guard let group = RowGroup(rawValue: next) else {
            throw UsageError("unknown group: \(next)")
          }
          self.group = group
          rest.removeFirst()
        }
      case "--filter":
        guard let text = rest.popFirst(), !text.isEmpty else {
          throw UsageError("--filter needs a text")
        }
        filter = text
      case "--json": printsJSON = true
      case "--quick": isQuick = true
      case "--help", "-h": printsHelp = true
      default: throw UsageError("unknown argument: \(argument)")
      }
    }
  }

  /// A command line that cannot be read.
  struct UsageError: Error {
    let message: String

    init(_ message: String) {
      self.message = message
    }
  }
}

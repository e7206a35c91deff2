// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import Testing

/// The runs of `fwd` that the documentation shows.
@Suite("Documentation of fwd") struct DocumentationTests {
  /// A command and its output.
  struct Run: CustomTestStringConvertible {
    let command: String
    var output = ""

    var testDescription: String { command }
  }

  private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

  /// The runs in the blocks of some pages. A line of a block that begins with `$ fwd` is a command, and the
  /// lines up to the next command or the end of the block are its output.
  static func runs() throws -> [Run] {
    let catalogue = "Sources/Forwarding/Documentation.docc"
    var runs: [Run] = []
    for page in ["README.md", "\(catalogue)/CallingC.md", "\(catalogue)/BridgingC.md"] {
      let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
      var isInRun = false
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        let words = line.hasPrefix("    ") ? line.dropFirst(4) : line
        if words.hasPrefix("$ fwd ") {
          // Redirected output is not shown.
          isInRun = !words.contains(" > ")
          if isInRun { runs.append(Run(command: String(words.dropFirst(2)))) }
        } else if words.isEmpty || words.hasPrefix("```") || words.hasPrefix("$ ") {
          isInRun = false
        } else if isInRun {
          runs[runs.count - 1].output += words + "\n"
        }
      }
    }
    return runs
  }

  @Test func `the pages have runs`() throws {
    #expect(try Self.runs().count >= 7)
  }

  @Test(arguments: try runs())
  func `has the output of the tool`(run: Run) throws {
    let hasSQLite = EncodeCommandTests.installed.contains { $0.header == "sqlite3.h" }
    if run.command.contains("sqlite3.h") && !hasSQLite { return }
    let given = try ToolRun.shell(run.command.replacing(/^fwd/, with: "\"$FWD\""))
    #expect(given.output == run.output)
    #expect(given.errorText == "")
    #expect(given.status == 0)
  }
}

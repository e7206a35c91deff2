// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ArgumentParser

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `fwd walk`: one walk, many observers.
struct WalkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "walk",
    abstract: "Walks a directory, with many observers on the one callback of nftw(3).",
    discussion: """
      Counts what `find DIRECTORY` lists: links are counted, not followed; a file with several names counts \
      once for each; bytes are the sum of the sizes of regular files. Directories that may not be read are \
      counted and passed over. Ctrl-C prints what has been counted so far.
      """)

  @Argument(help: "The directory to walk.")
  var directory = "."

  @Flag(
    help:
      "Print JSON, for programs. A name that is not UTF-8 has its bytes beside it, in hexadecimal.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "Who observes the walk, separated by commas: totals (always there), histogram, largest, extensions.",
      valueName: "names"))
  var only: ObserverList?

  @Option(help: ArgumentHelp("How many of the largest files to keep.", valueName: "count"))
  var top = 10

  @Option(help: ArgumentHelp("Stop the walk after so many files.", valueName: "count"))
  var maxFiles: UInt64?

  @Option(
    help: ArgumentHelp(
      "An observer that unsubscribes in the middle of the walk, after so many files, as in largest@1000. May be repeated.",
      valueName: "name@count"))
  var leave: [Departure] = []

  @Flag(
    help:
      "Show which observers a file reaches, in which order, and why others are skipped: before the walk and after it."
  )
  var explain = false

  private var configuration: TreeWalk.Configuration {
    TreeWalk.Configuration(
      observers: only?.names ?? Set(TreeWalk.ObserverName.allCases), largestCount: top,
      maximumFileCount: maxFiles,
      leaving: Dictionary(leave.map { ($0.name, $0.fileCount) }) { min($0, $1) },
      showsProgress: ProgressLine.isWanted)
  }

  func validate() throws {
    guard (1...100_000).contains(top) else {
      throw ValidationError("--top must be between 1 and 100,000.")
    }
    for departure in leave where !configuration.observers.contains(departure.name) {
      throw ValidationError(
        "--leave \(departure.name): it does not observe this walk (see --only).")
    }
  }

  func run() throws {
    try reporting {
      let path = RawArgument.bytes(of: directory)
      let shownPath = DisplayText.escaped(path)
      let root = try WalkRoot(path)
      if root.isLink {
        StandardStream.error.put(
          "fwd: \(shownPath): is a symbolic link, which is not followed; \(shownPath)/ walks its target\n"
        )
      }
      let walk = try TreeWalk(configuration)
      let before = walk.explanation
      let end = try walk.run(root.walkPath)
      let report = WalkReport(
        directory: path, root: root, walk: walk, end: end,
        explanations: explain ? (before, walk.explanation) : nil)
      try printOutput(json ? report.json.text() + "\n" : report.text(style: .standard))
      switch end {
      case .complete, .stopped(.limit), .stopped(.none): break
      case .stopped(.interrupt): throw ExitCode(128 + SIGINT)
      case .failed(let code):
        throw Failure(.inputOutput, "\(shownPath): the walk broke off: \(reason(code))")
      }
    }
  }
}

// MARK: - Options

/// The value of `--only`.
struct ObserverList: ExpressibleByArgument {
  let names: Set<TreeWalk.ObserverName>

  init?(argument: String) {
    var names: Set<TreeWalk.ObserverName> = [.totals]
    for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
      guard let name = TreeWalk.ObserverName(rawValue: String(word)) else { return nil }
      names.insert(name)
    }
    self.names = names
  }
}

/// The value of `--leave`.
struct Departure: ExpressibleByArgument {
  let name: TreeWalk.ObserverName
  let fileCount: UInt64

  init?(argument: String) {
    let parts = argument.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, let name = TreeWalk.ObserverName(rawValue: String(parts[0])),
      name != .totals,
      let fileCount = UInt64(parts[1]), fileCount > 0
    else { return nil }
    self.name = name
    self.fileCount = fileCount
  }
}

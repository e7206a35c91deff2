// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ArgumentParser
import Forwarding
import ForwardingJournal
import ForwardingWire

/// The journal and the calls that a command is about.
struct EntryOptions: ParsableArguments {
  @Argument(help: "The journal.", completion: .file())
  var file: String

  @Option(
    name: .customLong("method"),
    help: ArgumentHelp("Only calls of a method. May be repeated.", valueName: "name"))
  var methods: [String] = []

  @Option(
    name: .customLong("producer"),
    help: ArgumentHelp(
      "Only calls of a producer, the number that the program has given to the proxy. May be repeated.",
      valueName: "number"))
  var producers: [UInt32] = []

  @Option(help: ArgumentHelp("Only calls from a position on.", valueName: "position"))
  var from: Int = 1

  @Option(help: ArgumentHelp("Only calls up to a position.", valueName: "position"))
  var to: Int = .max

  @Option(
    help: ArgumentHelp(
      "Only calls since a time in UTC, such as 2026-11-23 or 2026-11-23T15:04:05.5, or in nanoseconds since 1970.",
      valueName: "time"))
  var since: RecordedTime?

  @Option(help: ArgumentHelp("Only calls before a time.", valueName: "time"))
  var until: RecordedTime?

  @Option(help: ArgumentHelp("At most so many calls.", valueName: "count"))
  var limit: Int?

  func validate() throws {
    if from > to { throw ValidationError("--from \(from) is behind --to \(to).") }
    if let limit, limit < 1 { throw ValidationError("--limit is \(limit), expected at least 1.") }
    if let until, since?.nanoseconds ?? Int64.min >= until.nanoseconds {
      throw ValidationError(
        since == nil ? "There is no time before --until." : "--since is not before --until.")
    }
  }

  var filter: Journal.Filter {
    let since = since?.nanoseconds ?? Int64.min
    // At least `since`, as `validate` has checked.
    let last = until.map { $0.nanoseconds - 1 } ?? Int64.max
    return Journal.Filter(
      methods: methods.isEmpty ? nil : Set(methods),
      producers: producers.isEmpty ? nil : Set(producers), positions: from...to, times: since...last
    )
  }

  func open() throws -> Journal {
    do throws(JournalError) {
      return try Journal(reading: file)
    } catch {
      throw Failure(error)
    }
  }

  /// Where --method names a method of which there is no call: the names of those that there are.
  func recordedMethods() throws -> String {
    guard !methods.isEmpty else { return "" }
    var names: Set<String> = []
    do {
      var entries = try open().entries(nil)
      while let entry = try entries.next() { names.insert(entry.record.selector.name) }
    } catch {
      throw Failure(error)
    }
    guard let unknown = methods.first(where: { !names.contains($0) }) else { return "" }
    let note = " of \"\(DisplayText.escaped(unknown))\""
    if names.isEmpty { return note }
    let recorded = names.sorted().prefix(8).map { "\"\(DisplayText.escaped($0))\"" }
    return note + "; there are some of " + recorded.joined(separator: ", ")
      + (names.count > 8 ? ", …" : "")
  }

  /// Prints the text of each call.
  ///
  /// - Returns: the number of calls.
  func printAll(_ text: (Journal.Entry) -> String) throws -> Int {
    var output = ""
    var count = 0
    do {
      var entries = try open().entries(nil, filter)
      while count < limit ?? Int.max, let entry = try entries.next() {
        output += text(entry)
        count += 1
        if output.utf8.count >= 1 << 16 {
          try printOutput(output)
          output = ""
        }
      }
    } catch {
      // What precedes a damaged call is shown.
      if !(error is ExitCode) { try printOutput(output) }
      throw Failure(error)
    }
    try printOutput(output)
    return count
  }
}

extension Failure {
  /// The failure of a command on a journal.
  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as JournalError:
      let status: Status =
        switch error.code {
        // An empty path is the only argument that the tool passes on unchecked.
        case .cannotOpen, .invalidArgument: .noInput
        case .notAJournal, .unsupportedVersion, .damaged: .dataError
        default: .software
        }
      self.init(status, error.description)
    default: self.init(.software, "\(error)")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ArgumentParser
import ForwardingJournal

/// `fwd journal`: what ForwardingJournal has recorded.
struct JournalCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "journal",
    abstract: "Shows recorded calls, exports them as JSON, and replays them.",
    discussion: """
      A journal is a file that the library ForwardingJournal has made. It can be read while a program \
      records into it. A damaged call ends the command with an error that names its position, after the \
      calls before it.
      """,
    subcommands: [Show.self, Replay.self, Export.self])

  /// `fwd journal show`
  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists calls: position, time in UTC, method and arguments.")

    @OptionGroup var entries: EntryOptions

    func run() throws {
      try reporting {
        let count = try entries.printAll { EntryText.line($0) }
        if count == 0 {
          StandardStream.error.put(
            "fwd: \(entries.file): no calls\(try entries.recordedMethods())\n")
        }
      }
    }
  }

  /// `fwd journal export`
  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Writes calls as JSON, one object on each line.",
      discussion: """
        Each object has the members position, method, time (nanoseconds since 1970 in UTC), producer, \
        sequence and arguments.
        """)

    @OptionGroup var entries: EntryOptions

    func run() throws {
      try reporting { _ = try entries.printAll { $0.json + "\n" } }
    }
  }

  /// `fwd journal replay`
  struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints each call when it is due, at the pace at which the calls were recorded.",
      discussion: """
        To replay calls into a program, use ForwardingJournal there, or pipe the JSON of --json into the \
        program. The command ends with the last call that there was when it began.
        """)

    @OptionGroup var entries: EntryOptions

    @Option(help: "How many times as fast as the calls were recorded.")
    var pace: Double = 1

    @Flag(help: "Print JSON, as export does.")
    var json = false

    func validate() throws {
      if !(pace > 0) { throw ValidationError("--pace is \(pace), expected a number above 0.") }
    }

    func run() async throws {
      do {
        let options = entries
        let journal = try options.open()
        var left = options.limit ?? Int.max
        try await journal.replay(nil, options.filter, pace: pace) { entry in
          try printOutput(json ? entry.json + "\n" : EntryText.line(entry))
          left -= 1
          if left == 0 { throw CancellationError() }
        }
      } catch is CancellationError {
      } catch {
        try reporting { throw Failure(error) }
      }
    }
  }
}

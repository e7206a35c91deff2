// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ArgumentParser

/// The entry point: one subcommand each file.
@main
struct Fwd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fwd",
    abstract:
      "Shows what the Forwarding runtime does, reads C declarations, calls C functions, shows recorded calls.",
    discussion: """
      Exit status: 0 for success, 64 for wrong usage, 65 for an encoding, a C declaration \
      or a journal that cannot be read, 66 for a directory or a file that cannot be opened, 69 for a library that \
      cannot be loaded, 74 for an input or output error, 130 for an interrupted walk.
      """,
    version: "0.1.0",
    subcommands: [
      WalkCommand.self, InspectCommand.self, EncodeCommand.self, CallCommand.self,
      JournalCommand.self,
    ])

  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if let first = arguments.first, !first.hasPrefix("-"), let complaint = complaint(about: first) {
      exit(withError: ValidationError(complaint))
    }
    await main(EncodeCommand.readingCompilerFlags(arguments))
  }

  /// Why a word is no command. The parser of arguments would not say which commands there are.
  private static func complaint(about word: String) -> String? {
    let names = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
    guard !names.contains(word) else { return nil }
    let near = nearest(to: word, among: names).map { "; did you mean \"\($0)\"?" } ?? "."
    let all = names.joined(separator: ", ")
    return "There is no command \"\(word)\"\(near) The commands are \(all)."
  }
}

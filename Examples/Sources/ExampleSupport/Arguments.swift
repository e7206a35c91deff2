// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation

/// The number that is the program's argument, if it has one.
///
/// Ends the program with a message if the argument is not a positive number.
public func argument(_ name: String, default standard: Int) -> Int {
  let arguments = CommandLine.arguments.dropFirst()
  guard let text = arguments.first else { return standard }
  if arguments.count == 1, let number = Int(text), number > 0 { return number }
  let program = URL(fileURLWithPath: CommandLine.arguments[0]).lastPathComponent
  let given = arguments.joined(separator: " ")
  FileHandle.standardError.write(
    Data(
      "\(program): \(given) is not a positive number\nusage: \(program) [\(name)]\n".utf8))
  exit(64)
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import Synchronization

private let checkCount = Atomic(0)

/// Ends the program with a message unless a condition holds.
///
/// - Parameter what: a phrase that names what is checked.
public func check(
  _ condition: Bool, _ what: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  checkCount.add(1, ordering: .relaxed)
  if !condition { fail(what(), file, line) }
}

private func fail(_ what: String, _ file: StaticString, _ line: UInt) -> Never {
  FileHandle.standardError.write(Data("wrong at \(file):\(line): \(what)\n".utf8))
  exit(1)
}

/// Ends the program with a message unless two values are equal.
public func check<Value: Equatable>(
  _ value: Value, is expected: Value, _ what: @autoclosure () -> String,
  file: StaticString = #fileID, line: UInt = #line
) {
  check(
    value == expected, "\(what()) is \(value), not \(expected)", file: file, line: line)
}

/// Waits until a condition holds. Ends the program after five minutes.
public func wait(
  until what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line,
  _ condition: () -> Bool
) {
  checkCount.add(1, ordering: .relaxed)
  let deadline = ContinuousClock.now + .seconds(300)
  while !condition() {
    if ContinuousClock.now > deadline { fail("no end of waiting until \(what())", file, line) }
    usleep(500)
  }
}

/// Prints how many checks the program has made.
public func printCheckCount() {
  print("\(checkCount.load(ordering: .relaxed)) checks passed")
}

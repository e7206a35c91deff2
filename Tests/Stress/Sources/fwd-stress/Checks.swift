// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Prints a line that is not lost in a crash.
func say(_ line: String) {
  print(line)
  fflush(nil)
}

/// Counts what happens everywhere: who reads it knows what was before what.
let clock = Atomic<Int>(1)

/// A moment behind all that have been read or made before.
func nextMoment() -> Int { clock.add(1, ordering: .sequentiallyConsistent).newValue }

/// The members that have been made and not been deinitialised.
let livingMembers = Atomic<Int>(0)
/// The C contexts that have been subscribed and not been destroyed.
let livingContexts = Atomic<Int>(0)

/// Whether the threads are to end.
let isOver = Atomic<Bool>(false)

/// Whether this process is a child of fork(2).
let isChild = Atomic<Bool>(false)

/// What should not have been. The first ones are printed.
///
/// It is empty, and the count is a constant at first, so that the compiler needs
/// no lazy initialisation. Under the thread sanitizer each use of a lazy global
/// takes a lock. That would order the threads at every check, and hide races.
struct Violations: Sendable {
  var total: Int { violationCount.load(ordering: .relaxed) }

  /// Forgets those of the parent.
  func beginChild() { violationCount.store(0, ordering: .relaxed) }

  func note(_ text: @autoclosure () -> String) {
    if violationCount.add(1, ordering: .relaxed).newValue <= 10 {
      say("VIOLATION\(isChild.load(ordering: .relaxed) ? " in a child" : ""): \(text())")
    }
  }

  func check(_ condition: Bool, _ text: @autoclosure () -> String) {
    if !condition { note(text()) }
  }

  /// Runs what should not fail.
  func unfailing(_ what: @autoclosure () -> String, _ body: () throws -> Void) {
    do { try body() } catch { note("\(what()): \(error)") }
  }
}

let violations = Violations()
private let violationCount = Atomic<Int>(0)

/// Random numbers by splitmix64.
struct Random: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number below a limit.
  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  mutating func isOneOf(_ count: Int) -> Bool { below(count) == 0 }
}

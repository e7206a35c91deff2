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

/// Why the tool ends early: one line for people, and a status for programs
/// (those of sysexits.h).
struct Failure: Error {
  enum Status: Int32 {
    case usage = 64
    case dataError = 65
    case noInput = 66
    case unavailable = 69
    case software = 70
    case inputOutput = 74
  }

  let status: Status
  let message: String

  init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }
}

/// Runs the body of a command, and turns its failure into a line on standard
/// error and a status.
func reporting(_ body: () throws -> Void) throws {
  do {
    try body()
  } catch let failure as Failure {
    StandardStream.error.put("fwd: \(failure.message)\n")
    throw ExitCode(failure.status.rawValue)
  } catch let code as ExitCode {
    throw code
  } catch {
    // What the library refuses, such as a function pointer where the system
    // allows no executable memory.
    StandardStream.error.put("fwd: \(error)\n")
    throw ExitCode(Failure.Status.software.rawValue)
  }
}

/// What the system says about an `errno`.
func reason(_ code: Int32) -> String {
  unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { room in
    unsafe room.initialize(repeating: 0)
    // SAFETY: the system writes at most as many bytes, and a NUL.
    _ = unsafe strerror_r(code, room.baseAddress.unsafelyUnwrapped, room.count)
    return unsafe String(cString: room.baseAddress.unsafelyUnwrapped)
  }
}

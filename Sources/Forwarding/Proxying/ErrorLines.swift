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

/// The lines that the default error handler writes to standard error.
///
/// A callback may fail at each of thousands of calls. So an error that repeats the one before
/// is not written again: one line says so.
internal struct ErrorLines {
  private var last = ""
  private var isRepeated = false

  /// The line to write for an error, without its end; nil for none.
  internal mutating func next(_ error: ForwardingError) -> String? {
    let text = error.description
    if text != last {
      last = text
      isRepeated = false
      return Self.line(error)
    }
    if isRepeated { return nil }
    isRepeated = true
    return "Forwarding: the same error again; repeats are not printed until another error occurs"
  }

  private static func line(_ error: ForwardingError) -> String {
    // Names come from outside: no control characters for the terminal.
    let text = error.description.unicodeScalars.map { scalar in
      scalar == "\n" || scalar.properties.generalCategory != .control ? Character(scalar) : "?"
    }
    return "Forwarding: \(String(text))"
  }
}

extension ErrorLines {
  /// Those of the process.
  private static let written = Mutex(ErrorLines())

  internal static func print(_ error: ForwardingError) {
    // Waits for nobody, since a child of a fork may find the lock closed for ever.
    let next = written.withLockIfAvailable { $0.next(error) } ?? line(error)
    guard var line = next else { return }
    line += "\n"
    // SAFETY: the bytes are valid during the call. A failure to write is
    // ignored: standard error may be closed.
    line.withUTF8 { _ = unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Foundation

/// A line on standard error that says what is being measured, if that is a
/// terminal.
struct Progress {
  private let isTerminal = isatty(STDERR_FILENO) != 0

  func show(_ stage: String, _ index: Int, _ count: Int, _ name: String) {
    guard isTerminal else { return }
    write("\r\u{1B}[K\(stage), row \(index + 1) of \(count): \(name)")
  }

  /// Clears the line.
  func end() {
    guard isTerminal else { return }
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}

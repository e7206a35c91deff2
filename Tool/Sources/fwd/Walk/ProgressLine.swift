// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import Synchronization

/// Tells on a terminal how far the walk is, ten times a second.
final class ProgressLine: Sendable {
  private struct State {
    var entries: UInt64 = 0
    var bytes: UInt64 = 0
    var next: ContinuousClock.Instant = .now
    var isShown = false
  }

  private static let interval = Duration.milliseconds(100)

  private let state = Mutex(State())

  /// Whether somebody sees the line.
  static var isWanted: Bool {
    StandardStream.error.isTerminal && environment("TERM") != "dumb"
  }

  func subscribe(to proxy: DynamicProxy) throws(ForwardingError) {
    try proxy.subscribe(self) {
      $0.onVisit { (self, file) in
        self.see(file)
        return .none
      }
      $0.on(Method(FileVisitor.finished)) { (self: ProgressLine, _: UInt64) in self.clear() }
    }
  }

  private func see(_ file: VisitedFile) {
    let line = state.withLock { state -> String? in
      state.entries += 1
      if file.isRegular { state.bytes.addClamping(file.size) }
      let now = ContinuousClock.now
      guard now >= state.next else { return nil }
      state.next = now + Self.interval
      state.isShown = true
      return "\(DisplayText.count(state.entries)) entries, \(DisplayText.size(state.bytes))  "
    }
    guard let line else { return }
    // One column stays free: some terminals wrap a full line.
    let room = max(0, StandardStream.error.width - line.count - 1)
    let path = DisplayText.suffix(
      DisplayText.escaped(file.path), width: room, style: .standard)
    StandardStream.error.put("\r\(line)\(path)\u{1B}[K")
  }

  private func clear() {
    let wasShown = state.withLock { $0.isShown }
    if wasShown { StandardStream.error.put("\r\u{1B}[K") }
  }
}

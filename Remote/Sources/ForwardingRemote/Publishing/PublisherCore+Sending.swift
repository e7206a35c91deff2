// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Foundation

// The publisher's thread.
extension PublisherCore {
  /// Sends until the publisher is closed or has failed. The log has been taken.
  internal func run() {
    defer { disconnect() }
    var isConnected = true
    var attempts = 0
    var loss: ContinuousClock.Instant?
    var stored = withLock { storedPosition }
    while true {
      do throws(RemoteError) {
        if !isConnected { try reconnect() }
        isConnected = true
        loss = nil
        try pump()
        return
      } catch {
        isConnected = false
        // A server that takes connections, but stores nothing, is asked less and less often.
        let position = withLock { storedPosition }
        attempts = position > stored ? 1 : attempts + 1
        stored = position
        if error.isFinal(&loss, timeout: timeout) {
          return end(error.at("producer \"\(name)\""))
        }
        withLock { lastFault = error }
        if !pause(attempts) { return }
      }
    }
  }

  private func end(_ error: RemoteError) {
    if withLock({ fail(error) }) { options.onError(error) }
  }

  /// Waits before the next attempt to connect.
  ///
  /// - Returns: whether to try.
  private func pause(_ attempts: Int) -> Bool {
    let end = Date(timeIntervalSinceNow: min(1, 0.01 * Double(1 << min(attempts, 7))))
    condition.lock()
    defer { condition.unlock() }
    while !isAbandoned && failure == nil {
      if !condition.wait(until: end) { return true }
    }
    return false
  }

  /// Sends until the publisher is closed and drained, or until the link fails.
  private func pump() throws(RemoteError) {
    condition.lock()
    defer { condition.unlock() }
    lastProgress = .now
    while true {
      if let linkFault { throw linkFault }
      if isAbandoned || failure != nil || (isClosing && isDrained) { return }
      if let (bytes, position) = nextMessage(), let link {
        if messages.sentCount == 1 { lastProgress = .now }
        condition.unlock()
        defer { condition.lock() }
        try link.append(bytes, to: name, behind: position)
        continue
      }
      if messages.sentCount > 0, lastProgress.duration(to: .now) > timeout {
        throw RemoteError(
          .timedOut,
          "the server has acknowledged none of \(messages.sentCount) messages within \(timeout)")
      }
      senderWaits = true
      _ = condition.wait(until: Date(timeIntervalSinceNow: messages.sentCount > 0 ? 0.1 : 1))
      senderWaits = false
    }
  }

  // MARK: Waiting for it

  /// Waits until the calls that have been made are stored.
  internal func flush(within time: Duration) throws(RemoteError) {
    let end = Date(timeIntervalSinceNow: time.seconds)
    condition.lock()
    defer {
      // Others that wait say so again when they wake.
      awaitedCall = .max
      condition.broadcast()
      condition.unlock()
    }
    let target = acceptedCalls
    while storedCalls < target {
      awaitedCall = min(awaitedCall, target)
      if let failure { throw failure }
      if isAbandoned { throw error(.closed, "the publisher has been closed") }
      guard condition.wait(until: end) else {
        throw error(
          .timedOut, "\(target - storedCalls) calls are not stored after \(time)\(reason)")
      }
    }
    if let failure { throw failure }
  }

  /// Takes no more calls, and sends what there is.
  internal func close(within time: Duration) throws(RemoteError) {
    withLock {
      isClosing = true
      condition.broadcast()
    }
    defer {
      abandon()
      // Not left to the publisher's thread: the name is free when this returns.
      disconnect()
    }
    try flush(within: time)
  }

  /// Ends the publisher at once.
  internal func abandon() {
    withLock {
      isClosing = true
      isAbandoned = true
      condition.broadcast()
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The publisher's thread.
extension PublisherCore {
  /// Sends until the publisher is closed or has failed. The log has been taken.
  internal func run() {
    var isConnected = true
    var stored = withLock { storedCalls }
    do throws(RemoteError) {
      try slot.run(Backoff(lostLogWait: lostLogWait)) {
        (backoff: inout Backoff) throws(RemoteError) in
        // A server that accepts connections, but stores nothing, is tried less and less often.
        defer {
          let calls = withLock { storedCalls }
          if calls > stored { backoff.reset() }
          stored = calls
          isConnected = false
        }
        if !isConnected { try reconnect() }
        backoff.logFound()
        try pump()
      } until: {
        isAbandoned || failure != nil
      } failed: { error in
        withLock { lastFault = error }
      }
    } catch {
      let error = error.at("producer \"\(name)\"")
      if withLock({ fail(error) }) { options.onError(error) }
    }
  }

  /// Sends until the publisher is closed and drained, or until the link fails.
  private func pump() throws(RemoteError) {
    condition.lock()
    defer { condition.unlock() }
    lastProgress = .now
    while true {
      if let fault = slot.fault { throw fault }
      if isAbandoned || failure != nil || (isClosing && isDrained) { return }
      let isIdle = messages.sentCount == 0
      if let link = slot.link, let (batch, position) = nextMessages() {
        if isIdle { lastProgress = .now }
        condition.unlock()
        defer { condition.lock() }
        try link.append(batch, to: name, after: position)
        continue
      }
      if messages.sentCount > 0, lastProgress.duration(to: .now) > timeout {
        throw RemoteError(
          .timedOut,
          "the server has acknowledged none of \(messages.sentCount) messages within \(timeout)")
      }
      senderWaits = true
      if messages.sentCount > 0 {
        let check = condition.deadline(after: Timing.acknowledgementCheck)
        _ = condition.wait(until: check)
      } else {
        condition.wait()
      }
      senderWaits = false
    }
  }

  // MARK: Waiting for the publisher

  /// Waits until the calls that have been made are stored.
  internal func flush(within time: Duration) throws(RemoteError) {
    let end = condition.deadline(after: time)
    condition.lock()
    defer {
      // Others that wait say so again when they wake.
      awaitedCall = .max
      condition.broadcast()
      condition.unlock()
    }
    let target = lastCall
    while storedCalls < target {
      awaitedCall = min(awaitedCall, target)
      if let failure { throw failure }
      if isAbandoned { throw error(.closed, "the publisher has been closed") }
      // Another thread may store them between the time-out and the lock.
      guard condition.wait(until: end) || storedCalls >= target else {
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
      slot.close()
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

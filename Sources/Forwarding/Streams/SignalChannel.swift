// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// One iterator's end of a signal: a buffer, and who waits for an element.
///
/// Nothing is resumed or dropped under the lock.
internal final class SignalChannel<Element: Sendable>: SignalSink {
  private typealias Waiter = CheckedContinuation<Element?, Never>

  private struct State {
    var buffer: SignalBuffer<Element>
    /// In order. Mostly there is one at most: copies of an iterator share the
    /// channel. None while an element is in the buffer.
    var waiters: [Waiter] = []
    var isFinished = false
  }

  private let state: Lock<State>

  internal init(_ policy: SignalBuffering) {
    state = Lock(State(buffer: SignalBuffer(policy)))
  }

  internal func receive(_ element: Element) {
    let (waiter, dropped) = state.withLock { state -> (Waiter?, Element?) in
      if state.isFinished { return (nil, nil) }
      if !state.waiters.isEmpty { return (state.waiters.removeFirst(), nil) }
      return (nil, state.buffer.append(element))
    }
    waiter?.resume(returning: element)
    withExtendedLifetime(dropped) {}
  }

  /// What is in the buffer can still be taken.
  internal func finish() {
    end { _ in [] }
  }

  /// Ends it for an observer that does not want the rest.
  internal func cancel() {
    end { $0.removeAll() }
  }

  private func end(_ clear: (inout SignalBuffer<Element>) -> [Element?]) {
    let (waiters, dropped) = state.withLock { state in
      defer { state.waiters = [] }
      state.isFinished = true
      return (state.waiters, clear(&state.buffer))
    }
    for waiter in waiters { waiter.resume(returning: nil) }
    withExtendedLifetime(dropped) {}
  }

  /// Waits for the next element; nil at the end.
  internal func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
    await withCheckedContinuation { waiter in
      let (isReady, element) = state.withLock { state -> (Bool, Element?) in
        if let element = state.buffer.popFirst() { return (true, element) }
        if state.isFinished { return (true, nil) }
        state.waiters.append(waiter)
        return (false, nil)
      }
      if isReady { waiter.resume(returning: element) }
    }
  }

  /// Takes the next element, if it is there.
  internal func poll() -> Element? {
    state.withLock { $0.buffer.popFirst() }
  }
}

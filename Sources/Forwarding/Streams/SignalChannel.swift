// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// One iterator's side of a signal: a buffer, and the tasks that wait for an
/// element.
///
/// No task is resumed, and no element released, under the lock.
internal final class SignalChannel<Element: Sendable>: SignalSink {
  private typealias Waiter = CheckedContinuation<Element?, Never>

  private struct State {
    var buffer: SignalBuffer<Element>
    /// The waiting tasks, in order; none while an element is in the buffer.
    /// Usually there is at most one, but copies of an iterator share the channel.
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

  /// Ends the channel. Elements in the buffer can still be taken.
  internal func finish() {
    end { _ in [] }
  }

  /// Ends the channel and drops the buffer.
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

  /// Waits for the next element. Returns nil at the end.
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

  /// Takes the next element, if there is one.
  internal func poll() -> Element? {
    state.withLock { $0.buffer.popFirst() }
  }
}

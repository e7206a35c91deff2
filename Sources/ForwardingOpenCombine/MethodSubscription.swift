// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if OpenCombine
  internal import Forwarding
  internal import OpenCombine

  /// One subscriber's part in a publisher.
  ///
  /// The subscriber is called by one thread at a time and under no lock. A thread
  /// that finds another thread calling it leaves the elements to that thread.
  internal final class MethodSubscription<Downstream: OpenCombine.Subscriber>:
    OpenCombine.Subscription, SignalSink, @unchecked Sendable
  where Downstream.Input: Sendable, Downstream.Failure == Never {
    // Sendable: the state is behind the lock, and the subscriber is called by
    // one thread at a time.

    internal typealias Element = Downstream.Input

    /// A subscriber on its way out of the lock.
    private struct Target: @unchecked Sendable {
      // Sendable: called by the one thread that delivers.
      let downstream: Downstream
    }

    private struct State {
      var target: Target?
      /// The number of elements asked for, less those in `ready`.
      var demand = Subscribers.Demand.none
      /// Elements that the subscriber has asked for.
      var ready = SignalBuffer<Element>(.unbounded)
      /// Elements that the subscriber has not asked for yet.
      var buffer: SignalBuffer<Element>
      var membership: SignalMembership<Element>?
      var isDelivering = false
      var isFinished = false

      /// Adds to the demand, and meets it from the buffer.
      mutating func ask(_ more: Subscribers.Demand) {
        demand += more
        while demand > .none, let element = buffer.popFirst() {
          demand -= 1
          _ = ready.append(element)
        }
      }

      /// Takes the next step, or notes that no thread delivers any more.
      mutating func next() -> Step {
        if let target {
          if let element = ready.popFirst() { return .give(element, target) }
          if isFinished && buffer.isEmpty {
            self.target = nil
            return .complete(target)
          }
        }
        isDelivering = false
        return .none
      }
    }

    /// The next step of the thread that delivers.
    private enum Step {
      case none
      case give(Element, Target)
      case complete(Target)
    }

    private let state: Lock<State>

    internal init(_ downstream: Downstream, _ overflow: DynamicProxy.Overflow) {
      state = Lock(
        State(target: Target(downstream: downstream), buffer: SignalBuffer(overflow.withoutWaiting))
      )
    }

    /// Begins to get elements, unless it has been cancelled.
    internal func begin(_ source: SignalSource<Element>) {
      let isCancelled = state.withLock { $0.target == nil }
      if isCancelled { return }
      guard let membership = source.join(self) else { return }
      let isOver = state.withLock { state in
        if state.target == nil || state.isFinished { return true }
        state.membership = membership
        return false
      }
      if isOver { membership.end() }
    }

    // MARK: From the proxy

    internal func receive(_ element: Element) {
      let dropped = state.withLock { state -> Element? in
        if state.target == nil || state.isFinished { return nil }
        if state.demand == .none { return state.buffer.append(element) }
        state.demand -= 1
        return state.ready.append(element)
      }
      withExtendedLifetime(dropped) {}
      deliver()
    }

    internal func finish() {
      // The membership ends outside of the lock, since its end may run other code.
      let membership = state.withLock { state in
        defer { state.membership = nil }
        state.isFinished = true
        return state.membership
      }
      withExtendedLifetime(membership) {}
      deliver()
    }

    // MARK: From the subscriber

    internal func request(_ demand: Subscribers.Demand) {
      state.withLock { $0.ask(demand) }
      deliver()
    }

    internal func cancel() {
      let (membership, rest) = state.withLock { state in
        defer { (state.membership, state.target) = (nil, nil) }
        return (
          state.membership, (state.ready.removeAll(), state.buffer.removeAll(), state.target)
        )
      }
      membership?.end()
      withExtendedLifetime(rest) {}
    }

    // MARK: Delivering

    private func deliver() {
      let begins = state.withLock { state in
        defer { state.isDelivering = true }
        return !state.isDelivering
      }
      if !begins { return }
      while true {
        switch state.withLock({ $0.next() }) {
        case .none: return
        case .complete(let target): target.downstream.receive(completion: .finished)
        case .give(let element, let target):
          let more = target.downstream.receive(element)
          state.withLock { $0.ask(more) }
        }
      }
    }
  }

  extension DynamicProxy.Overflow {
    /// The rule for a buffer that no thread waits for.
    fileprivate var withoutWaiting: DynamicProxy.Overflow {
      if case .block = self { .unbounded } else { self }
    }
  }
#endif

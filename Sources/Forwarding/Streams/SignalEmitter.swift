// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Gives elements to the observers of a signal.
///
/// A closure of `DynamicProxy.signal(for:of:buffering:_:)` gets it before the
/// method's arguments, and may call it any number of times, also later and on
/// other threads. When the signal has ended, or has no observer, nothing
/// happens.
///
/// It keeps neither the proxy nor the signal's registration alive.
public final class SignalEmitter<Element: Sendable>: Sendable {
  private let state = Lock<[any SignalSink<Element>]>([])

  internal init() {}

  /// Gives an element to each observer of the moment, in the order in which
  /// they came. It does not wait for them.
  ///
  /// - Complexity: O(*n*) in the number of observers.
  public func callAsFunction(_ element: Element) {
    let sinks = state.withLock { $0 }
    for sink in sinks { sink.receive(element) }
  }

  /// Takes a sink in.
  internal func add(_ sink: any SignalSink<Element>) {
    state.withLock { $0.append(sink) }
  }

  /// Takes a sink out, which the caller keeps alive. Gives whether it was the
  /// last.
  internal func remove(_ sink: any SignalSink<Element>) -> Bool {
    state.withLock { sinks in
      guard let index = sinks.firstIndex(where: { $0 === sink }) else { return false }
      sinks.remove(at: index)
      return sinks.isEmpty
    }
  }

  /// Ends the signal for all who observe it.
  internal func finish() {
    let sinks = state.withLock { sinks in
      defer { sinks = [] }
      return sinks
    }
    for sink in sinks { sink.finish() }
  }
}

extension SignalEmitter where Element == Void {
  /// Tells each observer.
  public func callAsFunction() { self(()) }
}

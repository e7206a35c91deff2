// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Gives elements to the iterators and subscribers of a signal.
///
/// A closure of `DynamicProxy.signal(for:of:at:buffering:_:)` gets the emitter
/// before the method's arguments, and may call it any number of times, also later
/// and on other threads. A call has no effect when the signal has ended or is not
/// observed.
///
/// An emitter keeps neither the proxy nor the signal's subscription alive.
public final class SignalEmitter<Element: Sendable>: Sendable {
  private let state = Lock<[any SignalSink<Element>]>([])

  internal init() {}

  /// Gives an element to each iterator and subscriber, in the order in which they
  /// joined. It does not wait for them.
  ///
  /// - Complexity: O(*n*) in their number.
  public func callAsFunction(_ element: Element) {
    let sinks = state.withLock { $0 }
    for sink in sinks { sink.receive(element) }
  }

  /// Adds a sink.
  internal func add(_ sink: any SignalSink<Element>) {
    state.withLock { $0.append(sink) }
  }

  /// Removes a sink, which the caller keeps alive. Returns whether it was the
  /// last one.
  internal func remove(_ sink: any SignalSink<Element>) -> Bool {
    state.withLock { sinks in
      guard let index = sinks.firstIndex(where: { $0 === sink }) else { return false }
      sinks.remove(at: index)
      return sinks.isEmpty
    }
  }

  /// Finishes all sinks.
  internal func finish() {
    let sinks = state.withLock { sinks in
      defer { sinks = [] }
      return sinks
    }
    for sink in sinks { sink.finish() }
  }
}

extension SignalEmitter where Element == Void {
  /// Gives each iterator and subscriber an element.
  public func callAsFunction() { self(()) }
}

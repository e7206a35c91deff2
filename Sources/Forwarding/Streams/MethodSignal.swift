// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The invocations of one method of a proxy, as an asynchronous sequence.
///
/// ```swift
/// let rows = try proxy.signal(for: "select:section:") { (row: Int64, section: Int64) in
///   IndexPath(row, section)
/// }
/// for await path in rows { … }
/// ```
///
/// - The signal subscribes when it is made, and buffers for its first iterator. From then
///   on it is subscribed while it has an iterator: an iterator ends when it dies, or its
///   task is cancelled while it waits. All iterators share one subscription; the closure
///   runs once for each invocation.
/// - Each iterator has a buffer of its own, and gets the elements in order. The first
///   iterator gets all that were emitted since the signal was made, a later one those
///   that are emitted after it was made.
/// - The elements end when the proxy dies, or `unsubscribeAll()` ends the
///   subscription. Elements in the buffer can still be taken then. An iterator
///   that is made after `unsubscribeAll()` begins anew, with a new subscription.
/// - Cancelling the task that waits ends its iterator at once, and drops its
///   buffer.
/// - An invocation does not wait for iterators, unless their overflow rule is `.block`.
///
/// The signal does not keep the proxy alive. An iterator that is made after the
/// proxy's death has no elements.
public struct MethodSignal<Element: Sendable>: AsyncSequence, Sendable {
  package let source: SignalSource<Element>

  /// The overflow rule of each iterator's buffer.
  package let overflow: DynamicProxy.Overflow

  /// The observer that the first iterator takes over; nil for a signal of which no
  /// iterators are made.
  private let early: EarlyObserver?

  /// Makes a signal, and subscribes.
  ///
  /// - Throws: `ForwardingError` if the proxy refuses the subscription.
  internal init(
    _ source: SignalSource<Element>, _ overflow: DynamicProxy.Overflow
  ) throws(ForwardingError) {
    try overflow.check()
    let channel = SignalChannel<Element>(overflow, source.lock)
    let observer = Observer(channel: channel, membership: try source.subscribe(channel))
    self.init(source, overflow, EarlyObserver(observer))
  }

  private init(
    _ source: SignalSource<Element>, _ overflow: DynamicProxy.Overflow, _ early: EarlyObserver?
  ) {
    self.source = source
    self.overflow = overflow
    self.early = early
  }

  /// The same signal without a buffer for its first iterator.
  package var withoutBuffer: MethodSignal { MethodSignal(source, overflow, nil) }

  /// Makes an iterator. The first one gets the elements since the signal was made, a
  /// later one the elements from now on.
  ///
  /// If the proxy cannot take the subscription, as without memory, its error
  /// handler is told, and the iterator has no elements.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(early?.take() ?? Observer(source, overflow))
  }

  /// A buffer, and its membership in the signal.
  fileprivate struct Observer: Sendable {
    let channel: SignalChannel<Element>
    /// The observation ends with the last reference.
    let membership: SignalMembership<Element>?

    init(channel: SignalChannel<Element>, membership: SignalMembership<Element>?) {
      self.channel = channel
      self.membership = membership
    }

    init(_ source: SignalSource<Element>, _ overflow: DynamicProxy.Overflow) {
      channel = SignalChannel(overflow, source.lock)
      membership = source.join(channel)
    }
  }

  /// Holds an observer for the first iterator.
  private final class EarlyObserver: Sendable {
    private let observer: Lock<Observer?>

    init(_ observer: Observer) { self.observer = Lock(observer) }

    func take() -> Observer? {
      observer.withLock { observer in
        defer { observer = nil }
        return observer
      }
    }
  }

  /// Takes the elements that come while it lives. Copies share one buffer.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let observer: Observer

    fileprivate init(_ observer: Observer) { self.observer = observer }

    /// Waits for the next element. Nil if the proxy has died, or the task is
    /// cancelled: then the observation has ended.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> Element? {
      let (channel, membership) = (observer.channel, observer.membership)
      if !Task.isCancelled, let element = channel.poll() { return element }
      return await withTaskCancellationHandler {
        await channel.next()
      } onCancel: {
        channel.cancel()
        membership?.end()
      }
    }
  }
}

@available(*, unavailable)
extension MethodSignal.AsyncIterator: Sendable {}

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
/// - The signal subscribes when its first iterator is made, or when
///   ``subscribed()`` is called, and unsubscribes when the last iterator has
///   died or its task is cancelled while it waits. Otherwise it does not respond
///   to the method, and costs nothing. All iterators share one subscription; the
///   closure runs once for each invocation.
/// - Each iterator has a buffer of its own, and gets the elements in order that
///   are emitted after it was made.
/// - The elements end when the proxy dies, or `unsubscribeAll()` ends the
///   subscription. Elements in the buffer can still be taken then. An iterator
///   that is made after `unsubscribeAll()` begins anew, with a new subscription.
/// - Cancelling the task that waits ends its iterator at once, and drops its
///   buffer.
/// - An invocation does not wait for iterators.
///
/// The signal does not keep the proxy alive. An iterator that is made after the
/// proxy's death has no elements.
public struct MethodSignal<Element: Sendable>: AsyncSequence, Sendable {
  package let source: SignalSource<Element>

  /// What each iterator buffers.
  package let buffering: SignalBuffering

  /// What the first iterator takes over, for a signal that has subscribed.
  private let early: EarlyObserver?

  internal init(_ source: SignalSource<Element>, _ buffering: SignalBuffering) {
    self.init(source, buffering, nil)
  }

  private init(
    _ source: SignalSource<Element>, _ buffering: SignalBuffering, _ early: EarlyObserver?
  ) {
    self.source = source
    self.buffering = buffering
    self.early = early
  }

  /// The same signal with another buffer. Its iterators share the subscription
  /// with this signal's.
  public func buffered(_ buffering: SignalBuffering) -> MethodSignal {
    MethodSignal(source, buffering)
  }

  /// Subscribes now. The signal that is returned buffers the elements from now
  /// on, for its first iterator.
  ///
  /// ```swift
  /// let rows = try proxy.signal(for: "select:section:") { … }.subscribed()
  /// try proxy.send("select:section:", 1, 0)
  /// for await row in rows { … }       // gets the element
  /// ```
  ///
  /// It stays subscribed until it and its copies have died, if there is no
  /// iterator. Later iterators get what is emitted after they were made.
  public func subscribed() -> MethodSignal {
    MethodSignal(source, buffering, EarlyObserver(Observer(source, buffering)))
  }

  /// Makes an iterator, which gets the elements from now on; the first one of a
  /// signal that has ``subscribed()``, from then on.
  ///
  /// If the proxy cannot take the subscription, as without memory, its error
  /// handler is told, and the iterator has no elements.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(early?.take() ?? Observer(source, buffering))
  }

  /// A buffer, and its membership in the signal.
  fileprivate struct Observer: Sendable {
    let channel: SignalChannel<Element>
    /// The observation ends with the last reference.
    let membership: SignalMembership<Element>?

    init(_ source: SignalSource<Element>, _ buffering: SignalBuffering) {
      channel = SignalChannel(buffering, source.lock)
      membership = source.join(channel)
    }
  }

  /// Has an observer for the first iterator.
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

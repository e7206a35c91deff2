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
/// - The method is observed from the first iterator that is made until the last
///   one dies, or its task is cancelled while it waits. Until then, and after
///   that, the signal does not respond to the method, and costs nothing. All
///   iterators share one subscription, which stands behind the subscribers of
///   the moment at which the first was made; the closure runs once for each
///   invocation.
/// - Each iterator has a buffer of its own, gets the elements in order, and
///   none that came before it was made.
/// - The elements end when the proxy dies, or the subscription is ended by
///   `unsubscribeAll()`. What is buffered then can still be taken.
/// - Cancelling the task that waits ends its iterator at once, and drops its
///   buffer.
/// - An invocation waits for no observer.
///
/// It does not keep the proxy alive. An iterator that is made after the
/// proxy's death has no elements.
public struct MethodSignal<Element: Sendable>: AsyncSequence, Sendable {
  /// It does not fail.
  public typealias Failure = Never

  package let source: SignalSource<Element>

  /// What each iterator buffers.
  public let buffering: SignalBuffering

  internal init(_ source: SignalSource<Element>, _ buffering: SignalBuffering) {
    self.source = source
    self.buffering = buffering
  }

  /// The same signal with another buffer: its iterators share the subscription
  /// with this one's.
  public func buffered(_ buffering: SignalBuffering) -> MethodSignal {
    MethodSignal(source, buffering)
  }

  /// Begins to observe.
  ///
  /// If the proxy cannot take the subscription, as without memory, its error
  /// handler is told, and the iterator has no elements.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(source, buffering)
  }

  /// Takes the elements that come while it is there. Copies share one buffer.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let channel: SignalChannel<Element>
    /// Its end is the observation's.
    private let membership: SignalMembership<Element>?

    fileprivate init(_ source: SignalSource<Element>, _ buffering: SignalBuffering) {
      channel = SignalChannel(buffering)
      membership = source.join(channel)
    }

    /// Waits for the next element. Nil if the proxy has died, or the task is
    /// cancelled: then the observation has ended.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> Element? {
      let (channel, membership) = (channel, membership)
      return await withTaskCancellationHandler {
        await channel.next()
      } onCancel: {
        channel.cancel()
        membership?.end()
      }
    }

    /// Waits for the next element, as `next(isolation:)`.
    public mutating func next() async -> Element? {
      await next(isolation: nil)
    }
  }
}

@available(*, unavailable)
extension MethodSignal.AsyncIterator: Sendable {}

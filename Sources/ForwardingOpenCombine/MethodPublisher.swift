// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if OpenCombine
  public import Forwarding
  public import OpenCombine

  /// The invocations of one method of a proxy, as a publisher.
  ///
  /// ```swift
  /// let cancellable = try proxy.publisher(for: "select:section:") { (row: Int64) in row }
  ///   .filter { $0 > 0 }
  ///   .sink { … }
  /// ```
  ///
  /// - All subscribers, and all iterators of the ``signal``, share one
  ///   subscription to the proxy, which is there while one of them is.
  /// - A subscriber gets no more than it has asked for. What comes beyond its
  ///   demand is buffered for it by the signal's policy: by default all.
  /// - Each subscriber gets the elements one after another, and none while it
  ///   still takes one, on the thread of the invocation, or of the request that
  ///   they have waited for. While it takes one, another thread's invocation
  ///   leaves its element to that one's thread.
  /// - It completes when the proxy dies, after what is buffered.
  ///
  /// It does not keep the proxy alive.
  public struct MethodPublisher<Element: Sendable>: Publisher, Sendable {
    /// The type of the published elements.
    public typealias Output = Element
    /// It does not fail.
    public typealias Failure = Never

    /// The same elements as an asynchronous sequence.
    public let signal: MethodSignal<Element>

    /// Publishes the elements of a signal. What is beyond a subscriber's demand
    /// is buffered by the signal's policy.
    public init(_ signal: MethodSignal<Element>) {
      // Without the buffer of a first iterator, which may never be made.
      self.signal = signal.withoutBuffer
    }

    /// Subscribes, from now on.
    public func receive<Downstream: OpenCombine.Subscriber>(subscriber: Downstream)
    where Downstream.Input == Element, Downstream.Failure == Never {
      let subscription = MethodSubscription(subscriber, signal.overflow)
      subscriber.receive(subscription: subscription)
      subscription.begin(signal.source)
    }
  }

  // MARK: - Proxies

  extension DynamicProxy {
    /// Makes a publisher of the invocations of a method without a result; see
    /// `signal(for:at:overflow:_:)`.
    ///
    /// - Parameters:
    ///   - key: the method.
    ///   - overflow: what is kept for a subscriber beyond its demand. With `.block`
    ///     all is kept, since a demand may never come.
    ///   - map: makes an element of the arguments, all or the first few, once
    ///     for all subscribers. It is kept as long as the publisher, its copies
    ///     and its subscriptions are.
    /// - Throws: `ForwardingError`, as `signal(for:at:overflow:_:)`.
    @inlinable
    public func publisher<each Argument, Element: Sendable>(
      for key: Method<Void, repeat each Argument>, overflow: DynamicProxy.Overflow = .unbounded,
      _ map: @escaping @Sendable (repeat each Argument) -> Element
    ) throws(ForwardingError) -> MethodPublisher<Element> {
      MethodPublisher(try signal(for: key, overflow: overflow, map))
    }

    /// Makes a publisher of the invocations of a method whose result the closure
    /// gives; see `signal(for:of:at:overflow:_:)`.
    ///
    /// - Parameters:
    ///   - key: the method.
    ///   - element: the type of the elements.
    ///   - overflow: what is kept for a subscriber beyond its demand. With `.block`
    ///     all is kept, since a demand may never come.
    ///   - body: gets the emitter and the arguments, all or the first few; gives
    ///     the method's result. It is kept as long as the publisher, its copies
    ///     and its subscriptions are.
    /// - Throws: `ForwardingError`, as `signal(for:of:at:overflow:_:)`.
    @inlinable
    public func publisher<Result, each Argument, Element: Sendable>(
      for key: Method<Result, repeat each Argument>, of element: Element.Type,
      overflow: DynamicProxy.Overflow = .unbounded,
      _ body: @escaping @Sendable (SignalEmitter<Element>, repeat each Argument) -> Result
    ) throws(ForwardingError) -> MethodPublisher<Element> {
      MethodPublisher(try signal(for: key, of: element, overflow: overflow, body))
    }
  }
#endif

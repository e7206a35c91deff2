// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Keeps a subscription, a feed, an interception or a block, or a group of these,
  /// in effect until the token is cancelled or deallocated. Store the token.
  ///
  /// ```swift
  /// let token = try proxy.before("move:by:") { (joint: Int32) in log(joint) }
  /// token.cancel()
  /// try proxy.subscribe { $0.on(progress) { print($0) } }.during { importer.run() }
  /// ```
  public final class Token: Sendable {
    private enum Subject: Sendable {
      case none
      case subscription(Subscription)
      case interception(Interception)
      case block(Subscription)
      case several([Token])
    }

    private let subject: Lock<Subject>

    internal init() { subject = Lock(.none) }

    internal init(_ interception: Interception) { subject = Lock(.interception(interception)) }

    /// Owns a block of the subscription, which has begun.
    internal init(blocking subscription: Subscription) { subject = Lock(.block(subscription)) }

    /// Creates a token that ends a subscription when it is cancelled or
    /// deinitialised.
    ///
    /// ```swift
    /// let token = DynamicProxy.Token(try proxy.subscribe(view))
    /// ```
    public init(_ subscription: Subscription) { subject = Lock(.subscription(subscription)) }

    /// Creates a token of a group, which keeps other tokens and cancels them all.
    ///
    /// ```swift
    /// let group = [try proxy.subscribe(chart), try proxy.subscribe(log)]
    /// try DynamicProxy.Token(group.map { try $0.block() }).during { model.reload() }
    /// let session = DynamicProxy.Token(group.map { DynamicProxy.Token($0) })
    /// ```
    ///
    /// They are cancelled in their order. The token is live while one of them is.
    public init(_ tokens: [Token]) { subject = Lock(.several(tokens)) }

    internal func adopt(_ subscription: Subscription) {
      subject.withLock { $0 = .subscription(subscription) }
    }

    /// The subscription that ends with the token; nil for an interception, a block or
    /// a group.
    public var subscription: Subscription? {
      switch subject.withLock({ $0 }) {
      case .subscription(let subscription): subscription
      case .none, .interception, .block, .several: nil
      }
    }

    /// Whether the token is still in effect: the proxy lives, and what the token
    /// owns has not ended. A feed or an `instead` interception also ends when another
    /// one replaces it. A block of a subscription also ends with the subscription.
    public var isLive: Bool {
      switch subject.withLock({ $0 }) {
      case .none: false
      case .subscription(let subscription): subscription.isLive
      case .interception(let interception): interception.isLive
      case .block(let subscription): subscription.isLive
      case .several(let tokens): tokens.contains(where: \.isLive)
      }
    }

    /// Ends the subscription, see ``Subscription/cancel()``, the interception, the
    /// block, or all that a group has.
    ///
    /// An invocation under way does not call the closure any more, unless another
    /// thread is about to at this moment. A call of the closure that is under way
    /// goes on.
    ///
    /// - Returns: whether this call ended it.
    /// - Complexity: amortised O(1); for an interception O(*k*) in the number of
    ///   interceptions of the method.
    @discardableResult
    public func cancel() -> Bool {
      let subject = subject.withLock { subject in
        let current = subject
        // A block is undone once.
        if case .block = current { subject = .none }
        return current
      }
      return switch subject {
      case .none: false
      case .subscription(let subscription): subscription.cancel()
      case .interception(let interception): interception.cancel()
      case .block(let subscription): subscription.unblock()
      case .several(let tokens): tokens.reduce(false) { $1.cancel() || $0 }
      }
    }

    deinit {
      switch subject.withLock({ $0 }) {
      case .subscription(let subscription): subscription.end()
      case .none, .interception, .block, .several: cancel()
      }
    }
  }
}

/// Stands for closures with a token, where others have an object. The subscription
/// holds it strongly, since the end of the token ends the subscription, too. So a
/// delivery counts no references.
internal final class TokenSubscriber: Sendable {
  internal init() {}

  /// Returns the object for a user of the proxy, who does not see token subscribers.
  internal static func hidden(_ object: AnyObject?) -> AnyObject? {
    object is TokenSubscriber ? nil : object
  }
}

// MARK: - Scopes

extension DynamicProxy.Token {
  /// Calls a closure, then cancels the token, also if the closure throws.
  ///
  /// ```swift
  /// try proxy.block().during { model.reload() }
  /// try subscription.block().during { slider.value = model.value }
  /// ```
  ///
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  public func during<Output: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Output
  ) throws(Failure) -> Output {
    defer { cancel() }
    return try body()
  }

  /// Calls an asynchronous closure, then cancels the token, also if the closure
  /// throws. The closure runs on the caller's actor. Cancelling the task does not
  /// cancel the token before the closure returns.
  ///
  /// ```swift
  /// try await proxy.block(Feed.tick.selector).during { try await model.reload() }
  /// ```
  ///
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  nonisolated(nonsending) public func during<Output: ~Copyable, Failure: Error>(
    _ body: nonisolated(nonsending) () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    defer { cancel() }
    return try await body()
  }
}

/// The interception of one method of one proxy, or of all its methods.
internal struct Interception: Sendable {
  private let reference: ProxyReference
  private let method: Int?
  private let liveness: Interceptor.Liveness

  internal init(_ reference: ProxyReference, method: Int?, _ interceptor: Interceptor) {
    self.reference = reference
    self.method = method
    liveness = interceptor.liveness
  }

  fileprivate var isLive: Bool { liveness.isLive && reference.proxy != nil }

  fileprivate func cancel() -> Bool {
    guard liveness.end(), let proxy = reference.proxy else { return false }
    proxy.forgetEndedInterceptors(ofMethod: method)
    return true
  }
}

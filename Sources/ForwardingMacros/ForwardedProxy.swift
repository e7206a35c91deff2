// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import Forwarding

  /// A typed proxy, which the macro `@Forwarded` makes of a protocol.
  ///
  /// ```swift
  /// @Forwarded
  /// protocol DownloadDelegate: AnyObject {
  ///   func download(_ id: Int, didReceive bytes: Int64, of total: Int64?)
  ///   @Optional func downloadDidFinish(_ id: Int)
  /// }
  ///
  /// let delegates = DownloadDelegateProxy()      // itself a DownloadDelegate
  /// delegates.subscribe(listener)                // any object that conforms
  /// delegates.download(1, didReceive: 512, of: nil)
  /// delegates.responds(to: .downloadDidFinish)   // whether the listener has it
  /// ```
  ///
  /// A proxy is `Sendable` if its protocol inherits from `Sendable`. If not, the
  /// compiler keeps it and its listeners in one isolation domain.
  public protocol ForwardedProxy: ForwardedBase, SlotProxy {
    /// `any` of the protocol.
    associatedtype Listener
    /// The methods of the protocol, each a case.
    associatedtype Requirement: RawRepresentable<Int>, CaseIterable, Hashable, Sendable

    /// `any` of the protocol's metatype.
    @_documentation(visibility: internal)
    associatedtype Conformer
    /// The methods of the protocol, in order.
    @_documentation(visibility: internal)
    static func _methods() -> [ForwardedMethod]
    /// The protocol.
    @_documentation(visibility: internal)
    static var _protocol: ForwardedProtocol<Listener, Conformer> { get }
  }

  /// What typed proxies have in common, without the names of `ForwardedProxy`:
  /// they do not stand in the way of the types that methods name.
  @_documentation(visibility: internal)
  public protocol ForwardedBase: AnyObject {
    /// What the macro's code stands on.
    var _forwarding: ForwardedCore { get }
  }

  // MARK: - Listeners

  extension ForwardedProxy {
    /// Subscribes a listener behind all others.
    ///
    /// - Parameters:
    ///   - listener: any object that conforms to the protocol. Another typed
    ///     proxy is subscribed as `DynamicProxy.subscribe(_:at:lifetime:times:)` does
    ///     with proxies.
    ///   - lifetime: whether the proxy keeps the listener alive; by default it
    ///     does not. When the subscription is cancelled through the value that is
    ///     returned, which any thread may do, this proxy releases the listener:
    ///     with its next subscription, question or end.
    ///   - times: after how many calls, of whichever methods, the subscription
    ///     ends; nil for no limit.
    /// - Returns: the subscription, or nil if the listener was refused; the
    ///   configuration's error handler is then told why. That is for a duplicate
    ///   if the configuration refuses those, a listener that is being
    ///   deinitialised, a circle of proxies, less than one of `times`, and want
    ///   of memory.
    /// - Complexity: amortised O(1).
    @discardableResult
    public func subscribe(
      _ listener: Listener, lifetime: DynamicProxy.Lifetime = .weak, times: Int? = nil
    ) -> Subscription? {
      do throws(ForwardingError) {
        return try subscribe(listener, at: .last, lifetime: lifetime, times: times)
      } catch {
        _forwarding.proxy.configuration.onError(error)
        return nil
      }
    }

    /// Subscribes a listener at a position.
    ///
    /// - Throws: `ForwardingError` if the listener is refused, as without a
    ///   position, or if the anchor of the position is not subscribed.
    /// - Complexity: amortised O(1) at the end, else O(*n*) in the number of
    ///   subscribers.
    @discardableResult
    public func subscribe(
      _ listener: Listener, at position: DynamicProxy.Position,
      lifetime: DynamicProxy.Lifetime = .weak, times: Int? = nil
    ) throws(ForwardingError) -> Subscription {
      try _forwarding.subscribe(
        listener, Self._protocol, at: position, lifetime: lifetime, times: times)
    }

    /// Ends all subscriptions of a listener.
    ///
    /// - Returns: whether there was one.
    /// - Complexity: O(*n*) in the number of subscribers.
    @discardableResult
    public func unsubscribe(_ listener: Listener) -> Bool {
      defer { _forwarding.parking.release() }
      return _forwarding.proxy.unsubscribe(Self._protocol.subscriber(listener))
    }

    /// Ends all subscriptions, those of untyped subscribers too.
    ///
    /// - Complexity: O(*n*) in the number of subscribers.
    public func unsubscribeAll() {
      _forwarding.proxy.unsubscribeAll()
      _forwarding.parking.release()
    }

    /// Whether the listener is subscribed.
    public func contains(_ listener: Listener) -> Bool {
      _forwarding.parking.release()
      return _forwarding.proxy.contains(Self._protocol.subscriber(listener))
    }

    /// The number of live subscribers, untyped ones included.
    ///
    /// - Complexity: O(*n*).
    public var count: Int {
      _forwarding.parking.release()
      return _forwarding.proxy.count
    }
  }

  // MARK: - Asking

  extension ForwardedProxy {
    /// Whether a call of the method would reach someone. A listener that leaves
    /// an optional method out does not respond to it.
    ///
    /// - Complexity: O(*n*) in the number of subscribers.
    public func responds(to requirement: Requirement) -> Bool {
      _forwarding.responds(to: requirement.rawValue, of: Self._protocol)
    }

    /// Whether a listener responds to a method: false if the method is optional and
    /// the listener's class leaves it out. A typed proxy responds if one of its own
    /// listeners does.
    public static func responds(_ listener: Listener, to requirement: Requirement) -> Bool {
      Self._protocol.responds(listener, to: requirement.rawValue)
    }

    /// The protocol as a table: what untyped subscribers are checked against.
    public static var protocolTable: ProtocolTable { Self._protocol.table }

    /// The name that untyped callers and subscribers know a method by. One that
    /// is `async` is not in the table, and known by it to a configuration only.
    public static func selector(for requirement: Requirement) -> MethodSelector {
      Self._protocol.methods[requirement.rawValue].selector
    }
  }

  // MARK: - The untyped proxy

  extension ForwardedProxy {
    /// The proxy behind this one, for untyped subscribers, and callers in C: it
    /// has the same table, and all subscribers are in its one list.
    ///
    /// The caller promises that whatever forwards through it does so where this
    /// proxy and its listeners may be used: unlike them it is `Sendable`.
    @unsafe public var proxy: DynamicProxy { _forwarding.proxy }
  }

  extension ForwardedProxy where Self: Sendable {
    /// The proxy behind this one, for untyped subscribers, and callers in C: it
    /// has the same table, and all subscribers are in its one list.
    public var proxy: DynamicProxy { _forwarding.proxy }
  }
#endif

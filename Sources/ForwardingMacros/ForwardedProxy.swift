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
  /// try delegates.subscribe(listener)            // any object that conforms
  /// delegates.download(1, didReceive: 512, of: nil)
  /// delegates.responds(to: .downloadDidFinish)   // whether the listener has it
  /// ```
  ///
  /// A proxy is `Sendable` if its protocol inherits from `Sendable`, or is marked
  /// `@Forwarded(sendable: true)`. If not, the compiler keeps it and its listeners in one
  /// isolation domain. A proxy of a global actor, such as `@MainActor`, is `Sendable` too,
  /// but conforms on that actor only, and releases its listeners there.
  public protocol ForwardedProxy: _ForwardedDescription, SlotProxy {
    /// The existential type of the protocol, such as `any DownloadDelegate`. With
    /// `@Forwarded(sendable: true)` it is `any DownloadDelegate & Sendable`.
    associatedtype Listener
    /// An enum with a case for each method of the protocol.
    associatedtype Requirement: RawRepresentable<Int>, CaseIterable, Hashable, Sendable

    /// The listener as a value of the protocol alone.
    @_documentation(visibility: internal)
    static func _conformer(_ listener: Listener) -> _Conformer
    /// Creates a proxy with its state.
    @_documentation(visibility: internal)
    init(_forwarding: _ForwardedCore)
  }

  extension ForwardedProxy where _Conformer == Listener {
    /// The listener itself.
    @_documentation(visibility: internal)
    public static func _conformer(_ listener: Listener) -> _Conformer { listener }
  }

  // MARK: - Making a proxy

  extension ForwardedProxy {
    /// Makes a proxy without listeners.
    public init() { self.init(_forwarding: _ForwardedCore(Self._protocol)) }

    /// Makes a proxy without listeners.
    ///
    /// - Parameter configuration: options that control the proxy's behavior.
    /// - Throws: `ForwardingError` if a policy of the configuration does not fit its
    ///   method.
    public init(configuration: DynamicProxy.Configuration) throws(ForwardingError) {
      self.init(_forwarding: try _ForwardedCore(Self._protocol, configuration))
    }
  }

  // MARK: - Listeners

  extension ForwardedProxy {
    /// Subscribes a listener, by default behind all others.
    ///
    /// - Parameters:
    ///   - listener: any object that conforms to the protocol. Another typed
    ///     proxy is subscribed as `DynamicProxy.subscribe(_:at:lifetime:times:)` does
    ///     with proxies.
    ///   - position: where the listener stands among the others.
    ///   - lifetime: whether the proxy keeps the listener alive. By default it
    ///     does not. The returned subscription may be cancelled on any thread.
    ///     Unless the protocol is `Sendable`, the proxy alone releases the
    ///     listener: when it is next used for subscribing, unsubscribing or a
    ///     query, or when it is deinitialised. The proxy of a delegate slot keeps
    ///     listeners alive only while the slot has a forwarder. When the last
    ///     forwarder ends, it holds them weakly from then on. Listeners that subscribe
    ///     at the proxy while there is no forwarder are held weakly, too.
    ///   - times: the number of calls, of any methods, after which the
    ///     subscription ends; nil for no limit.
    /// - Returns: the subscription.
    /// - Throws: `ForwardingError` if the listener is refused: `duplicate` if the
    ///   configuration refuses duplicates, `dead` for a listener that is being
    ///   deinitialised, `cycle` of proxies, `invalidLimit` for `times` less than 1,
    ///   `notSubscribed` for an anchor that is not subscribed, or `outOfMemory`.
    /// - Complexity: that of the position; see `DynamicProxy.Position`.
    @discardableResult
    public func subscribe(
      _ listener: Listener, at position: DynamicProxy.Position = .last,
      lifetime: DynamicProxy.Lifetime = .weak, times: Int? = nil
    ) throws(ForwardingError) -> DynamicProxy.Subscription {
      try unsafe _subscribe(listener, at: position, lifetime: lifetime, times: times)
    }

    /// Subscribes a listener. For the class of a proxy of a global actor, whose own
    /// `subscribe` is isolated. The caller promises that the listener stays on the actor.
    @_documentation(visibility: internal)
    @unsafe public func _subscribe(
      _ listener: Listener, at position: DynamicProxy.Position, lifetime: DynamicProxy.Lifetime,
      times: Int?
    ) throws(ForwardingError) -> DynamicProxy.Subscription {
      try _forwarding.subscribe(
        Self._conformer(listener), Self._protocol, at: position, lifetime: lifetime, times: times)
    }

    /// Ends all subscriptions of a listener.
    ///
    /// - Returns: whether there was one.
    /// - Complexity: amortised O(*k*) in the number of the listener's own
    ///   subscriptions.
    @discardableResult
    public func unsubscribe(_ listener: Listener) -> Bool {
      let subscriber = Self.listed(listener)
      defer { _forwarding.kept?.releaseEnded(of: subscriber) }
      return _forwarding.proxy.unsubscribe(subscriber)
    }

    /// Ends all subscriptions, those of untyped subscribers too.
    ///
    /// - Complexity: O(*n*) in the number of subscribers.
    public func unsubscribeAll() {
      _forwarding.proxy.unsubscribeAll()
      _forwarding.kept?.releaseAllEnded()
    }

    /// Whether the listener is subscribed.
    public func contains(_ listener: Listener) -> Bool {
      _forwarding.kept?.releaseEnded()
      return _forwarding.proxy.contains(Self.listed(listener))
    }

    /// The number of live subscribers, untyped ones included.
    ///
    /// - Complexity: O(*n*).
    public var count: Int {
      _forwarding.kept?.releaseAllEnded()
      return _forwarding.proxy.count
    }
  }

  // MARK: - Queries

  extension ForwardedProxy {
    /// Whether a call of the method would get a response. A listener that
    /// leaves out an optional method does not respond to it.
    ///
    /// - Complexity: O(*n*) in the number of subscribers.
    public func responds(to requirement: Requirement) -> Bool {
      _forwarding.responds(to: requirement.rawValue, of: Self._protocol)
    }

    /// Whether a listener responds to a method: false if the method is optional and
    /// the listener's class leaves it out. A typed proxy responds if one of its own
    /// listeners does.
    public static func responds(_ listener: Listener, to requirement: Requirement) -> Bool {
      Self._protocol.responds(_conformer(listener), to: requirement.rawValue)
    }

    /// The protocol as a table. Untyped subscribers are checked against it.
    public static var protocolTable: ProtocolTable { Self._protocol.table }

    /// The selector of a method, for untyped callers and subscribers. An
    /// `async` method is not in the table, so only a configuration can use its
    /// selector.
    public static func selector(for requirement: Requirement) -> MethodSelector {
      Self._protocol.methods[requirement.rawValue].selector
    }
  }

  // MARK: - The untyped proxy

  extension ForwardedProxy {
    /// The untyped proxy that this proxy uses, for untyped subscribers and for
    /// callers in C. It has the same table and the same list of subscribers.
    ///
    /// The untyped proxy is `Sendable`, although this proxy and its listeners
    /// may not be. The caller must forward through it only where this proxy and
    /// its listeners may be used.
    @unsafe public var proxy: DynamicProxy { _forwarding.proxy }
  }

  extension ForwardedProxy where Self: Sendable {
    /// The untyped proxy that this proxy uses, for untyped subscribers and for
    /// callers in C. It has the same table and the same list of subscribers.
    public var proxy: DynamicProxy { _forwarding.proxy }
  }
#endif

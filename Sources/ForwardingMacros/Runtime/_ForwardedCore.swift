// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import Forwarding
  internal import Synchronization

  /// The state of a typed proxy: the untyped proxy, with its methods resolved. For
  /// generated code.
  @_documentation(visibility: internal)
  @safe public final class _ForwardedCore: @unchecked Sendable {
    // Sendable: immutable after `init`, or atomic. Listeners need not be Sendable: only
    // the typed proxy subscribes them, and it is Sendable only if they are, or if it
    // belongs to their actor.

    @usableFromInline internal let proxy: DynamicProxy
    internal let family: _ForwardedFamily
    /// Whether the first error ends the fan-out, for all methods.
    @usableFromInline internal let isFailFast: Bool
    private let targets: UnsafeMutableBufferPointer<MethodTarget>
    /// The listeners that a confined proxy keeps alive; nil for other proxies, whose
    /// lists of subscribers keep them.
    internal let kept: KeptListeners?
    /// Whether a listener has been kept for a number of deliveries.
    private let hasKeptLimited = Atomic(false)

    /// The untyped proxy. The caller must forward through it only where the
    /// typed proxy may be used.
    @unsafe public var untyped: DynamicProxy { proxy }

    /// Creates a proxy with the default configuration.
    public convenience init(_ family: _ForwardedFamily) {
      do throws(ForwardingError) {
        try self.init(family, DynamicProxy.Configuration())
      } catch {
        preconditionFailure("a proxy for \(family.table.name): \(error)")
      }
    }

    /// Creates a proxy.
    ///
    /// - Throws: `ForwardingError` if the configuration has a policy that does
    ///   not fit its method, or a policy for a method whose result is not in a
    ///   register.
    public init(
      _ family: _ForwardedFamily, _ configuration: DynamicProxy.Configuration
    ) throws(ForwardingError) {
      for method in family.allMethods
      where method.isResultHidden && configuration.results[method.selector] != nil {
        throw ForwardingError(
          .policyMismatch, table: family.table.name, selector: method.selector.name,
          """
          the configuration: "\(method.selector)" gives its result in memory, or has none and \
          throws; it takes no other policy
          """)
      }
      self.family = family
      let proxy = try DynamicProxy(
        adopting: family.table, configuration: configuration, isConfined: family.isConfined)
      self.proxy = proxy
      kept = family.isConfined ? KeptListeners() : nil
      isFailFast =
        configuration.listenerErrors == .failFast && configuration.listenerErrorsByMethod.isEmpty
      let methods = family.allMethods
      unsafe targets = .allocate(capacity: methods.count)
      // The untyped proxy never forwards `async` methods.
      for (index, method) in methods.enumerated() where !method.isAsync {
        unsafe targets.initializeElement(at: index, to: MethodTarget(proxy, method.selector))
      }
    }

    deinit { unsafe targets.deallocate() }

    /// The index of the first method of a protocol: the proxy's own, or one
    /// that it inherits from.
    public func base(of family: _ForwardedFamily) -> Int { self.family.base(of: family) }

    /// Subscribes a listener.
    internal func subscribe<Listener>(
      _ listener: Listener, _ family: _ForwardedProtocol<Listener>,
      at position: DynamicProxy.Position, lifetime: DynamicProxy.Lifetime, times: Int?
    ) throws(ForwardingError) -> DynamicProxy.Subscription {
      kept?.releaseEnded()
      let object = _ForwardedProtocol<Listener>.Words(listener).object
      let held = lifetimeInList(lifetime)
      guard let table = try family.directTable(for: listener) else {
        guard let other = family.subscriber(listener) as? DynamicProxy else {
          preconditionFailure("a typed proxy without an untyped one")
        }
        let subscription = try proxy.subscribe(
          other, at: position, lifetime: held, times: times)
        return keep(object, subscribedAs: other, by: subscription, lifetime, times)
      }
      // SAFETY: the typed proxy is used only where its listeners may be used,
      // or both are Sendable.
      let subscription = try unsafe proxy.unsafeSubscribe(
        object, pinning: table, at: position, lifetime: held, times: times)
      return keep(object, subscribedAs: object, by: subscription, lifetime, times)
    }

    /// How the list of subscribers holds a listener.
    internal func lifetimeInList(_ lifetime: DynamicProxy.Lifetime) -> DynamicProxy.Lifetime {
      kept == nil ? lifetime : .weak
    }

    /// Keeps a listener that has been subscribed, if that is asked for and the list does
    /// not.
    private func keep(
      _ listener: AnyObject, subscribedAs subscriber: AnyObject,
      by subscription: DynamicProxy.Subscription, _ lifetime: DynamicProxy.Lifetime, _ times: Int?
    ) -> DynamicProxy.Subscription {
      guard lifetime == .strong, let kept else { return subscription }
      if times != nil { hasKeptLimited.store(true, ordering: .relaxed) }
      return kept.keep(
        listener, of: proxy, subscribedAs: subscriber, by: subscription, isLimited: times != nil)
    }

    /// Releases the listeners that were kept for a number of deliveries and have had
    /// them. Must be called after each call.
    internal func finishCall() {
      if hasKeptLimited.load(ordering: .relaxed) { kept?.releaseUsedUp() }
    }

    /// The forward target, as `ForwardedProxy.forwardTarget`.
    internal var forwardTarget: AnyObject? {
      let target = proxy.forwardTarget
      // The untyped proxy is Sendable, though its typed proxy is not.
      return (target as? DynamicProxy)?.isConfined == true ? kept?.forwardTarget : target
    }

    /// Must be called after each change of the forward target.
    ///
    /// - Parameters:
    ///   - listener: the new target, or nil if it was removed.
    ///   - subscriber: the object that is subscribed for it.
    internal func noteForwardTarget(
      _ listener: AnyObject?, subscribedAs subscriber: AnyObject?, _ lifetime: DynamicProxy.Lifetime
    ) {
      guard let kept else { return }
      kept.forwardTarget = listener
      if let listener, let subscriber, let subscription = proxy.forwardSubscription {
        _ = keep(listener, subscribedAs: subscriber, by: subscription, lifetime, nil)
      }
      kept.releaseAllEnded()
    }
  }

  // MARK: - Forwarding

  extension _ForwardedCore {
    /// Forwards a frame. Returns false on failure; `lastError` then gives the
    /// error.
    @usableFromInline
    @unsafe internal func forward(
      _ method: Int, _ frame: UnsafeRawPointer, _ result: UnsafeMutableRawPointer?
    ) -> Bool {
      // SAFETY: generated code passes indices of methods, and frames of their
      // types. The proxy lives as long as this object, which the caller keeps
      // alive.
      let isDone = unsafe targets[method].forward(frame, result)
      // A release runs any code, which could replace the error of this thread.
      if isDone { finishCall() }
      return isDone
    }

    /// The error of a `forward` that has just failed on this thread.
    @usableFromInline
    @inline(never)
    internal func lastError(_ method: Int) -> ForwardingError {
      MethodTarget.lastError(family.allMethods[method].selector)
    }

    /// Passes an error to the error handler, since a method that does not throw
    /// cannot pass it to its caller. `noResponder` is not passed: the method
    /// has a default result.
    @usableFromInline
    @inline(never)
    internal func note(_ error: ForwardingError) {
      if error.code != .noResponder { proxy.configuration.onError(error) }
    }

    /// The error for a result whose bytes are not a value of its type. `byte` is their first.
    @usableFromInline
    @inline(never)
    internal func mismatch<Value: _ForwardedDirect>(
      _ method: Int, _: Value.Type, _ byte: UInt8
    ) -> ForwardingError {
      Value._mismatch(nil, byte).forwardingError(of: family.allMethods[method].selector)
    }

    /// The error for a result that is an object of another class.
    @usableFromInline
    @inline(never)
    internal func mismatch<Value: AnyObject>(
      _ method: Int, _ type: Value.Type, _ object: AnyObject
    ) -> ForwardingError {
      RawMismatch.object(nil, object, expected: type).forwardingError(
        of: family.allMethods[method].selector)
    }
  }

  // MARK: - Methods without a result

  extension _ForwardedCore {
    @usableFromInline
    @inline(never)
    internal func isFailFast(_ method: Int) -> Bool {
      proxy.configuration.listenerErrors(of: family.allMethods[method].selector) == .failFast
    }
  }

  extension _ForwardedCore {
    /// Forwards a method.
    @inlinable
    @unsafe public func send<Frame>(_ method: Int, _ frame: Frame) {
      let isDone = unsafe withUnsafePointer(to: frame) { unsafe forward(method, $0, nil) }
      if !isDone { proxy.configuration.onError(lastError(method)) }
    }

    /// Forwards a method that throws, until a listener throws or as the
    /// configuration's policy for errors says.
    ///
    /// - Throws: the error of a listener, `ForwardedErrors`, or
    ///   `ForwardingError`.
    @inlinable
    @unsafe public func sendThrowing<Frame>(_ method: Int, _ frame: Frame) throws {
      if !isFailFast && !isFailFast(method) {
        return try collecting(method) { thrown throws(ForwardingError) in
          try unsafe direct(method, frame, thrown, as: Bool.self)
        }
      }
      _ = try unsafe catching { thrown throws(ForwardingError) in
        try unsafe direct(method, frame, thrown, as: Bool.self)
      }
    }
  }

  // MARK: - Methods with a result

  extension _ForwardedCore {
    /// Forwards a method for its result; nil if there is none.
    @inlinable
    @unsafe public func ask<Frame, Value: _ForwardedDirect>(
      _ method: Int, _ frame: Frame, as type: Value.Type
    ) -> Value? {
      noting { () throws(ForwardingError) in try unsafe direct(method, frame, (), as: type) }
    }
    /// Forwards a method for its result; nil if there is none.
    @inlinable
    @unsafe public func ask<Frame, Value: AnyObject>(
      _ method: Int, _ frame: Frame, as type: Value.Type
    ) -> Value? {
      noting { () throws(ForwardingError) in try unsafe object(method, frame, (), as: type) }
    }
    /// Forwards a method for its result; nil if there is none.
    @inlinable
    @unsafe public func ask<Frame, Value: AnyObject>(
      _ method: Int, _ frame: Frame, as _: Value?.Type
    ) -> Value?? {
      noting { () throws(ForwardingError) in
        .some(try unsafe object(method, frame, (), as: Value.self))
      }
    }
    /// Forwards a method for its result; nil if there is none.
    @inlinable
    @unsafe public func ask<Frame, Value>(
      _ method: Int, _ frame: Frame, as type: Value.Type
    ) -> Value? {
      noting { () throws(ForwardingError) in try unsafe indirect(method, frame, (), as: type) }
    }

    /// Forwards a method that throws for its result; nil if there is none.
    @inlinable
    @unsafe public func askThrowing<Frame, Value: _ForwardedDirect>(
      _ method: Int, _ frame: Frame, as type: Value.Type
    ) throws -> Value? {
      try unsafe catching { thrown throws(ForwardingError) in
        try unsafe direct(method, frame, thrown, as: type)
      }
    }
    /// Forwards a method that throws for its result; nil if there is none.
    @inlinable
    @unsafe public func askThrowing<Frame, Value: AnyObject>(
      _ method: Int, _ frame: Frame, as type: Value.Type
    ) throws -> Value? {
      try unsafe catching { thrown throws(ForwardingError) in
        try unsafe object(method, frame, thrown, as: type)
      }
    }
    /// Forwards a method that throws for its result; nil if there is none.
    @inlinable
    @unsafe public func askThrowing<Frame, Value: AnyObject>(
      _ method: Int, _ frame: Frame, as _: Value?.Type
    ) throws -> Value?? {
      try unsafe catching { thrown throws(ForwardingError) in
        .some(try unsafe object(method, frame, thrown, as: Value.self))
      }
    }
    /// Forwards a method that throws for its result; nil if there is none.
    @inlinable
    @unsafe public func askThrowing<Frame, Value>(
      _ method: Int, _ frame: Frame, as type: Value.Type
    ) throws -> Value? {
      try unsafe catching { thrown throws(ForwardingError) in
        try unsafe indirect(method, frame, thrown, as: type)
      }
    }

    /// The result of a method that has no default.
    ///
    /// - Throws: `ForwardingError` with the code `noResponder` if there is
    ///   none.
    @inlinable
    public func answer<Value>(_ method: Int, _ value: Value?) throws(ForwardingError) -> Value {
      guard let value else { throw noResponder(method) }
      return value
    }

    @usableFromInline
    @inline(never)
    internal func noResponder(_ method: Int) -> ForwardingError {
      Self.noResponder(family.allMethods[method].selector)
    }

    private static func noResponder(_ selector: MethodSelector) -> ForwardingError {
      ForwardingError(
        .noResponder, selector: selector.name,
        "no live subscriber implements \"\(selector)\", and it has no default result")
    }
  }
#endif

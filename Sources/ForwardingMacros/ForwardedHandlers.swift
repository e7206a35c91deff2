// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import Forwarding

  extension ForwardedProxy {
    /// Handles a method by a closure until the returned token is cancelled or
    /// deinitialised. Keep the token.
    ///
    /// ```swift
    /// let token = try delegates.on(.downloadDidReceiveOf) {
    ///   (download: Download, bytes: Int64, total: Int64?) in …
    /// }
    /// ```
    ///
    /// The closure is one of the method's responders. Other required methods
    /// are not checked.
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - position: the position in the order of delivery.
    ///   - body: gets all arguments or the first few, and returns the result.
    ///     Its parameters must have exactly the protocol's types. It may throw
    ///     if the method does. It is not called if an object has another class
    ///     than its parameter: encodings do not contain classes, so this is
    ///     checked at each call, and the error handler is called. The closure
    ///     is kept until the subscription ends.
    /// - Throws: `ForwardingError` with the code `signatureMismatch` if the
    ///   types are not those of the method (the error names the parameter and
    ///   both types), and `notSubscribed` if the anchor of the position is not
    ///   subscribed.
    public func on<each Argument, Output, Failure: Error>(
      _ requirement: Requirement, at position: DynamicProxy.Position = .last,
      _ body: @escaping @Sendable (repeat each Argument) throws(Failure) -> Output
    ) throws(ForwardingError) -> DynamicProxy.Token {
      let handler = try ForwardedHandler<repeat each Argument, Output>(
        Self._protocol.methods[requirement.rawValue], mayThrow: Failure.self != Never.self)
      // SAFETY: the handler is for the method's types.
      return try unsafe _forwarding.proxy.unsafeHandle(
        Self.selector(for: requirement), at: position
      ) { delivery throws(RawMismatch) in
        try unsafe handler.run(delivery, body)
      }
    }

    /// Returns a signal of the calls of a method without a result. See
    /// `DynamicProxy.signal(for:at:overflow:_:)`.
    ///
    /// ```swift
    /// let progress = try delegates.signal(for: .downloadDidReceiveOf) {
    ///   (download: Download, bytes: Int64, total: Int64?) in Progress(bytes, total)
    /// }
    /// for await step in progress { … }
    /// ```
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - position: the position in the order of delivery.
    ///   - overflow: the elements that each iterator stores while its task
    ///     does not wait for one.
    ///   - map: makes an element from all arguments or the first few. Its
    ///     parameters must have exactly the protocol's types. It is kept as
    ///     long as the signal, its copies and its iterators.
    /// - Throws: `ForwardingError` with the code `signatureMismatch` if the
    ///   types are not those of the method, or the method has a result.
    public func signal<each Argument, Element: Sendable>(
      for requirement: Requirement, at position: DynamicProxy.Position = .last,
      overflow: DynamicProxy.Overflow = .unbounded,
      _ map: @escaping @Sendable (repeat each Argument) -> Element
    ) throws(ForwardingError) -> MethodSignal<Element> {
      let handler = try ForwardedHandler<repeat each Argument, Void>(
        Self._protocol.methods[requirement.rawValue], mayThrow: false,
        hint: "; give its result with signal(for:of:)")
      // SAFETY: as above.
      return try unsafe _forwarding.proxy.unsafeSignal(
        Self.selector(for: requirement), overflow, at: position
      ) {
        (emit: SignalEmitter<Element>, delivery) throws(RawMismatch) in
        try unsafe handler.run(delivery) { (arguments: repeat each Argument) in
          emit(map(repeat each arguments))
        }
      }
    }

    /// Returns a signal of the calls of a method, whose result the closure
    /// returns. See `DynamicProxy.signal(for:of:at:overflow:_:)`.
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - element: the type of the elements.
    ///   - position: the position in the order of delivery.
    ///   - overflow: the elements that each iterator stores while its task
    ///     does not wait for one.
    ///   - body: gets the emitter and all arguments or the first few, and
    ///     returns the result. It may throw if the method does. It is kept as
    ///     long as the signal, its copies and its iterators.
    /// - Throws: `ForwardingError` with the code `signatureMismatch` if the
    ///   types are not those of the method.
    public func signal<each Argument, Element: Sendable, Output, Failure: Error>(
      for requirement: Requirement, of element: Element.Type,
      at position: DynamicProxy.Position = .last,
      overflow: DynamicProxy.Overflow = .unbounded,
      _ body:
        @escaping @Sendable (SignalEmitter<Element>, repeat each Argument) throws(Failure) -> Output
    ) throws(ForwardingError) -> MethodSignal<Element> {
      let handler = try ForwardedHandler<repeat each Argument, Output>(
        Self._protocol.methods[requirement.rawValue], mayThrow: Failure.self != Never.self)
      // SAFETY: as above.
      return try unsafe _forwarding.proxy.unsafeSignal(
        Self.selector(for: requirement), overflow, at: position
      ) {
        (emit: SignalEmitter<Element>, delivery) throws(RawMismatch) in
        try unsafe handler.run(delivery) { (arguments: repeat each Argument) throws(Failure) in
          try body(emit, repeat each arguments)
        }
      }
    }
  }

  // MARK: - The forward target

  extension ForwardedProxy {
    /// The object that gets calls which no listener handles; nil if there is
    /// none, or it has died. If it is a typed proxy of a `Sendable` protocol,
    /// this is the untyped proxy that the typed one uses.
    public var forwardTarget: AnyObject? { unsafe _forwardTarget }

    /// The forward target. For the class of a proxy of a global actor, whose own
    /// `forwardTarget` is isolated. The caller promises to use it on the actor.
    @_documentation(visibility: internal)
    @unsafe public var _forwardTarget: AnyObject? { _forwarding.forwardTarget }

    /// Sets the object that gets calls which no listener handles. Replaces an
    /// earlier one. See `DynamicProxy.setForwardTarget(_:table:for:lifetime:)`.
    ///
    /// - Throws: `ForwardingError` with the code `cycle` if it is a proxy that
    ///   forwards to this one; `dead` if it is being deinitialised.
    public func setForwardTarget(
      _ listener: Listener, for scope: DynamicProxy.ForwardScope = .unhandled,
      lifetime: DynamicProxy.Lifetime = .weak
    ) throws(ForwardingError) {
      try unsafe _setForwardTarget(listener, for: scope, lifetime: lifetime)
    }

    /// Sets the forward target. For the class of a proxy of a global actor, whose own
    /// `setForwardTarget` is isolated. The caller promises that the listener stays on the
    /// actor.
    @_documentation(visibility: internal)
    @unsafe public func _setForwardTarget(
      _ listener: Listener, for scope: DynamicProxy.ForwardScope, lifetime: DynamicProxy.Lifetime
    ) throws(ForwardingError) {
      let subscriber = Self.listed(listener)
      let held = _forwarding.lifetimeInList(lifetime)
      if let other = subscriber as? DynamicProxy {
        try _forwarding.proxy.setForwardTarget(other, for: scope, lifetime: held)
      } else {
        guard let table = try Self._protocol.directTable(for: Self._conformer(listener)) else {
          preconditionFailure("a typed proxy without an untyped one")
        }
        // SAFETY: the typed proxy is used only where its listeners may be used,
        // or both are Sendable.
        try unsafe _forwarding.proxy.unsafeSetForwardTarget(
          subscriber, table: table, for: scope, lifetime: held)
      }
      _forwarding.noteForwardTarget(
        Self.object(of: listener), subscribedAs: subscriber, lifetime)
    }

    /// Removes the object that gets calls which no listener handles.
    public func removeForwardTarget() {
      _forwarding.proxy.removeForwardTarget()
      _forwarding.noteForwardTarget(nil, subscribedAs: nil, .weak)
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import Forwarding

  extension ForwardedProxy {
    /// Handles a method by a closure, until the token is cancelled or dies. Keep
    /// the token.
    ///
    /// ```swift
    /// let token = try delegates.on(.downloadDidReceiveOf) {
    ///   (download: Download, bytes: Int64, total: Int64?) in …
    /// }
    /// ```
    ///
    /// The closure is one of the method's responders, and need not handle
    /// others that are required.
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - position: its place in the order of delivery.
    ///   - body: gets the arguments, all or the first few, of exactly the
    ///     protocol's types; gives the result. It may throw if the method does.
    ///     An object of another class than its parameter's is not delivered but
    ///     reported to the error handler, as a table does not tell classes
    ///     apart. It is kept until the subscription ends.
    /// - Throws: `ForwardingError` with the code `signatureMismatch` if the
    ///   types are not the method's, which names the parameter and both types;
    ///   `notSubscribed` if the position's anchor is not there.
    public func on<each Argument, Output, Failure: Error>(
      _ requirement: Requirement, at position: DynamicProxy.Position = .last,
      _ body: @escaping @Sendable (repeat each Argument) throws(Failure) -> Output
    ) throws(ForwardingError) -> SubscriptionToken {
      let handler = try ForwardedHandler<repeat each Argument, Output>(
        Self._protocol.methods[requirement.rawValue], mayThrow: Failure.self != Never.self)
      // SAFETY: the handler is for the method's types.
      return try unsafe _forwarding.proxy.unsafeHandle(
        Self.selector(for: requirement), at: position
      ) { delivery throws(RawMismatch) in
        try unsafe handler.run(delivery, body)
      }
    }

    /// Makes a signal of the calls of a method without a result; see
    /// `DynamicProxy.signal(for:at:buffering:_:)`.
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
    ///   - buffering: what each iterator keeps while it does not wait.
    ///   - map: makes an element of the arguments, all or the first few, of
    ///     exactly the protocol's types. It is kept as long as the signal, its
    ///     copies and its iterators are.
    /// - Throws: `ForwardingError` with the code `signatureMismatch` if the
    ///   types are not the method's, or it has a result.
    public func signal<each Argument, Element: Sendable>(
      for requirement: Requirement, at position: DynamicProxy.Position = .last,
      buffering: SignalBuffering = .unbounded,
      _ map: @escaping @Sendable (repeat each Argument) -> Element
    ) throws(ForwardingError) -> MethodSignal<Element> {
      let handler = try ForwardedHandler<repeat each Argument, Void>(
        Self._protocol.methods[requirement.rawValue], mayThrow: false,
        hint: "; give its result with signal(for:of:)")
      // SAFETY: as above.
      return try unsafe _forwarding.proxy.unsafeSignal(
        Self.selector(for: requirement), buffering, at: position
      ) {
        (emit: SignalEmitter<Element>, delivery) throws(RawMismatch) in
        try unsafe handler.run(delivery) { (arguments: repeat each Argument) in
          emit(map(repeat each arguments))
        }
      }
    }

    /// Makes a signal of the calls of a method whose result the closure gives;
    /// see `DynamicProxy.signal(for:of:at:buffering:_:)`.
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - element: the type of the elements.
    ///   - position: the position in the order of delivery.
    ///   - buffering: what each iterator keeps while it does not wait.
    ///   - body: gets the emitter and the arguments, all or the first few; gives
    ///     the result. It may throw if the method does. It is kept as long as
    ///     the signal, its copies and its iterators are.
    /// - Throws: `ForwardingError` with the code `signatureMismatch` if the
    ///   types are not the method's.
    public func signal<each Argument, Element: Sendable, Output, Failure: Error>(
      for requirement: Requirement, of element: Element.Type,
      at position: DynamicProxy.Position = .last,
      buffering: SignalBuffering = .unbounded,
      _ body:
        @escaping @Sendable (SignalEmitter<Element>, repeat each Argument) throws(Failure) -> Output
    ) throws(ForwardingError) -> MethodSignal<Element> {
      let handler = try ForwardedHandler<repeat each Argument, Output>(
        Self._protocol.methods[requirement.rawValue], mayThrow: Failure.self != Never.self)
      // SAFETY: as above.
      return try unsafe _forwarding.proxy.unsafeSignal(
        Self.selector(for: requirement), buffering, at: position
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
    /// Who gets what no listener handles; nil if there is nobody, or it has died.
    /// For another typed proxy it is the untyped one behind it.
    public var forwardTarget: AnyObject? { _forwarding.proxy.forwardTarget }

    /// Sets who gets what no listener handles, in the place of an earlier one;
    /// see `DynamicProxy.setForwardTarget(_:for:lifetime:)`.
    ///
    /// - Throws: `ForwardingError` with the code `cycle` if it is a proxy that
    ///   forwards to this one; `dead` if it is being deinitialised.
    public func setForwardTarget(
      _ listener: Listener, for scope: DynamicProxy.ForwardScope = .unhandled,
      lifetime: DynamicProxy.Lifetime = .weak
    ) throws(ForwardingError) {
      let object = Self._protocol.subscriber(listener)
      if let other = object as? DynamicProxy {
        return try _forwarding.proxy.setForwardTarget(other, for: scope, lifetime: lifetime)
      }
      guard let table = Self._protocol.functionTable(for: listener) else {
        preconditionFailure("a typed proxy without an untyped one")
      }
      // SAFETY: the typed proxy stays where its listeners may be called, or is
      // Sendable as they are.
      try unsafe _forwarding.proxy.unsafeSetForwardTarget(
        object, table: table, for: scope, lifetime: lifetime)
    }

    /// Takes out who gets what no listener handles.
    public func removeForwardTarget() { _forwarding.proxy.removeForwardTarget() }
  }
#endif

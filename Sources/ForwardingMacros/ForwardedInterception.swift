// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import Forwarding

  /// Interception of a typed proxy's methods, which is that of the untyped proxy
  /// behind it; see there for the order and what a method's responders are. It is
  /// for the methods of the protocol itself, and for those that are not `async`.
  extension ForwardedProxy {
    /// Has a closure called before each call of a method.
    ///
    /// ```swift
    /// let token = try delegates.before(.downloadDidReceiveOf) {
    ///   (download: Download, bytes: Int64) in log(bytes)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - body: gets the arguments, all or the first few, of exactly the
    ///     protocol's types. It is kept until the token is cancelled or dies. An
    ///     object of another class than its parameter's is reported to the error
    ///     handler instead, and stands in nobody's way.
    /// - Throws: `ForwardingError` with the code `signatureMismatch` if the
    ///   types are not the method's, which names the parameter and both types,
    ///   or the method is `async`.
    public func before<each Argument>(
      _ requirement: Requirement, _ body: @escaping @Sendable (repeat each Argument) -> Void
    ) throws(ForwardingError) -> InterceptionToken {
      try tap(requirement, isAfter: false, body)
    }

    /// Has a closure called after each call of a method that went without an
    /// error, be it that nobody responded. Errors that the configuration wants
    /// collected or reported are none here.
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - body: as for `before`.
    /// - Throws: `ForwardingError`, as `before`.
    public func after<each Argument>(
      _ requirement: Requirement, _ body: @escaping @Sendable (repeat each Argument) -> Void
    ) throws(ForwardingError) -> InterceptionToken {
      try tap(requirement, isAfter: true, body)
    }

    /// Has a closure called instead of the listeners. There can be one for each
    /// method.
    ///
    /// ```swift
    /// let token = try delegates.instead(.downloadShouldContinueAfter) {
    ///   (download: Download, error: any Error) in false
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - replacing: whether it is to replace the one that there may be.
    ///   - body: gets the arguments, all of them, of exactly the protocol's
    ///     types; gives the result. It may throw if the method does. An object
    ///     of another class than its parameter's is an error, `deliveryFailed`.
    ///     It is kept until the token is cancelled or dies.
    /// - Throws: `ForwardingError`: `signatureMismatch`, as `before`; `duplicate`
    ///   if there is one already.
    public func instead<each Argument, Output, Failure: Error>(
      _ requirement: Requirement, replacing: Bool = false,
      _ body: @escaping @Sendable (repeat each Argument) throws(Failure) -> Output
    ) throws(ForwardingError) -> InterceptionToken {
      let handler = try ForwardedHandler<repeat each Argument, Output>(
        Self._protocol.methods[requirement.rawValue], mayBeFewer: false,
        mayThrow: Failure.self != Never.self)
      // SAFETY: the handler is for the method's types.
      return try unsafe _forwarding.proxy.unsafeInstead(
        Self.selector(for: requirement), replacing: replacing
      ) { delivery throws(RawMismatch) in
        try unsafe handler.run(delivery, body)
      }
    }

    /// Has a closure called around each call of a method: it goes on by calling
    /// `proceed`, or not.
    ///
    /// ```swift
    /// let token = try delegates.around(.downloadDidReceiveOf) { invocation, proceed in
    ///   try invocation.setArgument(Int64(0), at: 2)
    ///   try proceed()
    /// }
    /// ```
    ///
    /// If it does not proceed, a method with a result gives what it gives if
    /// nobody responds, unless the closure has set one that C has a type for.
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - body: gets the invocation, as untyped callers see it: the listener is
    ///     argument 0, and values that C has no type for are addresses. What it
    ///     throws goes to the caller if the method throws, else to the error
    ///     handler. What listeners throw goes to the caller by itself, and does
    ///     not come out of `proceed`.
    /// - Throws: `ForwardingError` with the code `signatureMismatch` if the
    ///   method is `async`.
    public func around(
      _ requirement: Requirement,
      _ body: @escaping @Sendable (_ invocation: Invocation, _ proceed: Proceed) throws -> Void
    ) throws(ForwardingError) -> InterceptionToken {
      let method = Self._protocol.methods[requirement.rawValue]
      try method.checkClosures()
      if !method.isThrowing { return try _forwarding.proxy.around(method.selector, body) }
      return try _forwarding.proxy.around(method.selector) { invocation, proceed in
        var failure: (any Error)?
        do {
          try body(invocation, proceed)
        } catch let error as ForwardingError {
          // What went wrong behind it has been reported there.
          throw error
        } catch {
          failure = error
        }
        var hasThrown = false
        if let failure {
          // SAFETY: the pointers are to the method's arguments.
          unsafe invocation.unsafeWithArgumentPointers { pointers in
            let pointers = unsafe ForwardedArguments(
              UInt(bitPattern: pointers), errorAt: method.errorIndex)
            unsafe withUnsafeMutablePointer(to: &hasThrown) { room in
              unsafe pointers.fail(failure, UInt(bitPattern: room), by: nil)
            }
          }
        }
        // Without a result, what is in the register says whether it has thrown.
        if !method.hasResult && (hasThrown || !invocation.hasResult) {
          try invocation.setResult(hasThrown)
        }
      }
    }

    private func tap<each Argument>(
      _ requirement: Requirement, isAfter: Bool,
      _ body: @escaping @Sendable (repeat each Argument) -> Void
    ) throws(ForwardingError) -> InterceptionToken {
      let method = Self._protocol.methods[requirement.rawValue]
      try ForwardedParameters<repeat each Argument>.check(method)
      let parameters = ForwardedParameters<repeat each Argument>()
      let errorIndex = isAfter ? method.errorIndex : 0
      // SAFETY: the parameters are the method's.
      return try unsafe _forwarding.proxy.unsafeTap(method.selector, isAfter: isAfter) {
        delivery throws(RawMismatch) in
        let pointers = unsafe ForwardedArguments(
          UInt(bitPattern: delivery.arguments), errorAt: errorIndex)
        if unsafe errorIndex != 0 && pointers.hasFailed { return }
        let values = try unsafe parameters.take(pointers)
        body(repeat each values)
      }
    }
  }
#endif

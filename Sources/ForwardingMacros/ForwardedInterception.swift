// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import Forwarding

  /// Interception of a typed proxy's methods. It is the interception of the
  /// untyped proxy, which documents the order of interceptors. It applies to
  /// the protocol's own methods that are not `async`.
  extension ForwardedProxy {
    /// Calls a closure before each call of a method.
    ///
    /// ```swift
    /// let token = try delegates.before(.downloadDidReceiveOf) {
    ///   (download: Download, bytes: Int64) in log(bytes)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - times: the number of calls after which the interception ends; nil for no limit.
    ///   - body: gets all arguments or the first few. Its parameters must have
    ///     exactly the protocol's types. It is kept until the token is
    ///     cancelled or deinitialised. If an object has another class than its
    ///     parameter, the error handler is called instead, and the call of the
    ///     method goes on.
    /// - Throws: `ForwardingError` with the code `signatureMismatch` if the
    ///   types are not those of the method (the error names the parameter and
    ///   both types), or if the method is `async`; `invalidLimit` if `times` is less
    ///   than 1.
    public func before<each Argument>(
      _ requirement: Requirement, times: Int? = nil,
      _ body: @escaping @Sendable (repeat each Argument) -> Void
    ) throws(ForwardingError) -> DynamicProxy.Token {
      try tap(requirement, isAfter: false, times, body)
    }

    /// Calls a closure after each call of a method that has not failed, even if
    /// no listener responded. Errors that the configuration collects or reports
    /// do not count as a failure.
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - times: as for `before`. A call that has failed counts, too.
    ///   - body: as for `before`.
    /// - Throws: `ForwardingError`, as `before`.
    public func after<each Argument>(
      _ requirement: Requirement, times: Int? = nil,
      _ body: @escaping @Sendable (repeat each Argument) -> Void
    ) throws(ForwardingError) -> DynamicProxy.Token {
      try tap(requirement, isAfter: true, times, body)
    }

    /// Calls a closure instead of the listeners. A method has at most one such
    /// closure.
    ///
    /// ```swift
    /// let token = try delegates.instead(.downloadShouldContinueAfter) {
    ///   (download: Download, error: any Error) in false
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - replacing: whether the closure may replace an earlier one.
    ///   - times: as for `before`. After that the listeners are called again.
    ///   - body: gets all arguments and returns the result. Its parameters must
    ///     have exactly the protocol's types. It may throw if the method does.
    ///     If an object has another class than its parameter, the call fails
    ///     with `typeMismatch`. The closure is kept until the token is
    ///     cancelled or deinitialised.
    /// - Throws: `ForwardingError` with the code `signatureMismatch`, as
    ///   `before`, or `duplicate` if there is an earlier closure and
    ///   `replacing` is false.
    public func instead<each Argument, Output, Failure: Error>(
      _ requirement: Requirement, replacing: Bool = false, times: Int? = nil,
      _ body: @escaping @Sendable (repeat each Argument) throws(Failure) -> Output
    ) throws(ForwardingError) -> DynamicProxy.Token {
      let handler = try ForwardedHandler<repeat each Argument, Output>(
        Self._protocol.methods[requirement.rawValue], mayBeFewer: false,
        mayThrow: Failure.self != Never.self)
      // SAFETY: the handler is for the method's types.
      return try unsafe _forwarding.proxy.unsafeInstead(
        Self.selector(for: requirement), replacing: replacing, times: times
      ) { delivery throws(RawMismatch) in
        try unsafe handler.run(delivery, body)
      }
    }

    /// Calls a closure around each call of a method. The closure makes the call
    /// by `proceed`, or omits it.
    ///
    /// ```swift
    /// let token = try delegates.around(.downloadDidReceiveOf) { invocation, proceed in
    ///   try invocation.setArgument(Int64(0), at: 2)
    ///   try proceed()
    /// }
    /// ```
    ///
    /// If the closure does not proceed, the result is the one that the closure
    /// has set, if C has a type for it. Otherwise the method returns what it
    /// returns if no listener responds.
    ///
    /// - Parameters:
    ///   - requirement: the method.
    ///   - times: as for `before`.
    ///   - body: gets the invocation in the form of untyped callers: the
    ///     listener is argument 0, and values that C has no type for are
    ///     addresses. An error that it throws goes to the caller if the method
    ///     throws, else to the error handler. Errors that listeners throw go to
    ///     the caller directly, and `proceed` does not throw them.
    /// - Throws: `ForwardingError` with the code `signatureMismatch` if the
    ///   method is `async`; `invalidLimit` if `times` is less than 1.
    public func around(
      _ requirement: Requirement, times: Int? = nil,
      _ body: @escaping @Sendable (_ invocation: Invocation, _ proceed: Proceed) throws -> Void
    ) throws(ForwardingError) -> DynamicProxy.Token {
      let method = Self._protocol.methods[requirement.rawValue]
      try method.checkClosures()
      if !method.isThrowing {
        return try _forwarding.proxy.around(method.selector, times: times, body)
      }
      return try _forwarding.proxy.around(method.selector, times: times) { invocation, proceed in
        var failure: (any Error)?
        do {
          try body(invocation, proceed)
        } catch let error as ForwardingError {
          // A failure inside of `proceed` has been reported already.
          throw error
        } catch {
          failure = error
        }
        var hasThrown = false
        if let failure {
          // SAFETY: the pointers are to the method's arguments.
          unsafe invocation.unsafeWithArgumentPointers { pointers in
            unsafe withUnsafeMutablePointer(to: &hasThrown) { room in
              let arguments = unsafe method.arguments(
                pointers, result: UnsafeMutableRawPointer(room))
              unsafe arguments.fail(failure, by: nil)
            }
          }
        }
        // If the method has no result, the register says whether it has thrown.
        if !method.hasResult && (hasThrown || !invocation.hasResult) {
          try invocation.setResult(hasThrown)
        }
      }
    }

    private func tap<each Argument>(
      _ requirement: Requirement, isAfter: Bool, _ times: Int?,
      _ body: @escaping @Sendable (repeat each Argument) -> Void
    ) throws(ForwardingError) -> DynamicProxy.Token {
      let method = Self._protocol.methods[requirement.rawValue]
      try ForwardedParameters<repeat each Argument>.check(method)
      let parameters = ForwardedParameters<repeat each Argument>()
      // SAFETY: the parameters are the method's.
      return try unsafe _forwarding.proxy.unsafeTap(
        method.selector, isAfter: isAfter, times: times
      ) { delivery throws(RawMismatch) in
        let arguments = unsafe method.arguments(of: delivery)
        if unsafe isAfter && method.isThrowing && arguments.hasFailed { return }
        let values = try unsafe parameters.take(arguments)
        body(repeat each values)
      }
    }
  }
#endif

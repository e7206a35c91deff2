// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// In which order they are called, and who sees what: <doc:Interception>.
extension DynamicProxy {
  /// Has a closure called before each invocation of a method, void or not.
  ///
  /// ```swift
  /// let token = try proxy.before("move:by:") { (joint: Int32) in log(joint) }
  /// ```
  ///
  /// - Parameters:
  ///   - selector: the method.
  ///   - body: gets the arguments, or the first few of them: it may have fewer
  ///     parameters. Pointers are valid during the call. Arguments that are no
  ///     values of its types at run time are reported to the configuration's
  ///     error handler instead.
  /// - Throws: `ForwardingError`: `unknownSelector` if no protocol declares the
  ///   method, `signatureMismatch` if the parameters are not the method's.
  public func before<each Argument>(
    _ selector: MethodSelector, _ body: @escaping @Sendable (repeat each Argument) -> Void
  ) throws(ForwardingError) -> InterceptionToken {
    try tap(selector, .before, body)
  }

  /// Has a closure called before each invocation of a method, with the
  /// invocation as an object. It is a copy: nobody sees what is changed in it.
  ///
  /// - Throws: `ForwardingError` with the code `unknownSelector`.
  public func before(
    _ selector: MethodSelector, _ body: @escaping @Sendable (Invocation) -> Void
  ) throws(ForwardingError) -> InterceptionToken {
    try intercept(selector, .before) { _ in .observer(body) }
  }

  /// Has a closure called after each invocation of a method that went without an
  /// error, be it that nobody responded.
  ///
  /// - Parameters:
  ///   - selector: the method.
  ///   - body: as for `before`.
  /// - Throws: `ForwardingError`, as `before`.
  public func after<each Argument>(
    _ selector: MethodSelector, _ body: @escaping @Sendable (repeat each Argument) -> Void
  ) throws(ForwardingError) -> InterceptionToken {
    try tap(selector, .after, body)
  }

  /// Has a closure called after each invocation of a method that went without an
  /// error, with the invocation as an object, which has the result. It is a
  /// copy: nobody sees what is changed in it. There is no result in it for
  /// `collect`, where each answer has its author.
  ///
  /// ```swift
  /// let token = try proxy.after("height:") { (invocation: Invocation) in
  ///   log(try? invocation.result(as: Double.self))
  /// }
  /// ```
  ///
  /// - Throws: `ForwardingError` with the code `unknownSelector`.
  public func after(
    _ selector: MethodSelector, _ body: @escaping @Sendable (Invocation) -> Void
  ) throws(ForwardingError) -> InterceptionToken {
    try intercept(selector, .after) { _ in .observer(body) }
  }

  /// Has a closure called instead of the subscribers. There can be one for each
  /// method. To `collect` it gives one answer, without an author.
  ///
  /// - Parameters:
  ///   - selector: the method.
  ///   - replacing: whether it is to replace the one that there may be.
  ///   - body: gets the arguments, all of them, and gives the result. Arguments
  ///     that are no values of its types at run time are an error,
  ///     `deliveryFailed`.
  /// - Throws: `ForwardingError`: `duplicate` if there is one already;
  ///   `unknownSelector`, `signatureMismatch`.
  public func instead<each Argument, Output>(
    _ selector: MethodSelector, replacing: Bool = false,
    _ body: @escaping @Sendable (repeat each Argument) -> Output
  ) throws(ForwardingError) -> InterceptionToken {
    try intercept(selector, .instead, replacing: replacing) { signature throws(ForwardingError) in
      let (coders, result) = try FunctionTable.Builder<Void>.coders(
        selector, signature, Output.self, repeat (each Argument).self)
      let called = CalledClosure(HeldOwnerlessClosure(body), takesReceiver: false, coders, result)
      return .stub(
        unsafe PackedFunction(called) { _, pointers, room throws(ForwardingError) in
          var index = coders.first
          let output = unsafe body(repeat try coders.next(each coders.coders, pointers, &index))
          unsafe result.encodeRetained(output, into: room)
        })
    }
  }

  /// Has a closure called around each invocation of a method: it goes on by
  /// calling `proceed`, or not. Before that it may change the arguments, and
  /// afterwards the result, in the invocation.
  ///
  /// ```swift
  /// let token = try proxy.around("move:by:") { invocation, proceed in
  ///   try invocation.setArgument(0.5, at: 3)
  ///   try proceed()
  /// }
  /// ```
  ///
  /// One that does not proceed leaves a method with a result to what it sets as
  /// that, or else to the method's default, without which it is an error
  /// (`noResponder`). In `collect` each answer goes to who collects, and not into
  /// the invocation; a result that is set without proceeding is one answer.
  ///
  /// - Parameters:
  ///   - selector: the method.
  ///   - body: gets the invocation, without a target, and what lets it go on.
  ///     What it throws goes to the caller, and to the configuration's error
  ///     handler unless it came from `proceed`.
  /// - Throws: `ForwardingError` with the code `unknownSelector`.
  public func around(
    _ selector: MethodSelector,
    _ body: @escaping @Sendable (_ invocation: Invocation, _ proceed: Proceed) throws -> Void
  ) throws(ForwardingError) -> InterceptionToken {
    try intercept(selector, .around) { _ in .around(body) }
  }

  private func tap<each Argument>(
    _ selector: MethodSelector, _ point: InterceptionPoint,
    _ body: @escaping @Sendable (repeat each Argument) -> Void
  ) throws(ForwardingError) -> InterceptionToken {
    let coders = try leadingCoders(selector, repeat (each Argument).self)
    let called = CalledClosure(
      HeldOwnerlessClosure(body), takesReceiver: false, coders, ValueCoder<Void>(.bitwise))
    return try intercept(selector, point) { _ in
      .tap(
        unsafe PackedFunction(called) { _, pointers, _ throws(ForwardingError) in
          var index = coders.first
          unsafe body(repeat try coders.next(each coders.coders, pointers, &index))
        })
    }
  }
}

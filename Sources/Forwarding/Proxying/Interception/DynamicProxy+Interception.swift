// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The order of the calls, and what each interceptor sees: the page ObservingCalls.
extension DynamicProxy {
  /// Calls a closure before each invocation of a method.
  ///
  /// ```swift
  /// let token = try proxy.before(Visitor.visit) { path, status, kind in log(kind) }
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - times: after how many calls the interception ends; `nil` for never.
  ///   - body: gets the arguments. Pointers are valid during the call. Arguments
  ///     that are not values of its types at run time are reported to the
  ///     configuration's error handler instead.
  /// - Returns: a token that ends the interception. Keep it.
  /// - Throws: `ForwardingError`: `unknownSelector` if no protocol declares the
  ///   method, `signatureMismatch` if it has other types than the key,
  ///   `invalidLimit` if `times` is less than 1.
  public func before<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, times: Int? = nil,
    _ body: @escaping @Sendable (repeat each Argument) -> Void
  ) throws(ForwardingError) -> Token {
    try verify(key)
    return try tap(key, .before, times, body)
  }

  /// Calls a closure before each invocation of a method, whatever its result.
  ///
  /// ```swift
  /// let token = try proxy.before("move:by:") { (joint: Int32) in log(joint) }
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method, which may have a result. A literal, and `Method(selector)`,
  ///     have the types of the closure's parameters, which may be the first few of the
  ///     method's.
  ///   - times: after how many calls the interception ends; `nil` for never.
  ///   - body: as for a key with a result.
  /// - Returns: a token that ends the interception. Keep it.
  /// - Throws: `ForwardingError`, as for a key with a result.
  public func before<each Argument>(
    _ key: Method<Void, repeat each Argument>, times: Int? = nil,
    _ body: @escaping @Sendable (repeat each Argument) -> Void
  ) throws(ForwardingError) -> Token {
    try tap(key, .before, times, body)
  }

  /// Calls a closure after each invocation of a method that had no
  /// error, also if no subscriber responded.
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - times: after how many calls the interception ends; `nil` for never.
  ///   - body: as for `before`.
  /// - Returns: a token that ends the interception. Keep it.
  /// - Throws: `ForwardingError`, as `before`.
  public func after<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, times: Int? = nil,
    _ body: @escaping @Sendable (repeat each Argument) -> Void
  ) throws(ForwardingError) -> Token {
    try verify(key)
    return try tap(key, .after, times, body)
  }

  /// Calls a closure after each invocation of a method that had no error, whatever
  /// its result.
  ///
  /// ```swift
  /// let token = try proxy.after("move:by:") { (joint: Int32) in log(joint) }
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method, which may have a result. A literal, and `Method(selector)`,
  ///     have the types of the closure's parameters, which may be the first few of the
  ///     method's.
  ///   - times: after how many calls the interception ends; `nil` for never.
  ///   - body: as for a key with a result.
  /// - Returns: a token that ends the interception. Keep it.
  /// - Throws: `ForwardingError`, as for a key with a result.
  public func after<each Argument>(
    _ key: Method<Void, repeat each Argument>, times: Int? = nil,
    _ body: @escaping @Sendable (repeat each Argument) -> Void
  ) throws(ForwardingError) -> Token {
    try tap(key, .after, times, body)
  }

  /// Calls a closure instead of the subscribers. There can be one for each
  /// method. `collect` gets one answer from it, without an author.
  ///
  /// ```swift
  /// let token = try proxy.instead("height:") { (row: Int64) -> Double in row == 0 ? 30 : 20 }
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - replacing: whether the closure replaces the one that there may be.
  ///   - times: after how many calls the interception ends; `nil` for never. After
  ///     that the subscribers are called again.
  ///   - body: gets the arguments, with a literal or `Method(selector)` perhaps only the
  ///     first few, and gives the result. If an argument is not a value of its type at run time, the
  ///     call fails with `nullPointer`, `typeMismatch` or `valueNotRepresentable`.
  /// - Returns: a token that ends the interception. Keep it.
  /// - Throws: `ForwardingError`: `duplicate` if there is one already;
  ///   `unknownSelector`, `signatureMismatch`, as `before`.
  public func instead<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, replacing: Bool = false, times: Int? = nil,
    _ body: @escaping @Sendable (repeat each Argument) -> Output
  ) throws(ForwardingError) -> Token {
    let coders = try argumentCoders(for: key)
    let result = try resultCoder(for: key)
    let called = CalledClosure(HeldOwnerlessClosure(body), takesReceiver: false, coders, result)
    return try intercept(key.selector, .instead, replacing: replacing, times: times) { _ in
      .stub(
        unsafe PackedFunction(called) { _, pointers, room throws(ForwardingError) in
          var index = coders.first
          let output = unsafe body(repeat try coders.next(each coders.coders, pointers, &index))
          unsafe result.encodeRetained(output, into: room)
        })
    }
  }

  /// Calls a closure around each invocation of a method. The closure makes the
  /// invocation by calling `proceed`, or omits it. Before that it may change the
  /// arguments, and afterwards the result, in the invocation.
  ///
  /// ```swift
  /// let token = try proxy.around("move:by:") { invocation, proceed in
  ///   try invocation.setArgument(0.5, at: 3)
  ///   try proceed()
  /// }
  /// ```
  ///
  /// If the closure does not proceed, the result is the one that it has set in the
  /// invocation, or else the method's default; without a default it is an error
  /// (`noResponder`). `collect` gets each answer directly, so the invocation has
  /// no result then; a result that is set without proceeding is one answer.
  ///
  /// - Parameters:
  ///   - selector: the method; of a key, its ``Method/selector``.
  ///   - times: after how many calls the interception ends; `nil` for never.
  ///   - body: gets the invocation, without a target, and `proceed`. An error that
  ///     it throws goes to the caller, and to the configuration's error handler
  ///     unless it came from `proceed`.
  /// - Returns: a token that ends the interception. Keep it.
  /// - Throws: `ForwardingError` with the code `unknownSelector`.
  public func around(
    _ selector: MethodSelector, times: Int? = nil,
    _ body: @escaping @Sendable (_ invocation: Invocation, _ proceed: Proceed) throws -> Void
  ) throws(ForwardingError) -> Token {
    try intercept(selector, .around, times: times) { _ in .around(body) }
  }

  private func tap<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, _ point: InterceptionPoint, _ times: Int?,
    _ body: @escaping @Sendable (repeat each Argument) -> Void
  ) throws(ForwardingError) -> Token {
    let coders = try argumentCoders(for: key)
    let called = CalledClosure(
      HeldObserver(body), takesReceiver: false, coders, ValueCoder<Void>(.bitwise))
    return try intercept(key.selector, point, times: times) { _ in
      .tap(
        unsafe PackedFunction(called) { _, pointers, _ throws(ForwardingError) in
          var index = coders.first
          unsafe body(repeat try coders.next(each coders.coders, pointers, &index))
        })
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The order of the calls, and what each interceptor sees: <doc:Interception>.
extension DynamicProxy {
  /// Calls a closure before each invocation of the method of a key.
  ///
  /// ```swift
  /// let token = try proxy.before(Visitor.visit) { path, status, kind in log(kind) }
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - body: gets the arguments. Pointers are valid during the call. Arguments
  ///     that are not values of its types at run time are reported to the
  ///     configuration's error handler instead.
  /// - Returns: a token that ends the interception. Keep it.
  /// - Throws: `ForwardingError`: `unknownSelector` if no protocol declares the
  ///   method, `signatureMismatch` if it has other types than the key.
  public func before<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>,
    _ body: @escaping @Sendable (repeat each Argument) -> Void
  ) throws(ForwardingError) -> InterceptionToken {
    try verify(key)
    return try before(key.selector, body)
  }

  /// Calls a closure after each invocation of the method of a key that had no
  /// error, also if no subscriber responded.
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - body: as for `before`.
  /// - Returns: a token that ends the interception. Keep it.
  /// - Throws: `ForwardingError`, as `before`.
  public func after<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>,
    _ body: @escaping @Sendable (repeat each Argument) -> Void
  ) throws(ForwardingError) -> InterceptionToken {
    try verify(key)
    return try after(key.selector, body)
  }

  /// Calls a closure instead of the subscribers. There can be one for each
  /// method. `collect` gets one answer from it, without an author.
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - replacing: whether the closure replaces the one that there may be.
  ///   - body: gets the arguments and gives the result. Arguments that are not
  ///     values of its types at run time are an error, `deliveryFailed`.
  /// - Returns: a token that ends the interception. Keep it.
  /// - Throws: `ForwardingError`: `duplicate` if there is one already;
  ///   `unknownSelector`, `signatureMismatch`, as `before`.
  public func instead<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, replacing: Bool = false,
    _ body: @escaping @Sendable (repeat each Argument) -> Output
  ) throws(ForwardingError) -> InterceptionToken {
    try verify(key)
    return try instead(key.selector, replacing: replacing, body)
  }

  /// Calls a closure around each invocation of the method of a key; see
  /// ``around(_:_:)-(MethodSelector,_)``.
  ///
  /// ```swift
  /// let token = try proxy.around(Robot.move) { invocation, proceed in
  ///   try invocation.setArgument(0.5, at: 2)
  ///   try proceed()
  /// }
  /// ```
  ///
  /// - Returns: a token that ends the interception. Keep it.
  /// - Throws: `ForwardingError`, as `before`.
  public func around<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>,
    _ body: @escaping @Sendable (_ invocation: Invocation, _ proceed: Proceed) throws -> Void
  ) throws(ForwardingError) -> InterceptionToken {
    try verify(key)
    return try around(key.selector, body)
  }
}

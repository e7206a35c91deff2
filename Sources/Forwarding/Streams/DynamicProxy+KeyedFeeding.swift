// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Answers the method of a key with the result of a closure, until the token is
  /// cancelled or dies. Keep the token.
  ///
  /// ```swift
  /// let token = try proxy.feed(Table.height) { row in row == 0 ? 30 : 20 }
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - replacing: whether an earlier feed of the method is ended.
  ///   - position: the position in the order of delivery. By default that of the
  ///     feed that is replaced, else the end.
  ///   - body: gets the arguments and returns the result. Pointers are valid
  ///     during the call only.
  /// - Throws: `ForwardingError`, as ``feed(_:replacing:at:_:)-(MethodSelector,_,_,_)``.
  @inlinable
  public func feed<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, replacing: Bool = false,
    at position: Position? = nil, _ body: @escaping @Sendable (repeat each Argument) -> Output
  ) throws(ForwardingError) -> SubscriptionToken {
    try verify(key)
    return try feed(key.selector, replacing: replacing, at: position, body)
  }

  /// Answers the method of a key with a property's current value, until the token
  /// is cancelled or dies. Keep the token.
  ///
  /// ```swift
  /// let token = try proxy.feed(Table.numberOfRows, from: model, \.count)
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - model: the object that has the property. It is not kept alive: the feed
  ///     ends when the model dies.
  ///   - property: the property with the result. It is read at each call, on the
  ///     caller's thread.
  ///   - replacing: whether an earlier feed of the method is ended.
  ///   - position: the position in the order of delivery.
  /// - Throws: `ForwardingError`, as ``feed(_:replacing:at:_:)-(MethodSelector,_,_,_)``.
  @inlinable
  public func feed<Model: AnyObject & Sendable, Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, from model: Model,
    _ property: any KeyPath<Model, Output> & Sendable, replacing: Bool = false,
    at position: Position? = nil
  ) throws(ForwardingError) -> SubscriptionToken {
    try verify(key)
    return try feed(key.selector, from: model, property, replacing: replacing, at: position)
  }

  /// Answers the method of a key with what a closure makes of a property's
  /// current value and the arguments, until the token is cancelled or dies. Keep
  /// the token.
  ///
  /// ```swift
  /// let token = try proxy.feed(Table.name, from: model, \.names) { names, row in names[row] }
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - model: the object that has the property. It is not kept alive: the feed
  ///     ends when the model dies.
  ///   - property: the property that is read at each call.
  ///   - replacing: whether an earlier feed of the method is ended.
  ///   - position: the position in the order of delivery.
  ///   - map: gets the property's value and the arguments, and returns the
  ///     result.
  /// - Throws: `ForwardingError`, as ``feed(_:replacing:at:_:)-(MethodSelector,_,_,_)``.
  @inlinable
  public func feed<Model: AnyObject & Sendable, Value, Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, from model: Model,
    _ property: any KeyPath<Model, Value> & Sendable, replacing: Bool = false,
    at position: Position? = nil,
    map: @escaping @Sendable (Value, repeat each Argument) -> Output
  ) throws(ForwardingError) -> SubscriptionToken {
    try verify(key)
    return try feed(
      key.selector, from: model, property, replacing: replacing, at: position, map: map)
  }
}

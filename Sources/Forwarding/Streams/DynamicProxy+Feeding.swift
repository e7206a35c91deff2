// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Gives the result of a method by a closure, until the token is cancelled or
  /// dies. Keep the token.
  ///
  /// ```swift
  /// let token = try proxy.feed("heightOfRow:") { (row: Int64) -> Double in row == 0 ? 30 : 20 }
  /// ```
  ///
  /// The closure is one of the method's responders. By the default policy it is
  /// called only if it is the first.
  ///
  /// - Parameters:
  ///   - selector: the method's name.
  ///   - replacing: whether an earlier feed of the method is ended. Otherwise
  ///     there must be none.
  ///   - position: its place in the order of delivery. Without one it is that
  ///     of the feed that it replaces, else the end.
  ///   - body: gets the arguments, all or the first few; gives the result.
  ///     Pointers are valid during the call only. It is kept until the feed
  ///     ends.
  /// - Throws: `ForwardingError`: `unknownSelector`; `signatureMismatch` if the
  ///   parameters or the result are not the method's; `duplicate` if the method
  ///   is fed already; `notSubscribed` if the position's anchor is not there.
  @inlinable
  public func feed<each Argument, Output>(
    _ selector: MethodSelector, replacing: Bool = false, at position: Position? = nil,
    _ body: @escaping @Sendable (repeat each Argument) -> Output
  ) throws(ForwardingError) -> SubscriptionToken {
    let coders = try leadingCoders(selector, repeat (each Argument).self)
    let result = try resultCoder(selector, Output.self)
    let function = unsafe PackedFunction { _, pointers, room throws(InvocationError) in
      var index = coders.first
      let output = unsafe body(repeat try coders.next(each coders.coders, pointers, &index))
      unsafe result.encodeRetained(output, into: room)
    }
    return try feed(selector, replacing, position, function, from: nil)
  }

  /// Gives a property's current value as the result of a method, until the
  /// token is cancelled or dies. Keep the token.
  ///
  /// ```swift
  /// let token = try proxy.feed("numberOfItems", from: model, \.count)
  /// ```
  ///
  /// The property is read at each call, on its thread; so it is the same with a
  /// class that is `@Observable`. For one that is bound to an actor use a
  /// closure, and `assumeIsolated`.
  ///
  /// - Parameters:
  ///   - selector: the method's name.
  ///   - model: whose property it is. It is not kept alive: when it has died,
  ///     the method is not answered by it.
  ///   - property: what gives the result.
  ///   - replacing: whether an earlier feed of the method is ended.
  ///   - position: its place in the order of delivery.
  /// - Throws: `ForwardingError`, as `feed(_:replacing:at:_:)`.
  @inlinable
  public func feed<Model: AnyObject & Sendable, Value>(
    _ selector: MethodSelector, from model: Model, _ property: any KeyPath<Model, Value> & Sendable,
    replacing: Bool = false, at position: Position? = nil
  ) throws(ForwardingError) -> SubscriptionToken {
    try feed(selector, from: model, property, replacing: replacing, at: position) { $0 }
  }

  /// Gives the result of a method by a property's current value and the
  /// arguments, until the token is cancelled or dies. Keep the token.
  ///
  /// ```swift
  /// let token = try proxy.feed("nameOfItem:", from: model, \.names) { (names, item: Int64) in
  ///   names[Int(item)]
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - selector: the method's name.
  ///   - model: whose property it is. It is not kept alive: when it has died,
  ///     the method is not answered by it.
  ///   - property: what is read at each call.
  ///   - replacing: whether an earlier feed of the method is ended.
  ///   - position: its place in the order of delivery.
  ///   - map: gets the property's value and the arguments, all or the first
  ///     few; gives the result. It is kept until the feed ends.
  /// - Throws: `ForwardingError`, as `feed(_:replacing:at:_:)`.
  @inlinable
  public func feed<Model: AnyObject & Sendable, Value, each Argument, Output>(
    _ selector: MethodSelector, from model: Model, _ property: any KeyPath<Model, Value> & Sendable,
    replacing: Bool = false, at position: Position? = nil,
    map: @escaping @Sendable (Value, repeat each Argument) -> Output
  ) throws(ForwardingError) -> SubscriptionToken {
    let coders = try leadingCoders(selector, repeat (each Argument).self)
    let result = try resultCoder(selector, Output.self)
    let function = unsafe PackedFunction { receiver, pointers, room throws(InvocationError) in
      guard let receiver = unsafe receiver else { return }
      var index = coders.first
      let values = unsafe (repeat try coders.next(each coders.coders, pointers, &index))
      // SAFETY: the receiver is the model, which is held during the call.
      let output = unsafe Unmanaged<Model>.fromOpaque(receiver)._withUnsafeGuaranteedRef {
        map($0[keyPath: property], repeat each values)
      }
      unsafe result.encodeRetained(output, into: room)
    }
    return try feed(selector, replacing, position, function, from: model)
  }
}

// MARK: - The books

extension DynamicProxy {
  /// Subscribes a feed. Without a model its receiver, and owner, is the token.
  @usableFromInline
  internal func feed(
    _ selector: MethodSelector, _ replacing: Bool, _ position: Position?,
    _ function: PackedFunction, from model: (any AnyObject & Sendable)?
  ) throws(ForwardingError) -> SubscriptionToken {
    let method = FunctionTable.Method(selector: selector) { _ in .packed(function) }
    let dispatch = try DispatchTable(
      FunctionTable(methods: [method], fault: nil), requirements, key: nil, isSingle: true)
    let earlier = try enterFeed(selector, replacing)
    let token = SubscriptionToken()
    do throws(ForwardingError) {
      let subscription = try attach(model ?? token, dispatch, at: position, replacing: earlier)
      feeds.withLock { $0[selector] = .some(subscription) }
      token.adopt(subscription)
    } catch {
      feeds.withLock { $0[selector] = earlier.map { .some($0) } }
      throw error
    }
    earlier?.cancel()
    return token
  }

  /// Enters a feed in the books. Gives the one that it is to replace.
  private func enterFeed(
    _ selector: MethodSelector, _ replacing: Bool
  ) throws(ForwardingError) -> Subscription? {
    try feeds.withLock { feeds throws(ForwardingError) in
      var earlier: Subscription?
      if let entry = feeds[selector] {
        guard let entry else {
          throw Self.isFed(selector, "is being fed by another call")
        }
        if isFeeding(entry) {
          if !replacing {
            throw Self.isFed(selector, "is fed already: end that, or say replacing: true")
          }
          earlier = entry
        }
      }
      feeds[selector] = .some(nil)
      return earlier
    }
  }

  private func isFeeding(_ subscription: Subscription) -> Bool {
    subscribers.isLive(subscription.identifier)
  }

  private func attach(
    _ owner: any AnyObject & Sendable, _ dispatch: DispatchTable, at position: Position?,
    replacing earlier: Subscription?
  ) throws(ForwardingError) -> Subscription {
    if let position { return try attach(owner, dispatch, at: position, lifetime: .weak) }
    // It may end meanwhile, and with it its place.
    if let earlier,
      let subscription = try? attach(owner, dispatch, at: .before(earlier), lifetime: .weak)
    {
      return subscription
    }
    return try attach(owner, dispatch, lifetime: .weak)
  }

  private static func isFed(_ selector: MethodSelector, _ reason: String) -> ForwardingError {
    ForwardingError(.duplicate, selector: selector.name, "\"\(selector)\" \(reason)")
  }
}

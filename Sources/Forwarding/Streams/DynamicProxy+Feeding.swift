// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Answers a method with the result of a closure, until the token is cancelled
  /// or dies. Keep the token.
  ///
  /// ```swift
  /// let token = try proxy.feed(Table.height) { row in row == 0 ? 30 : 20 }
  /// let token = try proxy.feed("heightOfRow:") { (row: Int64) -> Double in 20 }
  /// ```
  ///
  /// The closure is one of the method's responders. By the default policy it is
  /// called only if it is the first.
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - replacing: whether an earlier feed of the method is ended. If not,
  ///     the method must have no feed. If several threads replace the feed at
  ///     once, each call returns a token, and the feed of the last call stays.
  ///   - position: the position in the order of delivery. By default that of
  ///     the feed that is replaced, else the end.
  ///   - body: gets the arguments and returns the result. With a literal its
  ///     parameters may be the first few of the method's.
  ///     Pointers are valid during the call only. The closure is kept until the
  ///     feed ends.
  /// - Throws: `ForwardingError`: `unknownSelector`; `signatureMismatch` if the
  ///   parameters or the result are not the method's; `duplicate` if the method
  ///   is fed already; `notSubscribed` if the position's anchor is not there.
  @inlinable
  public func feed<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, replacing: Bool = false,
    at position: Position? = nil,
    _ body: @escaping @Sendable (repeat each Argument) -> Output
  ) throws(ForwardingError) -> Token {
    let coders = try argumentCoders(for: key)
    let result = try resultCoder(for: key)
    let function = unsafe PackedFunction { _, pointers, room throws(ForwardingError) in
      var index = coders.first
      let output = unsafe body(repeat try coders.next(each coders.coders, pointers, &index))
      unsafe result.encodeRetained(output, into: room)
    }
    return try feed(key.selector, replacing, position, function, from: nil)
  }

  /// Answers a method with a property's current value, until the token is
  /// cancelled or dies. Keep the token.
  ///
  /// ```swift
  /// let token = try proxy.feed(Table.numberOfRows, from: model, \.count)
  /// let token = try proxy.feed("numberOfItems", from: model, \.count)
  /// ```
  ///
  /// The property is read at each call, on the caller's thread, and may be that of
  /// an `@Observable` class. For a property of an actor use a closure with
  /// `assumeIsolated`.
  ///
  /// - Parameters:
  ///   - key: the method, without parameters. A literal takes the property's type
  ///     and may be a method with parameters. For a key that has some, use
  ///     `feed(_:from:_:replacing:at:map:)`.
  ///   - model: the object that has the property. It is not kept alive: the feed
  ///     ends when the model dies.
  ///   - property: the property with the result.
  ///   - replacing: whether an earlier feed of the method is ended.
  ///   - position: the position in the order of delivery.
  /// - Throws: `ForwardingError`, as `feed(_:replacing:at:_:)`.
  @inlinable
  public func feed<Model: AnyObject & Sendable, Output>(
    _ key: Method<Output>, from model: Model, _ property: any KeyPath<Model, Output> & Sendable,
    replacing: Bool = false, at position: Position? = nil
  ) throws(ForwardingError) -> Token {
    try feed(key, from: model, property, replacing: replacing, at: position) { $0 }
  }

  /// Answers a method with what a closure makes of a property's current value
  /// and the arguments, until the token is cancelled or dies. Keep the token.
  ///
  /// ```swift
  /// let token = try proxy.feed("nameOfItem:", from: model, \.names) { (names, item: Int64) in
  ///   names[Int(item)]
  /// }
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
  ///     result. It is kept until the feed ends.
  /// - Throws: `ForwardingError`, as `feed(_:replacing:at:_:)`.
  @inlinable
  public func feed<Model: AnyObject & Sendable, Value, Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, from model: Model,
    _ property: any KeyPath<Model, Value> & Sendable, replacing: Bool = false,
    at position: Position? = nil,
    map: @escaping @Sendable (Value, repeat each Argument) -> Output
  ) throws(ForwardingError) -> Token {
    let coders = try argumentCoders(for: key)
    let result = try resultCoder(for: key)
    let function = unsafe PackedFunction { receiver, pointers, room throws(ForwardingError) in
      guard let receiver = unsafe receiver else { return }
      var index = coders.first
      let values = unsafe (repeat try coders.next(each coders.coders, pointers, &index))
      // SAFETY: the receiver is the model, which is held during the call.
      let output = unsafe Unmanaged<Model>.fromOpaque(receiver)._withUnsafeGuaranteedRef {
        map($0[keyPath: property], repeat each values)
      }
      unsafe result.encodeRetained(output, into: room)
    }
    return try feed(key.selector, replacing, position, function, from: model)
  }
}

// MARK: - Which feed counts

/// The feeds of one proxy, by method.
internal final class Feeds: Sendable {
  /// The feeds of one method.
  fileprivate struct Method {
    /// The feed that counts, and the number of the call that made it.
    var current: DynamicProxy.Subscription?
    var currentCall: UInt64 = 0
    /// The feeds that `current` replaced in a change. If the change fails, they count again.
    var earlier: [DynamicProxy.Subscription] = []
    var lastCall: UInt64 = 0
    /// How many calls have begun and not ended.
    var pending = 0
  }

  fileprivate let methods = Lock<[MethodSelector: Method]>([:])

  /// One call of `feed`.
  fileprivate struct Call {
    let number: UInt64
    /// The feed that counted when the call began.
    let earlier: DynamicProxy.Subscription?
  }

  /// Begins a call. Nil if it must replace a feed and may not.
  fileprivate func begin(
    _ selector: MethodSelector, _ replacing: Bool, _ list: SubscriberList
  ) -> Call? {
    methods.withLock { methods in
      var method = methods[selector] ?? Method()
      let live = (method.earlier + [method.current].compactMap { $0 }).filter {
        list.isLive($0.identifier)
      }
      method.current = live.last { list.staysLive($0.identifier) }
      method.earlier = live.filter { $0 != method.current }
      guard replacing || method.current == nil && method.pending == 0 else { return nil }
      method.lastCall += 1
      method.pending += 1
      methods[selector] = method
      return Call(number: method.lastCall, earlier: method.current)
    }
  }

  /// The feed that counts.
  fileprivate func current(_ selector: MethodSelector) -> DynamicProxy.Subscription? {
    methods.withLock { $0[selector]?.current }
  }

  /// Ends a call that has subscribed, or has failed. Gives the subscription that
  /// does not count: the earlier one, or that of this call if a later call has
  /// ended already.
  fileprivate func end(
    _ selector: MethodSelector, _ call: Call, _ subscription: DynamicProxy.Subscription?
  ) -> DynamicProxy.Subscription? {
    methods.withLock { methods in
      guard var method = methods[selector] else { return subscription }
      defer { methods[selector] = method }
      method.pending -= 1
      guard let subscription else { return nil }
      if call.number < method.currentCall { return subscription }
      let replaced = method.current
      if let replaced { method.earlier.append(replaced) }
      (method.current, method.currentCall) = (subscription, call.number)
      return replaced
    }
  }
}

extension DynamicProxy {
  private var feeds: Feeds { core.extras.attachments.value(Feeds.self) { Feeds() } }

  /// Subscribes a feed. Without a model it lasts as long as the token.
  @usableFromInline
  internal func feed(
    _ selector: MethodSelector, _ replacing: Bool, _ position: Position?,
    _ function: PackedFunction, from model: (any AnyObject & Sendable)?
  ) throws(ForwardingError) -> Token {
    let method = FunctionTable.Method(selector: selector) { _ in .packed(function) }
    let dispatch = try DispatchTable(
      JoinedTable(FunctionTable(methods: [method], fault: nil), core.plan),
      isSingle: true)
    let feeds = feeds
    let list = subscribers
    guard let call = feeds.begin(selector, replacing, list) else {
      throw ForwardingError(
        .duplicate, selector: selector.name,
        "\"\(selector)\" is fed already: end that, or say replacing: true")
    }
    let token = Token()
    do throws(ForwardingError) {
      let subscription = try attach(
        model, dispatch, at: position, replacing: call.earlier, selector)
      token.adopt(subscription)
      feeds.end(selector, call, subscription)?.cancel()
    } catch {
      _ = feeds.end(selector, call, nil)
      throw error
    }
    return token
  }

  /// Subscribes at a position; without one before the feed that is replaced,
  /// else at the end.
  private func attach(
    _ model: (any AnyObject & Sendable)?, _ dispatch: DispatchTable, at position: Position?,
    replacing earlier: Subscription?, _ selector: MethodSelector
  ) throws(ForwardingError) -> Subscription {
    let owner = model ?? TokenSubscriber()
    let lifetime: Lifetime = model == nil ? .strong : .weak
    if let position { return try attach(owner, dispatch, at: position, lifetime: lifetime) }
    var next = earlier
    while let earlier = next {
      do throws(ForwardingError) {
        return try attach(owner, dispatch, at: .before(earlier), lifetime: lifetime)
      } catch {
        // The feed has ended, and with it its position; another call may have
        // replaced it there.
        guard error.code == .notSubscribed else { throw error }
        next = feeds.current(selector)
        if next == earlier { next = nil }
      }
    }
    return try attach(owner, dispatch, lifetime: lifetime)
  }
}

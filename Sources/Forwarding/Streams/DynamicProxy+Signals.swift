// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Makes a signal of the invocations of a method without a result.
  ///
  /// ```swift
  /// let paths = try proxy.signal(for: Visitor.entered) { path, depth in String(cString: path) }
  /// ```
  ///
  /// Each signal has its own subscription and closure, also if the method has
  /// another signal.
  ///
  /// The signal subscribes now, so what is sent before the iteration begins is not
  /// lost.
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - position: the position in the order of delivery.
  ///   - overflow: what happens to a new element when the limit of an iterator is
  ///     reached.
  ///   - map: makes an element of the arguments, on the thread of the
  ///     invocation, once for all iterators. If the key is a literal, the closure may
  ///     take only the first parameters. Pointers are valid during the call only. The
  ///     closure is kept as long as the signal, its copies and its iterators.
  /// - Throws: `ForwardingError`: `unknownSelector`; `signatureMismatch` if the
  ///   parameters are not the method's, or it has a result; `notSubscribed` if the
  ///   anchor of the position is not subscribed.
  // Inlined into the caller, where the types are known, as the closures of
  // function tables are.
  @inlinable
  public func signal<each Argument, Element: Sendable>(
    for key: Method<Void, repeat each Argument>, at position: Position = .last,
    overflow: DynamicProxy.Overflow = .unbounded,
    _ map: @escaping @Sendable (repeat each Argument) -> Element
  ) throws(ForwardingError) -> MethodSignal<Element> {
    let coders = try argumentCoders(for: key)
    try checkHasNoResult(key.selector)
    let function = unsafe PackedFunction { receiver, pointers, _ throws(ForwardingError) in
      guard let receiver = unsafe receiver else { return }
      var index = coders.first
      let element = unsafe map(repeat try coders.next(each coders.coders, pointers, &index))
      // SAFETY: the receiver is the registration that the record holds.
      unsafe Unmanaged<SignalRegistration<Element>>.fromOpaque(receiver)
        ._withUnsafeGuaranteedRef { $0.emitter(element) }
    }
    return try signal(key.selector, position, overflow, function)
  }

  /// Makes a signal of the arguments of a method without a result: tuples, or the
  /// argument itself if there is one.
  ///
  /// ```swift
  /// for await (price, symbol) in try proxy.signal(for: Feed.tick) { … }
  /// ```
  ///
  /// The compiler accepts only keys whose arguments are `Sendable`. Pointers are
  /// not: for them make elements with a closure.
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - position: the position in the order of delivery.
  ///   - overflow: what happens to a new element when the limit of an iterator is
  ///     reached.
  /// - Throws: `ForwardingError`: `unknownSelector` if no protocol declares the
  ///   method; `signatureMismatch` if it has other types than the key.
  @inlinable
  public func signal<each Argument: Sendable>(
    for key: Method<Void, repeat each Argument>, at position: Position = .last,
    overflow: DynamicProxy.Overflow = .unbounded
  ) throws(ForwardingError) -> MethodSignal<(repeat each Argument)> {
    try signal(for: key, at: position, overflow: overflow) {
      (arguments: repeat each Argument) in (repeat each arguments)
    }
  }

  /// Makes a signal of the argument of a method with one parameter and without a result.
  ///
  /// See the function of the same name for several parameters.
  // Swift treats a one-element tuple of an optional as not optional, so comparing it with
  // nil would give false.
  @inlinable
  public func signal<Argument: Sendable>(
    for key: Method<Void, Argument>, at position: Position = .last,
    overflow: DynamicProxy.Overflow = .unbounded
  ) throws(ForwardingError) -> MethodSignal<Argument> {
    try signal(for: key, at: position, overflow: overflow) { (argument: Argument) in argument }
  }

  /// Makes a signal of the invocations of a method whose result the closure
  /// returns.
  ///
  /// The signal is one of the method's responders. By the default policy it is
  /// called only if it is the first of them: then give it the position `.first`.
  ///
  /// ```swift
  /// let moves = try proxy.signal(for: "mayMoveTo:", of: Int64.self) { (emit, row: Int64) -> Bool in
  ///   emit(row)
  ///   return row < 10
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - element: the type of the elements.
  ///   - position: the position in the order of delivery.
  ///   - overflow: what happens to a new element when the limit of an iterator is
  ///     reached.
  ///   - body: gets the emitter, for any number of elements, and the arguments,
  ///     and returns the method's result. Pointers are valid during the call only.
  ///     The closure is kept as long as the signal, its copies and its iterators.
  /// - Throws: `ForwardingError`: `unknownSelector`, or `signatureMismatch` if
  ///   the parameters or the result are not the method's.
  @inlinable
  public func signal<Output, each Argument, Element: Sendable>(
    for key: Method<Output, repeat each Argument>, of element: Element.Type,
    at position: Position = .last, overflow: DynamicProxy.Overflow = .unbounded,
    _ body: @escaping @Sendable (SignalEmitter<Element>, repeat each Argument) -> Output
  ) throws(ForwardingError) -> MethodSignal<Element> {
    let coders = try argumentCoders(for: key)
    let result = try resultCoder(for: key)
    let function = unsafe PackedFunction { receiver, pointers, room throws(ForwardingError) in
      guard let receiver = unsafe receiver else { return }
      var index = coders.first
      let values = unsafe (repeat try coders.next(each coders.coders, pointers, &index))
      // SAFETY: as above.
      let output = unsafe Unmanaged<SignalRegistration<Element>>.fromOpaque(receiver)
        ._withUnsafeGuaranteedRef { body($0.emitter, repeat each values) }
      unsafe result.encodeRetained(output, into: room)
    }
    return try signal(key.selector, position, overflow, function)
  }

  @usableFromInline
  internal func signal<Element: Sendable>(
    _ selector: MethodSelector, _ position: Position, _ overflow: DynamicProxy.Overflow,
    _ function: PackedFunction
  ) throws(ForwardingError) -> MethodSignal<Element> {
    try MethodSignal(SignalSource(self, selector, position, function), overflow)
  }

  @usableFromInline
  internal func checkHasNoResult(_ selector: MethodSelector) throws(ForwardingError) {
    let signature = try method(for: selector).signature
    if signature.result.kind == .void { return }
    throw ForwardingError(
      .signatureMismatch, selector: selector.name,
      """
      "\(selector)" has a result, \(signature.result.inWords), which the closure of a signal has to \
      give: use signal(for:of:)
      """)
  }
}

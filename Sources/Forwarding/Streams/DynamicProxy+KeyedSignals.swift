// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
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
  ///   - position: the position in the order of delivery, which is looked for
  ///     when the signal subscribes.
  ///   - buffering: the elements that each iterator keeps while it does not wait.
  /// - Throws: `ForwardingError`: `unknownSelector` if no protocol declares the
  ///   method; `signatureMismatch` if it has other types than the key.
  @inlinable
  public func signal<each Argument: Sendable>(
    for key: Method<Void, repeat each Argument>, at position: Position = .last,
    buffering: SignalBuffering = .unbounded
  ) throws(ForwardingError) -> MethodSignal<(repeat each Argument)> {
    try verify(key)
    return try signal(for: key.selector, at: position, buffering: buffering) {
      (arguments: repeat each Argument) in (repeat each arguments)
    }
  }

  /// Makes a signal of the invocations of a method without a result.
  ///
  /// ```swift
  /// let paths = try proxy.signal(for: Visitor.entered) { path, depth in String(cString: path) }
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - position: the position in the order of delivery.
  ///   - buffering: the elements that each iterator keeps while it does not wait.
  ///   - map: makes an element of the arguments, on the thread of the invocation.
  ///     Pointers are valid during the call only.
  /// - Throws: `ForwardingError`: `unknownSelector` if no protocol declares the
  ///   method; `signatureMismatch` if it has other types than the key.
  @inlinable
  public func signal<each Argument, Element: Sendable>(
    for key: Method<Void, repeat each Argument>, at position: Position = .last,
    buffering: SignalBuffering = .unbounded,
    _ map: @escaping @Sendable (repeat each Argument) -> Element
  ) throws(ForwardingError) -> MethodSignal<Element> {
    try verify(key)
    return try signal(for: key.selector, at: position, buffering: buffering, map)
  }

  /// Makes a signal of the invocations of a method whose result the closure
  /// returns.
  ///
  /// The signal is one of the method's responders; see
  /// ``signal(for:of:at:buffering:_:)-(MethodSelector,_,_,_,_)``.
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - element: the type of the elements.
  ///   - position: the position in the order of delivery.
  ///   - buffering: the elements that each iterator keeps while it does not wait.
  ///   - body: gets the emitter, for any number of elements, and the arguments,
  ///     and returns the method's result. Pointers are valid during the call
  ///     only.
  /// - Throws: `ForwardingError`, as without a result.
  @inlinable
  public func signal<Output, each Argument, Element: Sendable>(
    for key: Method<Output, repeat each Argument>, of element: Element.Type,
    at position: Position = .last, buffering: SignalBuffering = .unbounded,
    _ body: @escaping @Sendable (SignalEmitter<Element>, repeat each Argument) -> Output
  ) throws(ForwardingError) -> MethodSignal<Element> {
    try verify(key)
    return try signal(for: key.selector, of: element, at: position, buffering: buffering, body)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Subscribes a closure that gets the undecoded arguments of a method, until
  /// the token is cancelled or dies.
  ///
  /// The caller promises that it reads and writes what the signature says.
  @unsafe package func unsafeHandle(
    _ selector: MethodSelector, at position: Position,
    _ body: @escaping @Sendable (RawDelivery) throws(RawMismatch) -> Void
  ) throws(ForwardingError) -> Token {
    let function = unsafe PackedFunction(selector, body)
    let method = FunctionTable.Method(selector: selector) { _ in .packed(function) }
    let dispatch = try DispatchTable(
      JoinedTable(FunctionTable(methods: [method], fault: nil), core.plan),
      isSingle: true)
    let token = Token()
    token.adopt(try attach(TokenSubscriber(), dispatch, at: position, lifetime: .strong))
    return token
  }

  /// Makes a signal of a closure that gets the undecoded arguments of a method.
  ///
  /// The caller promises that it reads and writes what the signature says.
  @unsafe package func unsafeSignal<Element: Sendable>(
    _ selector: MethodSelector, _ overflow: DynamicProxy.Overflow, at position: Position = .last,
    _ body: @escaping @Sendable (SignalEmitter<Element>, RawDelivery) throws(RawMismatch) -> Void
  ) throws(ForwardingError) -> MethodSignal<Element> {
    let function = unsafe PackedFunction { receiver, arguments, result throws(ForwardingError) in
      guard let receiver = unsafe receiver else { return }
      // SAFETY: the receiver is the registration that the record holds.
      let emitter = unsafe Unmanaged<SignalRegistration<Element>>.fromOpaque(receiver)
        ._withUnsafeGuaranteedRef { $0.emitter }
      do throws(RawMismatch) {
        try unsafe body(emitter, RawDelivery(arguments: arguments, result: result))
      } catch {
        throw error.forwardingError(of: selector)
      }
    }
    return try signal(selector, position, overflow, function)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Blocks a method, or the whole proxy, until the token is cancelled or
  /// deallocated. Keep the token.
  ///
  /// ```swift
  /// let pause = try proxy.block(Feed.tick.selector)
  /// try proxy.block().during { model.reload() }   // all methods, while the closure runs
  /// ```
  ///
  /// No subscriber, interceptor or forward target is called, whenever it has
  /// joined. The caller gets what a method without a responder gives: the default
  /// result, or what the configuration's ``Configuration/noResponder`` says. A
  /// blocked method does not respond: `responds(to:)` and the observer of
  /// capabilities report that.
  ///
  /// Each token blocks by itself: the methods are free again when the last one has
  /// ended. Invocations that come meanwhile are not delivered later. A fan-out
  /// under way goes on; an interceptor around it that has not proceeded yet is
  /// stopped when it does. Methods that no protocol declares, and `async` methods
  /// of typed proxies, are not blocked.
  ///
  /// - Parameter selector: the method; of a key, its ``Method/selector``. `nil`
  ///   blocks all methods.
  /// - Returns: a token that ends the block.
  /// - Throws: `ForwardingError` with the code `unknownSelector`.
  /// - Complexity: O(*k*) in the number of the method's interceptors. For all
  ///   methods O(*m*) in their number.
  public func block(_ selector: MethodSelector? = nil) throws(ForwardingError) -> Token {
    let (blocker, index) = try addBlocker(selector, .block(nil))
    return Token(Interception(reference, method: index, blocker))
  }

  /// Blocks a method, or all methods. Gives the interceptor, and the index of the
  /// method; nil for all.
  internal func addBlocker(
    _ selector: MethodSelector?, _ body: Interceptor.Body
  ) throws(ForwardingError) -> (Interceptor, Int?) {
    if let selector {
      return try addInterceptor(selector, .block) { _ in body }
    }
    try subscribers.failIfClosing()
    let blocker = try Interceptor(body, .none)
    core.extras.interceptions.withLock { chains in
      for index in requirements.indices {
        chains[index, default: InterceptionChain()].block(by: blocker)
      }
    }
    for index in requirements.indices { settleInterception(index) }
    return (blocker, nil)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

// Adding and removing interceptors. Releasing an interceptor may run any code in a
// `deinit`, so it happens outside of the lock.
extension DynamicProxy {
  /// Adds an interceptor, and makes the token that ends it.
  internal func intercept(
    _ selector: MethodSelector, _ point: InterceptionPoint, replacing: Bool = false,
    times: Int? = nil, bind: (MethodSignature) throws(ForwardingError) -> Interceptor.Body
  ) throws(ForwardingError) -> Token {
    let (interceptor, index) = try addInterceptor(
      selector, point, replacing: replacing, times: times, bind: bind)
    return Token(Interception(reference, method: index, interceptor))
  }

  /// Adds an interceptor. Gives it and the index of the method.
  internal func addInterceptor(
    _ selector: MethodSelector, _ point: InterceptionPoint, replacing: Bool = false,
    times: Int? = nil, bind: (MethodSignature) throws(ForwardingError) -> Interceptor.Body
  ) throws(ForwardingError) -> (Interceptor, Int) {
    try subscribers.failIfClosing()
    let limit = try DeliveryLimit(times, for: .method(selector))
    let method = try method(for: selector)
    let interceptor = try Interceptor(bind(method.signature), limit)
    let index = unsafe fwd_proxy_method_index(method.entry)
    let replaced = try core.extras.interceptions.withLock { chains throws(ForwardingError) in
      var chain = chains[index] ?? InterceptionChain()
      let replaced = try chain.add(interceptor, point, replacing: replacing, selector)
      let old = chains.updateValue(chain, forKey: index)
      return (replaced, old)
    }
    _ = replaced.0?.liveness.end()
    settleInterception(index)
    return (interceptor, index)
  }

  /// Ends the interceptor of an identifier. False if the proxy has none.
  internal func endInterceptor(_ identifier: UInt64) -> Bool {
    // One that blocks all methods is in several chains.
    let found = core.extras.interceptions.withLock { chains in
      chains.compactMap { index, chain in chain.find(identifier).map { ($0, index) } }
    }
    guard let (liveness, _) = found.first, liveness.end() else { return false }
    for (_, index) in found { forgetEndedInterceptors(of: index) }
    return true
  }

  /// Takes those out that have ended of a method's interceptors, or of all
  /// methods'.
  internal func forgetEndedInterceptors(ofMethod index: Int?) {
    if let index { return forgetEndedInterceptors(of: index) }
    let indices = core.extras.interceptions.withLock { Array($0.keys) }
    for index in indices { forgetEndedInterceptors(of: index) }
  }

  /// Takes those out of a method's interceptors that have ended.
  internal func forgetEndedInterceptors(of index: Int) {
    let old = core.extras.interceptions.withLock { chains -> InterceptionChain? in
      guard var chain = chains[index] else { return nil }
      chain.removeEnded()
      let old = chains[index]
      chains[index] = chain.isEmpty ? nil : chain
      return old
    }
    settleInterception(index)
    withExtendedLifetime(old) {}
  }

  /// Tells the shim which interceptors a method has now. Of several threads, the last
  /// one tells it the current state.
  internal func settleInterception(_ index: Int) {
    subscribers.intercept(index, resultSize: requirements[index].signature.resultLayout.size) {
      [extras = core.extras] in extras.interceptions.withLock { $0[index] } ?? InterceptionChain()
    }
  }

  /// Makes a delivery of a method that is intercepted, for the shim.
  @unsafe internal func deliver(
    _ entry: UnsafePointer<fwd_proxy_method>, _ delivery: fwd_delivery
  ) throws(ForwardingError) {
    let index = unsafe fwd_proxy_method_index(entry)
    try unsafe InterceptedDelivery(
      ResolvedMethod(proxy: self, entry: entry), interceptionChain(index), delivery
    ).run()
  }

  /// The interceptors that a method has at the moment.
  internal func interceptionChain(_ index: Int) -> InterceptionChain {
    core.extras.interceptions.withLock { $0[index] } ?? InterceptionChain()
  }
}

extension ProxyExtras {
  /// Ends all interceptors of a proxy that is being deinitialised. What they
  /// hold is released here, while the proxy can still refuse calls.
  internal func endInterceptors() {
    let ended = interceptions.withLock { chains in
      let all = chains
      chains = [:]
      return all
    }
    withExtendedLifetime(ended) {}
  }
}

extension SubscriberList {
  /// Gives the interceptors of a method to the list of subscribers. `chain` returns
  /// them, under the lock.
  internal func intercept(
    _ method: Int, resultSize size: Int, _ chain: () -> InterceptionChain
  ) {
    let entered = try? change { _, garbage throws(ForwardingError) in
      let chain = chain()
      let interceptors = fwd_interceptors(
        exist: !chain.isEmpty, respond: chain.responds(withResult: size > 0),
        block: chain.isBlocked)
      unsafe fwd_list_intercept(
        list, method, chain.makeTaps(resultSize: size), interceptors, &garbage.contents)
      return chain
    }
    // The chain may have the last reference to an interceptor, so it is released
    // after the lock.
    withExtendedLifetime(entered) {}
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// One invocation of an intercepted method, on its way through the interceptors. They
/// are foreign code, so no lock is held.
@safe internal final class InterceptedDelivery {
  private let method: ResolvedMethod
  private let chain: InterceptionChain
  private let delivery: fwd_delivery
  private let signature: MethodSignature

  /// Pointers to all arguments, in the caller's memory: interceptors before and after
  /// are called outermost, and see what the caller sees.
  private let arguments: UnsafeMutablePointer<UnsafeMutableRawPointer>
  /// The receiver, of which there is none yet, and the selector.
  private let hidden: UnsafeMutablePointer<OpaquePointer?>
  /// The result on its way to the caller, which gets the reference to an object in it.
  private let room: ResultRoom
  /// Whether a collector has been given what there was.
  private var isCollected = false

  /// Begins a delivery, which must be valid as long as this object.
  @unsafe internal init(
    _ method: ResolvedMethod, _ chain: InterceptionChain, _ delivery: fwd_delivery
  ) {
    self.method = method
    self.chain = chain
    unsafe self.delivery = delivery
    let signature = method.signature
    self.signature = signature
    room = ResultRoom(size: signature.resultLayout.size)
    // SAFETY: freed in `deinit`. A frame has its arguments at their offsets; they
    // are read only, though pointers to arguments have no way to say so.
    unsafe hidden = .allocate(capacity: 2)
    unsafe hidden.initialize(to: nil)
    unsafe (hidden + 1).initialize(to: method.selector.handle)
    unsafe arguments = .allocate(capacity: signature.arguments.count)
    let frame = unsafe delivery.frame.map { unsafe UnsafeMutableRawPointer(mutating: $0) }
    for argument in signature.arguments {
      let place: UnsafeMutableRawPointer
      if let offset = argument.frameOffset {
        unsafe place =
          delivery.arguments?[argument.index - signature.firstArgumentIndex] ?? frame! + offset
      } else {
        unsafe place = UnsafeMutableRawPointer(hidden + argument.index)
      }
      unsafe (arguments + argument.index).initialize(to: place)
    }
  }

  deinit {
    // SAFETY: allocated in `init`, freed once.
    unsafe arguments.deallocate()
    unsafe hidden.deallocate()
  }

  private var collects: Bool { unsafe delivery.collects }
  private var proxy: DynamicProxy { method.proxy }

  /// Makes the delivery. On success the caller has the result.
  internal func run() throws(ForwardingError) {
    if unsafe delivery.is_tapped {
      try unsafe answer(UnsafePointer(arguments), isOriginal: true, room.start)
    } else {
      for tap in chain.befores { observe(tap, hasResult: false) }
      try goInwards()
      for tap in chain.afters { observe(tap, hasResult: !collects) }
    }
    unsafe handOver()
  }

  private func goInwards() throws(ForwardingError) {
    if chain.arounds.contains(where: \.liveness.isLive) {
      let invocation = makeInvocation()
      try proceed(to: 0, invocation)
      try take(invocation)
    } else {
      try unsafe answer(UnsafePointer(arguments), isOriginal: true, room.start)
    }
  }

  /// Gives the result to the caller; drops it if it is not wanted.
  @unsafe private func handOver() {
    if collects { return }
    // SAFETY: the caller's room has the result's size.
    if let result = unsafe delivery.result {
      unsafe result.copyMemory(from: room.base, byteCount: signature.resultLayout.size)
    } else if signature.result.kind == .object {
      unsafe fwd_object_release(room.base.load(as: UnsafeMutableRawPointer?.self))
    }
  }
}

// MARK: - Taps

extension InterceptedDelivery {
  /// Shows a tap the invocation. A tap that cannot take the arguments is reported,
  /// and the delivery goes on.
  private func observe(_ tap: Interceptor, hasResult: Bool) {
    guard tap.liveness.take() else { return }
    defer { forgetIfEnded(tap) }
    switch tap.body {
    case .tap(let function):
      do throws(ForwardingError) {
        // SAFETY: the function was bound to the signature; its own result is
        // Void.
        try unsafe function.call(nil, UnsafePointer(arguments), UnsafeMutableRawPointer(hidden))
      } catch {
        report(error.ofDelivery(method.selector.name))
      }
    case .observer(let body):
      let invocation = makeInvocation()
      if hasResult { unsafe invocation.unsafeSetResult(from: room.base, isOwned: false) }
      body(invocation)
    case .stub, .replacement, .around, .block: break
    }
  }

  private func makeInvocation() -> Invocation {
    // SAFETY: the pointers are to all arguments, of the signature's types.
    unsafe Invocation(
      method.selector, signature, copyingArguments: UnsafePointer(arguments))
  }

  private func report(_ error: ForwardingError) { proxy.configuration.onError(error) }
}

// MARK: - The way inwards

extension InterceptedDelivery {
  /// Calls the first live interceptor around, from an index on. Without one, calls
  /// the interceptor instead of the subscribers, or the subscribers.
  internal func proceed(to index: Int, _ invocation: Invocation) throws(ForwardingError) {
    var index = index
    while index < chain.arounds.count {
      let interceptor = chain.arounds[index]
      index += 1
      guard case .around(let body) = interceptor.body, interceptor.liveness.take() else { continue }
      defer { forgetIfEnded(interceptor) }
      return try run(body, invocation, next: index)
    }
    if collects {
      return try unsafe invocation.withArgumentPointers { pointers throws(ForwardingError) in
        try unsafe answer(pointers, isOriginal: false, room.start)
      }
    }
    // SAFETY: the pointers are to all arguments, and the room is the result's.
    try unsafe invocation.withMutableResult(isOwned: true) { result throws(ForwardingError) in
      try unsafe invocation.withArgumentPointers { pointers throws(ForwardingError) in
        try unsafe answer(pointers, isOriginal: false, result)
      }
    }
  }

  private func run(
    _ body: @Sendable (Invocation, Proceed) throws -> Void, _ invocation: Invocation, next: Int
  ) throws(ForwardingError) {
    let proceed = Proceed(self, invocation, next: next)
    defer { proceed.end() }
    do {
      try body(invocation, proceed)
    } catch let error as ForwardingError {
      // A failure further inside the chain has been reported there.
      if error != proceed.failure { report(error) }
      throw error
    } catch {
      let failure = ForwardingError(
        .deliveryFailed, selector: method.selector.name,
        "an interceptor of \"\(method.selector)\" has thrown: \(error)")
      report(failure)
      throw failure
    }
  }

  /// Calls the stub, or else the subscribers.
  @unsafe private func answer(
    _ pointers: UnsafePointer<UnsafeMutableRawPointer>, isOriginal: Bool,
    _ result: UnsafeMutableRawPointer
  ) throws(ForwardingError) {
    let stub = liveStub()
    defer { stub.map(forgetIfEnded) }
    if case .replacement(let body) = stub?.body {
      return try unsafe replace(body, pointers, result)
    }
    if case .stub(let function) = stub?.body {
      do throws(ForwardingError) {
        // SAFETY: the function was bound to the signature.
        try unsafe function.call(nil, pointers, result)
      } catch {
        let failure = error.ofDelivery(method.selector.name)
        report(failure)
        // As for a subscriber: the failure result is the stub's result.
        guard unsafe copyFailureResult(to: result) else { throw failure }
      }
      if collects { unsafe collect(result) }
      return
    }
    // SAFETY: the pointers are to all arguments, in the caller's delivery too.
    var inner = unsafe delivery
    if !isOriginal {
      // With arguments there is no frame, but the function that has been called.
      if unsafe inner.arguments == nil { unsafe inner.function = nil }
      unsafe inner.arguments = unsafe pointers + signature.firstArgumentIndex
      unsafe inner.is_changed = true
    }
    if !collects { unsafe inner.result = result }
    unsafe inner.is_intercepted = true
    // Part of the interception, which is part of what the delivery is part of.
    unsafe inner.is_nested = true
    isCollected = true
    try unsafe method.forward(inner)
  }

  /// Calls a replacement, and takes its result, which is zeros if it sets none.
  @unsafe private func replace(
    _ body: (Invocation) throws(ForwardingError) -> Void,
    _ pointers: UnsafePointer<UnsafeMutableRawPointer>, _ result: UnsafeMutableRawPointer
  ) throws(ForwardingError) {
    // SAFETY: the pointers are to all arguments, of the signature's types.
    let invocation = unsafe Invocation(method.selector, signature, copyingArguments: pointers)
    do throws(ForwardingError) {
      try body(invocation)
      unsafe invocation.unsafeCopyRetainedResult(to: result)
    } catch {
      report(error)
      guard unsafe copyFailureResult(to: result) else { throw error }
    }
    if collects { unsafe collect(result) }
  }

  /// Copies the failure result, and retains it if it is an object. Returns false if
  /// neither the called function nor the method has a failure result.
  @unsafe private func copyFailureResult(to result: UnsafeMutableRawPointer) -> Bool {
    // SAFETY: both have the result's size, and the stored one lives as long as
    // the proxy, or as the function pointer that is being called.
    let stored = unsafe withUnsafePointer(to: delivery) {
      unsafe fwd_delivery_failure_result($0, method.entry)
    }
    guard let stored = unsafe stored else { return false }
    unsafe result.copyMemory(from: stored, byteCount: signature.resultLayout.size)
    if signature.result.kind == .object {
      unsafe fwd_object_retain(stored.load(as: UnsafeMutableRawPointer?.self))
    }
    return true
  }

  /// Removes an interceptor if this was its last call.
  private func forgetIfEnded(_ interceptor: Interceptor) {
    if interceptor.liveness.isLive { return }
    proxy.forgetEndedInterceptors(of: unsafe fwd_proxy_method_index(method.entry))
  }

  /// The stub, or the one that has taken its place since the delivery began. Its
  /// call has been counted.
  private func liveStub() -> Interceptor? {
    var stub = chain.stub
    while let dead = stub, !dead.liveness.take() {
      stub = proxy.interceptionChain(unsafe fwd_proxy_method_index(method.entry)).stub
      // Cancelled, and about to be taken out; or used up.
      if stub?.liveness === dead.liveness { return nil }
    }
    return stub
  }

  /// Gives a collector an answer without an author. The collector takes over the
  /// reference to an object.
  @unsafe private func collect(_ result: UnsafeMutableRawPointer) {
    isCollected = true
    guard collects, let collector = unsafe delivery.collector?.pointee else { return }
    _ = unsafe collector.collect(collector.context, 0, nil, result)
  }

  /// Takes what an invocation has as the result.
  private func take(_ invocation: Invocation) throws(ForwardingError) {
    if collects {
      if !isCollected && invocation.hasResult {
        unsafe invocation.unsafeCopyRetainedResult(to: room.start)
        unsafe collect(room.start)
      }
      return
    }
    if !invocation.hasResult && signature.resultLayout.size > 0 {
      guard let value = unsafe method.entry.pointee.default_result else {
        throw ForwardingError(
          .noResponder, selector: method.selector.name,
          """
          an interceptor of "\(method.selector)" has neither proceeded nor set a result, and it has \
          no default result
          """)
      }
      // SAFETY: the default result has the result's size, and lives as long as
      // the proxy.
      unsafe invocation.unsafeSetResult(from: value, isOwned: false)
    }
    unsafe invocation.unsafeCopyRetainedResult(to: room.start)
  }
}

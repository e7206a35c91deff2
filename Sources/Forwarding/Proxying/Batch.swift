// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Holds the subscribers once, to forward many invocations to them: for an
  /// event loop that finds many events at a time. A delivery of a batch costs
  /// little more than a call of a C function pointer.
  ///
  /// ```swift
  /// let moved = try proxy.method(for: "moved:y:")
  /// try proxy.withBatch { batch in
  ///   for event in events { try unsafe batch.forward(moved, frame: event.bytes) }
  /// }
  /// ```
  ///
  /// The subscribers are those that live when the batch begins, and they live
  /// until it ends. A subscriber that leaves is not called any more. One that
  /// joins later is not called. Other fan-outs of the proxy are not affected. The
  /// memory of changes to the list is kept while a batch runs, so it should be
  /// short.
  ///
  /// A delivery neither retains nor releases the subscriber. Beginning a batch
  /// retains each subscriber and allocates room for them; ending it releases
  /// them.
  ///
  /// - Throws: what `body` throws, or `ForwardingError` with the code
  ///   `outOfMemory`, or `dead` if the proxy is being deinitialised.
  /// - Complexity: O(*n*) in the number of subscribers, for the beginning and
  ///   the end.
  public func withBatch<Output>(_ body: (borrowing Batch) throws -> Output) throws -> Output {
    try subscribers.failIfClosing()
    guard let handle = unsafe fwd_batch_create(core.handle) else {
      throw ForwardingError(.outOfMemory, "no memory for a batch")
    }
    return try body(unsafe Batch(proxy: self, handle: handle))
  }

  /// The subscribers of one moment; see `withBatch(_:)`.
  @safe public struct Batch: ~Copyable {
    private let proxy: DynamicProxy
    private let handle: OpaquePointer

    fileprivate init(proxy: DynamicProxy, handle: OpaquePointer) {
      self.proxy = proxy
      unsafe self.handle = handle
    }

    deinit {
      // SAFETY: a batch does not leave the closure that it is lent to, nor its
      // thread.
      unsafe fwd_batch_destroy(handle)
    }

    /// Forwards an invocation whose arguments stand in a frame; see
    /// `ResolvedMethod.forward(frame:result:)`.
    ///
    /// - Throws: `ForwardingError`, as without a batch, and with the code
    ///   `unknownSelector` for a method of another proxy.
    @unsafe public borrowing func forward(
      _ method: ResolvedMethod, frame: UnsafeRawBufferPointer,
      result: UnsafeMutableRawBufferPointer? = nil
    ) throws(ForwardingError) {
      try check(method)
      // SAFETY: the buffers are valid during the call; the shim checks their
      // sizes.
      let status = unsafe fwd_forward_method(
        proxy.core.handle, method.entry, handle, frame.baseAddress, frame.count,
        result?.baseAddress, result?.count ?? 0, nil)
      if status != FWD_OK { throw ForwardingError.last(method.selector) }
    }

    /// Forwards the arguments of an invocation; a result is dropped. The
    /// invocation's selector and target do not count.
    ///
    /// - Throws: `ForwardingError`, as `DynamicProxy.forward(_:)`, and with
    ///   the code `unknownSelector` for a method of another proxy.
    public borrowing func forward(
      _ method: ResolvedMethod, _ invocation: Invocation
    ) throws(ForwardingError) {
      try check(method)
      try method.check(invocation.signature)
      // SAFETY: the pointers are to all arguments, of types that the check found
      // to be the method's.
      var delivery = unsafe fwd_delivery()
      unsafe delivery.batch = handle
      try unsafe invocation.withArgumentPointers { arguments throws(ForwardingError) in
        unsafe delivery.arguments = arguments + invocation.signature.firstArgumentIndex
        try unsafe method.forward(delivery)
      }
    }

    private borrowing func check(_ method: ResolvedMethod) throws(ForwardingError) {
      guard method.proxy === proxy else {
        throw ForwardingError(
          .unknownSelector, selector: method.selector.name,
          "the method \"\(method.selector)\" is of another proxy than the batch")
      }
    }
  }
}

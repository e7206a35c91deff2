// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Forwards an invocation as an object, and puts the result into it. Its
  /// target is not called: each delivery has a receiver and a selector of its
  /// own. It costs more than a frame, since the method is looked up and its
  /// signature compared at each call: see <doc:FanOut>.
  ///
  /// An invocation that no protocol declares goes to the configuration's
  /// `onUnknown`. If there is none, and unknown selectors are ignored, its result
  /// is zero.
  ///
  /// - Throws: `ForwardingError` with the code `signatureMismatch` if the
  ///   arguments or the result have other types than the method's; otherwise as
  ///   `ResolvedMethod.forward(frame:result:)`. The invocation is then
  ///   unchanged.
  public func forward(_ invocation: Invocation) throws(ForwardingError) {
    guard let entry = unsafe fwd_proxy_core_method(core.handle, invocation.selectorHandle) else {
      return try forwardUnknown(invocation)
    }
    let method = unsafe ResolvedMethod(proxy: self, entry: entry)
    try method.check(invocation.signature)
    // SAFETY: the pointers are to the arguments behind the receiver and the selector,
    // of types that the check found to be the method's.
    try unsafe invocation.withDelivery { arguments, result throws(ForwardingError) in
      var delivery = unsafe fwd_delivery()
      unsafe delivery.arguments = arguments
      unsafe delivery.result = result
      try unsafe method.forward(delivery)
    }
  }

  /// Forwards an invocation that no protocol declares.
  @inline(never)
  private func forwardUnknown(_ invocation: Invocation) throws(ForwardingError) {
    guard ignoresUnknown else { throw unknown(invocation.selector.name) }
    if try !handleUnknown(invocation) { invocation.zeroResult() }
  }
}

extension Invocation {
  /// Makes the result what C's zero is.
  fileprivate func zeroResult() {
    let size = signature.resultLayout.size
    if size == 0 { return }
    unsafe withMutableResult(isOwned: true) { result in
      // SAFETY: there is room for a result of the signature.
      _ = unsafe result.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    }
  }
}

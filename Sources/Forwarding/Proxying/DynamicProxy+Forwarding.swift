// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Forwards an invocation as an object, and puts the result into it. Its
  /// target is not called: each delivery has a receiver and a selector of its
  /// own. It costs about 27 ns more than a frame, since its signature is compared
  /// with the method's at each call.
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
    guard let method = try knownMethod(for: invocation.selector) else {
      return try handleUnknown(invocation) ? () : invocation.zeroResult()
    }
    try method.check(invocation.signature)
    // SAFETY: the pointers are to all arguments, of types that the check found
    // to be the method's.
    try unsafe invocation.withMutableResult(isOwned: true) { result throws(ForwardingError) in
      try unsafe invocation.withArgumentPointers { arguments throws(ForwardingError) in
        var delivery = unsafe fwd_delivery()
        unsafe delivery.arguments = arguments + invocation.signature.firstArgumentIndex
        unsafe delivery.result = result
        try unsafe method.forward(delivery)
      }
    }
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Forwards an invocation whose arguments stand in a frame; see
  /// `ResolvedMethod.forward(frame:result:)`. It costs about as much: finding
  /// the method of a selector is one look-up by its address, 1 ns. If an unknown
  /// selector is ignored, the result is filled with zeros.
  @unsafe public func forward(
    _ selector: MethodSelector, frame: UnsafeRawBufferPointer,
    result: UnsafeMutableRawBufferPointer? = nil
  ) throws(ForwardingError) {
    guard let entry = unsafe core.method(selector) else {
      return try unsafe ignore(selector.name, result)
    }
    // Not through a ResolvedMethod, which would count a reference to the proxy.
    // SAFETY: as in `ResolvedMethod.forward(frame:result:)`.
    let status = unsafe fwd_forward_method(
      core.handle, entry, nil, frame.baseAddress, frame.count, result?.baseAddress,
      result?.count ?? 0, nil)
    if status != FWD_OK { throw ForwardingError.last(selector) }
  }

  /// Forwards an invocation by the method's name, which may come from outside:
  /// an unknown one is an error and is not interned. See
  /// `ResolvedMethod.forward(frame:result:)`.
  ///
  /// This is slower than a selector: the bytes of the name are hashed and
  /// looked up at each call. If an unknown name is ignored, the result is filled
  /// with zeros.
  @unsafe public func forward(
    named name: String, frame: UnsafeRawBufferPointer,
    result: UnsafeMutableRawBufferPointer? = nil
  ) throws(ForwardingError) {
    guard let selector = MethodSelector(known: name) else {
      return try unsafe ignore(name, result)
    }
    try unsafe forward(selector, frame: frame, result: result)
  }

  /// Forwards an invocation as an object, and puts the result into it. Its
  /// target is not called. If an unknown selector is ignored, the result is zero.
  /// It costs about 27 ns more than a frame: its
  /// signature is compared with the method's at each call.
  ///
  /// - Throws: `ForwardingError` with the code `signatureMismatch` if the
  ///   invocation has other types than the method; otherwise as
  ///   `ResolvedMethod.forward(frame:result:)`. The invocation is then
  ///   unchanged.
  public func forward(_ invocation: Invocation) throws(ForwardingError) {
    guard let method = try knownMethod(for: invocation.selector) else {
      return invocation.zeroResult()
    }
    try method.check(invocation.signature)
    // SAFETY: the pointers are to all arguments, of types that the check found
    // to be the method's.
    try unsafe invocation.withMutableResult(isOwned: true) { result throws(ForwardingError) in
      try unsafe invocation.withArgumentPointers { arguments throws(ForwardingError) in
        var delivery = unsafe fwd_delivery()
        unsafe delivery.arguments = arguments + method.signature.firstArgumentIndex
        unsafe delivery.result = result
        try unsafe method.forward(delivery)
      }
    }
  }
}

extension DynamicProxy {
  /// Ignores an unknown selector, if that is what the configuration says.
  @inline(never)
  @unsafe private func ignore(
    _ name: String, _ result: UnsafeMutableRawBufferPointer?
  ) throws(ForwardingError) {
    guard configuration.unknownSelectors == .ignore else { throw unknown(name) }
    if let result = unsafe result {
      unsafe result.initializeMemory(as: UInt8.self, repeating: 0)
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

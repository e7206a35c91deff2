// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A method of one proxy, found once: the cheapest way to forward the same
/// method again and again. A fan-out to one weak subscriber costs about 25 ns,
/// to many about 13 ns a delivery; see <doc:FanOut>.
///
/// ```swift
/// let visit = try proxy.method(for: "visit:kind:")
/// try visit.forward(frame, result: room)
/// ```
///
/// It keeps the proxy alive.
@safe public struct ResolvedMethod: @unchecked Sendable {
  // Sendable: the shim's entry is immutable and lives as long as the proxy,
  // which is.

  /// The proxy.
  public let proxy: DynamicProxy

  // Untyped, since clients do not see the shim's internal types: a field of such a
  // type would have no size in the client's view of this struct.
  private let entryAddress: UnsafeRawPointer

  internal var entry: UnsafePointer<fwd_proxy_method> {
    // SAFETY: the address was that of an entry.
    unsafe entryAddress.assumingMemoryBound(to: fwd_proxy_method.self)
  }

  @unsafe internal init(proxy: DynamicProxy, entry: UnsafePointer<fwd_proxy_method>) {
    self.proxy = proxy
    unsafe entryAddress = UnsafeRawPointer(entry)
  }

  /// The name.
  public var selector: MethodSelector {
    // SAFETY: the entry lives as long as the proxy.
    unsafe MethodSelector(handle: entry.pointee.selector)
  }

  /// The types.
  public var signature: MethodSignature {
    // SAFETY: the entry is one of the proxy's methods.
    proxy.requirements[unsafe fwd_proxy_method_index(entry)].signature
  }
}

extension DynamicProxy {
  /// Finds a method.
  ///
  /// - Throws: `ForwardingError` with the code `unknownSelector` if no protocol
  ///   declares it.
  /// - Complexity: O(1).
  public func method(for selector: MethodSelector) throws(ForwardingError) -> ResolvedMethod {
    guard let entry = unsafe core.method(selector) else { throw Self.unknown(selector.name) }
    return unsafe ResolvedMethod(proxy: self, entry: entry)
  }

  @inline(never) private static func unknown(_ name: String) -> ForwardingError {
    ForwardingError(
      .unknownSelector, selector: name, "no protocol of the proxy declares \"\(name)\"")
  }

  /// Finds a method; nil for one that is unknown and to be ignored.
  internal func knownMethod(
    for selector: MethodSelector
  ) throws(ForwardingError) -> ResolvedMethod? {
    do throws(ForwardingError) {
      return try method(for: selector)
    } catch {
      if configuration.unknownSelectors == .ignore { return nil }
      throw error
    }
  }
}

// MARK: - Forwarding bytes

extension ResolvedMethod {
  /// Forwards an invocation whose arguments stand in a frame: at natural
  /// alignment in order, without the receiver and the selector.
  ///
  /// - Parameters:
  ///   - frame: `signature.frameSize` bytes. They need no alignment, but are
  ///     copied if they have none.
  ///   - result: room for the result's bytes, or nil if it is not wanted. An
  ///     object in it is the caller's to release.
  /// - Throws: `ForwardingError`: `wrongSize` if a size is not the signature's;
  ///   `noResponder` if nobody responds and the method has a result without a
  ///   default; `deliveryFailed` if the only responders could not take the
  ///   arguments. The result is then untouched.
  /// - Complexity: O(*n*) in the number of subscribers.
  @unsafe public func forward(
    frame: UnsafeRawBufferPointer, result: UnsafeMutableRawBufferPointer? = nil
  ) throws(ForwardingError) {
    // SAFETY: the buffers are valid during the call; the shim checks their
    // sizes.
    let status = unsafe fwd_forward_method(
      proxy.core.handle, entry, nil, frame.baseAddress, frame.count, result?.baseAddress,
      result?.count ?? 0, nil)
    if status != FWD_OK { throw ForwardingError.last(selector) }
  }

  /// Forwards an invocation whose arguments stand behind pointers, without the
  /// receiver and the selector.
  ///
  /// - Parameters:
  ///   - arguments: a pointer to each argument, aligned for its type.
  ///   - result: as for a frame.
  /// - Throws: `ForwardingError`, as for a frame, and `wrongArgumentCount`.
  /// - Complexity: O(*n*) in the number of subscribers. It costs about 2 ns
  ///   more than a frame.
  @unsafe public func forward(
    arguments: UnsafeBufferPointer<UnsafeMutableRawPointer>,
    result: UnsafeMutableRawBufferPointer? = nil
  ) throws(ForwardingError) {
    let expected = signature.arguments.count - signature.firstArgumentIndex
    guard arguments.count == expected else {
      throw ForwardingError(
        .wrongArgumentCount, selector: selector.name,
        "\"\(selector)\" got \(arguments.count) arguments, expected \(expected) (\(signature))")
    }
    let size = signature.resultLayout.size
    if let result = unsafe result, result.count != size {
      throw ForwardingError(
        .wrongSize, selector: selector.name,
        "the result buffer of \"\(selector)\" has \(result.count) bytes, expected \(size)")
    }
    var delivery = unsafe fwd_delivery()
    unsafe delivery.arguments = arguments.baseAddress
    unsafe delivery.result = result?.baseAddress
    try unsafe forward(delivery)
  }

  /// Replays a delivery.
  @unsafe internal func forward(_ delivery: fwd_delivery) throws(ForwardingError) {
    // SAFETY: the caller has checked the delivery; it is valid during the call.
    let status = unsafe withUnsafePointer(to: delivery) {
      unsafe fwd_fan_out(proxy.core.handle, entry, $0, nil)
    }
    if status != FWD_OK { throw ForwardingError.last(selector) }
  }
}

extension ForwardingError {
  /// The error of the shim's last function on this thread. Asked for only where
  /// one has failed: room for an error costs more than a small fan-out's rest.
  @usableFromInline
  @inline(never) internal static func last(_ selector: MethodSelector) -> ForwardingError {
    var error = fwd_error()
    unsafe fwd_error_last(&error)
    return ForwardingError(error, selector: selector.name)
  }
}

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

  /// Forwards an invocation whose arguments stand behind pointers; see
  /// `ResolvedMethod.forward(arguments:result:)`. If an unknown selector is
  /// ignored, the result is filled with zeros.
  @unsafe public func forward(
    _ selector: MethodSelector, arguments: UnsafeBufferPointer<UnsafeMutableRawPointer>,
    result: UnsafeMutableRawBufferPointer? = nil
  ) throws(ForwardingError) {
    guard let method = try knownMethod(for: selector) else {
      return try unsafe ignore(selector.name, result)
    }
    try unsafe method.forward(arguments: arguments, result: result)
  }

  /// Forwards an invocation by the method's name, which may come from outside:
  /// an unknown one is an error and is not interned. See
  /// `ResolvedMethod.forward(frame:result:)`.
  ///
  /// This is slower than a selector: the bytes of the name are hashed and
  /// looked up at each call, about 17 ns for a short one. If an unknown name is
  /// ignored, the result is filled with zeros.
  @unsafe public func forward(
    named name: String, frame: UnsafeRawBufferPointer,
    result: UnsafeMutableRawBufferPointer? = nil
  ) throws(ForwardingError) {
    guard let selector = MethodSelector(known: name) else {
      return try unsafe ignore(name, result)
    }
    try unsafe forward(selector, frame: frame, result: result)
  }

  /// Forwards an argument frame, and gives nothing back: for void methods, or
  /// where the result is not wanted. The frame's signature is compared with the
  /// method's at each call.
  ///
  /// - Throws: `ForwardingError` with the code `signatureMismatch` if the frame
  ///   was made for other types than the method's; otherwise as
  ///   `ResolvedMethod.forward(frame:result:)`.
  public func forward(
    _ selector: MethodSelector, _ frame: borrowing ArgumentFrame
  ) throws(ForwardingError) {
    guard let method = try knownMethod(for: selector) else { return }
    try method.check(frame.signature)
    // SAFETY: the frame's bytes are valid while it is borrowed, and it keeps
    // what they refer to.
    var delivery = unsafe fwd_delivery()
    unsafe delivery.frame = UnsafeRawPointer(frame.base)
    try unsafe method.forward(delivery)
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
    guard configuration.unknownSelectors == .ignore else { throw Self.unknown(name) }
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

extension ResolvedMethod {
  internal func check(_ other: MethodSignature) throws(ForwardingError) {
    guard other.isCompatible(with: signature) else {
      throw ForwardingError(
        .signatureMismatch, selector: selector.name,
        "the arguments for \"\(selector)\" are of \"\(other)\", but the protocol declares \"\(signature)\""
      )
    }
  }
}

extension Invocation {
  /// Replays the invocation to a proxy's subscribers; see
  /// `DynamicProxy.forward(_:)`.
  public func forward(through proxy: DynamicProxy) throws(ForwardingError) {
    try proxy.forward(self)
  }
}

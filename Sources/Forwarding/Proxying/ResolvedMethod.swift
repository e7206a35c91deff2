// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A method of one proxy, found once: the cheapest way to forward the same
/// method again and again; see <doc:FanOut>.
///
/// ```swift
/// let visit = try proxy.method(for: "visit:kind:")
/// try unsafe visit.forward(frame: bytes, result: room)
/// ```
///
/// It keeps the proxy alive.
@safe public struct ResolvedMethod: @unchecked Sendable {
  // Sendable: the shim's entry is immutable and lives as long as the proxy,
  // which is.

  @usableFromInline internal let proxy: DynamicProxy

  // Untyped, since clients do not see the shim's internal types: a field of such a
  // type would have no size in the client's view of this struct.
  @usableFromInline internal let entryAddress: UnsafeRawPointer

  internal var entry: UnsafePointer<fwd_proxy_method> {
    // SAFETY: the address was that of an entry.
    unsafe entryAddress.assumingMemoryBound(to: fwd_proxy_method.self)
  }

  @unsafe @inlinable internal init(proxy: DynamicProxy, entryAddress: UnsafeRawPointer) {
    self.proxy = proxy
    unsafe self.entryAddress = unsafe entryAddress
  }

  @unsafe internal init(proxy: DynamicProxy, entry: UnsafePointer<fwd_proxy_method>) {
    unsafe self.init(proxy: proxy, entryAddress: UnsafeRawPointer(entry))
  }

  /// The name.
  package var selector: MethodSelector {
    // SAFETY: the entry lives as long as the proxy.
    unsafe MethodSelector(handle: entry.pointee.selector)
  }

  /// The method's types, and the sizes of its frame and its result.
  public var signature: MethodSignature {
    // SAFETY: the entry is one of the proxy's methods.
    proxy.requirements[unsafe fwd_proxy_method_index(entry)].signature
  }
}

extension ResolvedMethod {
  /// Whether the method's signature shares its storage with another one. Equal
  /// signatures need not.
  package func hasIdentical(_ other: MethodSignature) -> Bool {
    // SAFETY: the entry lives as long as the proxy.
    unsafe entry.pointee.signature == other.handle
  }
}

extension ResolvedMethod {
  /// A method of a proxy that something else keeps alive. A copy counts no reference.
  @safe package struct Unowned {
    fileprivate let proxy: ObjectIdentifier
    fileprivate let entryAddress: UnsafeRawPointer

    /// Whether it is a method of this proxy. The proxy that it was made of must be alive.
    package func isMethod(of proxy: DynamicProxy) -> Bool { ObjectIdentifier(proxy) == self.proxy }
  }

  /// The method, without a reference to the proxy.
  package var unowned: Unowned {
    unsafe Unowned(proxy: ObjectIdentifier(proxy), entryAddress: entryAddress)
  }
}

extension DynamicProxy {
  /// Forwards a frame as `ResolvedMethod.forward(frame:result:)` does.
  ///
  /// - Parameter method: a method of this proxy.
  @unsafe package func forward(
    _ method: ResolvedMethod.Unowned, frame: UnsafeRawBufferPointer,
    result: UnsafeMutableRawBufferPointer?
  ) throws(ForwardingError) {
    // SAFETY: the address was that of an entry, which lives as long as this proxy. The buffers
    // are valid during the call; the shim checks their sizes.
    let entry = unsafe method.entryAddress.assumingMemoryBound(to: fwd_proxy_method.self)
    let status = unsafe forward(entry, frame, result)
    if status != FWD_OK {
      throw unsafe ForwardingError.last(MethodSelector(handle: entry.pointee.selector))
    }
  }

  /// Forwards a frame. The buffers must be valid during the call; the shim
  /// checks their sizes.
  @inline(__always)
  @unsafe fileprivate func forward(
    _ entry: UnsafePointer<fwd_proxy_method>, _ frame: UnsafeRawBufferPointer,
    _ result: UnsafeMutableRawBufferPointer?
  ) -> fwd_status {
    // With one call and optional chaining, the compiler would decide about the
    // result's address and about its size separately, each by a branch.
    guard let result = unsafe result else {
      return unsafe fwd_forward_method(
        core.handle, entry, frame.baseAddress, frame.count, nil, 0)
    }
    return unsafe fwd_forward_method(
      core.handle, entry, frame.baseAddress, frame.count, result.baseAddress, result.count)
  }
}

extension DynamicProxy {
  /// Finds a method.
  ///
  /// - Throws: `ForwardingError` with the code `unknownSelector` if no protocol
  ///   declares it.
  /// - Complexity: O(1).
  // Inlinable, so that the compiler sees that a method which is used at once needs no
  // reference to the proxy: counting it would cost more than finding the method.
  @inlinable
  public func method(for selector: MethodSelector) throws(ForwardingError) -> ResolvedMethod {
    let entryAddress = unsafe try entryAddress(of: selector)
    // SAFETY: the entry is one of this proxy's.
    return unsafe ResolvedMethod(proxy: self, entryAddress: entryAddress)
  }

  @usableFromInline @unsafe
  internal func entryAddress(
    of selector: MethodSelector
  ) throws(ForwardingError) -> UnsafeRawPointer {
    guard let entry = unsafe core.method(selector) else { throw unknown(selector.name) }
    return unsafe UnsafeRawPointer(entry)
  }

  private func resolved(_ selector: MethodSelector) -> ResolvedMethod? {
    guard let entry = unsafe core.method(selector) else { return nil }
    return unsafe ResolvedMethod(proxy: self, entry: entry)
  }

  /// Finds a method; nil for one that is unknown, and to be ignored or handled.
  internal func knownMethod(
    for selector: MethodSelector
  ) throws(ForwardingError) -> ResolvedMethod? {
    if let method = resolved(selector) { return method }
    if ignoresUnknown { return nil }
    throw unknown(selector.name)
  }

  /// Whether sends of selectors that no protocol declares are ignored or handled.
  internal var ignoresUnknown: Bool {
    configuration.unknownSelectors == .ignore || configuration.onUnknown != nil
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
  ///   `noResponder` if no subscriber responds and the method has a result without a
  ///   default; the error of the first failed delivery if all have failed. The result is
  ///   then untouched.
  /// - Complexity: O(*n*) in the number of subscribers.
  @unsafe public func forward(
    frame: UnsafeRawBufferPointer, result: UnsafeMutableRawBufferPointer? = nil
  ) throws(ForwardingError) {
    // SAFETY: the buffers are valid during the call; the shim checks their
    // sizes.
    let status = unsafe proxy.forward(entry, frame, result)
    if status != FWD_OK { throw ForwardingError.last(selector) }
  }

  /// Forwards an invocation whose arguments stand behind pointers, without the
  /// receiver and the selector.
  ///
  /// - Parameters:
  ///   - arguments: a pointer to each argument, aligned for its type.
  ///   - result: as for a frame.
  /// - Throws: `ForwardingError`, as for a frame, and `wrongArgumentCount`.
  /// - Complexity: O(*n*) in the number of subscribers.
  @unsafe package func forward(
    arguments: UnsafeBufferPointer<UnsafeMutableRawPointer>,
    result: UnsafeMutableRawBufferPointer? = nil
  ) throws(ForwardingError) {
    // Asked of the shim, since `signature` would be looked up and retained.
    let types = unsafe entry.pointee.signature
    let expected = unsafe fwd_signature_argument_count(types) - fwd_signature_hidden_count(types)
    guard arguments.count == expected else {
      throw ForwardingError(
        .wrongArgumentCount, selector: selector.name,
        "\"\(selector)\" got \(arguments.count) arguments, expected \(expected) (\(signature))")
    }
    var layout = fwd_layout()
    unsafe fwd_signature_result(types, &layout)
    let size = layout.size
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
    var delivery = unsafe delivery
    let status = unsafe withUnsafeMutablePointer(to: &delivery) {
      unsafe fwd_fan_out(proxy.core.handle, entry, $0)
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
    return ForwardingError(error, selector: selector.name, detail: fwd_error_last_detail())
  }
}

extension ResolvedMethod {
  /// Throws unless calls of a signature are calls of this method.
  internal func check(_ other: MethodSignature) throws(ForwardingError) {
    // SAFETY: the entry and both signatures live during the call.
    guard
      unsafe fwd_signature_compatible(other.handle, entry.pointee.signature)
        || takesArguments(of: other),
      // Blocks are passed as objects are, but a result that is a block would leak.
      unsafe other.returnsObject == fwd_proxy_method_returns_object(entry)
    else {
      throw ForwardingError(
        .signatureMismatch, selector: selector.name,
        "the arguments for \"\(selector)\" are of \"\(other)\", but the protocol declares \"\(signature)\""
      )
    }
  }

  /// Whether calls pass the arguments and the result alike, whatever the receiver
  /// and the selector are: each delivery has its own. A method that a key declares
  /// takes no selector, but most that are declared with encodings do.
  private func takesArguments(of other: MethodSignature) -> Bool {
    let own = signature.arguments[signature.firstArgumentIndex...]
    let others = other.arguments[other.firstArgumentIndex...]
    return other.hasReceiver && signature.hasReceiver && own.count == others.count
      && other.result.isCompatible(with: signature.result)
      && zip(others, own).allSatisfy { $0.encoding.isCompatible(with: $1.encoding) }
  }
}

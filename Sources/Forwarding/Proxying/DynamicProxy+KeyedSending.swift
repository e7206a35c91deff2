// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal
internal import Synchronization

extension DynamicProxy {
  /// Forwards the method of a key and gives its result.
  ///
  /// ```swift
  /// let stop = try proxy.send(Visitor.visit, path, status, 3)   // an Int32
  /// try proxy.send(Visitor.finished, 12)
  /// ```
  ///
  /// The compiler checks the arguments. A `String` is copied to a C string for
  /// the call. Pointers and objects are the caller's to keep during the call.
  ///
  /// The method's types are compared with the key's when the key is first used
  /// with the proxy; not even then if the method was declared with the key.
  ///
  /// If the configuration ignores unknown selectors, a method that no protocol
  /// declares gives zero: the number 0, false, nil, or a struct of zeros.
  ///
  /// - Throws: `ForwardingError`: `unknownSelector` if no protocol declares the
  ///   method, with similar names in the message; `signatureMismatch` if it has
  ///   other types than the key; `noResponder` if no subscriber responds and
  ///   there is no default; `deliveryFailed` if the only responders could not
  ///   take the arguments; `nullPointer` if the result is null and the key's is
  ///   not optional; `typeMismatch` if the result is an object of another class;
  ///   `valueNotRepresentable` if it is a raw value without a case, or a
  ///   `String` has a NUL in it.
  /// - Complexity: O(*n*) in the number of subscribers.
  // Compiled into the caller, where the types are known. The optimiser does not
  // specialise the body of a loop over a parameter pack: each argument would be
  // copied by its type's value witness. A tuple of the arguments is specialised,
  // and has the layout of an argument frame.
  @inlinable
  public func send<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, _ arguments: repeat each Argument
  ) throws(ForwardingError) -> Output {
    guard key.isDirect else { return try sendIndirect(key, repeat each arguments) }
    let frame = (repeat each arguments)
    var room = SendResult()
    // SAFETY: the method has the arguments where a direct key's tuple has them,
    // which `sendDirect` knows or does nothing.
    let status = unsafe withUnsafePointer(to: frame) { arguments in
      unsafe withUnsafeMutablePointer(to: &room) { result in
        unsafe sendDirect(
          key.selector, key.derived, UnsafeRawPointer(arguments), UnsafeMutableRawPointer(result))
      }
    }
    switch status {
    case .done: return try key.result(in: &room)
    case .failed: throw ForwardingError.last(key.selector)
    case .unverified: return try sendIndirect(key, repeat each arguments)
    }
  }

  /// Forwards a tuple of a direct key's arguments, if the key is known to fit the
  /// method.
  @usableFromInline
  @unsafe internal func sendDirect(
    _ selector: MethodSelector, _ derived: Unmanaged<DerivedMethod>, _ frame: UnsafeRawPointer,
    _ result: UnsafeMutableRawPointer
  ) -> SendStatus {
    guard let entry = unsafe verifiedEntry(selector, derived) else { return .unverified }
    var delivery = unsafe fwd_delivery()
    unsafe delivery.frame = frame
    unsafe delivery.result = result
    // SAFETY: the frame and the room are those of the key, whose types fit the
    // method.
    let status = unsafe withUnsafePointer(to: delivery) {
      unsafe fwd_fan_out(core.handle, entry, $0, nil)
    }
    return status == FWD_OK ? .done : .failed
  }

  /// The shim's entry of a method that a key is known to fit.
  private func verifiedEntry(
    _ selector: MethodSelector, _ derived: Unmanaged<DerivedMethod>
  ) -> UnsafePointer<fwd_proxy_method>? {
    let token = unsafe UInt(bitPattern: derived.toOpaque())
    let keys = core.verifiedKeys
    // SAFETY: the process never frees what it has derived from a key.
    let index = unsafe derived._withUnsafeGuaranteedRef { $0.index.load(ordering: .relaxed) }
    if let entry = unsafe keys.entry(at: index, for: token) { return unsafe entry }
    guard let entry = unsafe core.method(selector), unsafe keys.holds(token, entry) else {
      return nil
    }
    unsafe derived._withUnsafeGuaranteedRef {
      $0.index.store(unsafe fwd_proxy_method_index(entry), ordering: .relaxed)
    }
    return unsafe entry
  }

  /// Forwards arguments of any types, or with a key that is new to the method.
  @usableFromInline
  internal func sendIndirect<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, _ arguments: repeat each Argument
  ) throws(ForwardingError) -> Output {
    guard let method = try knownMethod(for: key.selector) else {
      return try Self.zero(key.selector)
    }
    try verify(key, method)
    return try sendChecking(key.selector, repeat each arguments)
  }

  /// Forwards the method of a key to all responders, whatever its policy, and
  /// gives every result with its author; see `collect(_:as:_:)`.
  ///
  /// ```swift
  /// for answer in try proxy.collect(Table.height, row) { … answer.author, answer.value }
  /// ```
  ///
  /// - Throws: `ForwardingError`, as `send`, but not for want of a responder.
  /// - Complexity: O(*n*) in the number of subscribers.
  public func collect<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, _ arguments: repeat each Argument
  ) throws(ForwardingError) -> [Answer<Output>] {
    try verify(key)
    return try collect(key.selector, as: Output.self, repeat each arguments)
  }
}

/// What became of a direct send.
@usableFromInline
internal enum SendStatus {
  case done
  /// The error is the thread's last.
  case failed
  /// Nobody was called: the key is not known to fit the method.
  case unverified
}

// MARK: - Results

extension Method {
  /// Reads the result of a direct send.
  @inlinable
  internal func result(in room: inout SendResult) throws(ForwardingError) -> Output {
    if Output.self == Void.self { return unsafe unsafeBitCast((), to: Output.self) }
    guard scalarKinds(of: Output.self) != nil else { return try decodedResult(in: &room) }
    return unsafe withUnsafeBytes(of: &room) { room in
      // Any byte but 0 is true.
      if Output.self == Bool.self {
        return unsafe unsafeBitCast(room.load(as: UInt8.self) != 0, to: Output.self)
      }
      // SAFETY: the room is larger than a direct key's result.
      return unsafe room.load(as: Output.self)
    }
  }

  @usableFromInline
  internal func decodedResult(in room: inout SendResult) throws(ForwardingError) -> Output {
    do throws(ValueMismatch) {
      // SAFETY: the object was made for the key's types.
      let typed = unsafe unsafeDowncast(derivation, to: TypedDerivedMethod<Output>.self)
      // Direct keys have a signature, and so a coder.
      guard let coder = typed.result else { throw .null(Output.self) }
      // SAFETY: the fan-out has put a result there, whose reference is the
      // caller's.
      return try unsafe withUnsafeBytes(of: &room) { room throws(ValueMismatch) in
        try unsafe coder.decodeRetained(from: room.baseAddress!)
      }
    } catch {
      throw ForwardingError(error, selector: selector, signature: try? signature)
    }
  }
}

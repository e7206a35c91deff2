// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal
internal import Synchronization

extension DynamicProxy {
  /// Forwards a method and gives its result.
  ///
  /// ```swift
  /// let stop = try proxy.send(Visitor.visit, path, status, 3)   // an Int32
  /// let keep: Bool = try proxy.send("visit:kind:", path, Int32(3))
  /// let kind = try proxy.send(Method(selector), path) as Int32
  /// ```
  ///
  /// The compiler checks the arguments of a declared key. Those of a literal, or
  /// of a key without a type, are the key's types. A `String` is copied to a C
  /// string for the call. Pointers and objects are the caller's to keep during
  /// the call.
  ///
  /// The key's types are compared with the method's when the key is first used
  /// with the proxy; not even then if the method was declared with the key. A
  /// literal is looked up at each call, which takes some nanoseconds.
  ///
  /// If the configuration ignores unknown selectors, a method that no protocol
  /// declares gives zero: the number 0, false, nil, or a struct of zeros.
  ///
  /// - Throws: `ForwardingError`: `unknownSelector` if no protocol declares the
  ///   method, with similar names in the message, also if that is ignored and
  ///   the result's type has no zero; `signatureMismatch` if the method has
  ///   other types than the key; `noResponder` if no subscriber responds and
  ///   there is no default; the error of the first failed delivery if all have failed
  ///   and there is no default, see <doc:Errors>; `nullPointer` if the result is null and the key's is
  ///   not optional; `typeMismatch` if the result is an object of another class;
  ///   `valueNotRepresentable` if it is a raw value without a case or a `Bool`
  ///   other than 0 and 1, or if a `String` has a NUL in it.
  /// - Complexity: O(*n*) in the number of subscribers.
  // Compiled into the caller, where the types are known. The optimiser does not
  // specialise the body of a loop over a parameter pack: each argument would be
  // copied by its type's value witness. A tuple of the arguments is specialised,
  // and has the layout of an argument frame.
  // Disfavored: a call that uses no result is meant for the other overload.
  // Inlined: a call of a specialised copy would pass the arguments and the result in
  // memory, which takes 3 ns more.
  @_disfavoredOverload
  @inlinable
  @inline(__always)
  public func send<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, _ arguments: repeat each Argument
  ) throws(ForwardingError) -> Output {
    let tuple = (repeat each arguments)
    var room = SendResult()
    // SAFETY: the tuple is of the key's types, and `sendDirect` knows that the key fits
    // the method, or does nothing.
    let status = unsafe withUnsafePointer(to: tuple) { arguments in
      unsafe withUnsafeMutablePointer(to: &room) { result in
        // A key without a result fits a method with a result of any size.
        unsafe sendDirect(
          key.derived, key.selector, UnsafeRawPointer(arguments),
          Output.self == Void.self ? nil : UnsafeMutableRawPointer(result), key.passing)
      }
    }
    if status == .done { return try key.result(in: &room) }
    return try sendIndirect(status, key, repeat each arguments)
  }

  /// Forwards a method and drops its result, if it has one.
  ///
  /// ```swift
  /// try proxy.send(Visitor.finished, 12)
  /// try proxy.send("finished:", Int64(12))
  /// ```
  ///
  /// - Throws: `ForwardingError`, as with a result. An unknown selector is
  ///   ignored if the configuration says so.
  /// - Complexity: O(*n*) in the number of subscribers.
  @inlinable
  public func send<each Argument>(
    _ key: Method<Void, repeat each Argument>, _ arguments: repeat each Argument
  ) throws(ForwardingError) {
    let tuple = (repeat each arguments)
    // SAFETY: as above.
    let status = unsafe withUnsafePointer(to: tuple) { arguments in
      unsafe sendDirect(
        key.derived, key.selector, UnsafeRawPointer(arguments), nil, key.passing)
    }
    if status != .done { try sendDropping(status, key, repeat each arguments) }
  }

  /// Forwards a tuple of a key's arguments, if the key is known to fit the method.
  @usableFromInline
  @unsafe internal func sendDirect(
    _ derived: Unmanaged<DerivedMethod>, _ selector: MethodSelector,
    _ tuple: UnsafeRawPointer, _ result: UnsafeMutableRawPointer?, _ passing: ArgumentPassing
  ) -> SendStatus {
    // The fast path saves no registers, since its only call is the last one, a
    // jump. The tuple and the result have the same places among the parameters
    // as in that call, so they need not be moved.
    guard passing == .tuple, let entry = unsafe cachedEntry(derived) else {
      return unsafe sendDirectSlowly(derived, selector, tuple, result, passing)
    }
    // SAFETY: the tuple and the room are those of the key, whose types fit the method.
    return unsafe sendFrame(entry, tuple, result)
  }

  /// The slow path of `sendDirect`: the tuple is not the frame, or the key's
  /// cached index is that of another method. Leaves keys with `.each` to the caller.
  @inline(never)
  @unsafe private func sendDirectSlowly(
    _ derived: Unmanaged<DerivedMethod>, _ selector: MethodSelector,
    _ tuple: UnsafeRawPointer, _ result: UnsafeMutableRawPointer?, _ passing: ArgumentPassing
  ) -> SendStatus {
    guard passing != .each, let entry = unsafe verifiedEntry(selector, derived) else {
      return .unverified
    }
    // SAFETY: as above.
    if passing == .tuple { return unsafe sendFrame(entry, tuple, result) }
    return unsafe derived.withFrame(of: tuple) { frame in
      unsafe sendFrame(entry, frame, result)
    } ?? .unverified
  }

  @unsafe private func sendFrame(
    _ entry: UnsafePointer<fwd_proxy_method>, _ frame: UnsafeRawPointer,
    _ result: UnsafeMutableRawPointer?
  ) -> SendStatus {
    unsafe SendStatus(
      rawValue: fwd_fan_out_of_frame(core.handle, entry, frame, result).rawValue)
  }

  /// The shim's entry of a method that a key is known to fit.
  @inline(__always)
  internal func verifiedEntry(
    _ selector: MethodSelector, _ derived: Unmanaged<DerivedMethod>
  ) -> UnsafePointer<fwd_proxy_method>? {
    if let entry = unsafe cachedEntry(derived) { return unsafe entry }
    return unsafe lookUpEntry(selector, derived)
  }

  /// The entry at the index that the key has cached, or nil if the key is not
  /// known to fit the method there.
  @inline(__always)
  private func cachedEntry(
    _ derived: Unmanaged<DerivedMethod>
  ) -> UnsafePointer<fwd_proxy_method>? {
    // SAFETY: the process never frees what it has derived from a key.
    let index = unsafe derived._withUnsafeGuaranteedRef { $0.index.load(ordering: .relaxed) }
    return unsafe core.verifiedKeys.entry(at: index, for: UInt(bitPattern: derived.toOpaque()))
  }

  /// The slow path of `verifiedEntry`: finds the method and caches its index.
  @inline(never)
  private func lookUpEntry(
    _ selector: MethodSelector, _ derived: Unmanaged<DerivedMethod>
  ) -> UnsafePointer<fwd_proxy_method>? {
    let token = unsafe UInt(bitPattern: derived.toOpaque())
    guard let entry = unsafe core.method(selector), unsafe core.verifiedKeys.holds(token, entry)
    else { return nil }
    unsafe derived._withUnsafeGuaranteedRef {
      $0.index.store(unsafe fwd_proxy_method_index(entry), ordering: .relaxed)
    }
    return unsafe entry
  }

  /// Forwards what a direct send has left: arguments of any types, or of a key that is
  /// new to the method.
  ///
  /// - Parameter status: that of the direct send. If it has failed, this throws its error.
  @usableFromInline
  internal func sendIndirect<Output, each Argument>(
    _ status: SendStatus, _ key: Method<Output, repeat each Argument>,
    _ arguments: repeat each Argument
  ) throws(ForwardingError) -> Output {
    guard status == .unverified else { throw ForwardingError.last(key.selector) }
    if let key = key as? Method<Void, repeat each Argument> {
      try sendDropping(status, key, repeat each arguments)
      return unsafe unsafeBitCast((), to: Output.self)
    }
    guard let method = try knownMethod(for: key.selector) else {
      guard let invocation = try handleUnknown(key, repeat each arguments) else {
        return try Self.zero(key.selector)
      }
      return try invocation.result(as: Output.self)
    }
    try verify(key, method)
    let (coders, result) = try Self.coders(method, Output.self, repeat (each Argument).self)
    let room = ResultRoom(size: method.signature.resultLayout.size)
    // SAFETY: the frame is of the signature, and the room of the result's size.
    try unsafe Self.withFrame(coders, repeat each arguments) { frame throws(ForwardingError) in
      try unsafe method.forward(frame: frame, result: room.bytes)
    }
    do throws(ValueMismatch) {
      // SAFETY: the fan-out has put a result there, whose reference is the
      // caller's.
      return try unsafe result.decodeRetained(from: room.base)
    } catch {
      throw ForwardingError(error, selector: key.selector, signature: method.signature)
    }
  }

  /// The same, without the result.
  @usableFromInline
  internal func sendDropping<each Argument>(
    _ status: SendStatus, _ key: Method<Void, repeat each Argument>,
    _ arguments: repeat each Argument
  ) throws(ForwardingError) {
    guard status == .unverified else { throw ForwardingError.last(key.selector) }
    guard let method = try knownMethod(for: key.selector) else {
      _ = try handleUnknown(key, repeat each arguments)
      return
    }
    try verify(key, method, dropsResult: true)
    let coders = try Self.coders(method, repeat (each Argument).self)
    // SAFETY: the frame is of the signature.
    try unsafe Self.withFrame(coders, repeat each arguments) { frame throws(ForwardingError) in
      try unsafe method.forward(frame: frame)
    }
  }

  /// The zero that a send returns for an unknown selector that is ignored.
  private static func zero<Output>(_ selector: MethodSelector) throws(ForwardingError) -> Output {
    if let zero = zeroValue(of: Output.self) { return zero }
    throw ForwardingError(
      .unknownSelector, selector: selector.name,
      """
      no protocol of the proxy declares "\(selector)"; that is to be ignored, but there is no zero \
      of type \(Output.self) to give
      """)
  }
}

/// The outcome of a direct send: the shim's status, or `unverified`. If the send has failed, the
/// error is the thread's last. It has the bits of the status, so that `sendDirect` can end with
/// a jump to the shim.
@usableFromInline
internal struct SendStatus: Equatable {
  @usableFromInline internal let rawValue: UInt32
  @inlinable internal init(rawValue: UInt32) { self.rawValue = rawValue }

  /// FWD_OK.
  @inlinable internal static var done: SendStatus { SendStatus(rawValue: 0) }
  /// Nobody was called: the key passes its arguments by `.each`, it is not known to fit the
  /// method, or there is a NUL in a string. The caller writes each argument with its type,
  /// which also finds the error.
  @inlinable internal static var unverified: SendStatus { SendStatus(rawValue: .max) }
}

// MARK: - Results

extension Method {
  /// Reads the result of a direct send.
  @inlinable
  internal func result(in room: inout SendResult) throws(ForwardingError) -> Output {
    if Output.self == Void.self { return unsafe unsafeBitCast((), to: Output.self) }
    guard scalarKinds(of: Output.self) != nil, Output.self != Bool.self || isBool(in: &room) else {
      return try decodedResult(in: &room)
    }
    return scalar(in: &room)
  }

  /// Whether a result of one byte is a Bool.
  @inlinable
  internal func isBool(in room: inout SendResult) -> Bool {
    unsafe withUnsafeBytes(of: &room) { unsafe $0.load(as: UInt8.self) <= 1 }
  }

  /// Reads a result whose type has kinds of scalars, and whose bytes are a value.
  @inlinable
  internal func scalar(in room: inout SendResult) -> Output {
    // SAFETY: the room is larger than a direct key's result.
    unsafe withUnsafeBytes(of: &room) { unsafe $0.load(as: Output.self) }
  }

  @usableFromInline
  internal func decodedResult(in room: inout SendResult) throws(ForwardingError) -> Output {
    do throws(ValueMismatch) {
      return try decode(&room)
    } catch {
      throw ForwardingError(error, selector: selector, signature: try? signature)
    }
  }

  /// Reads a result of any type, and takes the reference to an object.
  internal func decode(_ room: inout SendResult) throws(ValueMismatch) -> Output {
    // SAFETY: the object was made for the key's types.
    let typed = unsafe unsafeDowncast(derivation, to: TypedDerivedMethod<Output>.self)
    // Direct keys have a signature, and so a coder.
    guard let coder = typed.result else { throw .null(Output.self) }
    // SAFETY: the fan-out has put a result there, whose reference is the
    // caller's.
    return try unsafe withUnsafeBytes(of: &room) { room throws(ValueMismatch) in
      try unsafe coder.decodeRetained(from: room.baseAddress!)
    }
  }
}

// MARK: - Frames

extension Unmanaged<DerivedMethod> {
  /// Makes the frame of a tuple of a key's arguments.
  ///
  /// - Returns: nil if a string has a NUL in it.
  @unsafe internal func withFrame<Output>(
    of tuple: UnsafeRawPointer, _ body: (UnsafeRawPointer) -> Output
  ) -> Output? {
    // SAFETY: the process never frees what it has derived from a key.
    unsafe _withUnsafeGuaranteedRef { unsafe $0.frames?.withFrame(of: tuple, body) }
  }
}

extension DynamicProxy {
  internal static func coders<each Argument>(
    _ method: ResolvedMethod, _: repeat (each Argument).Type
  ) throws(ForwardingError) -> ArgumentCoders<repeat each Argument> {
    try ArgumentCoders(method.selector, method.signature)
  }

  internal static func coders<each Argument, Output>(
    _ method: ResolvedMethod, _: Output.Type, _: repeat (each Argument).Type
  ) throws(ForwardingError) -> (ArgumentCoders<repeat each Argument>, ValueCoder<Output>) {
    (
      try ArgumentCoders(method.selector, method.signature),
      try ValueCoder(resultOf: method.selector, method.signature)
    )
  }

  /// Puts the arguments into a frame on the stack and keeps them alive while
  /// `body` uses it.
  @unsafe internal static func withFrame<each Argument>(
    _ coders: ArgumentCoders<repeat each Argument>, _ arguments: repeat each Argument,
    body: (UnsafeRawBufferPointer) throws(ForwardingError) -> Void
  ) throws(ForwardingError) {
    var failure: ForwardingError?
    let size = coders.signature.frameSize
    // SAFETY: the memory has the frame's size and alignment, and is zeroed for
    // the padding.
    unsafe withUnsafeTemporaryAllocation(
      byteCount: max(size, 1), alignment: coders.signature.frameAlignment
    ) { memory in
      unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
      do throws(ForwardingError) {
        let copies = try unsafe coders.encode(repeat each arguments, into: memory.baseAddress!)
        defer { extendLifetime(copies) }
        try unsafe body(UnsafeRawBufferPointer(rebasing: memory.prefix(size)))
      } catch {
        failure = error
      }
    }
    withExtendedLifetime((repeat each arguments)) {}
    if let failure { throw failure }
  }
}

/// Zeroed memory for a result.
@safe internal final class ResultRoom {
  private let memory: UnsafeMutableRawBufferPointer

  init(size: Int) {
    unsafe memory = .allocate(byteCount: max(size, 16), alignment: 16)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
    unsafe bytes = UnsafeMutableRawBufferPointer(rebasing: memory.prefix(size))
  }

  deinit { unsafe memory.deallocate() }

  /// As many bytes as the result has.
  let bytes: UnsafeMutableRawBufferPointer
  var base: UnsafeRawPointer { unsafe UnsafeRawPointer(memory.baseAddress!) }
  /// At least a word, so that there is an address for results of no bytes.
  var start: UnsafeMutableRawPointer { unsafe memory.baseAddress! }
}

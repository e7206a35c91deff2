// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A C function pointer made at run time, whose calls run a Swift closure.
///
/// ```swift
/// let double = try FunctionPointer(try MethodSignature("ii")) { call in
///   guard let value = try? call.argument(at: 0, as: Int32.self) else { return }
///   try? call.setResult(value * 2)
/// }
/// let function: @convention(c) (Int32) -> Int32 = unsafe double.unsafeCast()
/// function(21)                        // 42
/// withExtendedLifetime(double) {}
/// ```
///
/// The pointer may be called, from any thread, as long as the `FunctionPointer`
/// lives. It may be released inside its own call: what the running calls need
/// is freed when the last of them has returned. A function pointer that a proxy
/// makes for an owner may be called for the life of the process.
///
/// On x86-64 a few hundred function pointers are compiled into the
/// library: see <doc:CallPlans>. If all of them are in use, and on other
/// processors, a function pointer needs executable memory that is allocated at
/// run time, which hardened systems refuse.
///
/// The handler returns on the thread that it was called on.
@safe public final class FunctionPointer: @unchecked Sendable {
  // Sendable: immutable; the shim sees to calls that run while it ends.

  /// The signature that the function has.
  public let signature: MethodSignature

  private let address: UnsafeRawPointer
  /// Nil for a function that another object owns.
  private let closure: OpaquePointer?

  /// An object that the calls need and the closure itself does not keep.
  private let owner: (any AnyObject & Sendable)?

  /// Makes a function whose calls run `handler`.
  ///
  /// - Parameters:
  ///   - signature: the signature of the function. It needs no receiver.
  ///   - handler: runs on the thread of each call. The call that it gets is
  ///     valid until it returns; a result that it does not set is zeros. It is
  ///     released when no call can use it any more.
  /// - Throws: `ForwardingError` with the codes `unsupported` for a variadic
  ///   signature; `noExecutableMemory` if the system refuses such memory;
  ///   `outOfMemory`.
  public init(
    _ signature: MethodSignature, handler: @escaping @Sendable (borrowing Call) -> Void
  ) throws(ForwardingError) {
    let context = Context(signature: signature, handler: handler)
    var closure: OpaquePointer?
    var error = fwd_error()
    // SAFETY: the closure takes over the reference to the context, and gives it
    // up by the second function when no call can use it any more.
    let retained = unsafe Unmanaged.passRetained(context)
    let status = unsafe fwd_closure_create_owning(
      signature.handle,
      { context, arguments, result in
        guard let context = unsafe context else { return }
        let handler = unsafe Unmanaged<Context>.fromOpaque(context).takeUnretainedValue()
        handler.handler(
          unsafe Call(signature: handler.signature, arguments: arguments, result: result))
      },
      retained.toOpaque(),
      { context in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<Context>.fromOpaque(context).release()
      },
      &closure, &error)
    guard status == FWD_OK, let closure = unsafe closure else {
      // SAFETY: the closure was not made, so nothing has taken the reference
      // over.
      unsafe retained.release()
      if status == FWD_UNSUPPORTED { throw ForwardingError(error, encoding: signature.text) }
      throw ForwardingError(
        status == FWD_NO_EXECUTABLE_MEMORY ? .noExecutableMemory : .outOfMemory,
        encoding: signature.text, actual: error.text)
    }
    self.signature = signature
    unsafe self.closure = closure
    unsafe address = Self.address(of: closure)
    owner = nil
  }

  /// A function that is valid for the life of the process.
  @unsafe internal init(address: UnsafeRawPointer, _ signature: MethodSignature) {
    self.signature = signature
    unsafe self.address = address
    unsafe closure = nil
    owner = nil
  }

  private static func address(of closure: OpaquePointer) -> UnsafeRawPointer {
    // SAFETY: POSIX gives functions addresses.
    unsafe unsafeBitCast(fwd_closure_function(closure)!, to: UnsafeRawPointer.self)
  }

  /// Takes over a closure of the shim, and keeps `owner` as long as it lives.
  internal init(
    owning closure: OpaquePointer, _ signature: MethodSignature,
    keeping owner: (any AnyObject & Sendable)? = nil
  ) {
    self.signature = signature
    unsafe self.closure = closure
    unsafe address = Self.address(of: closure)
    self.owner = owner
  }

  deinit {
    // SAFETY: the closure is owned, and ended once. Null is ignored.
    unsafe fwd_closure_destroy(closure)
  }

  private final class Context: Sendable {
    let signature: MethodSignature
    let handler: @Sendable (borrowing Call) -> Void

    init(signature: MethodSignature, handler: @escaping @Sendable (borrowing Call) -> Void) {
      self.signature = signature
      self.handler = handler
    }
  }
}

// MARK: - The pointer

extension FunctionPointer {
  /// The address of the function, valid as long as this object lives, or for the
  /// life of the process if the function has an owner.
  @unsafe public var unsafePointer: UnsafeRawPointer { unsafe address }

  /// Returns the function as a value of a `@convention(c)` type.
  ///
  /// The caller promises to call it only as long as ``unsafePointer`` is valid, and
  /// that the types have the same meaning as the signature's. Their shape is
  /// checked: the number of parameters, and the size and the kind of register
  /// (integer or floating-point) of each parameter and of the result.
  /// Signedness and types of pointers are not compared; of unions, bit-fields
  /// and packed structs only the size is. For C's `void (*)(void)` that stands
  /// for a function of any type, convert ``unsafePointer``.
  ///
  /// - Precondition: `Function` is a C function pointer, or an optional of one,
  ///   of the shape of `signature`. Else the program ends with a message that
  ///   shows both.
  @unsafe public func unsafeCast<Function: BitwiseCopyable>(
    to type: Function.Type = Function.self
  ) -> Function {
    if let reason = castMismatch(Function.self) {
      // Not `precondition`, which has no message in release builds.
      fatalError(reason)
    }
    // SAFETY: a C function pointer's value is the address of a function; this
    // one has the type's shape.
    return unsafe unsafeBitCast(unsafePointer, to: Function.self)
  }
}

extension FunctionPointer {
  /// Says why the function cannot be called as a value of a type, or nil if it
  /// can.
  internal func castMismatch(_ type: Any.Type) -> String? {
    guard let function = CFunctionType(type) else {
      return "\(type) is no C function pointer: expected a @convention(c) type for "
        + "\"\(signature)\", \(signature.inWords)"
    }
    return function.mismatch(with: signature).map { reason in
      "a function pointer of \"\(signature)\", \(signature.inWords), is no \(type): \(reason)"
    }
  }
}

// MARK: - A call

extension FunctionPointer {
  /// One call of a function pointer: its arguments, and room for its result. It
  /// cannot be copied or kept, so that it does not outlive the call.
  @safe public struct Call: ~Copyable {
    private let signature: MethodSignature
    private let arguments: UnsafePointer<UnsafeMutableRawPointer>
    private let room: UnsafeMutableRawPointer

    fileprivate init(
      signature: MethodSignature, arguments: UnsafePointer<UnsafeMutableRawPointer>,
      result: UnsafeMutableRawPointer
    ) {
      self.signature = signature
      unsafe self.arguments = arguments
      unsafe room = result
    }
  }
}

extension FunctionPointer.Call {
  /// Gives an argument.
  ///
  /// - Parameters:
  ///   - index: counts all arguments, the receiver and the selector included.
  ///   - type: a Swift type that may stand for the argument's encoding.
  /// - Throws: `ForwardingError` with the codes `indexOutOfRange`;
  ///   `typeMismatch` for a type that may not stand for the encoding or an
  ///   object of another class; `nullPointer`, `valueNotRepresentable`.
  public borrowing func argument<Value>(
    at index: Int, as type: Value.Type
  ) throws(ForwardingError) -> Value {
    let argument = try signature.checkedArgument(at: index)
    do throws(ValueMismatch) {
      // SAFETY: the coder fits the argument; the pointer is aligned and valid
      // during the call.
      return try unsafe ValueCoder<Value>(for: argument.encoding).decode(from: arguments[index])
    } catch {
      throw ForwardingError(error, signature: signature, argumentIndex: index)
    }
  }

  /// Calls `body` with the bytes of an argument, which are valid during the
  /// call.
  ///
  /// - Throws: `ForwardingError` with the code `indexOutOfRange`; what `body`
  ///   throws.
  public borrowing func withBytes<Value>(
    ofArgumentAt index: Int, _ body: (RawSpan) throws(ForwardingError) -> Value
  ) throws(ForwardingError) -> Value {
    let argument = try signature.checkedArgument(at: index)
    // SAFETY: the shim gives as many bytes as the type has, valid during the
    // call.
    return try body(
      unsafe UnsafeRawBufferPointer(start: arguments[index], count: argument.layout.size).bytes)
  }

  /// Sets the result. An object is retained for the caller (+1).
  ///
  /// - Throws: `ForwardingError` with the code `typeMismatch` for a type that
  ///   may not stand for the result.
  public borrowing func setResult<Value>(_ value: Value) throws(ForwardingError) {
    do throws(ValueMismatch) {
      let coder = try ValueCoder<Value>(storingIn: signature.result)
      // SAFETY: the coder fits the result, for which the shim gives room. An
      // object that was set before, or null, is there with its reference.
      let earlier = coder.isObject ? unsafe room.load(as: Unmanaged<AnyObject>?.self) : nil
      unsafe coder.encodeRetained(value, into: room)
      unsafe earlier?.release()
    } catch {
      throw ForwardingError(error, signature: signature)
    }
  }

  /// Sets the result to bytes. The caller promises that they are a value of the
  /// result's type, an object with a reference for the C caller.
  ///
  /// - Throws: `ForwardingError` with the code `wrongSize`.
  @unsafe public borrowing func setResultBytes(_ bytes: RawSpan) throws(ForwardingError) {
    let size = signature.resultLayout.size
    guard bytes.byteCount == size else {
      throw ForwardingError(
        .wrongSize, encoding: signature.text, expected: size == 1 ? "1 byte" : "\(size) bytes",
        actual: "\(bytes.byteCount)", subject: "the result")
    }
    // SAFETY: the sizes agree; a span into the result may overlap, which
    // copyMemory allows.
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe UnsafeMutableRawBufferPointer(start: room, count: size).copyMemory(from: bytes)
    }
  }

  /// Makes an invocation of the arguments, which may outlive the call once its
  /// arguments are retained. The receiver is taken as a pointer, see
  /// `Invocation.unsafeTarget`; it has no result.
  ///
  /// - Throws: `ForwardingError` with the code `noReceiver` if the first
  ///   argument of the signature is no pointer.
  /// - Complexity: O(*n*) in the size of the arguments.
  package borrowing func invocation(
    of selector: MethodSelector
  ) throws(ForwardingError) -> Invocation {
    // SAFETY: the shim gives a pointer for each argument, the receiver's word
    // among them.
    let invocation = try unsafe Invocation(
      selector, ArgumentFrame(signature, copying: arguments))
    unsafe invocation.unsafeTarget = arguments[0].load(as: UnsafeRawPointer?.self)
    return invocation
  }
}

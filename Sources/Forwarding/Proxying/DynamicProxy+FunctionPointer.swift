// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// How much of a method's signature a function pointer has.
  public enum FunctionForm: Sendable, Hashable {
    /// Only the arguments, as a C callback without context has: `v@:id` becomes
    /// `void (*)(int, double)`.
    case arguments
    /// The whole signature. The receiver and the selector that the caller
    /// passes are ignored, so that a callback with a context, such as `void
    /// (*)(void *, int)`, is a method `v^vi`.
    case method
  }

  /// Makes a C function pointer that forwards a method into the proxy, for a C
  /// library that takes a callback.
  ///
  /// ```swift
  /// let callback = try proxy.functionPointer(for: "visit:status:kind:position:")
  /// nftw(path, unsafe callback.unsafeCast(), 32, FTW_PHYS)
  /// ```
  ///
  /// The function may be called, from any thread, as long as the
  /// `FunctionPointer` lives; it keeps the proxy alive. What a call could not
  /// do goes to the proxy's error handler, and the C caller gets the method's
  /// default result, else zeroes. On x86-64 a call costs about 4 ns more than a
  /// resolved method.
  ///
  /// - Throws: `ForwardingError` with the codes `unknownSelector`; `dead` if the
  ///   proxy is being deinitialised;
  ///   `noExecutableMemory` if the system refuses memory for it; `outOfMemory`.
  public func functionPointer(
    for selector: MethodSelector, form: FunctionForm = .arguments
  ) throws(ForwardingError) -> FunctionPointer {
    let method = try method(for: selector)
    let closure = try unsafe method.closure(form)
    let signature: MethodSignature
    do throws(ForwardingError) {
      signature = form == .arguments ? try method.signature.withoutReceiver() : method.signature
    } catch {
      unsafe fwd_closure_destroy(closure)
      throw ForwardingError(.outOfMemory, selector: selector.name, error.description)
    }
    return unsafe FunctionPointer(owning: closure, signature)
  }
}

extension ResolvedMethod {
  /// Makes a closure of the shim that forwards the method and keeps the proxy
  /// alive. The caller destroys it.
  @unsafe internal func closure(
    _ form: DynamicProxy.FunctionForm
  ) throws(ForwardingError) -> OpaquePointer {
    // A function pointer of a proxy that is being deinitialised would outlive it.
    try proxy.subscribers.failIfClosing()
    var closure: OpaquePointer?
    var error = fwd_error()
    // SAFETY: the reference to the proxy is given up when no call can use it
    // any more.
    let owner = unsafe Unmanaged.passRetained(proxy)
    let status = unsafe fwd_proxy_closure_create(
      proxy.core.handle, entry,
      form == .arguments ? FWD_FUNCTION_ARGUMENTS : FWD_FUNCTION_METHOD,
      { owner in unsafe Unmanaged<DynamicProxy>.fromOpaque(owner!).release() },
      owner.toOpaque(), &closure, &error)
    guard status == FWD_OK, let closure = unsafe closure else {
      unsafe owner.release()
      throw ForwardingError(error, selector: selector.name)
    }
    return unsafe closure
  }
}

// MARK: - Tables of callbacks

extension DynamicProxy {
  /// Fills a C struct of function pointers, such as a library's table of
  /// callbacks, with functions that forward into the proxy.
  ///
  /// ```swift
  /// var handlers = parser_callbacks()
  /// let table = try proxy.callbackTable(&handlers, [
  ///   (\.on_start, "start:"), (\.on_text, "text:length:"),
  /// ], form: .method)
  /// ```
  ///
  /// - Parameters:
  ///   - table: the struct. On failure it is unchanged.
  ///   - entries: for each field, a key path to it and the selector to forward.
  ///   - form: whether the functions take the receiver and the selector.
  /// - Returns: what keeps the functions alive.
  /// - Throws: `ForwardingError`, as `functionPointer(for:form:)`, and
  ///   `typeMismatch` for a field that is no C function pointer, or whose
  ///   function type has another shape, see ``FunctionPointer/unsafeCast(to:)``.
  @unsafe public func callbackTable<Table>(
    _ table: inout Table, _ entries: [(field: PartialKeyPath<Table>, selector: MethodSelector)],
    form: FunctionForm = .arguments
  ) throws(ForwardingError) -> [FunctionPointer] {
    var filled = table
    var functions: [FunctionPointer] = []
    for entry in entries {
      let function = try functionPointer(for: entry.selector, form: form)
      guard let offset = MemoryLayout<Table>.offset(of: entry.field),
        Self.isFunction(type(of: entry.field).valueType)
      else {
        throw ForwardingError(
          .typeMismatch, selector: entry.selector.name,
          "the field for \"\(entry.selector)\" is \(type(of: entry.field).valueType), expected a C function pointer"
        )
      }
      if let reason = function.castMismatch(type(of: entry.field).valueType) {
        throw ForwardingError(
          .typeMismatch, selector: entry.selector.name,
          "the field for \"\(entry.selector)\": \(reason)")
      }
      // SAFETY: the field lies within the struct, has the size of a pointer, and
      // its type the function's shape.
      unsafe withUnsafeMutableBytes(of: &filled) { bytes in
        unsafe bytes.storeBytes(
          of: function.unsafePointer, toByteOffset: offset, as: UnsafeRawPointer.self)
      }
      functions.append(function)
    }
    table = filled
    return functions
  }

  /// Whether a C function pointer may be stored as a value of the type.
  private static func isFunction(_ type: Any.Type) -> Bool {
    func fits<Value>(_: Value.Type) -> Bool {
      guard let function = try? TypeEncoding("^?") else { return false }
      return (try? ValueCoder<Value>(for: function)) != nil
    }
    return _openExistential(type, do: fits)
  }
}

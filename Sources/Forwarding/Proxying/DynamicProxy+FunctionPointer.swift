// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Where the callback of a C library has its context pointer.
  ///
  /// A C library passes a callback the pointer that was registered with it. The
  /// proxy ignores it, so the method declares the other parameters only. To skip
  /// the context costs nothing.
  public enum ContextPosition: Sendable, Hashable {
    /// The callback has no context: `void (*)(int, double)`.
    case none
    /// The context comes first: `void (*)(void *, int, double)`.
    case first
    /// The context comes last: `void (*)(int, double, void *)`.
    case last
    /// The context has this index among the parameters of the callback: at 1 that
    /// is `void (*)(int, void *, double)`.
    case at(Int)
  }

  /// Makes a C function pointer that forwards a method into the proxy, for a C
  /// library that takes a callback.
  ///
  /// ```swift
  /// let callback = try proxy.functionPointer(for: "visit:status:kind:position:")
  /// nftw(path, unsafe callback.unsafeCast(), 32, FTW_PHYS)
  ///
  /// let hook = try proxy.functionPointer(for: "commit", context: .first, owner: connection)
  /// sqlite3_commit_hook(connection.handle, unsafe hook.unsafeCast(), nil)
  /// ```
  ///
  /// The function may be called from any thread. `failure` is the result of each
  /// delivery that fails, in place of the one that the method declares: a policy
  /// treats it as if the subscriber had returned it. If the call fails as a whole, the
  /// proxy's `onError` gets the error, and the C caller gets `failure`, else the
  /// method's own failure result, else zeros.
  ///
  /// **Without an owner** the function may be called as long as the
  /// `FunctionPointer` lives. The `FunctionPointer` keeps the proxy alive.
  ///
  /// **With an owner** the `FunctionPointer` need not be kept. Keep the owner and the
  /// proxy: the function forwards as long as both live, and keeps neither alive. It
  /// may be called for the life of the process: after the death of one of them, a
  /// call returns `failure`, else the method's own failure result, else
  /// its default, else zeros. Each such call is an error of the code `dead` for the
  /// proxy's error handler. So the handler, with all that it captures, lives as long
  /// as the process. The same request with the same owner gives the same function
  /// again.
  ///
  /// Both may die during a call of the function, on any thread. If the owner dies,
  /// the call is completed. If the proxy dies, the subscriber that is being called
  /// finishes, and those behind it are not called.
  ///
  /// The function pointer of a dead owner is never used for anything else, and keeps
  /// some memory; see <doc:BridgingC>.
  ///
  /// - Parameters:
  ///   - selector: the method.
  ///   - context: where the library passes its context pointer.
  ///   - failure: the result of a delivery that fails, and of a call that fails. If
  ///     it is left out, it is the one that the method declares.
  ///   - owner: an object that owns the function. It may be the proxy.
  /// - Throws: `ForwardingError` with the codes `unknownSelector`; `dead` if the
  ///   proxy or the owner is being deinitialised; `policyMismatch` if `failure`
  ///   does not fit the method's result; `indexOutOfRange` for a context with a
  ///   negative index or past the end; `noExecutableMemory` if the system refuses memory for it;
  ///   `outOfMemory`.
  public func functionPointer<Failure>(
    for selector: MethodSelector, context: ContextPosition = .none,
    onFailure failure: Failure = Never?.none, owner: AnyObject? = nil
  ) throws(ForwardingError) -> FunctionPointer {
    let method = try method(for: selector)
    let failure = try Failure.self == Never?.self ? nil : method.failureResult(failure)
    return try method.functionPointer(context, onFailure: failure, owner: owner)
  }

  /// Makes a C function pointer that forwards the method of a key into the proxy;
  /// see ``functionPointer(for:context:onFailure:owner:)-(MethodSelector,_,_,_)``.
  ///
  /// - Throws: `ForwardingError`, as with a selector, and with the code
  ///   `signatureMismatch` if the method has other types than the key. The error of
  ///   `failure`, if that throws one.
  public func functionPointer<Output, each Argument>(
    for key: Method<Output, repeat each Argument>, context: ContextPosition = .none,
    onFailure failure: @autoclosure () throws(ForwardingError) -> Output = try leftOut(),
    owner: AnyObject? = nil
  ) throws(ForwardingError) -> FunctionPointer {
    let method = try method(for: key)
    let failure = try StatedResult.failure.value(failure, of: key.selector).map {
      value throws(ForwardingError) in try method.failureResult(value)
    }
    return try method.functionPointer(context, onFailure: failure, owner: owner)
  }
}

extension DynamicProxy.ContextPosition {
  /// The form of a function, as the shim counts.
  internal var form: Int32 {
    switch self {
    case .none: FWD_FUNCTION_ARGUMENTS.rawValue
    case .first: FWD_FUNCTION_CONTEXT_FIRST.rawValue
    case .last: FWD_FUNCTION_CONTEXT_LAST.rawValue
    // An index that is too large for the shim's number is out of range anyway.
    case .at(let index): index < 0 ? .min : Int32(clamping: min(index, .max - 1) + 1)
    }
  }

  /// The position that a form says. A negative form that does not exist is a
  /// negative index.
  internal init(_ form: Int32) {
    switch form {
    case FWD_FUNCTION_ARGUMENTS.rawValue: self = .none
    case FWD_FUNCTION_CONTEXT_FIRST.rawValue: self = .first
    case FWD_FUNCTION_CONTEXT_LAST.rawValue: self = .last
    default: self = .at(Int(form) - 1)
    }
  }
}

// MARK: - Making

extension ResolvedMethod {
  /// Encodes a failure result.
  internal func failureResult<Value>(_ value: Value) throws(ForwardingError) -> StoredValue {
    do throws(ValueMismatch) {
      return try StoredValue(value, as: signature.result)
    } catch {
      let reason = ForwardingError(error, selector: selector, signature: signature)
      throw ForwardingError(
        .policyMismatch, selector: selector.name,
        "the failure result of \"\(selector)\": \(reason)")
    }
  }

  fileprivate func functionPointer(
    _ context: DynamicProxy.ContextPosition, onFailure failure: StoredValue?, owner: AnyObject?
  ) throws(ForwardingError) -> FunctionPointer {
    let signature = try callbackSignature(context)
    guard let owner else {
      return unsafe FunctionPointer(owning: try closure(context, onFailure: failure), signature)
    }
    let address = try unsafe proxy.ownedFunctions.function(
      for: self, context, onFailure: failure, owner: owner)
    return unsafe FunctionPointer(address: address, signature)
  }

  /// The signature of a callback that forwards the method.
  internal func callbackSignature(
    _ context: DynamicProxy.ContextPosition
  ) throws(ForwardingError) -> MethodSignature {
    var callback: OpaquePointer?
    var error = fwd_error()
    // SAFETY: the outputs are local variables.
    let status = unsafe fwd_function_signature(entry, context.form, &callback, nil, &error)
    guard status == FWD_OK, let callback = unsafe callback else {
      if status == FWD_OUT_OF_RANGE {
        throw ForwardingError(.indexOutOfRange, selector: selector.name, error.text)
      }
      throw ForwardingError(error, selector: selector.name)
    }
    // SAFETY: the value takes over the reference.
    return unsafe MethodSignature(owning: callback)
  }

  /// Makes a closure of the shim that forwards the method and keeps the proxy
  /// alive. The caller destroys it.
  @unsafe internal func closure(
    _ context: DynamicProxy.ContextPosition, onFailure failure: StoredValue? = nil
  ) throws(ForwardingError) -> OpaquePointer {
    // A function pointer of a proxy that is being deinitialised would outlive it.
    try proxy.subscribers.failIfClosing()
    // The shim copies the bytes of an object without a reference.
    let held = KeptByClosure(proxy: proxy, failure: failure)
    var closure: OpaquePointer?
    var error = fwd_error()
    // SAFETY: the reference to the proxy is given up when no call can use it
    // any more.
    let owner = unsafe Unmanaged.passRetained(held)
    let status = unsafe fwd_proxy_closure_create(
      proxy.core.handle, entry, context.form,
      failure.map { unsafe UnsafeRawPointer($0.bytes.baseAddress!) },
      { owner in unsafe Unmanaged<KeptByClosure>.fromOpaque(owner!).release() },
      owner.toOpaque(), &closure, &error)
    guard status == FWD_OK, let closure = unsafe closure else {
      unsafe owner.release()
      throw ForwardingError(error, selector: selector.name)
    }
    return unsafe closure
  }

  /// The objects that a closure keeps alive.
  private final class KeptByClosure {
    private let proxy: DynamicProxy
    private let failure: StoredValue?

    init(proxy: DynamicProxy, failure: StoredValue?) {
      self.proxy = proxy
      self.failure = failure
    }
  }
}

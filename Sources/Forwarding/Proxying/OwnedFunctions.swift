// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The function pointers of one proxy that objects own.
///
/// A function has no strong reference to its owner or to the proxy, see
/// `owned_function.c`. The proxy is not notified of an owner's death: each call
/// checks for it, and `collect` releases the objects of dead owners' functions.
@safe internal final class OwnedFunctions: Sendable {
  /// A request for a function. Equal requests get the same function.
  private struct Request: Hashable {
    /// The owner's address, which no other object has as long as the function
    /// refers to it.
    let owner: ObjectIdentifier
    let method: Int
    let form: Int32
    /// The bytes of the failure result.
    let failure: [UInt8]?
  }

  /// A function of the shim.
  @safe private struct OwnedFunction: @unchecked Sendable {
    // Sendable: only the thread that takes a function out of the state buries it.
    let handle: OpaquePointer

    /// The address of the code, valid for the life of the process.
    var address: UnsafeRawPointer {
      // SAFETY: POSIX gives functions addresses.
      unsafe unsafeBitCast(fwd_owned_function_pointer(handle), to: UnsafeRawPointer.self)
    }

    var ownerHasDied: Bool { unsafe fwd_owned_function_owner_has_died(handle) }

    /// - Precondition: it is called once, under no lock.
    func bury() { unsafe fwd_owned_function_bury(handle) }
  }

  private struct State {
    var functions: [Request: OwnedFunction] = [:]
    /// The number of functions at which `collect` runs.
    var collectsAt = 16
  }

  private let state = Lock(State())

  /// The function of a request, valid for the life of the process.
  ///
  /// - Throws: `ForwardingError`: `dead`, and the failures of the shim.
  internal func function(
    for method: ResolvedMethod, _ context: DynamicProxy.ContextPosition,
    onFailure failure: StoredValue?, owner: AnyObject
  ) throws(ForwardingError) -> UnsafeRawPointer {
    try method.proxy.subscribers.failIfClosing()
    let address = unsafe Unmanaged.passUnretained(owner).toOpaque()
    // SAFETY: the caller has a reference, or is called by the object's deinitialiser.
    guard unsafe !fwd_object_is_dying(address) else {
      throw ForwardingError(
        .dead, selector: method.selector.name,
        "the owner of the function pointer for \"\(method.selector)\" is being deinitialised")
    }
    collectIfGrown()
    let size = method.signature.resultLayout.size
    let request = Request(
      owner: ObjectIdentifier(owner), method: unsafe fwd_proxy_method_index(method.entry),
      form: context.form,
      failure: failure.map { unsafe [UInt8]($0.bytes.prefix(size)) })
    let function = try state.withLock { state throws(ForwardingError) in
      if let known = state.functions[request] { return known }
      let made = try unsafe make(method, context.form, failure, owner)
      state.functions[request] = made
      return made
    }
    extendLifetime(owner)
    return unsafe function.address
  }

  @unsafe private func make(
    _ method: ResolvedMethod, _ form: Int32, _ failure: StoredValue?, _ owner: AnyObject
  ) throws(ForwardingError) -> OwnedFunction {
    let proxy = method.proxy
    let reporter = proxy.core.settings.lateCallReporter
    // SAFETY: the shim copies the result, and refers to the owner weakly. A proxy is
    // its own owner without another reference.
    var request = unsafe fwd_owned_function_request(
      proxy: proxy.core.handle, method: method.entry, form: form,
      failure_result: failure.map { unsafe UnsafeRawPointer($0.bytes.baseAddress!) },
      owner: owner === proxy ? nil : Unmanaged.passUnretained(owner).toOpaque(),
      owner_type: unsafeBitCast(type(of: owner) as Any.Type, to: UnsafeRawPointer.self),
      reporter: Unmanaged.passUnretained(reporter).toOpaque(),
      report: { reporter, selector, type in
        // SAFETY: the tombstone keeps the reporter; metadata of types is never freed.
        let reporter = unsafe Unmanaged<LateCallReporter>.fromOpaque(reporter!)
        unsafe reporter._withUnsafeGuaranteedRef {
          $0.report(
            unsafe MethodSelector(handle: selector), unsafe unsafeBitCast(type, to: Any.Type.self))
        }
      })
    var function: OpaquePointer?
    var error = fwd_error()
    let status = unsafe fwd_owned_function_create(&request, &function, &error)
    guard status == FWD_OK, let function = unsafe function else {
      throw ForwardingError(error, selector: method.selector.name)
    }
    return unsafe OwnedFunction(handle: function)
  }

  // MARK: Ending

  private func collectIfGrown() {
    if state.withLock({ $0.functions.count >= $0.collectsAt }) { collect() }
  }

  /// Buries the functions of owners that have died.
  ///
  /// - Complexity: O(*n*) in the number of functions.
  internal func collect() {
    let dead = state.withLock { state in
      let dead = state.functions.filter { $0.value.ownerHasDied }
      for request in dead.keys { state.functions[request] = nil }
      state.collectsAt = max(16, 2 * state.functions.count)
      return Array(dead.values)
    }
    for function in dead { function.bury() }
  }

  /// Buries all functions: the proxy dies.
  internal func close() {
    let all = state.withLock { state in
      defer { state.functions = [:] }
      return Array(state.functions.values)
    }
    for function in all { function.bury() }
  }
}

extension DynamicProxy {
  /// The function pointers that objects own.
  internal var ownedFunctions: OwnedFunctions {
    core.extras.attachments.value(OwnedFunctions.self) { OwnedFunctions() }
  }
}

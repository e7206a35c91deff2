// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The names are those of forwarding.h.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

package import CForwarding
internal import CForwardingInternal

// Interception for forwarding.h, which documents these functions. A
// `fwd_invocation` is a `CInvocation` that lives during the interceptor's call.

/// Intercepts a method; see `forwarding.h`.
@c @implementation
package func fwd_proxy_intercept(
  _ proxy: OpaquePointer?, _ selector: fwd_selector?, _ point: fwd_interception_point,
  _ interceptor: fwd_interceptor?, _ context: UnsafeMutableRawPointer?,
  _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
  _ interception: UnsafeMutablePointer<fwd_interception>?, _ error: UnsafeMutablePointer<fwd_error>?
) -> fwd_status {
  if point == FWD_INTERCEPT_BLOCK, let proxy = unsafe proxy {
    return unsafe block(proxy, selector, interceptor, context, destroy, interception, error)
  }
  guard let proxy = unsafe proxy, let selector = unsafe selector,
    let interceptor = unsafe interceptor
  else {
    let missing =
      unsafe proxy == nil ? "proxy" : unsafe selector == nil ? "selector" : "interceptor"
    return unsafe fail(error, FWD_NULL_ARGUMENT, "fwd_proxy_intercept: no \(missing)")
  }
  if unsafe fwd_proxy_core_is_closing(proxy) { return unsafe fwd_proxy_core_fail_closing(error) }
  // SAFETY: the caller has a reference to the proxy.
  let target = unsafe DynamicProxy.of(core: proxy)
  let handler = unsafe CInterceptor(interceptor, context, destroy, target.configuration.onError)
  do throws(ForwardingError) {
    // SAFETY: a selector is never freed.
    let (made, _) = try target.addInterceptor(
      unsafe MethodSelector(handle: selector), try InterceptionPoint(point)
    ) { _ in handler.body(at: point) }
    unsafe interception?.pointee = made.identifier
    return FWD_OK
  } catch let failure {
    handler.disown()
    return unsafe fail(error, failure)
  }
}

/// Blocks a method, or all methods.
@unsafe private func block(
  _ proxy: OpaquePointer, _ selector: fwd_selector?, _ interceptor: fwd_interceptor?,
  _ context: UnsafeMutableRawPointer?,
  _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
  _ interception: UnsafeMutablePointer<fwd_interception>?, _ error: UnsafeMutablePointer<fwd_error>?
) -> fwd_status {
  guard unsafe interceptor == nil else {
    return unsafe fail(
      error, FWD_NOT_ALLOWED,
      "fwd_proxy_intercept: FWD_INTERCEPT_BLOCK calls no interceptor, expected NULL")
  }
  if unsafe fwd_proxy_core_is_closing(proxy) { return unsafe fwd_proxy_core_fail_closing(error) }
  let notifier = unsafe CInterceptor(nil, context, destroy) { _ in }
  do throws(ForwardingError) {
    // SAFETY: the caller has a reference to the proxy, and a selector is never
    // freed.
    let (made, _) = try unsafe DynamicProxy.of(core: proxy).addBlocker(
      selector.map { unsafe MethodSelector(handle: $0) }, .block(notifier))
    unsafe interception?.pointee = made.identifier
    return FWD_OK
  } catch let failure {
    notifier.disown()
    return unsafe fail(error, failure)
  }
}

/// Ends an interception; see `forwarding.h`.
@c @implementation
package func fwd_proxy_end_interception(
  _ proxy: OpaquePointer?, _ interception: fwd_interception
) -> fwd_status {
  guard let proxy = unsafe proxy else {
    return unsafe fail(nil, FWD_NULL_ARGUMENT, "fwd_proxy_end_interception: no proxy")
  }
  if unsafe fwd_proxy_core_is_closing(proxy) { return fwd_proxy_core_fail_closing(nil) }
  // SAFETY: the caller has a reference to the proxy.
  guard unsafe DynamicProxy.of(core: proxy).endInterceptor(interception) else {
    return unsafe fail(
      nil, FWD_NOT_SUBSCRIBED, "the proxy has no interception \(interception)")
  }
  return FWD_OK
}

// MARK: - Interceptors

/// An interceptor of a C program and its context, which is destroyed with this
/// object: interceptions hold it, and so does each invocation under way.
@safe private final class CInterceptor: @unchecked Sendable {
  // Sendable: forwarding.h says that the function may run on several threads.
  // `destroy` changes before another thread has the object.
  /// Nil for one that blocks, which is not called.
  private let function: fwd_interceptor?
  private let context: UnsafeMutableRawPointer?
  private var destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
  private let report: @Sendable (ForwardingError) -> Void

  init(
    _ function: fwd_interceptor?, _ context: UnsafeMutableRawPointer?,
    _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
    _ report: @escaping @Sendable (ForwardingError) -> Void
  ) {
    unsafe self.function = function
    unsafe self.context = context
    unsafe self.destroy = destroy
    self.report = report
  }

  deinit {
    // SAFETY: the C program has given the context to this object.
    unsafe destroy?(context)
  }

  /// Leaves the context to the caller, after a failure.
  func disown() { unsafe destroy = nil }

  func body(at point: fwd_interception_point) -> Interceptor.Body {
    switch point {
    case FWD_INTERCEPT_AROUND:
      .around { invocation, proceed in try self.run(invocation, at: point, proceed) }
    case FWD_INTERCEPT_INSTEAD:
      .replacement { invocation throws(ForwardingError) in try self.run(invocation, at: point) }
    default:
      .observer { invocation in
        do throws(ForwardingError) {
          try self.run(invocation, at: point)
        } catch {
          self.report(error)
        }
      }
    }
  }

  private func run(
    _ invocation: Invocation, at point: fwd_interception_point, _ proceed: Proceed? = nil
  ) throws(ForwardingError) {
    guard let function = unsafe function else { return }
    let passed = CInvocation(invocation, at: point, proceed)
    // SAFETY: the invocation lives during the call.
    let status = unsafe function(
      context, OpaquePointer(Unmanaged.passUnretained(passed).toOpaque()))
    withExtendedLifetime(passed) {}
    if status == FWD_OK { return }
    // Reported where it happened.
    if let failure = proceed?.failure, failure.status == status { throw failure }
    let name = unsafe String(cString: fwd_status_name(status))
    throw ForwardingError(
      .deliveryFailed, selector: invocation.selector.name,
      "an interceptor of \"\(invocation.selector)\" has returned \(name) (\(status.rawValue))")
  }
}

extension InterceptionPoint {
  /// The point that a C program names.
  ///
  /// - Throws: `ForwardingError` with the code `indexOutOfRange` for a point
  ///   that does not exist.
  fileprivate init(_ point: fwd_interception_point) throws(ForwardingError) {
    switch point {
    case FWD_INTERCEPT_BEFORE: self = .before
    case FWD_INTERCEPT_AFTER: self = .after
    case FWD_INTERCEPT_INSTEAD: self = .instead
    case FWD_INTERCEPT_AROUND: self = .around
    default:
      throw ForwardingError(
        .indexOutOfRange, "\(point.rawValue) is no point of an interception")
    }
  }
}

// MARK: - Invocations

/// An invocation as a C interceptor sees it.
@safe private final class CInvocation {
  let invocation: Invocation
  let point: fwd_interception_point
  let proceed: Proceed?

  init(_ invocation: Invocation, at point: fwd_interception_point, _ proceed: Proceed?) {
    self.invocation = invocation
    self.point = point
    self.proceed = proceed
  }

  /// The object behind a handle that is valid.
  @unsafe static func of(_ handle: OpaquePointer) -> CInvocation {
    // SAFETY: the handle is the one that `CInterceptor.run` has passed.
    unsafe Unmanaged<CInvocation>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
  }

  /// The failure of a function that is not allowed at the point.
  func refuse(_ function: String, _ allowed: String) -> fwd_status {
    unsafe fail(
      nil, FWD_NOT_ALLOWED,
      "\(function) of \"\(invocation.selector)\": an interceptor may call it only \(allowed)")
  }
}

/// Returns the selector; see `forwarding.h`.
@c @implementation
package func fwd_invocation_selector(_ invocation: OpaquePointer?) -> fwd_selector? {
  guard let invocation = unsafe invocation else { return nil }
  return unsafe CInvocation.of(invocation).invocation.selector.handle
}

/// Returns the signature; see `forwarding.h`.
@c @implementation
package func fwd_invocation_signature(_ invocation: OpaquePointer?) -> OpaquePointer? {
  guard let invocation = unsafe invocation else { return nil }
  return unsafe CInvocation.of(invocation).invocation.signature.handle
}

/// Returns the address of an argument; see `forwarding.h`.
@c @implementation
package func fwd_invocation_argument(
  _ invocation: OpaquePointer?, _ index: Int
) -> UnsafeRawPointer? {
  guard let invocation = unsafe invocation else {
    _ = unsafe fail(nil, FWD_NULL_ARGUMENT, "fwd_invocation_argument: no invocation")
    return nil
  }
  // SAFETY: the handle is valid. The arguments stay in place as long as the
  // invocation.
  let target = unsafe CInvocation.of(invocation).invocation
  guard target.signature.arguments.indices.contains(index) else {
    _ = unsafe fail(nil, FWD_OUT_OF_RANGE, target.noArgument(index), offset: max(index, 0))
    return nil
  }
  return unsafe target.withArgumentPointers { unsafe UnsafeRawPointer($0[index]) }
}

/// Replaces an argument; see `forwarding.h`.
@c @implementation
package func fwd_invocation_set_argument(
  _ invocation: OpaquePointer?, _ index: Int, _ bytes: UnsafeRawPointer?, _ size: Int
) -> fwd_status {
  guard let invocation = unsafe invocation, unsafe bytes != nil || size == 0 else {
    let missing = unsafe invocation == nil ? "invocation" : "bytes"
    return unsafe fail(nil, FWD_NULL_ARGUMENT, "fwd_invocation_set_argument: no \(missing)")
  }
  let passed = unsafe CInvocation.of(invocation)
  let target = passed.invocation
  guard passed.point == FWD_INTERCEPT_AROUND else {
    return passed.refuse("fwd_invocation_set_argument", "around a delivery")
  }
  guard target.signature.arguments.indices.contains(index) else {
    return unsafe fail(nil, FWD_OUT_OF_RANGE, target.noArgument(index), offset: max(index, 0))
  }
  guard index >= target.signature.firstArgumentIndex else {
    return unsafe fail(
      nil, FWD_OUT_OF_RANGE,
      "argument \(index) of \"\(target.selector)\" is the receiver or the selector, which each delivery has of its own",
      offset: index)
  }
  let expected = target.signature.arguments[index].layout.size
  guard size == expected else {
    return unsafe fail(
      nil, FWD_WRONG_SIZE,
      "argument \(index) of \"\(target.selector)\" has \(expected) bytes, got \(UInt(bitPattern: size))",
      offset: index)
  }
  do throws(ForwardingError) {
    // SAFETY: the caller has `size` bytes there.
    try unsafe target.setBytes(UnsafeRawBufferPointer(start: bytes, count: size).bytes, at: index)
    return FWD_OK
  } catch let failure {
    return unsafe fail(nil, failure)
  }
}

/// Delivers the invocation; see `forwarding.h`.
@c @implementation
package func fwd_invocation_proceed(_ invocation: OpaquePointer?) -> fwd_status {
  guard let invocation = unsafe invocation else {
    return unsafe fail(nil, FWD_NULL_ARGUMENT, "fwd_invocation_proceed: no invocation")
  }
  let passed = unsafe CInvocation.of(invocation)
  guard let proceed = passed.proceed else {
    return passed.refuse("fwd_invocation_proceed", "around a delivery")
  }
  do throws(ForwardingError) {
    try proceed()
    return FWD_OK
  } catch let failure {
    return unsafe fail(nil, failure)
  }
}

/// Returns the address of the result; see `forwarding.h`.
@c @implementation
package func fwd_invocation_result(_ invocation: OpaquePointer?) -> UnsafeRawPointer? {
  guard let invocation = unsafe invocation else { return nil }
  let target = unsafe CInvocation.of(invocation).invocation
  // SAFETY: the result stays in place as long as the invocation.
  let bytes: UnsafeRawPointer?? = unsafe try? target.withResultBytes {
    span throws(ForwardingError) in
    unsafe span.withUnsafeBytes { unsafe $0.isEmpty ? nil : $0.baseAddress }
  }
  return unsafe bytes ?? nil
}

/// Sets the result; see `forwarding.h`.
@c @implementation
package func fwd_invocation_set_result(
  _ invocation: OpaquePointer?, _ bytes: UnsafeRawPointer?, _ size: Int
) -> fwd_status {
  guard let invocation = unsafe invocation, unsafe bytes != nil || size == 0 else {
    let missing = unsafe invocation == nil ? "invocation" : "bytes"
    return unsafe fail(nil, FWD_NULL_ARGUMENT, "fwd_invocation_set_result: no \(missing)")
  }
  let passed = unsafe CInvocation.of(invocation)
  let target = passed.invocation
  guard passed.point == FWD_INTERCEPT_AROUND || passed.point == FWD_INTERCEPT_INSTEAD else {
    return passed.refuse("fwd_invocation_set_result", "around or instead of a delivery")
  }
  let expected = target.signature.resultLayout.size
  guard size == expected else {
    return unsafe fail(
      nil, FWD_WRONG_SIZE,
      "the result of \"\(target.selector)\" has \(expected) bytes, got \(UInt(bitPattern: size))")
  }
  do throws(ForwardingError) {
    // SAFETY: the caller has `size` bytes there.
    try unsafe target.setResultBytes(UnsafeRawBufferPointer(start: bytes, count: size).bytes)
    return FWD_OK
  } catch let failure {
    return unsafe fail(nil, failure)
  }
}

extension Invocation {
  /// Says that there is no argument of an index.
  fileprivate func noArgument(_ index: Int) -> String {
    """
    argument \(UInt(bitPattern: index)) of "\(selector)", which has \(signature.arguments.count) \
    arguments
    """
  }
}

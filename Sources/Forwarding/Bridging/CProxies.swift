// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The names are those of forwarding.h.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

package import CForwarding
internal import CForwardingInternal

// Proxies and C subscribers for forwarding.h, which documents these functions.
// A `fwd_proxy` is the C part of a `DynamicProxy`; its references are those of
// the Swift object.

extension DynamicProxy {
  /// The proxy for C code that includes forwarding.h, a `fwd_proxy *`. It is
  /// valid as long as this object, and longer if the C code retains it with
  /// `fwd_proxy_retain`.
  @unsafe public var unsafeHandle: OpaquePointer { unsafe core.handle }
}

/// Creates a proxy; see `forwarding.h`.
@c @implementation
package func fwd_proxy_create(
  _ protocols: UnsafePointer<OpaquePointer?>?, _ count: Int,
  _ options: UnsafePointer<fwd_proxy_options>?, _ proxy: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: UnsafeMutablePointer<fwd_error>?
) -> fwd_status {
  guard let proxy = unsafe proxy, unsafe protocols != nil || count == 0 else {
    return unsafe fail(
      error, FWD_NULL_ARGUMENT,
      "fwd_proxy_create: no \(unsafe proxy == nil ? "proxy to fill" : "protocols")")
  }
  if let tooMany = unsafe failHuge(error, count, "fwd_proxy_create: the count of protocols") {
    return tooMany
  }
  var tables: [ProtocolTable] = []
  for index in 0..<count {
    guard let table = unsafe protocols![index] else {
      return unsafe fail(
        error, FWD_NULL_ARGUMENT, "fwd_proxy_create: protocol \(index) is NULL", offset: index)
    }
    // SAFETY: the caller gives tables of the registry, which live as long as
    // the process.
    unsafe tables.append(
      Unmanaged<ProtocolTable>.fromOpaque(UnsafeRawPointer(table)).takeUnretainedValue())
  }
  var known = unsafe fwd_proxy_options()
  if let options = unsafe options {
    // SAFETY: the options begin with their size.
    let status = unsafe fwd_proxy_options_read(options, &known, error)
    if status != FWD_OK { return status }
  }
  do throws(ForwardingError) {
    var configuration = DynamicProxy.Configuration()
    let status = try unsafe configuration.apply(known, tables, error)
    if status != FWD_OK { return status }
    let made = try DynamicProxy(adopting: tables, configuration: configuration)
    // SAFETY: the caller owns the reference, and releases it by
    // fwd_proxy_release.
    _ = unsafe Unmanaged.passRetained(made)
    unsafe fwd_proxy_core_lend(made.core.handle)
    unsafe proxy.pointee = made.core.handle
    return FWD_OK
  } catch let failure {
    return unsafe fail(error, failure, status: failure.code.tableStatus)
  }
}

/// Adds a reference; see `forwarding.h`.
@c @implementation
package func fwd_proxy_retain(_ proxy: OpaquePointer?) -> OpaquePointer? {
  guard let proxy = unsafe proxy else { return nil }
  // A destroy notifier of the last release cannot keep the proxy alive: the
  // reference that it takes, and the one that it releases, are not counted.
  if unsafe fwd_proxy_core_is_closing(proxy) { return unsafe proxy }
  // SAFETY: the caller has a reference.
  _ = unsafe Unmanaged.passRetained(DynamicProxy.of(core: proxy))
  unsafe fwd_proxy_core_lend(proxy)
  return unsafe proxy
}

/// Releases a reference; see `forwarding.h`.
@c @implementation
package func fwd_proxy_release(_ proxy: OpaquePointer?) {
  guard let proxy = unsafe proxy, unsafe !fwd_proxy_core_is_closing(proxy) else { return }
  guard unsafe fwd_proxy_core_take_back(proxy) else { return }
  // SAFETY: the caller owns a reference, and releases it here.
  unsafe Unmanaged.passUnretained(DynamicProxy.of(core: proxy)).release()
}

/// Subscribes C functions; see `forwarding.h`.
@c @implementation
package func fwd_proxy_subscribe(
  _ proxy: OpaquePointer?, _ context: UnsafeMutableRawPointer?,
  _ methods: UnsafePointer<fwd_method>?, _ count: Int,
  _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
  _ options: UnsafePointer<fwd_subscribe_options>?,
  _ subscription: UnsafeMutablePointer<fwd_subscription>?,
  _ error: UnsafeMutablePointer<fwd_error>?
) -> fwd_status {
  guard let proxy = unsafe proxy else {
    return unsafe fail(error, FWD_NULL_ARGUMENT, "fwd_proxy_subscribe: no proxy")
  }
  return unsafe subscribe(proxy, context, destroy, options, subscription, error) {
    unsafe FunctionTable(unsafeMethods: methods, count: count)
  }
}

/// Subscribes handlers; see `forwarding.h`.
@c @implementation
package func fwd_proxy_subscribe_handlers(
  _ proxy: OpaquePointer?, _ context: UnsafeMutableRawPointer?,
  _ methods: UnsafePointer<fwd_handled_method>?, _ count: Int,
  _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
  _ options: UnsafePointer<fwd_subscribe_options>?,
  _ subscription: UnsafeMutablePointer<fwd_subscription>?,
  _ error: UnsafeMutablePointer<fwd_error>?
) -> fwd_status {
  guard let proxy = unsafe proxy else {
    return unsafe fail(error, FWD_NULL_ARGUMENT, "fwd_proxy_subscribe_handlers: no proxy")
  }
  return unsafe subscribe(proxy, context, destroy, options, subscription, error) {
    unsafe FunctionTable(unsafeHandledMethods: methods, count: count)
  }
}

/// Subscribes a context with a table of functions for a C program.
private func subscribe(
  _ proxy: OpaquePointer, _ context: UnsafeMutableRawPointer?,
  _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
  _ options: UnsafePointer<fwd_subscribe_options>?,
  _ subscription: UnsafeMutablePointer<fwd_subscription>?,
  _ error: UnsafeMutablePointer<fwd_error>?, _ makeTable: () -> FunctionTable
) -> fwd_status {
  var known = unsafe fwd_subscribe_options()
  if let options = unsafe options {
    // SAFETY: the options begin with their size.
    let status = unsafe fwd_subscribe_options_read(options, &known, error)
    if status != FWD_OK { return status }
  }
  if unsafe fwd_proxy_core_is_closing(proxy) { return unsafe fwd_proxy_core_fail_closing(error) }
  let table = makeTable()
  if let fault = table.fault {
    return unsafe fail(error, fault, status: fault.code.tableStatus)
  }
  // SAFETY: the caller has a reference to the proxy.
  let target = unsafe DynamicProxy.of(core: proxy)
  do throws(ForwardingError) {
    // A limit that no counter reaches is no limit.
    let times = unsafe known.times == 0 ? nil : known.times < 0 ? Int.max : known.times
    let position = unsafe try DynamicProxy.Position(known.position, in: target)
    let limit = try DeliveryLimit(
      times, for: .subscription(of: Void.self, to: table.methods.keys))
    let made: DynamicProxy.Subscription
    if let mailbox = unsafe known.mailbox {
      made = try unsafe target.mail(
        table, context: context, to: mailbox, at: position, limit, MailRules(known),
        destroy: destroy)
    } else {
      let candidate = unsafe SubscriberList.Candidate(
        context: context, at: position, limit: limit, destroy: destroy)
      made = try target.admit(candidate, table, .none)
    }
    unsafe subscription?.pointee = made.identifier
    return FWD_OK
  } catch let failure {
    return unsafe fail(error, failure)
  }
}

extension MailRules {
  fileprivate init(_ options: fwd_subscribe_options) {
    // A limit that no counter reaches is imported as a negative one.
    let given = unsafe options.mailbox_limit
    let limit = given < 0 ? Int.max : given
    overflow =
      switch unsafe options.overflow {
      case FWD_OVERFLOW_DROP_OLDEST: .dropOldest(limit: limit)
      case FWD_OVERFLOW_DROP_NEWEST: .dropNewest(limit: limit)
      case FWD_OVERFLOW_BLOCK: .block(limit: limit)
      default: .unbounded
      }
    keepsPointers = unsafe options.mailbox_flags & FWD_MAILBOX_KEEPS_POINTERS.rawValue != 0
  }
}

/// Moves a subscription; see `forwarding.h`.
@c @implementation
package func fwd_proxy_move(
  _ proxy: OpaquePointer?, _ subscription: fwd_subscription,
  _ position: UnsafePointer<fwd_position>?, _ error: UnsafeMutablePointer<fwd_error>?
) -> fwd_status {
  guard let proxy = unsafe proxy, let position = unsafe position else {
    return unsafe fail(
      error, FWD_NULL_ARGUMENT, "fwd_proxy_move: no \(unsafe proxy == nil ? "proxy" : "position")")
  }
  if unsafe fwd_proxy_core_is_closing(proxy) { return unsafe fwd_proxy_core_fail_closing(error) }
  // SAFETY: the caller has a reference to the proxy.
  let target = unsafe DynamicProxy.of(core: proxy)
  do throws(ForwardingError) {
    let place = try unsafe DynamicProxy.Position(position.pointee, in: target)
    try target.subscribers.move(subscription, to: place)
    return FWD_OK
  } catch let failure {
    return unsafe fail(error, failure)
  }
}

/// Ends a subscription; see `forwarding.h`.
@c @implementation
package func fwd_proxy_unsubscribe(
  _ proxy: OpaquePointer?, _ subscription: fwd_subscription
) -> fwd_status {
  guard let proxy = unsafe proxy else {
    return unsafe fail(nil, FWD_NULL_ARGUMENT, "fwd_proxy_unsubscribe: no proxy")
  }
  if unsafe fwd_proxy_core_is_closing(proxy) { return fwd_proxy_core_fail_closing(nil) }
  // SAFETY: the caller has a reference to the proxy.
  guard unsafe DynamicProxy.of(core: proxy).subscribers.remove(subscription) else {
    return unsafe fail(
      nil, FWD_NOT_SUBSCRIBED, "the proxy has no subscription \(subscription)")
  }
  return FWD_OK
}

/// The status that a C program's function returned instead of `FWD_OK` in a change.
private struct RefusedChange: Error {
  let status: fwd_status
  let message: String

  init(_ status: fwd_status) {
    self.status = status
    var last = fwd_error()
    unsafe fwd_error_last(&last)
    message =
      unsafe last.status == status
      ? String(cString: fwd_error_message())
      : "the function of a change returned \(status.rawValue), so nothing has changed"
  }
}

/// Makes changes take effect at once; see `forwarding.h`.
@c @implementation
package func fwd_proxy_change(
  _ proxy: OpaquePointer?, _ body: (@convention(c) (UnsafeMutableRawPointer?) -> fwd_status)?,
  _ context: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<fwd_error>?
) -> fwd_status {
  guard let proxy = unsafe proxy, let body = unsafe body else {
    return unsafe fail(
      error, FWD_NULL_ARGUMENT,
      "fwd_proxy_change: no \(unsafe proxy == nil ? "proxy" : "function to call")")
  }
  if unsafe fwd_proxy_core_is_closing(proxy) { return unsafe fwd_proxy_core_fail_closing(error) }
  // SAFETY: the caller has a reference to the proxy, which the function may release;
  // `target` is another one.
  let target = unsafe DynamicProxy.of(core: proxy)
  defer { withExtendedLifetime(target) {} }
  do {
    try target.change { _ in
      let status = unsafe body(context)
      if status != FWD_OK { throw RefusedChange(status) }
    }
    return FWD_OK
  } catch let refused as RefusedChange {
    return unsafe fail(error, refused.status, refused.message)
  } catch let failure as ForwardingError {
    return unsafe fail(error, failure)
  } catch let unknown {
    return unsafe fail(error, FWD_DELIVERY_FAILED, "\(unknown)")
  }
}

/// Blocks a subscription; see `forwarding.h`.
@c @implementation
package func fwd_proxy_block(
  _ proxy: OpaquePointer?, _ subscription: fwd_subscription
) -> fwd_status {
  guard let proxy = unsafe proxy else {
    return unsafe fail(nil, FWD_NULL_ARGUMENT, "fwd_proxy_block: no proxy")
  }
  if unsafe fwd_proxy_core_is_closing(proxy) { return fwd_proxy_core_fail_closing(nil) }
  do throws(ForwardingError) {
    // SAFETY: the caller has a reference to the proxy.
    guard try unsafe DynamicProxy.of(core: proxy).subscribers.block(subscription) else {
      return unsafe fail(
        nil, FWD_NOT_SUBSCRIBED, "the proxy has no subscription \(subscription)")
    }
    return FWD_OK
  } catch let failure {
    return unsafe fail(nil, failure)
  }
}

/// Undoes `fwd_proxy_block`; see `forwarding.h`.
@c @implementation
package func fwd_proxy_unblock(
  _ proxy: OpaquePointer?, _ subscription: fwd_subscription
) -> fwd_status {
  guard let proxy = unsafe proxy else {
    return unsafe fail(nil, FWD_NULL_ARGUMENT, "fwd_proxy_unblock: no proxy")
  }
  if unsafe fwd_proxy_core_is_closing(proxy) { return fwd_proxy_core_fail_closing(nil) }
  // SAFETY: the caller has a reference to the proxy.
  let subscribers = unsafe DynamicProxy.of(core: proxy).subscribers
  if subscribers.unblock(subscription) { return FWD_OK }
  guard subscribers.isLive(subscription) else {
    return unsafe fail(
      nil, FWD_NOT_SUBSCRIBED, "the proxy has no subscription \(subscription)")
  }
  return unsafe fail(
    nil, FWD_OUT_OF_RANGE, "the subscription \(subscription) is not blocked")
}

/// Makes a C function pointer that forwards; see `forwarding.h`.
@c @implementation
package func fwd_proxy_function(
  _ proxy: OpaquePointer?, _ selector: fwd_selector?, _ form: Int32,
  _ closure: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<fwd_error>?
) -> fwd_status {
  guard let proxy = unsafe proxy, let selector = unsafe selector, let closure = unsafe closure
  else {
    let missing = unsafe proxy == nil ? "proxy" : selector == nil ? "selector" : "closure to fill"
    return unsafe fail(error, FWD_NULL_ARGUMENT, "fwd_proxy_function: no \(missing)")
  }
  if unsafe fwd_proxy_core_is_closing(proxy) { return unsafe fwd_proxy_core_fail_closing(error) }
  do throws(ForwardingError) {
    // SAFETY: the caller has a reference to the proxy, and a selector is never
    // freed.
    let method = try unsafe DynamicProxy.of(core: proxy).method(
      for: MethodSelector(handle: selector))
    unsafe closure.pointee = try method.closure(DynamicProxy.ContextPosition(form))
    return FWD_OK
  } catch let failure {
    return unsafe fail(error, failure)
  }
}

/// Explains what an invocation would do; see `forwarding.h`.
@c @implementation
package func fwd_proxy_explain(
  _ proxy: OpaquePointer?, _ selector: fwd_selector?, _ text: UnsafeMutablePointer<CChar>?,
  _ size: Int
) -> Int {
  guard let proxy = unsafe proxy, let selector = unsafe selector,
    unsafe !fwd_proxy_core_is_closing(proxy)
  else {
    if let text = unsafe text, size != 0 { unsafe text.pointee = 0 }
    return 0
  }
  // SAFETY: the caller has a reference to the proxy, and a selector is never freed.
  let target = unsafe DynamicProxy.of(core: proxy)
  let bytes = Array(target.explain(unsafe MethodSelector(handle: selector)).description.utf8)
  // A size beyond that of an Int is negative here.
  if let text = unsafe text, size != 0 {
    let count = size < 0 ? bytes.count : min(bytes.count, size - 1)
    for index in 0..<count { unsafe text[index] = CChar(bitPattern: bytes[index]) }
    unsafe text[count] = 0
  }
  return bytes.count
}

/// Calls a visitor with each method; see `forwarding.h`.
@c @implementation
package func fwd_proxy_visit_methods(
  _ proxy: OpaquePointer?, _ visit: fwd_method_visitor?, _ context: UnsafeMutableRawPointer?
) -> fwd_status {
  guard let proxy = unsafe proxy, let visit = unsafe visit else {
    return unsafe fail(
      nil, FWD_NULL_ARGUMENT,
      "fwd_proxy_visit_methods: no \(unsafe proxy == nil ? "proxy" : "visitor")")
  }
  if unsafe fwd_proxy_core_is_closing(proxy) { return fwd_proxy_core_fail_closing(nil) }
  // SAFETY: the caller has a reference to the proxy, which the visitor may
  // release; `target` is another one.
  let target = unsafe DynamicProxy.of(core: proxy)
  for requirement in target.requirements {
    var method = unsafe fwd_method_info(
      size: MemoryLayout<fwd_method_info>.size, selector: requirement.selector.handle,
      signature: requirement.signature.handle, required: requirement.isRequired)
    if unsafe !visit(context, &method) { break }
  }
  withExtendedLifetime(target) {}
  return FWD_OK
}

// MARK: - Tables

extension FunctionTable {
  /// Makes a table from an array of C structs, as `forwarding.h` has them. The
  /// caller promises that the functions have the types that their encodings
  /// say, and may be called on any thread.
  ///
  /// - Parameters:
  ///   - methods: the array, which is copied. A null one, or null in one, is a
  ///     fault of the table, which `JoinedTable` throws.
  ///   - count: the number of methods.
  @unsafe internal convenience init(unsafeMethods methods: UnsafePointer<fwd_method>?, count: Int) {
    unsafe self.init(unsafeElements: methods, count: count) {
      method, index, builder throws(ForwardingError) in
      let selector = try unsafe text(method.selector, "the selector of method \(index)")
      let encoding = try unsafe text(method.encoding, "the encoding of method \(index)")
      guard let function = unsafe method.function else {
        throw ForwardingError(
          .nullPointer, selector: selector, "the function of method \(index) is NULL")
      }
      unsafe builder.function(selector, encoding, calling: function)
    }
  }

  /// Makes a table from an array of methods with handlers, as
  /// `init(unsafeMethods:count:)` does.
  @unsafe internal convenience init(
    unsafeHandledMethods methods: UnsafePointer<fwd_handled_method>?, count: Int
  ) {
    unsafe self.init(unsafeElements: methods, count: count) {
      method, index, builder throws(ForwardingError) in
      let selector = try unsafe text(method.selector, "the selector of method \(index)")
      let encoding =
        unsafe method.encoding == nil
        ? nil : try unsafe text(method.encoding, "the encoding of method \(index)")
      guard let handler = unsafe method.handler else {
        throw ForwardingError(
          .nullPointer, selector: selector, "the handler of method \(index) is NULL")
      }
      unsafe builder.handler(selector, encoding, calling: handler)
    }
  }

  /// Makes a table from an array of C structs, each of which `add` puts in.
  @unsafe private convenience init<Element>(
    unsafeElements elements: UnsafePointer<Element>?, count: Int,
    _ add: (Element, Int, inout Builder<Void>) throws(ForwardingError) -> Void
  ) {
    var builder = Builder<Void>()
    if count < 0 {
      builder.keep(
        ForwardingError(
          .indexOutOfRange,
          "the function table has \(UInt(bitPattern: count)) methods, expected at most \(Int.max)"))
    } else if unsafe elements == nil && count != 0 {
      builder.keep(
        ForwardingError(
          .nullPointer, "the function table has \(UInt(bitPattern: count)) methods at NULL"))
    }
    for index in 0..<(unsafe elements == nil ? 0 : max(count, 0)) {
      do throws(ForwardingError) {
        // SAFETY: there are `count` elements; the strings end with NULs, and the
        // caller promises the types.
        try add(unsafe elements![index], index, &builder)
      } catch {
        builder.keep(error)
      }
    }
    self.init(methods: builder.methods, fault: builder.fault)
  }
}

// MARK: - Options

extension DynamicProxy.Configuration {
  /// Applies the options that a C program passes.
  ///
  /// - Returns: why the options of a method could not be read, else `FWD_OK`.
  /// - Throws: `ForwardingError` for options that do not fit the protocols.
  @unsafe fileprivate mutating func apply(
    _ options: fwd_proxy_options, _ tables: [ProtocolTable],
    _ error: UnsafeMutablePointer<fwd_error>?
  ) throws(ForwardingError) -> fwd_status {
    if unsafe options.flags & UInt64(FWD_PROXY_IGNORES_UNKNOWN_SELECTORS.rawValue) != 0 {
      unknownSelectors = .ignore
    }
    if unsafe options.flags & UInt64(FWD_PROXY_IGNORES_UNKNOWN_FUNCTIONS.rawValue) != 0 {
      unknownFunctions = .ignore
    }
    if let onError = unsafe options.on_error {
      let handler = unsafe CErrorHandler(function: onError, context: options.on_error_context)
      self.onError = { handler.report($0) }
    }
    let count = unsafe options.method_count
    if let tooMany = unsafe failHuge(error, count, "the options' count of methods") {
      return tooMany
    }
    guard unsafe options.methods != nil else {
      if count == 0 { return FWD_OK }
      throw ForwardingError(
        .nullPointer, "the options have \(UInt(bitPattern: count)) methods at NULL")
    }
    // By selectors, which are compared by their bytes: strings are equal, too, if only their
    // accents are composed differently.
    let requirements = Dictionary(
      uniqueKeysWithValues: try ProtocolTable.merge(tables).map { ($0.selector, $0) })
    for index in 0..<count {
      var method = unsafe fwd_method_options()
      // SAFETY: the caller gives `count` methods of the size in the options.
      let status = unsafe withUnsafePointer(to: options) {
        unsafe fwd_method_options_read($0, index, &method, error)
      }
      if status != FWD_OK { return status }
      let text = try unsafe text(method.selector, "the selector of method \(index) of the options")
      guard let requirement = MethodSelector(known: text).flatMap({ requirements[$0] }) else {
        throw ForwardingError(
          .unknownSelector, selector: text,
          "the options name \"\(text)\", which no protocol of the proxy declares")
      }
      guard let policy = unsafe ResultPolicy(method.policy) else {
        throw unsafe ForwardingError(
          .indexOutOfRange, selector: text,
          """
          the options of "\(text)" have the result policy \(method.policy.rawValue), expected \
          FWD_RESULT_DEFAULT (0) to FWD_RESULT_UNTIL_HANDLED (\(FWD_RESULT_UNTIL_HANDLED.rawValue))
          """)
      }
      guard results[requirement.selector] == nil else {
        throw ForwardingError(
          .duplicate, selector: text, "the options name \"\(text)\" twice, expected once")
      }
      results[requirement.selector] = policy
      defaults[requirement.selector] = try unsafe StoredValue.stated(
        "default result", method.default_result, method.default_result_size,
        of: requirement.selector, requirement.signature)
      failures[requirement.selector] = try unsafe StoredValue.stated(
        "failure result", method.failure_result, method.failure_result_size,
        of: requirement.selector, requirement.signature)
    }
    return FWD_OK
  }
}

extension DynamicProxy.Position {
  /// The position that a C program passes.
  ///
  /// - Throws: `ForwardingError` with the code `indexOutOfRange` for a kind
  ///   that does not exist, and for an index that no `Int` holds.
  fileprivate init(_ position: fwd_position, in proxy: DynamicProxy) throws(ForwardingError) {
    switch position.kind {
    case FWD_POSITION_LAST: self = .last
    case FWD_POSITION_FIRST: self = .first
    case FWD_POSITION_BEFORE:
      self = DynamicProxy.Position(kind: .before(.subscription(position.anchor)))
    case FWD_POSITION_AFTER:
      self = DynamicProxy.Position(kind: .after(.subscription(position.anchor)))
    case FWD_POSITION_INDEX:
      guard let index = Int(exactly: UInt(bitPattern: position.index)) else {
        throw ForwardingError.noPosition(UInt(bitPattern: position.index), count: proxy.count)
      }
      self = .index(index)
    case FWD_POSITION_PRIORITY: self = .priority(Int(position.priority))
    default:
      throw ForwardingError(
        .indexOutOfRange, "\(position.kind.rawValue) is no kind of a position")
    }
  }
}

extension ResultPolicy {
  /// The policy that C names; nil if there is none of the number.
  fileprivate init?(_ policy: fwd_result_policy) {
    switch policy {
    case FWD_RESULT_DEFAULT: self = .standard
    case FWD_RESULT_FIRST: self = .first
    case FWD_RESULT_ALL_FIRST: self = .callAll(pick: .first)
    case FWD_RESULT_ALL_LAST: self = .callAll(pick: .last)
    case FWD_RESULT_UNTIL_NONZERO: self = .untilNonzero
    case FWD_RESULT_ANY: self = .any
    case FWD_RESULT_ALL: self = .all
    case FWD_RESULT_UNTIL_HANDLED: self = .untilHandled
    default: return nil
    }
  }
}

/// A C program's error handler.
@safe private struct CErrorHandler: @unchecked Sendable {
  // Sendable: forwarding.h says that the handler is called on the thread of the
  // fan-out.
  let function:
    @convention(c) (UnsafeMutableRawPointer?, fwd_selector?, UnsafePointer<fwd_error>) -> Void
  let context: UnsafeMutableRawPointer?

  func report(_ error: ForwardingError) {
    var copy = fwd_error()
    copy.fill(error.status, error.description)
    // SAFETY: the error is valid during the call; looking the name up does not
    // intern it.
    unsafe function(context, error.selector.flatMap { unsafe fwd_selector_find($0) }, &copy)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// Owns the C part of a proxy, and what it points to.
@safe internal final class ProxyCore: @unchecked Sendable {
  // Sendable: the shim's methods are immutable, and its list has its own rules.

  internal let handle: OpaquePointer
  /// What subscriptions know the proxy by.
  internal let anchor = ProxyAnchor()
  /// The keys that fit the methods.
  internal let verifiedKeys: VerifiedKeys
  /// Objects that the shim refers to without a reference: folds, default results
  /// and results of failed deliveries.
  private let retained: [AnyObject]

  internal init(
    _ requirements: [ProtocolTable.Requirement], _ configuration: DynamicProxy.Configuration
  ) throws(ForwardingError) {
    let known = Set(requirements.map(\.selector))
    for selector in configuration.results.keys where !known.contains(selector) {
      throw ForwardingError(
        .unknownSelector, selector: selector.name,
        "the configuration has a result policy for \"\(selector)\", which no protocol declares")
    }
    var retained: [AnyObject] = []
    var methods: [fwd_proxy_method] = unsafe []
    for requirement in requirements {
      let fitted = try configuration.fitted(requirement)
      let empty =
        configuration.defaults[requirement.selector] ?? requirement.defaultResult
        ?? fitted.emptyResult
      if let empty { retained.append(empty) }
      let failure = configuration.failures[requirement.selector] ?? requirement.failureResult
      if let failure { retained.append(failure) }
      if let fold = fitted.fold { retained.append(fold) }
      unsafe methods.append(
        fwd_proxy_method(
          selector: requirement.selector.handle, signature: requirement.signature.handle,
          policy: fitted.kind, fold: fitted.fold.shim,
          no_responder: configuration.noResponder.shim,
          default_result: empty.flatMap { unsafe UnsafeRawPointer($0.bytes.baseAddress) },
          failure_result: failure.flatMap { unsafe UnsafeRawPointer($0.bytes.baseAddress) }))
    }
    self.retained = retained
    // SAFETY: the array is copied, and its signatures are retained; operations
    // live as long as the process.
    let set = unsafe methods.withUnsafeBufferPointer { methods in
      unsafe fwd_method_set_create(methods.baseAddress, methods.count)
    }
    // The proxy retains it.
    defer { unsafe fwd_method_set_release(set) }
    let handle = unsafe set.flatMap {
      unsafe fwd_proxy_core_create(
        $0, configuration.unknownSelectors == .ignore, nil, ProxyOperations.pointer)
    }
    guard let handle = unsafe handle else {
      throw ForwardingError(.outOfMemory, "no memory for a proxy")
    }
    unsafe self.handle = handle
    unsafe verifiedKeys = VerifiedKeys(requirements) { selector in
      unsafe fwd_proxy_core_method(handle, selector.handle)
    }
  }

  /// Says whose C part it is.
  ///
  /// - Precondition: the proxy owns this object, and is not used by another
  ///   thread yet.
  @unsafe internal func adopt(_ proxy: DynamicProxy) {
    unsafe fwd_proxy_core_adopt(handle, Unmanaged.passUnretained(proxy).toOpaque())
    anchor.adopt(proxy)
  }

  deinit {
    // SAFETY: nobody has the proxy any more, so no fan-out runs.
    unsafe fwd_proxy_core_destroy(handle)
    unsafe verifiedKeys.deallocate()
  }

  /// Calls `body` with each live subscriber (nil for a C context), its
  /// subscription and its table until it says no.
  @unsafe internal func visit(_ body: (AnyObject?, UInt64, OpaquePointer) -> Bool) {
    unsafe withoutActuallyEscaping(body) { body in
      let visitor = unsafe Visitor(body: body)
      // SAFETY: the visitor is alive during the call, and objects are held while
      // they are visited.
      unsafe fwd_proxy_core_visit(
        handle,
        { context, object, identifier, table in
          let visitor = unsafe Unmanaged<Visitor>.fromOpaque(context!).takeUnretainedValue()
          let object = unsafe object.map {
            unsafe Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
          }
          return unsafe visitor.body(object, identifier, table)
        }, Unmanaged.passUnretained(visitor).toOpaque())
      withExtendedLifetime(visitor) {}
    }
  }

  @safe private final class Visitor {
    let body: (AnyObject?, UInt64, OpaquePointer) -> Bool
    init(body: @escaping (AnyObject?, UInt64, OpaquePointer) -> Bool) {
      unsafe self.body = body
    }
  }

  /// The shim's entry of a method, or nil. Valid as long as this object.
  internal func method(_ selector: MethodSelector) -> UnsafePointer<fwd_proxy_method>? {
    unsafe fwd_proxy_core_method(handle, selector.handle)
  }
}

extension DynamicProxy {
  /// The proxy of a C part.
  ///
  /// - Precondition: whoever has the C part keeps the proxy alive.
  @unsafe internal static func of(core: OpaquePointer) -> DynamicProxy {
    unsafe of(owner: fwd_proxy_core_owner(core))
  }

  fileprivate static func of(owner: UnsafeMutableRawPointer) -> DynamicProxy {
    // SAFETY: owners are the proxies that `adopt` named, alive as long as
    // someone forwards through them.
    unsafe Unmanaged<DynamicProxy>.fromOpaque(owner).takeUnretainedValue()
  }
}

// MARK: - What the shim calls

private enum ProxyOperations {
  /// The table, for the life of the process.
  @safe private struct Table: @unchecked Sendable {
    let pointer: UnsafePointer<fwd_proxy_operations>
  }

  private static let table: Table = {
    let pointer = UnsafeMutablePointer<fwd_proxy_operations>.allocate(capacity: 1)
    unsafe pointer.initialize(
      to: fwd_proxy_operations(
        report: { owner, selector, error in
          // SAFETY: the shim passes the owner that it was given, and an error
          // that is valid during the call.
          let proxy = unsafe DynamicProxy.of(owner: owner)
          let name = unsafe selector.map { unsafe MethodSelector(handle: $0).name }
          proxy.configuration.onError(ForwardingError(unsafe error.pointee, selector: name))
        },
        met_the_dead: { owner, visited in
          unsafe DynamicProxy.of(owner: owner).subscribers.prune(visited: visited)
        },
        forward_unhandled: { owner, selector, delivery, error in
          let slot = unsafe DynamicProxy.of(owner: owner).forwardSlot
          return unsafe slot.forward(MethodSelector(handle: selector), delivery, error)
        },
        forwards_unhandled: { owner, selector in
          let slot = unsafe DynamicProxy.of(owner: owner).forwardSlot
          return unsafe slot.responds(MethodSelector(handle: selector))
        },
        intercept: { owner, method, delivery, error in
          // SAFETY: as above; the delivery is valid during the call.
          let proxy = unsafe DynamicProxy.of(owner: owner)
          do throws(ForwardingError) {
            try unsafe proxy.deliver(method, delivery.pointee)
            return FWD_OK
          } catch let failure {
            return unsafe fail(error, failure.code.status, failure.description)
          }
        }))
    return unsafe Table(pointer: UnsafePointer(pointer))
  }()

  static var pointer: UnsafePointer<fwd_proxy_operations> { unsafe table.pointer }
}

// MARK: - Policies as the shim takes them

extension DynamicProxy.Configuration {
  /// The policy of a method, the configuration's if it has one.
  fileprivate func fitted(
    _ requirement: ProtocolTable.Requirement
  ) throws(ForwardingError) -> ResultPolicy.Fitted {
    guard let policy = results[requirement.selector] ?? standardPolicy(of: requirement) else {
      return requirement.fitted
    }
    do throws(ValueMismatch) {
      return try policy.fit(requirement.signature.result)
    } catch {
      let reason = ForwardingError(
        error, selector: requirement.selector, signature: requirement.signature)
      throw ForwardingError(
        .policyMismatch, selector: requirement.selector.name, "the configuration: \(reason)")
    }
  }
}

extension DynamicProxy.Configuration {
  /// The policy of a method that has none of its own; nil for the usual one.
  private func standardPolicy(of requirement: ProtocolTable.Requirement) -> ResultPolicy? {
    guard standardResult == .last, case .standard = requirement.resultPolicy.rule else {
      return nil
    }
    // That of a void method is the usual one.
    return .callAll(pick: .last)
  }
}

extension DynamicProxy.Configuration.NoResponder {
  fileprivate var shim: fwd_no_responder {
    switch self {
    case .standard: FWD_NO_RESPONDER_STANDARD
    case .ignore: FWD_NO_RESPONDER_IGNORE
    case .fail: FWD_NO_RESPONDER_FAIL
    case .report: FWD_NO_RESPONDER_REPORT
    }
  }
}

extension ResultFold? {
  fileprivate var shim: fwd_fold {
    guard let self else { return unsafe fwd_fold() }
    // SAFETY: the proxy's core keeps the fold alive, and that what it consists of.
    var fold = unsafe self.called?.fold ?? fwd_fold()
    unsafe fold.initial = self.initial.flatMap { unsafe UnsafeRawPointer($0.bytes.baseAddress) }
    unsafe fold.context = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    unsafe fold.step = { context, accumulator, result, index in
      // SAFETY: the context is the fold.
      let fold = unsafe Unmanaged<ResultFold>.fromOpaque(context!).takeUnretainedValue()
      return unsafe fold.step(accumulator, result, index)
    }
    return unsafe fold
  }
}

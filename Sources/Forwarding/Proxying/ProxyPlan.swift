// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The methods that all proxies of one kind share, and the data that the shim has
/// compiled for them. A protocol table keeps the plan of its usual proxies.
@safe internal final class ProxyPlan: @unchecked Sendable {
  // Sendable: immutable, except for the keys, which are atomic.

  /// Unlike that of any other plan.
  internal let number = Numbering.next()
  /// All methods, those of parents included.
  internal let requirements: [ProtocolTable.Requirement]
  /// Their names, in the same order.
  internal let selectors: [MethodSelector]
  /// The methods as the shim has them. Valid as long as this object.
  internal let methods: OpaquePointer
  /// The keys that fit the methods.
  internal let verifiedKeys: VerifiedKeys

  /// Objects that the shim refers to without a reference: folds, default results
  /// and results of failed deliveries.
  private final class Referred {
    private let objects: [AnyObject]
    init(objects: [AnyObject]) { self.objects = objects }
  }

  /// Finds the plan of a proxy, or makes it.
  ///
  /// - Throws: `ForwardingError`, as `DynamicProxy.init(adopting:configuration:)`.
  internal static func plan(
    _ protocols: [ProtocolTable], _ settings: ProxySettings
  ) throws(ForwardingError) -> ProxyPlan {
    guard protocols.count == 1, settings.hasUsualMethods else {
      return try ProxyPlan(ProtocolTable.merge(protocols), settings.configuration)
    }
    let plan = try protocols[0].derived.object { () throws(ForwardingError) in
      try ProxyPlan(ProtocolTable.merge(protocols), settings.configuration)
    }
    // SAFETY: no other code stores an object there.
    return unsafe unsafeDowncast(plan, to: ProxyPlan.self)
  }

  private init(
    _ requirements: [ProtocolTable.Requirement], _ configuration: DynamicProxy.Configuration
  ) throws(ForwardingError) {
    let selectors = requirements.map(\.selector)
    let known = Set(selectors)
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
    self.requirements = requirements
    self.selectors = selectors
    // SAFETY: the array is copied, and its signatures are retained.
    let set = unsafe methods.withUnsafeBufferPointer { methods in
      unsafe fwd_method_set_create(methods.baseAddress, methods.count)
    }
    guard let set = unsafe set else { throw ForwardingError(.outOfMemory, "no memory for a proxy") }
    if !retained.isEmpty {
      // The set may outlive this object: a call of a function that an object owns has it.
      let referred = Referred(objects: retained)
      unsafe fwd_method_set_keep(set, Unmanaged.passUnretained(referred).toOpaque())
    }
    unsafe self.methods = set
    unsafe verifiedKeys = VerifiedKeys(requirements) { selector in
      unsafe fwd_method_set_method(set, selector.handle)
    }
  }

  deinit {
    // SAFETY: each user of the set and the keys holds this object. The C part of a proxy
    // also holds the set.
    unsafe fwd_method_set_release(methods)
    unsafe verifiedKeys.deallocate()
  }
}

extension DynamicProxy.Configuration {
  /// Whether methods have the policies and results that their protocols declare.
  internal var hasUsualMethods: Bool {
    results.isEmpty && defaults.isEmpty && failures.isEmpty && noResponder == .standard
      && standardResult == .first
  }
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
  /// The policy of a method of a proxy with this configuration.
  internal func policy(of requirement: ProtocolTable.Requirement) -> ResultPolicy {
    results[requirement.selector] ?? standardPolicy(of: requirement) ?? requirement.resultPolicy
  }

  /// The policy of a method that has none of its own; nil for the usual one.
  private func standardPolicy(of requirement: ProtocolTable.Requirement) -> ResultPolicy? {
    guard standardResult == .last, case .standard = requirement.resultPolicy else {
      return nil
    }
    // For a void method this is the same as the usual policy.
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
    unsafe fold.step = { context, accumulator, result, index, selector in
      // SAFETY: the context is the fold.
      let fold = unsafe Unmanaged<ResultFold>.fromOpaque(context!).takeUnretainedValue()
      do throws(ValueMismatch) {
        return try unsafe fold.step(accumulator, result, index)
          ? FWD_FOLDED_GOES_ON : FWD_FOLDED_ENDS
      } catch {
        let error = ForwardingError(error, selector: unsafe MethodSelector(handle: selector))
        _ = unsafe failDelivery(nil, error)
        return FWD_FOLDED_REFUSED
      }
    }
    return unsafe fold
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal
internal import Synchronization

/// The parts of a proxy: the C proxy, and the objects that it points to.
@safe internal struct ProxyCore: ~Copyable, @unchecked Sendable {
  // Sendable: the plan is immutable, the shim's list has its own rules, and what
  // is made late is made once.

  internal let handle: OpaquePointer
  private let madeNumber = Atomic<UInt64>(0)
  internal let settings: ProxySettings
  /// The methods, shared with other proxies of the same kind.
  internal let plan: ProxyPlan
  /// The keys of the plan, here to save a load.
  internal let verifiedKeys: VerifiedKeys
  private let madeExtras = LateObject<ProxyExtras>()

  /// The joins and ends that the observer of membership is to be told; nil without
  /// one.
  internal var membershipLog: MembershipLog? {
    settings.observesMembership ? extras.membershipLog.object { MembershipLog() } : nil
  }

  /// - Parameter protocols: only read, so the caller keeps its reference.
  internal init(
    _ protocols: __shared [ProtocolTable], _ settings: ProxySettings
  ) throws(ForwardingError) {
    try settings.check(protocols)
    let plan = try ProxyPlan.plan(protocols, settings)
    // SAFETY: operations live as long as the process, and the plan as long as the
    // proxy.
    guard
      let handle = unsafe fwd_proxy_core_create(
        plan.methods, false, settings.ignoresUnknownSelectors,
        MemoryLayout<SubscriberList.State>.size,
        nil, ProxyOperations.pointer)
    else {
      throw ForwardingError(.outOfMemory, "no memory for a proxy")
    }
    let state = SubscriberList.State(settings.observesCapabilities ? plan.selectors.count : 0)
    // SAFETY: the room is as large as the state, and no other code has it.
    unsafe Self.state(handle).initialize(to: state)
    unsafe self.handle = handle
    self.settings = settings
    self.plan = plan
    verifiedKeys = plan.verifiedKeys
    if settings.isObserved { unsafe fwd_proxy_core_watch(handle) }
    if let membershipLog { unsafe membershipLog.observe(fwd_proxy_core_list(handle)) }
  }

  /// Unlike that of any other proxy. The first call makes it.
  internal var number: UInt64 {
    let number = madeNumber.load(ordering: .relaxed)
    if number != 0 { return number }
    let made = Numbering.next()
    let (isFirst, found) = madeNumber.compareExchange(
      expected: 0, desired: made, ordering: .relaxed)
    return isFirst ? made : found
  }

  private static func state(
    _ handle: OpaquePointer
  ) -> UnsafeMutablePointer<SubscriberList.State> {
    // SAFETY: the room is for the state alone, and aligned for any type.
    unsafe fwd_proxy_core_room(handle).assumingMemoryBound(to: SubscriberList.State.self)
  }

  /// The state of `SubscriberList`. Its memory is part of the C part.
  internal var members: Lock<SubscriberList.State> {
    unsafe Lock(Self.state(handle), lock: fwd_proxy_core_lock(handle))
  }

  /// The state, without the lock.
  ///
  /// - Precondition: no other thread can take the lock any more.
  @unsafe internal var soleState: SubscriberList.State { unsafe Self.state(handle).pointee }

  /// Says whose C part it is. False if memory is short.
  ///
  /// - Precondition: the proxy owns this object, and is not used by another
  ///   thread yet.
  @unsafe internal func adopt(_ proxy: DynamicProxy) -> Bool {
    unsafe fwd_proxy_core_adopt(
      handle, Unmanaged.passUnretained(proxy).toOpaque(),
      Unmanaged.passUnretained(settings).toOpaque())
  }

  deinit {
    // SAFETY: nobody has the proxy any more. A fan-out or a cancellation that still
    // runs has a reference to the C part, and does not use the state. The state was
    // made with the C part.
    unsafe Self.state(handle).deinitialize(count: 1)
    unsafe fwd_proxy_core_release(handle)
  }

  /// The parts that few proxies need. The first call makes them.
  internal var extras: ProxyExtras { madeExtras.object { ProxyExtras() } }

  /// The parts that few proxies need; nil before the first call of `extras`.
  internal var existingExtras: ProxyExtras? { madeExtras.existing }

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
  /// - Precondition: the caller keeps the proxy alive.
  @unsafe internal static func of(core: OpaquePointer) -> DynamicProxy {
    unsafe of(owner: fwd_proxy_core_owner(core))
  }

  fileprivate static func of(owner: UnsafeMutableRawPointer) -> DynamicProxy {
    // SAFETY: owners are the proxies that `adopt` named, alive as long as
    // someone forwards through them.
    unsafe Unmanaged<DynamicProxy>.fromOpaque(owner).takeUnretainedValue()
  }
}

/// A configuration, which proxies share rather than copy.
internal final class ProxySettings: Sendable {
  internal let configuration: DynamicProxy.Configuration

  // Options that each proxy reads when it is made. Reading an option of the
  // configuration can copy all of it, which takes longer than the rest.
  internal let ignoresUnknownSelectors: Bool
  internal let observesCapabilities: Bool
  internal let observesMembership: Bool
  /// Whether an observer is told of changes of the list.
  internal let isObserved: Bool
  internal let hasUsualMethods: Bool
  internal let conformance: DynamicProxy.Configuration.Conformance
  internal let duplicates: DynamicProxy.Configuration.Duplicates
  private let adoptsAny: Bool
  /// Whether the proxy belongs to a typed proxy that only one thread or actor may use.
  internal let isConfined: Bool

  internal init(_ configuration: DynamicProxy.Configuration, isConfined: Bool = false) {
    self.configuration = configuration
    self.isConfined = isConfined
    ignoresUnknownSelectors = configuration.unknownSelectors == .ignore
    observesCapabilities = configuration.onCapabilityChange != nil
    observesMembership = configuration.onMembershipChange != nil
    isObserved = observesCapabilities || observesMembership
    hasUsualMethods = configuration.hasUsualMethods
    conformance = configuration.conformance
    duplicates = configuration.duplicates
    adoptsAny = configuration.adoption == .any
  }

  private let madeReporter = LateObject<LateCallReporter>()

  /// Tells the error handler of calls that come too late. The first call makes it.
  internal var lateCallReporter: LateCallReporter {
    madeReporter.object { LateCallReporter(configuration.onError) }
  }

  /// The default ones.
  internal static let usual = ProxySettings(DynamicProxy.Configuration())

  /// Checks the number of the protocols that a proxy is to adopt.
  internal func check(_ protocols: [ProtocolTable]) throws(ForwardingError) {
    if !adoptsAny { try configuration.check(protocols) }
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
        report: { reporter, selector, error in
          // SAFETY: the shim passes the settings that it was given, which live as long
          // as the C part, and an error that is valid during the call.
          let settings = unsafe Unmanaged<ProxySettings>.fromOpaque(reporter!).takeUnretainedValue()
          let name = unsafe selector.map { unsafe MethodSelector(handle: $0).name }
          settings.configuration.onError(
            ForwardingError(
              unsafe error.pointee, selector: name, detail: fwd_error_last_detail()))
        },
        met_the_dead: { owner, visited in
          unsafe DynamicProxy.of(owner: owner).subscribers.prune(visited: visited)
        },
        find_responders: { owner, method in
          unsafe DynamicProxy.of(owner: owner).subscribers.findResponders(of: method)
        },
        forward_unhandled: { owner, selector, delivery in
          let slot = unsafe DynamicProxy.of(owner: owner).core.extras.forwardSlot
          return unsafe slot.forward(MethodSelector(handle: selector), delivery)
        },
        forwards_unhandled: { owner, selector in
          let slot = unsafe DynamicProxy.of(owner: owner).core.extras.forwardSlot
          return unsafe slot.responds(MethodSelector(handle: selector))
        },
        intercept: { owner, method, delivery in
          // SAFETY: as above; the delivery is valid during the call.
          let proxy = unsafe DynamicProxy.of(owner: owner)
          do throws(ForwardingError) {
            try unsafe proxy.deliver(method, delivery.pointee)
            return FWD_OK
          } catch let failure {
            // What an interceptor throws may be the error of a delivery behind it.
            return failure.isOfDelivery
              ? unsafe failDelivery(nil, failure)
              : unsafe fail(nil, failure.status, failure.description)
          }
        },
        interceptor_ended: { owner, method in
          unsafe DynamicProxy.of(owner: owner).forgetEndedInterceptors(of: method)
        }))
    return unsafe Table(pointer: UnsafePointer(pointer))
  }()

  static var pointer: UnsafePointer<fwd_proxy_operations> { unsafe table.pointer }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// Forwards each call of a method to any number of subscribers, in order.
///
/// ```swift
/// let tick = Method("tick:", ((Int32) -> Void).self)
/// let proxy = try DynamicProxy { $0.required(tick) }
///
/// try proxy.subscribe(clock) { $0.on(tick) { clock, count in clock.show(count) } }
/// let log = try proxy.subscribe { $0.on(tick) { count in print(count) } }
/// try proxy.send(tick, 7)
/// ```
///
/// - The proxy calls subscribers in the order in which they subscribed, unless
///   they named a position. It calls each once, unless the configuration allows
///   duplicates.
/// - By default the proxy does not keep a subscriber alive. A subscriber that has
///   died is not called. Each is kept alive during its own call.
/// - A subscriber that joins during a call is called from the next call on. A thread
///   that is in a batch (``withBatch(_:)``) calls it after the batch. A subscriber
///   that leaves is not called again, unless another thread is about to call it at
///   this moment. A subscriber may send through the proxy.
/// - A proxy may be used on any thread, and holds no lock while a subscriber runs.
///   Two calls on two threads call a subscriber at the same time, so subscribers
///   are `Sendable`.
/// - A cancelled subscription releases its object once no fan-out, batch or query
///   (such as ``count``) is reading the list. The release may run on another
///   thread, so do not hold a lock there that the object's `deinit` takes.
/// - When the last reference to the proxy is released, all subscriptions end before
///   the proxy releases anything else. A subscriber that this releases may still
///   call the proxy in its `deinit`, through an unsafe reference or `forwarding.h`:
///   the call throws `ForwardingError` with the code `dead`. If a C function that an
///   object owns is being called at that moment, subscribers may be released when
///   the call returns: they must not use an unsafe reference, but may use
///   `forwarding.h`.
/// - An object that a method returns is retained for the caller, in C too.
///
/// A call usually takes no lock and allocates nothing for results of up to 64 bytes. A
/// call that meets subscribers that have died or left removes them from the list before
/// it returns, which is O(*n*). <doc:FanOut> lists the other exceptions, and has the cost
/// of each way to forward.
public final class DynamicProxy: Sendable {
  /// The protocols that the proxy adopts, in order.
  public let protocols: [ProtocolTable]

  /// The options that control the proxy's behavior.
  public var configuration: Configuration { core.settings.configuration }

  internal let core: ProxyCore

  /// Creates a proxy that adopts protocols.
  ///
  /// - Parameters:
  ///   - protocols: the protocols. Proxies that adopt the same single table share
  ///     its prepared form.
  ///   - configuration: the options that control the proxy's behavior. `nil` is the
  ///     default configuration, which costs the least.
  /// - Throws: `ForwardingError` if two protocols declare a method with different
  ///   signatures, or a policy of the configuration does not fit its method or
  ///   names a method that no protocol declares, or the configuration asks for
  ///   another number of protocols.
  public convenience init(
    adopting protocols: ProtocolTable..., configuration: Configuration? = nil
  ) throws(ForwardingError) {
    if let configuration {
      try self.init(protocols, ProxySettings(configuration))
    } else {
      try self.init(protocols, .usual)
    }
  }

  /// Makes a proxy for some protocols.
  ///
  /// - Throws: `ForwardingError`, as `init(adopting:configuration:)` with a list.
  public convenience init(
    adopting protocols: [ProtocolTable], configuration: Configuration? = nil
  ) throws(ForwardingError) {
    if let configuration {
      try self.init(protocols, ProxySettings(configuration))
    } else {
      try self.init(protocols, .usual)
    }
  }

  internal init(_ protocols: [ProtocolTable], _ settings: ProxySettings) throws(ForwardingError) {
    core = try ProxyCore(protocols, settings)
    self.protocols = protocols
    guard unsafe core.adopt(self) else {
      throw ForwardingError(.outOfMemory, "no memory for a proxy")
    }
  }

  deinit {
    let extras = core.existingExtras
    // First: what ends with the subscriptions may call these functions.
    extras?.attachments.existing(OwnedFunctions.self)?.close()
    subscribers.close()
    extras?.endInterceptors()
  }

  internal var subscribers: SubscriberList { SubscriberList(self) }

  /// All methods, those of parents included.
  package var requirements: [ProtocolTable.Requirement] { core.plan.requirements }

  /// The reference that subscriptions have.
  @usableFromInline internal var reference: ProxyReference { ProxyReference(self) }
}

// MARK: - Asking

extension DynamicProxy {
  /// The number of live subscribers. They are counted at each call, since an object
  /// that dies does not notify the proxy.
  ///
  /// - Complexity: O(*n*) in the number of subscribers.
  public var count: Int { unsafe fwd_proxy_subscriber_count(core.handle) }

  /// The objects that are subscribed and live, in order of delivery. C contexts
  /// are not among them.
  package var liveSubscribers: [AnyObject] {
    var objects: [AnyObject] = []
    unsafe core.visit { object, _, _ in
      if let object { objects.append(object) }
      return true
    }
    return objects
  }

  /// The live subscriptions, in order of delivery. C contexts are among them.
  ///
  /// ```swift
  /// for subscription in proxy.subscriptions(of: view) { subscription.cancel() }
  /// let listeners = proxy.subscriptions(implementing: "tick:").count
  /// let objects = proxy.subscriptions().compactMap(\.subscriber)
  /// ```
  ///
  /// - Parameters:
  ///   - subscriber: only those of an object.
  ///   - selector: only those whose function tables have a method.
  /// - Complexity: O(*n*) in the number of subscribers.
  public func subscriptions(
    of subscriber: AnyObject? = nil, implementing selector: MethodSelector? = nil
  ) -> [Subscription] {
    var found: [Subscription] = []
    let reference = reference
    var index: Int?
    if let selector {
      guard let method = unsafe core.method(selector) else { return [] }
      index = unsafe fwd_proxy_method_index(method)
    }
    unsafe core.visit { object, identifier, table in
      let isMeant = subscriber == nil || subscriber === object
      if isMeant, index.map({ unsafe fwd_dispatch_table_implements(table, $0) }) ?? true {
        found.append(Subscription(reference: reference, identifier: identifier))
      }
      return true
    }
    return found
  }

  /// Whether the object is subscribed.
  ///
  /// - Complexity: O(1) in the number of other subscribers, O(*k*) in the
  ///   number of the object's own subscriptions. It waits while another thread
  ///   changes the list.
  public func contains(_ object: AnyObject) -> Bool { subscribers.contains(object) }

  /// Whether a call of the method would reach a subscriber: by default, whether
  /// some live subscriber or the forward target implements the method. Inside of
  /// a batch, subscribers that have joined since its beginning count, although it
  /// does not call them.
  ///
  /// - Complexity: O(1) if no subscription has the method. Otherwise it looks
  ///   for the first one that lives: O(*n*) in the number of subscribers, but
  ///   mostly that is one of the first.
  public func responds(to selector: MethodSelector) -> Bool {
    guard let method = unsafe core.method(selector) else { return false }
    switch configuration.responding {
    case .declared: return true
    case .subscribers: return unsafe fwd_proxy_core_responds(core.handle, method)
    }
  }

  /// Whether the proxy adopts the protocol or one that inherits from it.
  ///
  /// - Complexity: O(*p*) in the number of protocols.
  public func conforms(to table: ProtocolTable) -> Bool {
    switch configuration.conforming {
    case .adopted: return protocols.contains { $0.inherits(from: table) }
    case .subscribers:
      let required = ((try? ProtocolTable.merge([table])) ?? []).filter(\.isRequired)
      let indices = required.map { requirement in
        requirements.firstIndex { $0.selector == requirement.selector }
      }
      var isFound = false
      unsafe core.visit { _, _, table in
        isFound = indices.allSatisfy { index in
          guard let index else { return false }
          return unsafe fwd_dispatch_table_implements(table, index)
        }
        return !isFound
      }
      return isFound || core.existingExtras?.forwardSlot.conforms(to: table) == true
    }
  }

}

// MARK: - Leaving

extension DynamicProxy {
  /// Ends all subscriptions of an object: those of its table, and the closures
  /// that are tied to it.
  ///
  /// - Returns: whether there was one.
  /// - Complexity: amortised O(*k*) in the number of the object's own
  ///   subscriptions, and amortised O(1) in the number of others.
  @discardableResult
  public func unsubscribe(_ object: AnyObject) -> Bool {
    subscribers.remove(object: object, configuration.removal) > 0
  }

  /// Ends all subscriptions.
  ///
  /// - Complexity: O(*n*) in the number of subscribers.
  public func unsubscribeAll() {
    subscribers.removeAll()
  }

  /// Tells the fan-out that runs on this thread that the invocation has been
  /// handled, for methods with the policy `untilHandled`. Outside a fan-out
  /// nothing happens.
  public static func markHandled() {
    fwd_mark_handled()
  }
}

// MARK: - Conformances

extension DynamicProxy: CustomStringConvertible {
  /// The protocols and the live subscribers.
  public var description: String {
    let names = protocols.map(\.name).joined(separator: ", ")
    let objects = liveSubscribers.map {
      $0 is TokenSubscriber ? "closures with a token" : String(describing: type(of: $0))
    }
    return "DynamicProxy<\(names)> of \(count): \(objects.joined(separator: ", "))"
  }
}

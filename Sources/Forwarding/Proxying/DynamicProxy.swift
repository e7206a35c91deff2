// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// Forwards untyped invocations to any number of subscribers, which it does not
/// keep alive.
///
/// ```swift
/// let proxy = try DynamicProxy(adopting: visitor)
/// try proxy.subscribe(largest)                          // a Subscriber: a class with a function table
/// try proxy.subscribe(owner) {                          // closures that live as long as `owner`
///   $0.on("visit:kind:") { (self: Owner, path: UnsafePointer<CChar>, kind: Int32) -> Int32 in … }
/// }
/// let code: Int32 = try proxy.send("visit:kind:", path, 3)
/// let callback = try proxy.functionPointer(for: "visit:kind:")   // for a C library
/// ```
///
/// - Subscribers are delivered to in order of subscription, unless a position
///   is named, each at most once, unless the configuration says otherwise. One
///   that dies is not called any more; each is kept alive during its own call.
/// - A subscriber that joins during a fan-out takes part from the next one on.
///   One that leaves is not called any more. Forwarding inside a forwarding is
///   allowed.
/// - What a cancelled subscription held is given up as soon as nobody reads the
///   list of subscribers: by who cancelled it, or by the last fan-out, batch or
///   question (such as ``count``) that had begun before, on that one's thread.
///   So do not hold a lock there that a subscriber's `deinit` takes.
/// - With the last reference to the proxy all subscriptions end, before anything
///   else of the proxy is given up. A subscriber that is released by that may
///   still call the proxy in its `deinit`, through an unsafe reference or
///   `forwarding.h`: the call throws `ForwardingError` with the code `dead`.
/// - A proxy may be used from any thread, and no lock is held while a
///   subscriber runs. Two fan-outs on two threads call a subscriber at the same
///   time, so it is `Sendable`.
/// - An object that a method returns is retained for the caller, at the C level
///   too.
///
/// A fan-out takes no lock, and allocates nothing for results of up to 64 bytes,
/// unless it meets subscribers that have died or left: then it takes them out of
/// the list before it returns, which is O(*n*). What each way to forward costs
/// is in <doc:FanOut>.
public final class DynamicProxy: Sendable {
  /// The protocols that the proxy adopts, in order.
  public let protocols: [ProtocolTable]

  /// What the proxy does where one could do otherwise.
  public var configuration: Configuration { core.settings.configuration }

  internal let core: ProxyCore

  /// Makes a proxy for some protocols.
  ///
  /// - Parameters:
  ///   - protocols: the protocols. Proxies that adopt the same single table share
  ///     what is made of it.
  ///   - configuration: what the proxy does where one could do otherwise. `nil`
  ///     is the default configuration, which costs the least.
  /// - Throws: `ForwardingError` if two protocols declare a method with different
  ///   signatures, or a policy of the configuration does not fit its method or
  ///   names a method that no protocol declares, or the configuration asks for
  ///   another number of protocols.
  public convenience init(
    adopting protocols: ProtocolTable..., configuration: Configuration? = nil
  ) throws(ForwardingError) {
    try self.init(adopting: protocols, configuration: configuration)
  }

  /// Makes a proxy for some protocols.
  ///
  /// - Throws: `ForwardingError`, as `init(adopting:configuration:)` with a list.
  public init(
    adopting protocols: [ProtocolTable], configuration: Configuration? = nil
  ) throws(ForwardingError) {
    self.protocols = protocols
    core = try ProxyCore(protocols, configuration.map(ProxySettings.init) ?? .usual)
    unsafe core.adopt(self)
  }

  deinit {
    subscribers.close()
    core.existingExtras?.endInterceptors()
  }

  internal var subscribers: SubscriberList { SubscriberList(core) }

  /// All methods, those of parents included.
  internal var requirements: [ProtocolTable.Requirement] { core.plan.requirements }

  /// What subscriptions know the proxy by.
  @usableFromInline internal var anchor: ProxyAnchor { core.anchor(of: self) }
}

// MARK: - Asking

extension DynamicProxy {
  /// The number of live subscribers, which are counted each time, since one
  /// that dies does not say so.
  ///
  /// - Complexity: O(*n*) in the number of subscribers.
  public var count: Int { unsafe fwd_proxy_subscriber_count(core.handle) }

  /// The objects that are subscribed and live, in order of delivery. C contexts
  /// are not among them.
  ///
  /// - Complexity: O(*n*) in the number of subscribers. It retains each.
  public var liveSubscribers: [AnyObject] {
    var objects: [AnyObject] = []
    unsafe core.visit { object, _, _ in
      if let object { objects.append(object) }
      return true
    }
    return objects
  }

  /// Whether the object is subscribed.
  ///
  /// - Complexity: O(1) in the number of other subscribers, O(*k*) in the
  ///   number of the object's own subscriptions. It waits for whoever changes
  ///   the membership at the moment.
  public func contains(_ object: AnyObject) -> Bool { subscribers.contains(object) }

  /// Whether a forwarded invocation would reach someone: by default, whether
  /// some live subscriber or the forward target implements the method.
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
    let objects = liveSubscribers.map { String(describing: type(of: $0)) }
    return "DynamicProxy<\(names)> of \(count): \(objects.joined(separator: ", "))"
  }
}

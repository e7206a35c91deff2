// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// The invocations that a forward target gets.
  public enum ForwardScope: Sendable, Hashable {
    /// Invocations that no live subscriber of the proxy implements. A subscriber that
    /// implements the method but cannot take the arguments has handled it.
    case unhandled
    /// All invocations. The target is called as the last subscriber is, by the method's
    /// policy. So by the default policy it gets a method with a result only if no other
    /// subscriber responds.
    case everything
  }
}

/// The target that gets the invocations which no subscriber handles.
///
/// The target is the only subscriber of a second proxy, the annex, which has the same
/// methods and policies.
@safe internal final class ForwardSlot: Sendable {
  /// One target that was set.
  @safe internal final class Target: @unchecked Sendable {
    // Sendable: immutable. The object is handed out only.
    fileprivate weak let object: AnyObject?
    /// For targets that stand in an annex.
    fileprivate let annex: DynamicProxy?
    /// Where it is subscribed: to the annex, or to the proxy itself.
    fileprivate let subscription: DynamicProxy.Subscription
    fileprivate let scope: DynamicProxy.ForwardScope

    internal init(
      _ object: AnyObject, annex: DynamicProxy?, _ subscription: DynamicProxy.Subscription,
      _ scope: DynamicProxy.ForwardScope
    ) {
      self.object = object
      self.annex = annex
      self.subscription = subscription
      self.scope = scope
    }
  }

  private struct State {
    var target: Target?
    /// The annexes of targets that are about to be set. A search for circles includes
    /// them.
    var pending: [DynamicProxy] = []
  }

  private let state = Lock(State())

  /// The target of the moment that gets what is not handled.
  private var annex: DynamicProxy? {
    state.withLock { $0.target.flatMap { $0.scope == .unhandled ? $0.annex : nil } }
  }

  /// The proxies that this one hands on to, or is about to.
  internal var annexes: [DynamicProxy] {
    state.withLock { state in state.pending + (state.target?.annex.map { [$0] } ?? []) }
  }

  internal var object: AnyObject? {
    let target = state.withLock { $0.target }
    return target?.object
  }

  internal var subscription: DynamicProxy.Subscription? {
    state.withLock { $0.target?.subscription }
  }

  // MARK: Setting

  internal func add(pending annex: DynamicProxy) {
    state.withLock { $0.pending.append(annex) }
  }

  internal func remove(pending annex: DynamicProxy) {
    state.withLock { state in state.pending.removeAll { $0 === annex } }
  }

  /// Sets the target, and ends the earlier one.
  internal func set(_ target: Target?, of proxy: DynamicProxy) {
    let earlier = state.withLock { state in
      defer { state.target = target }
      // SAFETY: the caller has the proxy, whose C part this is.
      unsafe fwd_proxy_core_set_forwards(proxy.core.handle, target?.scope == .unhandled)
      return state.target
    }
    earlier?.subscription.cancel()
    proxy.subscribers.noteForwarding()
  }

  // MARK: Asking

  /// Whether the target implements the method with an index, alive or dead. No
  /// foreign code runs: the state keeps the annex meanwhile.
  internal func mayRespond(_ method: Int) -> Bool {
    state.withLock { state in
      guard let target = state.target, target.scope == .unhandled, let annex = target.annex else {
        return false
      }
      return unsafe fwd_list_may_respond(annex.subscribers.list, method)
    }
  }

  /// Whether the target gets what no subscriber handles. A target that gets every call
  /// is a subscriber.
  internal var takesUnhandled: Bool { annex != nil }

  internal func responds(_ selector: MethodSelector) -> Bool {
    annex?.responds(to: selector) ?? false
  }

  internal func conforms(to table: ProtocolTable) -> Bool {
    annex?.conforms(to: table) ?? false
  }

  // MARK: Forwarding

  /// Hands a delivery on.
  @unsafe internal func forward(
    _ selector: MethodSelector, _ delivery: UnsafePointer<fwd_delivery>
  ) -> fwd_status {
    var asked: DynamicProxy?
    // If another target was set meanwhile, asks that one.
    while let annex, annex !== asked, let method = unsafe annex.core.method(selector) {
      // A copy, since the fan-out may set its batch, and the next annex is another proxy.
      var own = unsafe delivery.pointee
      // SAFETY: the annex has the same methods, and is kept during the call.
      let status = unsafe withUnsafeMutablePointer(to: &own) {
        unsafe fwd_fan_out(annex.core.handle, method, $0)
      }
      if status != FWD_NO_RESPONDER { return status }
      asked = annex
    }
    return FWD_NO_RESPONDER
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Explains what a call of a method would do now: which subscribers it would
  /// call, in which order, which it would skip and why, and what the caller would
  /// get without a response. Nothing is called.
  ///
  /// ```swift
  /// print(proxy.explain(Visitor.visit.selector))
  /// // "visit:status:kind:" calls subscribers until one returns something other than zero.
  /// //   is called      Counter
  /// //   may be called  Limit: an earlier result may end the fan-out
  /// //   is skipped     Log: it does not implement the method
  /// // Without a response the result is the default.
  /// ```
  ///
  /// Subscriptions that have ended are listed as long as the proxy has not removed
  /// their records. A subscriber that joins, leaves or dies afterwards makes the
  /// explanation out of date.
  ///
  /// - Complexity: O(*n*) in the number of subscribers.
  public func explain(_ selector: MethodSelector) -> Explanation {
    guard let method = try? method(for: selector) else {
      return Explanation(
        title: "\"\(selector)\" is declared by no protocol of the proxy", steps: [],
        ending: configuration.unknownEnding)
    }
    return Explanation(method)
  }

  /// The steps that a call of a method would take. The description has a line for each.
  public struct Explanation: Sendable, CustomStringConvertible {
    /// One thing that the call would meet.
    public enum Step: Sendable {
      /// The call reaches it.
      case calls(String, Subscription?)
      /// The call reaches it unless an earlier result, or an interceptor, ends the
      /// call.
      case mayCall(String, Subscription?, reason: String)
      /// The call does not reach it.
      case skips(String, Subscription?, reason: String)
    }

    /// The steps of the call in order: the interceptors before the delivery, the
    /// interceptors around it, the subscribers or the interceptor instead of them, the
    /// forward target, and the interceptors after the delivery.
    public let steps: [Step]
    private let title: String
    private let ending: String
    /// The number of steps before the line that says that there are no subscribers; nil if
    /// there are some.
    private let emptyAt: Int?

    fileprivate init(title: String, steps: [Step], ending: String, emptyAt: Int? = nil) {
      self.title = title
      self.steps = steps
      self.ending = ending
      self.emptyAt = emptyAt
    }

    /// The explanation in lines for people. A later version may use other words.
    public var description: String {
      var lines = steps.map { step in
        switch step {
        case .calls(let name, _): "  is called      \(name)"
        case .mayCall(let name, _, let reason): "  may be called  \(name): \(reason)"
        case .skips(let name, _, let reason): "  is skipped     \(name): \(reason)"
        }
      }
      if let emptyAt { lines.insert("  no subscribers", at: emptyAt) }
      return ([title + "."] + lines + [ending + "."]).joined(separator: "\n")
    }
  }
}

// MARK: - Finding out

extension DynamicProxy.Explanation {
  fileprivate init(_ method: ResolvedMethod) {
    let proxy = method.proxy
    let index = unsafe fwd_proxy_method_index(method.entry)
    let chain =
      proxy.core.existingExtras?.interceptions.withLock { $0[index] } ?? InterceptionChain()
    let policy = proxy.configuration.policy(of: proxy.core.plan.requirements[index])
    let plan = unsafe FanOutPlan(
      method.entry.pointee, isVoid: method.signature.result.kind == .void,
      callsAll: policy.callsAll)
    let (steps, emptyAt) = Self.steps(method, chain, plan)
    self.init(
      title: "\"\(method.selector)\" \(chain.isBlocked ? "is blocked" : plan.words)",
      steps: steps, ending: unsafe Self.ending(method.entry.pointee, plan, chain),
      emptyAt: emptyAt)
  }

  private static func steps(
    _ method: ResolvedMethod, _ chain: InterceptionChain, _ plan: FanOutPlan
  ) -> (steps: [Step], emptyAt: Int?) {
    let proxy = method.proxy
    let isBlocked = chain.isBlocked
    // `doubt` is why those after the first `sureCount` may not be called.
    func intercepting(
      _ interceptors: [Interceptor], _ point: String, sureCount: Int = .max, doubt: String = ""
    ) -> [Step] {
      interceptors.filter(\.liveness.isLive).enumerated().map { index, _ in
        let name = "an interceptor \(point)"
        if isBlocked { return .skips(name, nil, reason: "the method is blocked") }
        return index < sureCount ? .calls(name, nil) : .mayCall(name, nil, reason: doubt)
      }
    }
    let arounds = intercepting(
      chain.arounds, "around the delivery", sureCount: 1, doubt: Stand.aroundReason)
    let stub = chain.stub.flatMap { $0.liveness.isLive ? $0 : nil }
    var steps = intercepting(chain.befores, "before the delivery") + arounds
    let stand = Stand(
      isBlocked: isBlocked, isReplaced: stub != nil, isAround: !arounds.isEmpty, plan: plan)
    if stub != nil {
      let name = "an interceptor instead of the subscribers"
      steps.append(
        isBlocked
          ? .skips(name, nil, reason: "the method is blocked")
          : arounds.isEmpty ? .calls(name, nil) : .mayCall(name, nil, reason: Stand.aroundReason))
    }
    let subscribers = subscriberSteps(method, stand)
    let emptyAt = subscribers.steps.isEmpty ? steps.count : nil
    steps += subscribers.steps
    if let target = forwardStep(proxy, method.selector, stand, subscribers.haveResponder) {
      steps.append(target)
    }
    steps += intercepting(
      chain.afters, "after the delivery", sureCount: arounds.isEmpty ? .max : 0,
      doubt: "an error of an interceptor around the delivery ends the call")
    return (steps, emptyAt)
  }

  private static func subscriberSteps(
    _ method: ResolvedMethod, _ stand: Stand
  ) -> (steps: [Step], haveResponder: Bool) {
    let collector = Collector(reference: method.proxy.reference, stand: stand)
    // SAFETY: the collector lives during the call, and what is explained is valid
    // during each visit.
    unsafe fwd_proxy_core_explain(
      method.proxy.core.handle, method.entry,
      { context, explained in
        let collector = unsafe Unmanaged<Collector>.fromOpaque(context!).takeUnretainedValue()
        unsafe collector.add(explained.pointee)
      }, Unmanaged.passUnretained(collector).toOpaque())
    withExtendedLifetime(collector) {}
    return (collector.steps, collector.responders > 0)
  }

  private static func forwardStep(
    _ proxy: DynamicProxy, _ selector: MethodSelector, _ stand: Stand, _ hasResponder: Bool
  ) -> Step? {
    guard let slot = proxy.core.existingExtras?.forwardSlot, let target = slot.object,
      slot.takesUnhandled
    else { return nil }
    let name = "\(type(of: target)), the forward target"
    if let reason = stand.obstacle { return .skips(name, nil, reason: reason) }
    guard slot.responds(selector) else {
      return .skips(name, nil, reason: "it does not implement the method")
    }
    if hasResponder { return .skips(name, nil, reason: "a subscriber handles the method") }
    return stand.isAround ? .mayCall(name, nil, reason: Stand.aroundReason) : .calls(name, nil)
  }

  /// The obstacles between a call and the subscribers.
  private struct Stand {
    let isBlocked: Bool
    let isReplaced: Bool
    let isAround: Bool
    let plan: FanOutPlan

    static let aroundReason = "an interceptor around the delivery decides"

    /// Why no subscriber is called; nil if some may be.
    var obstacle: String? {
      if isBlocked { return "the method is blocked" }
      return isReplaced ? "an interceptor is called instead" : nil
    }
  }

  /// Makes the steps of subscribers.
  @safe private final class Collector {
    let reference: ProxyReference
    let stand: Stand
    var steps: [Step] = []
    private(set) var responders = 0

    init(reference: ProxyReference, stand: Stand) {
      self.reference = reference
      self.stand = stand
    }

    func add(_ explained: fwd_explained) {
      let subscription = unsafe DynamicProxy.Subscription(
        reference: reference, identifier: explained.subscription)
      let name = unsafe Self.name(explained)
      if let reason = unsafe Self.reason(explained.fate) ?? stand.obstacle {
        steps.append(.skips(name, subscription, reason: reason))
        return
      }
      // Only policies that call all tell subscribers that do not respond.
      if unsafe explained.fate != FWD_FATE_TOLD { responders += 1 }
      if responders > 1, stand.plan.end == .first {
        let reason = "the first response ends the fan-out, unless its delivery fails"
        steps.append(.mayCall(name, subscription, reason: reason))
      } else if responders > 1, stand.plan.end == .perhaps {
        let reason = "an earlier result may end the fan-out"
        steps.append(.mayCall(name, subscription, reason: reason))
      } else if stand.isAround {
        steps.append(.mayCall(name, subscription, reason: Stand.aroundReason))
      } else {
        steps.append(.calls(name, subscription))
      }
    }

    private static func name(_ explained: fwd_explained) -> String {
      if let metadata = unsafe explained.object_type {
        // SAFETY: the first word of an object is its class, whose metadata is never
        // freed.
        let type = unsafe unsafeBitCast(metadata, to: Any.Type.self)
        return type == TokenSubscriber.self ? "closures with a token" : "\(type)"
      }
      return unsafe explained.fate == FWD_FATE_ENDED ? "a subscription" : "a C context"
    }

    private static func reason(_ fate: fwd_fate) -> String? {
      switch fate {
      case FWD_FATE_NOT_IMPLEMENTED: "it does not implement the method"
      case FWD_FATE_NO_RESPONDER: "it is a proxy, and none of its subscribers responds"
      case FWD_FATE_BLOCKED: "it is blocked"
      case FWD_FATE_ENDED: "it has been cancelled"
      case FWD_FATE_USED_UP: "it has had as many deliveries as it was made for"
      case FWD_FATE_DEAD: "it has died"
      default: nil
      }
    }
  }

  private static func ending(
    _ method: fwd_proxy_method, _ plan: FanOutPlan, _ chain: InterceptionChain
  ) -> String {
    let start = chain.isBlocked ? "So" : "Without a response"
    if unsafe method.default_result != nil { return "\(start) the result is the default" }
    let report = unsafe method.no_responder == FWD_NO_RESPONDER_REPORT
    switch unsafe method.no_responder {
    case FWD_NO_RESPONDER_FAIL: return "\(start) the caller gets the error noResponder"
    case FWD_NO_RESPONDER_STANDARD where !plan.isVoid && plan.emptyResult == nil:
      return "\(start) the caller gets the error noResponder"
    default:
      let outcome =
        plan.isVoid ? "nothing happens" : "the result is \(plan.emptyResult ?? "zeros")"
      return "\(start) \(outcome)" + (report ? ", and the error handler is told" : "")
    }
  }
}

/// The plan of a method's fan-out, in words.
private struct FanOutPlan {
  /// Whether a response ends the fan-out.
  enum End { case never, first, perhaps }

  let end: End
  let words: String
  let isVoid: Bool
  /// The policy's own result without a response.
  let emptyResult: String?

  init(_ method: fwd_proxy_method, isVoid: Bool, callsAll: Bool) {
    self.isVoid = isVoid
    var empty: String?
    if callsAll, unsafe method.fold.context != nil {
      (end, words) = (.never, "calls all subscribers and combines their results")
    } else if unsafe method.fold.context != nil {
      (end, words) = (
        .perhaps, "calls subscribers until the closure of its policy ends the fan-out"
      )
    } else {
      switch unsafe method.policy {
      case FWD_RESULT_DEFAULT where isVoid:
        (end, words) = (.never, "calls all subscribers in order")
      case FWD_RESULT_ALL_FIRST:
        (end, words) = (.never, "calls all subscribers and gives the first result")
      case FWD_RESULT_ALL_LAST:
        (end, words) = (.never, "calls all subscribers and gives the last result")
      case FWD_RESULT_UNTIL_NONZERO:
        (end, words) = (
          .perhaps, "calls subscribers until one returns something other than zero"
        )
      case FWD_RESULT_ANY:
        (end, words) = (.perhaps, "calls subscribers until one returns true")
        empty = "false"
      case FWD_RESULT_ALL:
        (end, words) = (.perhaps, "calls subscribers until one returns false")
        empty = "true"
      case FWD_RESULT_UNTIL_HANDLED:
        (end, words) = (.perhaps, "calls subscribers until one marks the invocation as handled")
      default:
        (end, words) = (.first, "calls the first subscriber that responds")
      }
    }
    emptyResult = empty
  }
}

extension DynamicProxy.Configuration {
  /// The treatment of an invocation that no protocol declares, in words.
  fileprivate var unknownEnding: String {
    if onUnknown != nil { return "The closure of onUnknown is called" }
    switch unknownSelectors {
    case .fail: return "The caller gets the error unknownSelector"
    case .ignore: return "It is ignored, and the result is zeros"
    }
  }
}

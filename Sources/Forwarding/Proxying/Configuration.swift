// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Options that control a proxy's behavior. The default of each is the first
  /// case of its type.
  ///
  /// Most programs set `onError`, and some `results` and `conformance`. The others
  /// are for special cases.
  ///
  /// ## Topics
  ///
  /// ### Often set
  ///
  /// - ``onError``
  /// - ``results``
  /// - ``conformance``
  /// - ``noResponder``
  ///
  /// ### For observers of the proxy
  ///
  /// - ``onMembershipChange``
  /// - ``onCapabilityChange``
  ///
  /// ### For calls that no protocol declares
  ///
  /// - ``onUnknown``
  /// - ``unknownSelectors``
  ///
  /// ### For listeners of typed proxies that throw
  ///
  /// - ``listenerErrors``
  /// - ``listenerErrorsByMethod``
  /// - ``onListenerError``
  ///
  /// ### Rarely needed
  ///
  /// - ``duplicates``
  /// - ``unknownFunctions``
  public struct Configuration: Sendable {
    /// The treatment of a method that no protocol of the proxy declares.
    public enum Unknown: Sendable, Hashable {
      /// It is an error, which names the selector and similar ones that are
      /// declared.
      case fail
      /// It is ignored.
      case ignore
    }

    /// Which methods a subscriber must have. One that implements a method with
    /// other types than the protocol's is always refused.
    public enum Conformance: Sendable, Hashable {
      /// For each protocol of which it implements a method, all methods that the
      /// protocol requires. It must satisfy at least one protocol.
      case implemented
      /// All that are required by any of the proxy's protocols.
      case all
      /// All that are required by one of the proxy's protocols.
      case any
      /// None.
      case lenient
    }

    /// The treatment of an object that subscribes again with the same table.
    public enum Duplicates: Sendable, Hashable {
      /// The object keeps its one subscription, which `subscribe` returns. If a
      /// position is given, the subscription moves there.
      case once
      /// It is delivered to as often as it has subscribed.
      case allow
      /// It is refused.
      case fail
    }

    /// The treatment of a call whose method no live subscriber implements.
    public enum NoResponder: Sendable, Hashable {
      /// A call of a void method is ignored. A method with a result returns its default;
      /// without a default the call is an error.
      case standard
      /// As standard, but without a default the result is zero; with the policy
      /// `ResultPolicy.all` it is true.
      case ignore
      /// It is an error, unless the method has a default.
      case fail
      /// As ignore, and the error handler is told.
      case report
    }

    /// A change of a proxy's subscriptions.
    public enum MembershipChange: Sendable, Hashable {
      /// The subscription has begun.
      case joined
      /// The subscription has been cancelled, or has had as many deliveries as it
      /// was made for.
      case left
      /// The subscriber has died.
      case died
    }

    // MARK: What callers get

    /// The treatment of an invocation that no protocol of the proxy declares. An
    /// ignored invocation returns zero.
    public var unknownSelectors = Unknown.fail
    /// Called with each invocation that no protocol of the proxy declares, as
    /// `forwardInvocation:` is in Objective-C. `unknownSelectors` is then not
    /// asked.
    ///
    /// ```swift
    /// configuration.onUnknown = { invocation in
    ///   log(invocation.selector)
    ///   try other.forward(invocation)
    /// }
    /// ```
    ///
    /// The invocation has the types of the key that was sent. If the method has a
    /// result, the closure must set it; otherwise the caller gets the error
    /// `noResponder`. Errors that the closure throws go to the caller. Called on
    /// the caller's thread, under no lock. Not called for calls from C programs,
    /// whose frames carry no types.
    public var onUnknown: (@Sendable (Invocation) throws -> Void)?
    /// The treatment of a call whose method no live subscriber implements.
    public var noResponder = NoResponder.standard
    /// Result policies that override those of the protocols, by selector.
    public var results: [MethodSelector: ResultPolicy] = [:]

    // MARK: Admission of subscribers

    /// Which methods a subscriber must have.
    public var conformance = Conformance.implemented
    /// The treatment of a function table with a function that no protocol of the
    /// proxy declares, or with no function at all. By default the subscriber is
    /// refused, so that a misspelt selector is found at once. `.ignore` is for
    /// tables that are used with several proxies, each of which declares a part of
    /// their functions: the others are never called through this proxy.
    public var unknownFunctions = Unknown.fail
    /// The treatment of an object that subscribes again with the same table.
    public var duplicates = Duplicates.once

    // MARK: Observers

    /// Called with each failure of a fan-out that no caller can be told of: a
    /// subscriber that could not take its arguments, or a failure behind a C
    /// function pointer. Called on the thread of the fan-out, under no lock. By
    /// default a line goes to standard error, once if the same error occurs
    /// several times in a row.
    public var onError: @Sendable (ForwardingError) -> Void = { ErrorLines.print($0) }
    /// Called when a method gains its first responder or loses its last, after
    /// the fact and under no lock. The death of a weak subscriber is noticed by a
    /// fan-out or a query that meets it, or by a later subscription, which checks
    /// for dead subscribers. With an observer each change of membership is O(*m*) in the
    /// number of methods.
    public var onCapabilityChange: (@Sendable (MethodSelector, _ responds: Bool) -> Void)?
    /// Called with each subscription that begins or ends.
    ///
    /// ```swift
    /// configuration.onMembershipChange = { subscription, change in
    ///   if change == .joined { log("joined:", subscription.subscriber) }
    /// }
    /// ```
    ///
    /// It is called in the order of the changes, once for each, after the fact and
    /// under no lock, by the thread of the change or by one that changes the
    /// subscriptions at the same time. The death of a weak subscriber is noticed
    /// as for `onCapabilityChange`. The end of the proxy is not reported.
    ///
    /// A subscription that has ended has no `subscriber`. A program that must tell
    /// which object left notes it when the subscription joins, in a dictionary by
    /// subscription.
    public var onMembershipChange: (@Sendable (Subscription, MembershipChange) -> Void)?

    // MARK: Errors of typed listeners

    /// The treatment of an error that a listener of a typed proxy throws from a method
    /// without a result.
    public var listenerErrors = ListenerErrors.failFast
    /// Exceptions from `listenerErrors` for single methods, by selector.
    public var listenerErrorsByMethod: [MethodSelector: ListenerErrors] = [:]
    /// Called with each error that a listener throws where `listenerErrors` says
    /// `continue`. Called on the thread of the fan-out, under no lock. If it is
    /// nil, `onError` is called.
    public var onListenerError: (@Sendable (any Error, MethodSelector) -> Void)?

    // MARK: For presets

    /// The subscriptions that `unsubscribe(_:)` ends.
    package var removal = Removal.all
    /// The question that `responds(to:)` asks.
    package var responding = Responding.subscribers
    /// The question that `conforms(to:)` asks.
    package var conforming = Conforming.adopted
    /// How many protocols the proxy must adopt.
    package var adoption = Adoption.any
    /// The treatment of a subscriber that is refused.
    package var refusals = Refusals.fail
    /// The treatment of a position whose anchor is not subscribed.
    package var unknownAnchors = UnknownAnchors.fail
    /// The treatment of a subscriber that is placed beside itself.
    package var ownAnchors = OwnAnchors.stay
    /// The policy of methods with a result whose protocol names none.
    package var standardResult = StandardResult.first

    /// The result of methods without a responder, by selector, as a protocol
    /// declares it.
    internal var defaults: [MethodSelector: StoredValue] = [:]
    /// The result of deliveries that fail, by selector, as a protocol declares
    /// it.
    internal var failures: [MethodSelector: StoredValue] = [:]

    /// Makes the default configuration.
    public init() {}
  }
}

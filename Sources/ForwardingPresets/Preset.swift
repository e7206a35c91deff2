// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding

extension DynamicProxy {
  /// The configuration of another system, for programs that are moved from it.
  ///
  /// ```swift
  /// import Forwarding
  /// import ForwardingPresets
  ///
  /// var configuration = DynamicProxy.Configuration(.proxyListener)
  /// configuration.onError = { log("\($0)") }
  /// let proxy = try DynamicProxy(adopting: playerDelegate, configuration: configuration)
  /// ```
  ///
  /// The differences from the default configuration:
  ///
  /// | question | KSDelegateForwarding | MultiDelegate | ProxyListener | Matrioska | ProtocolProxy |
  /// |---|---|---|---|---|---|
  /// | protocols that a proxy adopts | | at least one | exactly one | | |
  /// | `unknownFunctions` | `.ignore` | `.ignore` | `.ignore` | `.ignore` | `.ignore` |
  /// | `conformance` | `.lenient` | strict: `.all`, else `.lenient` | `.all` | `.lenient` | `.lenient` |
  /// | `duplicates` | `.allow` | | | `.allow` | |
  /// | `unsubscribe(_:)` ends | the oldest subscription | | | | |
  /// | a subscriber that is refused | is ignored | | is ignored | | |
  /// | a position beside a stranger | | an end of the list | | | |
  /// | a position beside itself | | an end of the list | | | |
  /// | `unknownSelectors` | | `.ignore` | `.ignore` | | |
  /// | `noResponder` | | `.ignore` | `.ignore` | | |
  /// | `responds(to:)` asks | | | the protocols | | |
  /// | `conforms(to:)` asks | | | | the subscribers | |
  /// | a method with a result and no policy | | | all are called, the last counts | | |
  ///
  /// A preset does what its system does, but not what was a defect there: no
  /// preset crashes, skips a subscriber, calls one that has left, or gives a
  /// result of the wrong type. The same object is always the same by its
  /// identity, also where a system compared by equality.
  ///
  /// Typed proxies take presets by `init(configuration:)`.
  public enum Preset: Sendable, Hashable {
    /// KSDelegateForwarding: an object is called as often as it has subscribed.
    /// Required methods are not checked. Subscribing a proxy to itself does nothing.
    case ksDelegateForwarding
    /// ILABMultiDelegate: one or more protocols; the first responder's result. A
    /// position beside an object that is not subscribed is an end of the list. A call
    /// without a responder is ignored, and returns zero.
    ///
    /// `strict` asks subscribers for all that the protocols require.
    case multiDelegate(strict: Bool = true)
    /// MSProxyListener: one protocol, which alone decides what the proxy responds
    /// to; subscribers that do not conform are ignored; all responders are
    /// called, and the last one's result counts. A call without a responder, or of
    /// a method that no protocol declares, is ignored, and returns zero.
    case proxyListener
    /// LBDelegateMatrioska: an object is called as often as it stands in the
    /// list. The proxy responds and conforms to what at least one live subscriber
    /// responds and conforms to. See `DynamicProxy.init(adopting:forwardingTo:configuration:)`.
    case delegateMatrioska
    /// Bond's ProtocolProxy: handlers of single methods may subscribe, whatever
    /// else a protocol requires.
    case protocolProxy
  }
}

extension DynamicProxy.Configuration {
  /// Makes the configuration of another system; see ``DynamicProxy/Preset``.
  public init(_ preset: DynamicProxy.Preset) {
    self.init()
    // Subscribers of these systems are objects, which may have other methods.
    unknownFunctions = .ignore
    switch preset {
    case .ksDelegateForwarding:
      conformance = .lenient
      duplicates = .allow
      removal = .first
      refusals = .ignore
    case .multiDelegate(let strict):
      adoption = .some
      conformance = strict ? .all : .lenient
      unknownAnchors = .ends
      ownAnchors = .ends
      unknownSelectors = .ignore
      noResponder = .ignore
    case .proxyListener:
      adoption = .one
      conformance = .all
      refusals = .ignore
      unknownSelectors = .ignore
      noResponder = .ignore
      responding = .declared
      standardResult = .last
    case .delegateMatrioska:
      conformance = .lenient
      duplicates = .allow
      conforming = .subscribers
    case .protocolProxy:
      conformance = .lenient
    }
  }
}

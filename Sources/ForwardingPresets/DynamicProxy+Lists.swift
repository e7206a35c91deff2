// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding

extension DynamicProxy {
  /// Makes a proxy that forwards to the objects of a list, the outermost first.
  ///
  /// ```swift
  /// let delegate = try DynamicProxy(adopting: [scrolling], forwardingTo: [header, controller])
  /// ```
  ///
  /// An object that stands in the list twice is called twice, and none is kept
  /// alive. More may be subscribed later, as with any proxy; `subscriptions()`
  /// gives those that live.
  ///
  /// - Parameters:
  ///   - protocols: the protocols to adopt.
  ///   - subscribers: the objects to forward to, in order.
  ///   - configuration: by default that of ``Preset/delegateMatrioska``.
  /// - Throws: `ForwardingError`, as `subscribe(_:at:lifetime:)`, if an object is
  ///   refused, and as `init(adopting:configuration:)`.
  /// - Complexity: O(*n*) in the number of objects.
  public convenience init(
    adopting protocols: [ProtocolTable], forwardingTo subscribers: [any Subscriber],
    configuration: Configuration = Configuration(.delegateMatrioska)
  ) throws(ForwardingError) {
    try self.init(adopting: protocols, configuration: configuration)
    for subscriber in subscribers { try subscribe(subscriber) }
  }

  /// Makes a proxy that forwards to the objects of a list, the outermost first.
  ///
  /// - Throws: `ForwardingError`, as with a list of protocols.
  public convenience init(
    adopting protocols: ProtocolTable..., forwardingTo subscribers: [any Subscriber],
    configuration: Configuration = Configuration(.delegateMatrioska)
  ) throws(ForwardingError) {
    try self.init(adopting: protocols, forwardingTo: subscribers, configuration: configuration)
  }

  /// Makes a proxy that does what an ILABMultiDelegate does: the counterpart of
  /// its `delegateWithProtocols:strict:`.
  ///
  /// ```swift
  /// let proxy = try DynamicProxy.multiDelegate(adopting: tableDelegate, dataSource, strict: false)
  /// try proxy.subscribe(first)
  /// try proxy.subscribe(second, at: .before(first))
  /// ```
  ///
  /// - Parameters:
  ///   - protocols: one or more.
  ///   - strict: whether subscribers must have all that the protocols require.
  /// - Throws: `ForwardingError` with the code `wrongProtocolCount` if there is no
  ///   protocol, and as `init(adopting:configuration:)`.
  public static func multiDelegate(
    adopting protocols: ProtocolTable..., strict: Bool = true
  ) throws(ForwardingError) -> DynamicProxy {
    try DynamicProxy(
      adopting: protocols, configuration: Configuration(.multiDelegate(strict: strict)))
  }
}

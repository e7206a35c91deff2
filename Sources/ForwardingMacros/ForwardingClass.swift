// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// Generates a class `<Name>Forwarder` that wraps a service: it forwards
  /// calls to the service, and lets many listeners share the service's delegate
  /// slot.
  ///
  /// ```swift
  /// @ForwardingClass("delegate", for: (any DownloadDelegate).self)
  /// final class Download {
  ///   weak var delegate: (any DownloadDelegate)?
  ///   func start(_ address: String) throws -> Int { … }
  /// }
  ///
  /// let download = DownloadForwarder(Download())
  /// try download.subscribe(progressBar)
  /// try download.start("https://…")
  /// ```
  ///
  /// - The wrapper has the methods, properties and subscripts that the class
  ///   declares itself, except private ones, variadic functions, and those
  ///   marked `@NotForwarded`. Properties of superclasses and extensions are
  ///   available by dynamic member lookup, and their methods by
  ///   `forwarder.service`.
  /// - Before each call the wrapper checks the slot, so it notices a delegate
  ///   that other code has set meanwhile. If the property is a `DelegateSlot`,
  ///   such a delegate is adopted at once.
  /// - All wrappers of one service share its listeners, and each listener is
  ///   called once. A wrapper keeps its service alive.
  /// - The wrapper is `Sendable`, or isolated to a global actor, if the service
  ///   is declared so.
  ///
  /// - Parameters:
  ///   - slot: the name of the property for the delegate. A string, since the
  ///     attribute of a class cannot refer to the class's members.
  ///   - delegate: the protocol, which has `@Forwarded`.
  ///   - options: how the wrapper treats a delegate that is in the slot.
  ///   - shared: an expression that creates a service, such as `"Download()"`.
  ///     If it is given, the wrapper has a `static let shared` for that
  ///     service.
  @attached(peer, names: suffixed(Forwarder))
  public macro ForwardingClass<Listener>(
    _ slot: StaticString, for delegate: Listener.Type,
    options: DelegateSlotOptions = DelegateSlotOptions(), shared: StaticString? = nil
  ) = #externalMacro(module: "ForwardingMacrosPlugin", type: "ForwardingClassMacro")

  /// Generates a class `<Name>Forwarder` that wraps a service which conforms to
  /// `DelegateSlotOwner`, and so names its slot.
  @attached(peer, names: suffixed(Forwarder))
  public macro ForwardingClass<Listener>(
    for delegate: Listener.Type, shared: StaticString? = nil
  ) = #externalMacro(module: "ForwardingMacrosPlugin", type: "ForwardingClassMacro")

  /// Generates a class `<Name>Forwarder` that wraps the class of a key path,
  /// which may belong to another module. The protocol lists the members to
  /// forward, and the wrapper conforms to it.
  ///
  /// ```swift
  /// @ForwardingClass(\Fetcher.delegate, for: (any FetchDelegate).self)
  /// protocol Fetching: AnyObject {
  ///   func fetch(_ address: String) async throws -> [UInt8]
  /// }
  /// let fetcher: any Fetching = FetchingForwarder(Fetcher())
  /// ```
  ///
  /// - Parameters:
  ///   - slot: the key path of the property for the delegate, with the class.
  ///   - delegate: the protocol, which has `@Forwarded`.
  ///   - options: how the wrapper treats a delegate that is in the slot.
  ///   - shared: a service. If it is given, the wrapper has a `static let
  ///     shared` for it. The expression is evaluated once, at the first use of
  ///     `shared`.
  @attached(peer, names: suffixed(Forwarder))
  public macro ForwardingClass<Service: AnyObject, Listener>(
    _ slot: ReferenceWritableKeyPath<Service, Listener?>, for delegate: Listener.Type,
    options: DelegateSlotOptions = DelegateSlotOptions(), shared: Service? = nil
  ) = #externalMacro(module: "ForwardingMacrosPlugin", type: "ForwardingClassMacro")

  /// Generates a class `<Name>Forwarder` that wraps the class of a
  /// `DelegateSlot`, such as `\Download.$delegate`. The protocol lists the
  /// members to forward.
  @attached(peer, names: suffixed(Forwarder))
  public macro ForwardingClass<Service: AnyObject, Proxy: SlotProxy>(
    _ slot: KeyPath<Service, DelegateSlot<Proxy>>, for delegate: Proxy.Listener.Type,
    shared: Service? = nil
  ) = #externalMacro(module: "ForwardingMacrosPlugin", type: "ForwardingClassMacro")

  /// Marks a member of a service with `@ForwardingClass` that the wrapper must
  /// not have.
  @attached(peer)
  public macro NotForwarded() =
    #externalMacro(module: "ForwardingMacrosPlugin", type: "NotForwardedMacro")
#endif

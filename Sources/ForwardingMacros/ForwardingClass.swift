// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// Makes a class `<Name>Forwarder` that wraps a service: it forwards all that it
  /// is called for to the service, and has the service's delegate slot for many
  /// listeners.
  ///
  /// ```swift
  /// @ForwardingClass("delegate", for: (any DownloadDelegate).self)
  /// final class Download {
  ///   weak var delegate: (any DownloadDelegate)?
  ///   func start(_ address: String) throws -> Int { … }
  /// }
  ///
  /// let download = DownloadForwarder(Download())
  /// download.subscribe(progressBar)
  /// try download.start("https://…")
  /// ```
  ///
  /// - Methods, properties and subscripts that the macro sees and that are not
  ///   private, but those marked `@NotForwarded`. Any signature but a variadic
  ///   one. The properties of superclasses and extensions are reached by dynamic
  ///   lookup, their methods through `forwarder.checkedService`.
  /// - Before each call the wrapper looks at the slot, so it notices a delegate
  ///   that was put there meanwhile. If the property is a `DelegateSlot`, that is
  ///   adopted at once.
  /// - Wrappers of one service share its listeners, and each is called once. The
  ///   wrapper keeps its service.
  /// - The wrapper is `Sendable`, or of a global actor, as the service is declared
  ///   to be.
  ///
  /// - Parameters:
  ///   - slot: the property for the delegate. A text, since the attribute of a
  ///     class cannot look into the class.
  ///   - delegate: the protocol, which has `@Forwarded`.
  ///   - options: what is done with the delegate in the slot.
  ///   - shared: if it is given, the wrapper has a `static let shared` around the
  ///     service that this expression makes: `"Download()"`.
  @attached(peer, names: suffixed(Forwarder))
  public macro ForwardingClass<Listener>(
    _ slot: StaticString, for delegate: Listener.Type,
    options: DelegateSlotOptions = DelegateSlotOptions(), shared: StaticString? = nil
  ) = #externalMacro(module: "ForwardingMacrosPlugin", type: "ForwardingClassMacro")

  /// Makes a class `<Name>Forwarder` that wraps a service which is a
  /// `DelegateSlotOwner`, and so tells its slot.
  @attached(peer, names: suffixed(Forwarder))
  public macro ForwardingClass<Listener>(
    for delegate: Listener.Type, shared: StaticString? = nil
  ) = #externalMacro(module: "ForwardingMacrosPlugin", type: "ForwardingClassMacro")

  /// Makes a class `<Name>Forwarder` that wraps the class of a key path, which one
  /// need not own. The protocol says what of it is forwarded, and the wrapper
  /// conforms to it.
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
  ///   - slot: where the delegate is, with the class.
  ///   - delegate: the protocol, which has `@Forwarded`.
  ///   - options: what is done with the delegate in the slot.
  ///   - shared: if it is given, the wrapper has a `static let shared` around this
  ///     service. It is evaluated once, when that is used.
  @attached(peer, names: suffixed(Forwarder))
  public macro ForwardingClass<Service: AnyObject, Listener>(
    _ slot: ReferenceWritableKeyPath<Service, Listener?>, for delegate: Listener.Type,
    options: DelegateSlotOptions = DelegateSlotOptions(), shared: Service? = nil
  ) = #externalMacro(module: "ForwardingMacrosPlugin", type: "ForwardingClassMacro")

  /// Makes a class `<Name>Forwarder` that wraps the class of a `DelegateSlot`:
  /// `\Download.$delegate`. The protocol says what of it is forwarded.
  @attached(peer, names: suffixed(Forwarder))
  public macro ForwardingClass<Service: AnyObject, Proxy: SlotProxy>(
    _ slot: KeyPath<Service, DelegateSlot<Proxy>>, for delegate: Proxy.Listener.Type,
    shared: Service? = nil
  ) = #externalMacro(module: "ForwardingMacrosPlugin", type: "ForwardingClassMacro")

  /// Marks a member of a service with `@ForwardingClass` that its wrapper does not
  /// have.
  @attached(peer)
  public macro NotForwarded() =
    #externalMacro(module: "ForwardingMacrosPlugin", type: "NotForwardedMacro")
#endif

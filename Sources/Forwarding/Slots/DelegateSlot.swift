// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A delegate property that many can listen to, for classes that you own.
///
/// ```swift
/// final class Download {
///   @DelegateSlot(DownloadDelegateProxy()) var delegate: (any DownloadDelegate)?
/// }
///
/// let forwarder = DelegateForwarder(download, \.$delegate)
/// try forwarder.subscribe(progressBar)
/// download.delegate = controller     // adopted at once
/// download.delegate                  // the proxy, while there is a forwarder
/// download.$delegate.original        // the controller
/// ```
///
/// Without a forwarder the property is a weak or strong one, and makes no proxy.
/// With a forwarder, a delegate that is assigned is adopted at once, and the
/// delegate before it is dropped. A read costs about as much as that of a weak
/// property.
///
/// The hub is in the object, and needs no table. The property may be used where
/// the object may be used.
///
/// If `Listener` is neither a class nor `any` of a protocol of classes, the
/// property cannot reference its value weakly, and keeps it.
@propertyWrapper
public final class DelegateSlot<Proxy: SlotProxy> {
  /// The options for delegates that are assigned while there is a forwarder.
  private let options: DelegateSlotOptions
  private let makeProxy: () -> Proxy
  private var made: DelegateHub<Proxy>?
  private var weakContent: WeakListener<Proxy.Listener>?
  private var strongContent: Proxy.Listener?

  /// Makes a slot.
  ///
  /// - Parameters:
  ///   - wrappedValue: the delegate, if there is one already.
  ///   - proxy: makes the proxy for the slot when the first forwarder or listener
  ///     comes. The expression is kept as long as the object, and must not use it.
  ///   - options: what becomes of delegates that are assigned; a strong
  ///     `lifetime` makes it a strong property.
  public init(
    wrappedValue: Proxy.Listener? = nil, _ proxy: @escaping @autoclosure () -> Proxy,
    options: DelegateSlotOptions = DelegateSlotOptions()
  ) {
    makeProxy = proxy
    self.options = options
    content = wrappedValue
  }

  /// The proxy while there is a forwarder, else the delegate that was assigned.
  public var wrappedValue: Proxy.Listener? {
    get { content }
    set {
      content = newValue
      made?.recheck()
    }
  }

  /// The slot itself, for forwarders.
  public var projectedValue: DelegateSlot { self }

  /// The hub of the slot, the same each time. It takes the slot when there is a
  /// ``DelegateForwarder``.
  package var hub: DelegateHub<Proxy> {
    if let made { return made }
    let hub = DelegateHub(
      makeProxy(),
      SlotAccess(
        owner: { [weak self] in self },
        read: { [weak self] in self?.content }, write: { [weak self] in self?.content = $0 }),
      options)
    made = hub
    return hub
  }

  /// The delegate that was assigned last, if it lives.
  public var original: Proxy.Listener? {
    guard let made, made.isInstalled else { return content }
    return made.original
  }

  private var content: Proxy.Listener? {
    get { strongContent ?? weakContent?.listener }
    set {
      // The old delegate's `deinit` may look at the slot.
      let old = (strongContent, weakContent)
      defer { extendLifetime(old) }
      strongContent = nil
      weakContent = nil
      guard let newValue else { return }
      let object = Proxy.object(of: newValue)
      // The hub keeps its own proxy in any case. A strong reference makes reads
      // cheap.
      if options.lifetime == .strong || object === made?.proxy {
        strongContent = newValue
      } else {
        weakContent = WeakListener(newValue, object)
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A class that names its delegate slot and tells when the slot has been set:
/// for classes that you can extend or subclass, but not give a ``DelegateSlot``.
///
/// ```swift
/// class TrackedDownload: Download, DelegateSlotOwner {
///   override var delegate: (any DownloadDelegate)? {
///     didSet { delegateSlotDidChange() }
///   }
///   var delegateSlot: (any DownloadDelegate)? {
///     get { delegate }
///     set { delegate = newValue }
///   }
///   func makeDelegateProxy() -> DownloadDelegateProxy { DownloadDelegateProxy() }
/// }
///
/// let forwarder = DelegateForwarder(download)
/// ```
///
/// If the class calls `delegateSlotDidChange()`, a delegate that is set is
/// adopted at once; if not, when a forwarder looks.
public protocol DelegateSlotOwner: AnyObject {
  /// The type of the proxy for the slot.
  associatedtype DelegateProxy: SlotProxy

  /// The slot.
  var delegateSlot: DelegateProxy.Listener? { get set }

  /// Makes the proxy for the slot, when the first forwarder or listener comes.
  func makeDelegateProxy() -> DelegateProxy

  /// The options for the delegate in the slot. By default it is adopted, and held
  /// weakly.
  var delegateSlotOptions: DelegateSlotOptions { get }
}

extension DelegateSlotOwner {
  /// The default options: the delegate in the slot is adopted, and held weakly.
  public var delegateSlotOptions: DelegateSlotOptions { DelegateSlotOptions() }

  /// The hub of the slot, the same each time. It takes the slot when there is a
  /// ``DelegateForwarder``.
  ///
  /// - Parameter isolation: the actor that the object belongs to; by default the
  ///   caller's.
  package func delegateHub(
    isolation: isolated (any Actor)? = #isolation
  ) -> DelegateHub<DelegateProxy> {
    HubRegistry.hub(
      self, .owner,
      SlotAccess(
        owner: { [weak self] in self },
        read: { [weak self] in self?.delegateSlot },
        write: { [weak self] in self?.delegateSlot = $0 }),
      delegateSlotOptions, SlotHome(isolation), makeDelegateProxy)
  }

  /// Says that the slot has been set, by anyone.
  ///
  /// - Complexity: O(1).
  public func delegateSlotDidChange() {
    HubRegistry.find(self, .owner, DelegateProxy.self)?.recheck()
  }
}

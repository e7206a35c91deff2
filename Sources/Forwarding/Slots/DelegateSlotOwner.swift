// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A class that says which delegate slot it has, and when that has been set: for
/// classes that you can extend or subclass, but not give a ``DelegateSlot``.
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
/// A delegate that is set is adopted at once if the class calls
/// `delegateSlotDidChange()`; if it does not, when a forwarder looks.
public protocol DelegateSlotOwner: AnyObject {
  /// What stands in the slot for many listeners.
  associatedtype DelegateProxy: SlotProxy

  /// The slot.
  var delegateSlot: DelegateProxy.Listener? { get set }

  /// Makes what stands in the slot, for the first who wants to listen.
  func makeDelegateProxy() -> DelegateProxy

  /// What is done with the delegate in the slot; by default it is adopted, and
  /// held weakly.
  var delegateSlotOptions: DelegateSlotOptions { get }
}

extension DelegateSlotOwner {
  /// What is done with the delegate in the slot: it is adopted, and held weakly.
  public var delegateSlotOptions: DelegateSlotOptions { DelegateSlotOptions() }

  /// What stands in the slot for many listeners, the same each time. It takes the
  /// slot when there is a ``DelegateForwarder``.
  public var delegateHub: DelegateHub<DelegateProxy> {
    HubRegistry.hub(
      self, .owner,
      SlotAccess(
        read: { [weak self] in self?.delegateSlot },
        write: { [weak self] in self?.delegateSlot = $0 }),
      delegateSlotOptions, makeDelegateProxy)
  }

  /// Says that the slot has been set, by anyone.
  ///
  /// - Complexity: O(1).
  public func delegateSlotDidChange() {
    HubRegistry.find(self, .owner, DelegateProxy.self)?.recheck()
  }
}

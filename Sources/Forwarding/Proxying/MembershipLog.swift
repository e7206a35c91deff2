// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The joins and ends of a list's subscriptions, in order, until the list's writer
/// takes them. Used under the lock of the list.
@safe internal final class MembershipLog: Sendable {
  internal struct Entry: Sendable {
    internal let identifier: UInt64
    internal let change: DynamicProxy.Configuration.MembershipChange
  }

  // The shim adds entries while the writer holds the list's state, so the log needs
  // another lock.
  private let entries = Lock<[Entry]>([])

  /// Adds the ends of a list's subscriptions from now on. The owner of the list must
  /// keep this object.
  @unsafe internal func observe(_ list: OpaquePointer) {
    unsafe fwd_list_observe(
      list,
      { context, identifier, died in
        // SAFETY: the log lives as long as the list.
        let log = unsafe Unmanaged<MembershipLog>.fromOpaque(context!)
        unsafe log._withUnsafeGuaranteedRef { $0.add(identifier, died ? .died : .left) }
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  internal func add(
    _ identifier: UInt64, _ change: DynamicProxy.Configuration.MembershipChange
  ) {
    entries.withLock { $0.append(Entry(identifier: identifier, change: change)) }
  }

  /// The number of entries.
  internal var count: Int { entries.withLock { $0.count } }

  /// Adds a join at an earlier place: ends that the shim has added since then came
  /// after it.
  internal func addJoin(_ identifier: UInt64, at index: Int) {
    entries.withLock { $0.insert(Entry(identifier: identifier, change: .joined), at: index) }
  }

  /// Removes all entries of some subscriptions.
  internal func forget(_ identifiers: Set<UInt64>) {
    if identifiers.isEmpty { return }
    entries.withLock { $0.removeAll { identifiers.contains($0.identifier) } }
  }

  /// Takes all entries out.
  internal func take() -> [Entry] {
    entries.withLock { entries in
      defer { entries = [] }
      return entries
    }
  }
}

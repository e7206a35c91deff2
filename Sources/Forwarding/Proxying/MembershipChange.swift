// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The changes of one proxy's subscriptions that a thread collects inside of
/// `DynamicProxy.change(_:)`, until they take effect together.
///
/// Only that thread adds changes. All threads read and write under the lock of the
/// proxy's list, except `owned` and `completions`, which only that thread uses.
@safe internal final class MembershipChange: @unchecked Sendable {
  // Sendable: see above.

  internal enum Edit {
    case join(UInt64)
    case leave(UInt64)
    case leaveAll
    case move(UInt64, DynamicProxy.Position)
  }

  /// A subscription that begins with the change.
  @safe internal struct Join {
    internal let prepared: fwd_prepared
    internal let position: DynamicProxy.Position
    internal let subscriber: SubscriberKey
    internal let duplicates: DynamicProxy.Configuration.Duplicates
    /// Whether another thread has cancelled it already.
    internal var isWithdrawn = false
  }

  /// An object, and the key of a table if the object may not come with it twice.
  internal struct SubscriberKey: Hashable {
    internal let object: UInt
    internal let key: UInt
  }

  private let proxy: DynamicProxy
  /// The change of this thread, of another proxy, in which this one began.
  private let outer: MembershipChange?
  internal var edits: [Edit] = []
  internal var joins: [UInt64: Join] = [:]
  /// The subscriptions that end with the change.
  internal var leaving: Set<UInt64> = []
  /// Ends that no caller can ask for again, such as that of a token that has died. They
  /// take effect even if the change fails.
  internal var finals: Set<UInt64> = []
  /// Ends of subscriptions that begin with changes of other threads.
  internal var withdrawals: [UInt64] = []
  /// The newest join of a subscriber.
  internal var identifiers: [SubscriberKey: UInt64] = [:]
  /// How many of the edits end all subscriptions.
  internal var endings = 0
  /// Objects that must live until the change has taken effect: subscribers whose
  /// subscriptions end, and function tables.
  internal var owned: [AnyObject] = []
  /// Closures to call after the change has taken effect.
  internal var completions: [() -> Void] = []

  /// Begins to collect the changes of this thread.
  internal init(_ proxy: DynamicProxy) {
    self.proxy = proxy
    outer = Self.innermost
    unsafe fwd_set_thread_changes(Unmanaged.passUnretained(self).toOpaque())
  }

  /// Stops collecting. What this thread changes from now on takes effect at once.
  internal func stop() {
    unsafe fwd_set_thread_changes(outer.map { unsafe Unmanaged.passUnretained($0).toOpaque() })
  }

  /// Runs a closure whose changes take effect at once, instead of with those that this
  /// thread collects. So do changes that observers make meanwhile.
  internal static func outside<Output, Failure: Error>(
    _ body: () throws(Failure) -> Output
  ) throws(Failure) -> Output {
    let changes = unsafe fwd_thread_changes()
    fwd_set_thread_changes(nil)
    defer { unsafe fwd_set_thread_changes(changes) }
    return try body()
  }

  private static var innermost: MembershipChange? {
    guard let changes = unsafe fwd_thread_changes() else { return nil }
    // SAFETY: the call of `change` that has set it keeps it, and has not returned.
    return unsafe Unmanaged<MembershipChange>.fromOpaque(changes).takeUnretainedValue()
  }

  /// The change of a proxy that this thread collects.
  internal static func current(of proxy: DynamicProxy) -> MembershipChange? {
    var change = innermost
    while let found = change, found.proxy !== proxy { change = found.outer }
    return change
  }

  /// Whether a subscription begins with the change and has not been cancelled.
  internal func willJoin(_ identifier: UInt64) -> Bool {
    joins[identifier].map { !$0.isWithdrawn && !leaving.contains(identifier) } ?? false
  }

  /// Whether a subscription of the list is live before the change and after it.
  internal func keeps(_ identifier: UInt64) -> Bool {
    endings == 0 && !leaving.contains(identifier)
  }

  /// The subscriptions of an object that begin with the change, the oldest first.
  internal func joins(of object: UInt) -> [UInt64] {
    edits.compactMap { edit in
      guard case .join(let identifier) = edit, willJoin(identifier),
        joins[identifier]?.subscriber.object == object
      else { return nil }
      return identifier
    }
  }

  /// Whether a position counts live subscribers.
  internal var countsSubscribers: Bool {
    edits.contains { edit in
      switch edit {
      case .join(let identifier): joins[identifier]?.position.isIndex ?? false
      case .move(_, let position): position.isIndex
      case .leave, .leaveAll: false
      }
    }
  }

  /// How far the change has come.
  internal struct Mark {
    fileprivate let edits, owned, completions: Int
  }

  internal var mark: Mark {
    Mark(edits: edits.count, owned: owned.count, completions: completions.count)
  }

  /// The objects of forgotten changes. Release them under no lock, since this may run
  /// foreign code.
  internal struct Forgotten: @unchecked Sendable {
    // Sendable: it is only released.
    fileprivate(set) internal var joins: [Join] = []
    fileprivate var edits: [Edit] = []
    fileprivate var owned: [AnyObject] = []
    fileprivate var completions: [() -> Void] = []
  }

  /// Forgets what has been added since a mark. The caller abandons the joins.
  internal func rollBack(to mark: Mark) -> Forgotten {
    var forgotten = Forgotten()
    forgotten.edits = Array(edits[mark.edits...])
    for edit in forgotten.edits.reversed() {
      switch edit {
      case .join(let identifier):
        guard let join = joins.removeValue(forKey: identifier) else { break }
        if identifiers[join.subscriber] == identifier { identifiers[join.subscriber] = nil }
        forgotten.joins.append(join)
      case .leave(let identifier): leaving.remove(identifier)
      case .leaveAll: endings -= 1
      case .move: break
      }
    }
    forgotten.owned = Array(owned[mark.owned...])
    forgotten.completions = Array(completions[mark.completions...])
    edits.removeLast(forgotten.edits.count)
    owned.removeLast(forgotten.owned.count)
    completions.removeLast(forgotten.completions.count)
    return forgotten
  }
}

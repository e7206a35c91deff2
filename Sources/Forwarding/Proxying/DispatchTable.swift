// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A joined table as one proxy has it: what the shim calls for each method, by
/// the proxy's index of it. The shim's table and this object live and die
/// together: each subscription has a reference.
@safe internal final class DispatchTable: @unchecked Sendable {
  // Sendable: filled in `init`, and immutable from then on.

  /// The shim's table; valid as long as this object.
  internal let handle: OpaquePointer
  /// Names it: one object with tables of one key is one subscriber.
  internal let key: UnsafeRawPointer
  /// Whether an object may come with a table of this key again.
  internal let mayRepeat: Bool
  /// Keeps what the shim calls.
  internal let joined: JoinedTable
  /// Gets the messages, if the deliveries are made later. Given up with this object.
  private let recipient: OpaquePointer?

  /// Makes a proxy's own copy of what is called.
  ///
  /// - Parameters:
  ///   - key: what names the table instead of its own identity.
  ///   - isSingle: whether there will be one subscription with it only.
  /// - Throws: `ForwardingError` with the code `outOfMemory`.
  internal convenience init(
    _ joined: JoinedTable, key: ObjectIdentifier? = nil, isSingle: Bool
  ) throws(ForwardingError) {
    try unsafe self.init(joined, joined.implementations, key: key, isSingle: isSingle, nil)
  }

  /// Makes a table of one subscription whose deliveries a recipient makes later.
  ///
  /// - Parameter implementations: those of the recipient. On success the table
  ///   gives the recipient up.
  internal convenience init(
    _ joined: JoinedTable, _ implementations: [(index: Int, implementation: fwd_implementation)],
    recipient: OpaquePointer
  ) throws(ForwardingError) {
    try unsafe self.init(joined, implementations, key: nil, isSingle: true, recipient)
    unsafe fwd_recipient_observe(recipient, handle)
  }

  private init(
    _ joined: JoinedTable, _ implementations: [(index: Int, implementation: fwd_implementation)],
    key: ObjectIdentifier?, isSingle: Bool, _ recipient: OpaquePointer?
  ) throws(ForwardingError) {
    let name = unsafe (key ?? ObjectIdentifier(joined.identity)).address
    // The owner is named below: there is no `self` yet.
    guard let handle = unsafe fwd_dispatch_table_create(joined.methodCount, name) else {
      throw ForwardingError(.outOfMemory, "no memory for a function table")
    }
    for unsafe(index, implementation) in unsafe implementations {
      // SAFETY: the index is below the count, and no other code has the table yet.
      unsafe fwd_dispatch_table_entry(handle, index).pointee = implementation
    }
    unsafe self.handle = handle
    unsafe self.key = name
    self.mayRepeat = !isSingle || key != nil
    self.joined = joined
    unsafe self.recipient = recipient
    // SAFETY: this object destroys the table.
    unsafe fwd_dispatch_table_adopt(handle, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Lets later objects of a class find the table by their class. All objects of
  /// exactly this class must subscribe with this table.
  internal func stand(for owner: Any.Type) {
    unsafe fwd_dispatch_table_stand_for(handle, ObjectIdentifier(owner).address)
  }

  /// Whether another proxy may have the table, if the caller has the only reference to
  /// it.
  internal var isUnused: Bool { unsafe fwd_dispatch_table_is_unused(handle) }

  /// Has a C program's notifier called when no delivery can be made any more.
  internal func adopt(_ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?) {
    if let recipient = unsafe recipient { unsafe fwd_recipient_adopt(recipient, destroy) }
  }

  deinit {
    // SAFETY: references to the table are references to this object.
    unsafe fwd_dispatch_table_destroy(handle)
    if let recipient = unsafe recipient { unsafe fwd_recipient_release(recipient) }
  }
}

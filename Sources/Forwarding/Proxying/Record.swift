// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding

/// A reference to a record of the shim.
@safe internal final class Record: @unchecked Sendable {
  // Sendable: the shim's records are counted and marked by atomics, and
  // otherwise immutable.

  internal let handle: OpaquePointer
  private let parts: fwd_record_parts
  /// Keeps the table joined for others who come with it.
  private let dispatch: DispatchTable

  /// Makes a record.
  internal init(
    _ identifier: UInt64, _ candidate: SubscriberList.Candidate, _ dispatch: DispatchTable
  ) throws(ForwardingError) {
    let object = unsafe candidate.object.map {
      unsafe Unmanaged.passUnretained($0).toOpaque()
    }
    let parts = unsafe fwd_record_parts(
      identifier: identifier, object: object ?? candidate.receiver, hold: candidate.hold,
      receiver: candidate.receiver, destroy: candidate.destroy)
    // SAFETY: the object lives, since the caller has it.
    let table = unsafe dispatch.retainedHandle()
    guard let handle = unsafe withUnsafePointer(to: parts, { unsafe fwd_record_create($0, table) })
    else {
      unsafe fwd_dispatch_table_release(table)
      throw ForwardingError(.outOfMemory, "no memory for a subscriber")
    }
    unsafe self.handle = handle
    unsafe self.parts = parts
    self.dispatch = dispatch
  }

  deinit {
    // SAFETY: the reference that `init` made.
    unsafe fwd_record_release(handle)
  }

  internal var identifier: UInt64 { unsafe fwd_record_identifier(handle) }

  internal var isLive: Bool { unsafe fwd_record_is_live(handle) }

  internal func implements(_ method: Int) -> Bool {
    unsafe fwd_record_implements(handle, method)
  }

  /// The identity of the object that is held, alive or not; nil for a C
  /// context.
  internal var objectIdentifier: ObjectIdentifier? {
    guard unsafe parts.hold != FWD_HOLD_NONE, let object = unsafe parts.object else { return nil }
    // SAFETY: an identifier is the address. The object may be dead, so no
    // reference to it is made.
    return unsafe unsafeBitCast(object, to: ObjectIdentifier.self)
  }

  /// The object that is held, or nil if it has died, or is a C context.
  internal var object: AnyObject? {
    guard unsafe parts.hold != FWD_HOLD_NONE, let object = unsafe fwd_record_take(handle) else {
      return nil
    }
    // SAFETY: a record that holds has a Swift object, which has just been
    // retained if it is weak.
    defer { unsafe fwd_record_drop(handle, object) }
    return unsafe Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue()
  }
}

/// What is to be done after the lock of a list has been given up.
internal struct Changes {
  private var records: [Record] = []
  private var flips: [(method: Int, responds: Bool)] = []

  /// Keeps a record alive until then.
  mutating func keep(_ record: Record) {
    records.append(record)
  }

  /// Notes that a method has gained its first responder or lost its last.
  mutating func note(_ method: Int, responds: Bool) {
    // Lost and gained within one change: nothing has happened.
    if let index = flips.firstIndex(where: { $0.method == method && $0.responds != responds }) {
      flips.remove(at: index)
    } else {
      flips.append((method, responds))
    }
  }

  /// Tells the observer, and gives up the records.
  mutating func finish(
    _ methods: [MethodSelector], _ onChange: (@Sendable (MethodSelector, Bool) -> Void)?
  ) {
    records = []
    guard let onChange else { return }
    for (method, responds) in flips { onChange(methods[method], responds) }
  }
}

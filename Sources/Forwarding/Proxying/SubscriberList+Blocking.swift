// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension SubscriberList {
  /// Has a subscription passed over. False if it has ended.
  ///
  /// - Throws: `ForwardingError` with the code `outOfMemory`.
  internal func block(_ identifier: UInt64) throws(ForwardingError) -> Bool {
    try change { _, _ throws(ForwardingError) in
      guard let record = unsafe liveRecord(identifier) else { return false }
      guard unsafe fwd_list_block(list, record) else {
        throw ForwardingError(.outOfMemory, "no memory to block a subscription")
      }
      return true
    }
  }

  /// Undoes `block` once. False if the subscription is not blocked.
  internal func unblock(_ identifier: UInt64) -> Bool {
    let isDone = try? change { _, garbage throws(ForwardingError) in
      guard let record = unsafe liveRecord(identifier) else { return false }
      return unsafe fwd_list_unblock(list, record, &garbage.contents)
    }
    return isDone ?? false
  }

  /// Whether a subscription goes on and is blocked.
  internal func isBlocked(_ identifier: UInt64) -> Bool {
    withState { _ in
      guard let record = unsafe liveRecord(identifier) else { return false }
      return unsafe fwd_record_is_blocked(record)
    }
  }

  /// The record of a subscription that goes on. Under the lock.
  private func liveRecord(_ identifier: UInt64) -> OpaquePointer? {
    guard let record = unsafe fwd_list_find(list, identifier),
      unsafe fwd_record_is_live(record)
    else { return nil }
    return unsafe record
  }
}

/// After how many deliveries a subscription ends.
internal struct DeliveryLimit {
  /// 0 for no limit.
  internal let count: Int

  /// As many as there come.
  internal static let none = DeliveryLimit(count: 0)

  private init(count: Int) { self.count = count }

  /// Takes what a caller asks for.
  ///
  /// - Throws: `ForwardingError` with the code `invalidLimit` if that is less
  ///   than one.
  internal init(_ times: Int?) throws(ForwardingError) {
    if let times, times < 1 {
      throw ForwardingError(
        .invalidLimit, "it ends after \(times) calls, expected 1 or more")
    }
    count = times ?? 0
  }
}

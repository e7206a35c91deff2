// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

// Positions as indices of the shim's list. All of it under the list's lock.
extension SubscriberList {
  /// The index before which a position is. A member that is to be moved there
  /// is passed over.
  internal func place(
    _ position: DynamicProxy.Position, _ state: State, moving mover: UInt64? = nil
  ) throws(ForwardingError) -> Int {
    var position = position
    if unknownAnchors == .ends, let anchor = position.anchor, unsafe find(anchor) == nil {
      position = position.withoutAnchor
    }
    switch position.place {
    case .last: return place(priority: 0, state, moving: mover)
    case .first: return 0
    case .priority(let priority): return place(priority: priority, state, moving: mover)
    case .index(let index):
      let count = unsafe fwd_list_count(list)
      guard index >= 0 && index <= count else {
        throw ForwardingError(
          .indexOutOfRange, "position \(index), but the proxy has \(count) subscribers")
      }
      return index
    case .before(let anchor):
      return unsafe fwd_list_index(list, try resolve(anchor))
    case .after(let anchor):
      return unsafe fwd_list_index(list, try resolve(anchor)) + 1
    }
  }

  /// The index behind all members of this priority or a higher one.
  internal func place(priority: Int, _ state: State, moving mover: UInt64?) -> Int {
    var index = unsafe fwd_list_count(list)
    guard !state.priorities.isEmpty || priority != 0 else { return index }
    while index > 0 {
      let record = unsafe fwd_list_record(list, index - 1)
      let before = unsafe fwd_record_identifier(record)
      let isLive = unsafe fwd_record_is_live(record)
      if isLive && before != mover && (state.priorities[before] ?? 0) >= priority { break }
      index -= 1
    }
    return index
  }

  /// The record of an anchor, or nil if it is not there, or not live.
  internal func find(_ anchor: DynamicProxy.Position.Anchor) -> OpaquePointer? {
    let record: OpaquePointer?
    switch anchor {
    case .subscription(let subscription):
      unsafe record = fwd_list_find(list, subscription.identifier)
    case .object(let object):
      unsafe record = fwd_list_find_object(list, object.address, nil)
    }
    guard let record = unsafe record, unsafe fwd_record_is_live(record) else { return nil }
    return unsafe record
  }

  /// The record of an anchor.
  private func resolve(
    _ anchor: DynamicProxy.Position.Anchor
  ) throws(ForwardingError) -> OpaquePointer {
    guard let record = unsafe find(anchor) else {
      throw ForwardingError(.notSubscribed, "the anchor of the position is not subscribed")
    }
    return unsafe record
  }
}

extension DynamicProxy.Position {
  internal var priority: Int {
    if case .priority(let priority) = place { priority } else { 0 }
  }

  internal var isIndex: Bool {
    if case .index = place { true } else { false }
  }

  internal var anchor: Anchor? {
    switch place {
    case .before(let anchor), .after(let anchor): anchor
    default: nil
    }
  }

  /// Where a position beside an anchor is that is not there: before it is the
  /// end, behind it the front.
  internal var withoutAnchor: DynamicProxy.Position {
    switch place {
    case .before: .last
    case .after: .first
    default: self
    }
  }
}

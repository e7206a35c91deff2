// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

// Positions as indices of the shim's list. The caller holds the list's lock.
extension SubscriberList {
  /// The index of the record that a position is before. A record that is to be
  /// moved there does not count as an anchor of its priority.
  ///
  /// - Complexity: amortised O(log *n*) in the number of subscribers.
  internal func index(
    of position: DynamicProxy.Position, moving mover: OpaquePointer? = nil
  ) throws(ForwardingError) -> Int {
    var position = position
    if unknownAnchors == .ends, let anchor = position.anchor, unsafe find(anchor) == nil {
      position = position.withoutAnchor
    }
    switch position.kind {
    case .last: return unsafe fwd_list_priority_index(list, 0, mover)
    case .first: return 0
    case .priority(let priority):
      return unsafe fwd_list_priority_index(list, Int64(priority), mover)
    case .index(let index):
      let count = unsafe fwd_list_count(list)
      guard index >= 0 && index <= count else {
        throw .noPosition(index, count: count)
      }
      return index
    case .before(let anchor):
      return unsafe fwd_list_index(list, try resolve(anchor))
    case .after(let anchor):
      return unsafe fwd_list_index(list, try resolve(anchor)) + 1
    }
  }

  /// The record of an anchor, or nil if its subscription has ended or its
  /// subscriber has died.
  internal func find(_ anchor: DynamicProxy.Position.Anchor) -> OpaquePointer? {
    let record: OpaquePointer?
    switch anchor {
    case .subscription(let identifier):
      unsafe record = fwd_list_find(list, identifier)
    case .object(let object, class: _):
      unsafe record = fwd_list_find_object(list, object.address, nil)
    }
    guard let record = unsafe record, unsafe fwd_record_is_live(record) else { return nil }
    return unsafe record
  }

  /// The record of an anchor.
  ///
  /// - Throws: `ForwardingError` with the code `notSubscribed`.
  private func resolve(
    _ anchor: DynamicProxy.Position.Anchor
  ) throws(ForwardingError) -> OpaquePointer {
    guard let record = unsafe find(anchor) else {
      throw ForwardingError(.notSubscribed, "the anchor of the position, \(anchor.fault)")
    }
    return unsafe record
  }
}

extension DynamicProxy.Position.Anchor {
  /// Describes the anchor and its fault, for errors.
  fileprivate var fault: String {
    switch self {
    case .subscription: "a subscription, has ended or is of another proxy"
    case .object(_, let type): "an object of class \(type), is not subscribed"
    }
  }
}

extension DynamicProxy.Position {
  internal var priority: Int {
    if case .priority(let priority) = kind { priority } else { 0 }
  }

  internal var isIndex: Bool {
    if case .index = kind { true } else { false }
  }

  internal var anchor: Anchor? {
    switch kind {
    case .before(let anchor), .after(let anchor): anchor
    default: nil
    }
  }

  /// The position that replaces one beside an unknown anchor: the last instead
  /// of one before it, the first instead of one behind it.
  internal var withoutAnchor: DynamicProxy.Position {
    switch kind {
    case .before: .last
    case .after: .first
    default: self
    }
  }
}

extension ForwardingError {
  /// The error for an index that is no position among so many subscribers.
  internal static func noPosition(_ index: some BinaryInteger, count: Int) -> ForwardingError {
    ForwardingError(
      .indexOutOfRange,
      "there is no position \(index): expected 0 to \(count), the number of subscribers")
  }
}

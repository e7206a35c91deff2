// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension SubscriberList {
  /// Blocks a subscription: deliveries skip it. False if it has ended.
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
  /// - Parameter subject: What has the limit, for errors.
  /// - Throws: `ForwardingError` with the code `invalidLimit` if that is less
  ///   than one.
  internal init(_ times: Int?, for subject: @autoclosure () -> Subject) throws(ForwardingError) {
    if let times, times < 1 {
      let subject = subject()
      throw ForwardingError(
        .invalidLimit, selector: subject.selector?.name,
        "\"times\" for \(subject.words) is \(times), expected 1 or more")
    }
    count = times ?? 0
  }

  /// A subscription, or a method, with a limit.
  internal struct Subject {
    fileprivate let words: String
    fileprivate let selector: MethodSelector?

    internal static func method(_ selector: MethodSelector) -> Subject {
      Subject(words: "\"\(selector)\"", selector: selector)
    }

    /// A subscription. It is named after its method, if there is only one.
    internal static func subscription(
      of owner: Any.Type, to methods: some Collection<MethodSelector>
    ) -> Subject {
      if methods.count == 1, let method = methods.first { return .method(method) }
      let subscriber =
        owner == TokenSubscriber.self
        ? "closures" : owner == DynamicProxy.self ? "a proxy" : "an object of class \(owner)"
      return Subject(words: "the subscription of \(subscriber)", selector: nil)
    }
  }
}

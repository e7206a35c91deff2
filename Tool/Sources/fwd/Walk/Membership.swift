// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import Synchronization

/// An observer's subscription, which may be told to end in the middle of the
/// walk.
final class Membership: Sendable {
  private struct State: Sendable {
    var files: UInt64 = 0
    var hasLeft = false
    var subscription: DynamicProxy.Subscription?
  }

  private let fileLimit: UInt64?
  private let state = Mutex(State())

  /// Leaves after so many files, or not at all.
  init(leavingAfter fileLimit: UInt64?) {
    self.fileLimit = fileLimit
  }

  func begin(_ subscription: DynamicProxy.Subscription) {
    state.withLock { $0.subscription = subscription }
  }

  /// Counts a file that has been seen. The last one ends the subscription,
  /// inside its own delivery.
  func sawFile() {
    let ended = state.withLock { state -> DynamicProxy.Subscription? in
      state.files += 1
      guard state.files == fileLimit else { return nil }
      state.hasLeft = true
      return state.subscription.take()
    }
    ended?.cancel()
  }

  /// After how many files it has left; nil if it has not.
  var leftAfter: UInt64? { state.withLock { $0.hasLeft ? $0.files : nil } }
}

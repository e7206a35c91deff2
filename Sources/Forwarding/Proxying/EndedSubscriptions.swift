// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Notes which subscriptions of a typed proxy's listeners have been cancelled, on any
/// thread. The typed proxy then releases the listeners: see `KeptListeners`.
internal final class EndedSubscriptions: Sendable {
  private let noted = Lock<Set<UInt64>>([])

  /// Notes a subscription that has ended, or that ends with a change that has not taken
  /// effect yet.
  internal func note(_ identifier: UInt64) {
    _ = noted.withLock { $0.insert(identifier) }
  }

  internal var identifiers: Set<UInt64> { noted.withLock { $0 } }

  internal func forget(_ identifier: UInt64) {
    _ = noted.withLock { $0.remove(identifier) }
  }
}

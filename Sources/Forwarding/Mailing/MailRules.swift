// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// How the messages of one subscription wait.
internal struct MailRules {
  internal var overflow: DynamicProxy.Overflow = .unbounded
  /// Whether pointers are copied as they are. Swift types that are `Sendable`, and
  /// C programs that say so, promise that they stay valid.
  internal var keepsPointers = false

  internal var rule: fwd_overflow {
    switch overflow {
    case .unbounded: FWD_OVERFLOW_UNBOUNDED
    case .dropOldest, .latest: FWD_OVERFLOW_DROP_OLDEST
    case .dropNewest: FWD_OVERFLOW_DROP_NEWEST
    case .block: FWD_OVERFLOW_BLOCK
    }
  }
}

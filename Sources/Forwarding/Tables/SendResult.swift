// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Room for the result of a direct send.
@usableFromInline
internal struct SendResult {
  @usableFromInline internal var words: (UInt64, UInt64) = (0, 0)

  @inlinable internal init() {}
}

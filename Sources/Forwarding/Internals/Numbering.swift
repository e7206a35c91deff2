// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Synchronization

/// Numbers objects: unlike an address, a number is never used again.
internal enum Numbering {
  private static let last = Atomic<UInt64>(0)

  /// A number that no other caller gets. Not 0.
  internal static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

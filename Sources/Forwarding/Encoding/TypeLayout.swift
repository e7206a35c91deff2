// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// Tells where the bytes of a type lie, as the C compiler has them.
public struct TypeLayout: Sendable, Hashable {
  /// The size in bytes, padding at the end included. 0 for `void` and the empty
  /// struct.
  public let size: Int

  /// The alignment in bytes: a power of two.
  public let alignment: Int

  /// The offset in bytes in the enclosing struct, for a field; else 0.
  public let offset: Int
}

extension TypeLayout {
  /// Takes over the shim's layout of a type or a field.
  internal init(_ layout: fwd_layout) {
    size = layout.size
    alignment = layout.alignment
    offset = layout.offset
  }
}

extension TypeLayout {
  /// For example "16 bytes aligned to 8".
  internal var inWords: String {
    "\(size) \(size == 1 ? "byte" : "bytes") aligned to \(alignment)"
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What an iterator of a signal keeps while it does not wait for an element. Each
/// iterator has a buffer of its own.
public enum SignalBuffering: Sendable, Hashable {
  /// All elements that it has not taken yet.
  case unbounded
  /// At most this many of the newest elements; older ones are dropped. With 0 or
  /// less, the iterator gets only elements that come while it waits.
  case newest(Int)
  /// At most this many of the oldest elements; elements that come while the
  /// buffer is full are dropped.
  case oldest(Int)
}

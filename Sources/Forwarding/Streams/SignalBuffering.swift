// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What an observer of a signal keeps while it is not waiting for an element.
/// Each observer has a buffer of its own.
public enum SignalBuffering: Sendable, Hashable {
  /// All that it has not taken yet.
  case unbounded
  /// The newest elements, at most as many: older ones are dropped. With 0, or
  /// less, it gets only what comes while it waits.
  case newest(Int)
  /// The oldest elements, at most as many: what comes while the buffer is full
  /// is dropped.
  case oldest(Int)
}

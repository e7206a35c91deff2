// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The sequence numbers of an encoder. An encoder that one thread uses gets them without
/// an atomic operation.
@safe internal struct SequenceCounter: ~Copyable, @unchecked Sendable {
  // Sendable: any number of threads may call the functions of the counter.
  private let counter = UnsafeMutablePointer<fwd_counter>.allocate(capacity: 1)

  internal init(startingAt first: UInt64) {
    // SAFETY: the memory does not move, and is freed in `deinit`.
    unsafe counter.initialize(to: fwd_counter())
    unsafe fwd_counter_init(counter, first)
  }

  deinit {
    // SAFETY: allocated in `init`, and no thread uses it any more.
    unsafe counter.deallocate()
  }

  /// Returns the next number.
  @inline(__always)
  internal func next() -> UInt64 {
    // SAFETY: initialised in `init`.
    unsafe fwd_counter_take(counter)
  }
}

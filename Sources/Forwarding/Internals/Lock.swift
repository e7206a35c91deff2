// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal
internal import Synchronization

/// The package's one lock, with the state that it protects. Foreign code never
/// runs under it.
@safe package final class Lock<State>: Sendable {
  private let mutex: Mutex<State>

  package init(_ state: sending State) {
    mutex = Mutex(state)
  }

  /// Runs `body` with the state, alone.
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock { (state: inout sending State) throws(Failure) -> sending Result in
      // SAFETY: the address only names the lock to the sanitizer.
      unsafe fwd_sanitizer_acquire(address)
      defer { unsafe fwd_sanitizer_release(address) }
      return try body(&state)
    }
  }

  private var address: UnsafeRawPointer {
    unsafe UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A mutex with the state that it protects. Foreign code never runs under it.
///
/// It is specialized in this module, which the package's `Lock` is not: that would look
/// up type metadata at each call of a spy. The thread sanitizer knows this mutex.
@safe internal final class SpyLock<State: Sendable>: @unchecked Sendable {
  // Sendable: the state is accessed under the mutex only.

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  // In memory of its own: a property would be checked for exclusive access.
  private let state: UnsafeMutablePointer<State>

  internal init(_ state: State) {
    unsafe self.state = .allocate(capacity: 1)
    unsafe mutex = .allocate(capacity: 1)
    // SAFETY: neither moves, and both are destroyed once.
    unsafe self.state.initialize(to: state)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Runs `body` with the state while no other thread does.
  internal func withLock<Value>(_ body: (inout State) -> Value) -> Value {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe body(&state.pointee)
  }
}

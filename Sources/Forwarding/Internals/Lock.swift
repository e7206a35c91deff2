// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A mutex with the state that it protects. Foreign code never runs under it.
///
/// All locks of the package are the shim's, since they stay usable in a child of
/// `fork`: see `CShims/src/reclaim/lock.c`. `Synchronization.Mutex` does not. It
/// stays locked in the child if another thread held it, and even a free one
/// aborts when threads of the child contend for it, since it remembers the
/// thread identifier of the parent's thread.
@safe package struct Lock<State>: @unchecked Sendable {
  // Sendable: the state is accessed under the lock only, and only values that
  // may change their isolation go in and come out.

  /// The state, followed by the lock.
  private typealias Storage = ManagedBuffer<State, fwd_lock>
  private let storage: Storage

  package init(_ state: sending State) {
    // SAFETY: the buffer has room for one lock, and a lock is trivial.
    storage = Storage.create(minimumCapacity: 1) { buffer in
      unsafe buffer.withUnsafeMutablePointerToElements { unsafe $0.initialize(to: fwd_lock()) }
      return state
    }
  }

  /// Runs `body` with the state while no other thread does.
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    let (state, lock) = unsafe pointers
    unsafe fwd_lock_lock(lock)
    defer {
      unsafe fwd_lock_unlock(lock)
      extendLifetime(storage)
    }
    return try unsafe body(&state.pointee)
  }

  /// Runs `body` with the state if no other thread holds the lock, else returns
  /// nil at once.
  package func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    let (state, lock) = unsafe pointers
    guard unsafe fwd_lock_try(lock) else { return nil }
    defer {
      unsafe fwd_lock_unlock(lock)
      extendLifetime(storage)
    }
    return try unsafe body(&state.pointee)
  }

  // SAFETY: both lie in the buffer's own memory, which does not move.
  private var pointers: (UnsafeMutablePointer<State>, UnsafeMutablePointer<fwd_lock>) {
    unsafe storage.withUnsafeMutablePointers { unsafe ($0, $1) }
  }
}

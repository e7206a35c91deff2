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

  // Both point into memory that does not move. They are stored because the thread
  // sanitizer treats a call of withUnsafeMutablePointers as an access to the
  // state, and that call would come before the lock is held.
  private let state: UnsafeMutablePointer<State>
  private let lock: UnsafeMutablePointer<fwd_lock>
  /// The state, followed by the lock; nil if they are in memory of the owner.
  private let storage: ManagedBuffer<State, fwd_lock>?

  package init(_ state: sending State) {
    // SAFETY: the buffer has room for one lock, and a lock is trivial.
    let storage = ManagedBuffer<State, fwd_lock>.create(minimumCapacity: 1) { buffer in
      unsafe buffer.withUnsafeMutablePointerToElements { unsafe $0.initialize(to: fwd_lock()) }
      return state
    }
    unsafe (self.state, lock) = unsafe storage.withUnsafeMutablePointers { unsafe ($0, $1) }
    self.storage = storage
  }

  /// A lock in memory of the owner, which makes the state and destroys it.
  @unsafe internal init(
    _ state: UnsafeMutablePointer<State>, lock: UnsafeMutablePointer<fwd_lock>
  ) {
    unsafe self.state = state
    unsafe self.lock = lock
    storage = nil
  }

  /// Whether both are copies of one lock.
  package func isSame(_ other: Lock) -> Bool { unsafe lock == other.lock }

  /// Runs `body` with the state while no other thread does.
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    unsafe fwd_lock_lock(lock)
    defer {
      unsafe fwd_lock_unlock(lock)
      extendLifetime(storage)
    }
    return try unsafe body(&state.pointee)
  }
}

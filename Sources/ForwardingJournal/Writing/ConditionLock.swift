// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import CForwardingInternal
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #elseif canImport(Darwin)
    internal import Darwin
  #endif

  /// A lock with two conditions: one for the writer, and one for all other threads.
  ///
  /// The package's `Lock` has no conditions, and each recorded call takes this one.
  @safe internal final class ConditionLock: @unchecked Sendable {
    // Sendable: only the functions of the locks change the memory after `init`.
    internal let quick = UnsafeMutablePointer<fwd_quick_lock>.allocate(capacity: 1)
    /// The mutex of the conditions. Threads lock it while they hold the quick lock, and a
    /// waiting thread unlocks the quick lock only afterwards, so it misses no wake-up. A wait
    /// ends with the mutex alone, which is unlocked before the quick lock is locked.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let work = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    internal init() {
      // SAFETY: the memory does not move, and is destroyed in `deinit`.
      unsafe quick.initialize(to: fwd_quick_lock())
      unsafe fwd_quick_lock_init(quick)
      unsafe mutex.initialize(to: pthread_mutex_t())
      unsafe work.initialize(to: pthread_cond_t())
      unsafe change.initialize(to: pthread_cond_t())
      unsafe pthread_mutex_init(mutex, nil)
      unsafe pthread_cond_init(change, nil)
      #if os(Linux)
        // Timed waits must not depend on a clock that can be set.
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(work, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
      #else
        unsafe pthread_cond_init(work, nil)
      #endif
    }

    deinit {
      // SAFETY: no thread uses them any more.
      unsafe pthread_cond_destroy(change)
      unsafe pthread_cond_destroy(work)
      unsafe pthread_mutex_destroy(mutex)
      unsafe change.deallocate()
      unsafe work.deallocate()
      unsafe mutex.deallocate()
      unsafe quick.deallocate()
    }

    @inline(__always)
    internal func lock() { unsafe fwd_quick_lock_lock(quick) }

    @inline(__always)
    internal func unlock() { unsafe fwd_quick_lock_unlock(quick) }

    /// Wakes the writer.
    internal func signal() {
      unsafe pthread_mutex_lock(mutex)
      unsafe pthread_cond_signal(work)
      unsafe pthread_mutex_unlock(mutex)
    }

    /// Waits for `signal`. The writer only.
    internal func wait() { unlocked { unsafe pthread_cond_wait(work, mutex) } }

    /// Waits for `signal`, at most for some nanoseconds.
    internal func wait(nanoseconds: Int) {
      #if os(Linux)
        var end = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &end)
        let sum = end.tv_nsec + nanoseconds
        end.tv_sec += sum / 1_000_000_000
        end.tv_nsec = sum % 1_000_000_000
        unlocked { unsafe pthread_cond_timedwait(work, mutex, &end) }
      #else
        var length = timespec(
          tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
        unlocked { unsafe pthread_cond_timedwait_relative_np(work, mutex, &length) }
      #endif
    }

    /// Wakes all threads in `waitForChange`.
    internal func broadcastChange() {
      unsafe pthread_mutex_lock(mutex)
      unsafe pthread_cond_broadcast(change)
      unsafe pthread_mutex_unlock(mutex)
    }

    /// Waits for `broadcastChange`. Any thread but the writer.
    internal func waitForChange() { unlocked { unsafe pthread_cond_wait(change, mutex) } }

    /// Waits for a condition, and gives the lock up meanwhile.
    private func unlocked(_ wait: () -> Int32) {
      unsafe pthread_mutex_lock(mutex)
      unlock()
      _ = wait()
      unsafe pthread_mutex_unlock(mutex)
      lock()
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #elseif canImport(Darwin)
    internal import Darwin
  #endif

  /// A mutex with two condition variables: one for the writer, and one for all other
  /// threads.
  ///
  /// The package's `Lock` has no conditions.
  @safe internal final class ConditionLock: @unchecked Sendable {
    // Sendable: only the system's functions change the memory after `init`.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let work = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    internal init() {
      // SAFETY: the memory does not move, and is destroyed in `deinit`.
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
    }

    @inline(__always)
    internal func lock() { unsafe pthread_mutex_lock(mutex) }

    @inline(__always)
    internal func unlock() { unsafe pthread_mutex_unlock(mutex) }

    /// Wakes the writer.
    internal func signal() { unsafe pthread_cond_signal(work) }

    /// Waits for `signal`. The writer only.
    internal func wait() { unsafe pthread_cond_wait(work, mutex) }

    /// Waits for `signal`, at most for some nanoseconds.
    internal func wait(nanoseconds: Int) {
      #if os(Linux)
        var end = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &end)
        let sum = end.tv_nsec + nanoseconds
        end.tv_sec += sum / 1_000_000_000
        end.tv_nsec = sum % 1_000_000_000
        _ = unsafe pthread_cond_timedwait(work, mutex, &end)
      #else
        var length = timespec(
          tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
        _ = unsafe pthread_cond_timedwait_relative_np(work, mutex, &length)
      #endif
    }

    /// Wakes all threads in `waitForChange`.
    internal func broadcastChange() { unsafe pthread_cond_broadcast(change) }

    /// Waits for `broadcastChange`. Any thread but the writer.
    internal func waitForChange() { unsafe pthread_cond_wait(change, mutex) }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A lock with a condition, whose timed waits use a clock that nobody sets.
///
/// Foundation's `NSCondition` waits until a date. If the system's time is set back by an hour, such a
/// wait takes an hour longer; if it is set forward, the wait ends at once. The time for which the
/// machine sleeps does not count here.
@safe internal final class SteadyCondition: @unchecked Sendable {
  // Sendable: only the functions of the lock and the condition change the memory after `init`.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let now: @Sendable () -> SuspendingClock.Instant

  /// - Parameter now: the clock. A test may pass another one.
  internal init(now: @escaping @Sendable () -> SuspendingClock.Instant = { .now }) {
    self.now = now
    // SAFETY: the memory does not move, and is destroyed in `deinit`.
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    #if os(Linux)
      var attributes = pthread_condattr_t()
      unsafe pthread_condattr_init(&attributes)
      unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      unsafe pthread_cond_init(condition, &attributes)
      unsafe pthread_condattr_destroy(&attributes)
    #else
      unsafe pthread_cond_init(condition, nil)
    #endif
  }

  deinit {
    // SAFETY: no thread uses them any more.
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  internal func lock() { unsafe pthread_mutex_lock(mutex) }

  internal func unlock() { unsafe pthread_mutex_unlock(mutex) }

  internal func withLock<Value>(_ body: () -> Value) -> Value {
    lock()
    defer { unlock() }
    return body()
  }

  /// Wakes all threads that wait. The lock is held.
  internal func broadcast() { unsafe pthread_cond_broadcast(condition) }

  /// Waits for `broadcast`. The lock is held, and free meanwhile. A wait may also end for no
  /// reason.
  internal func wait() { unsafe pthread_cond_wait(condition, mutex) }

  /// Returns when a wait ends that begins now and has some length.
  internal func deadline(after length: Duration) -> SuspendingClock.Instant {
    // A longer wait would overflow the system's time.
    now() + min(length, .seconds(1 << 32))
  }

  /// Waits for `broadcast`, at most until a deadline. The lock is held, and free meanwhile. A wait
  /// may also end for no reason.
  ///
  /// - Returns: false if the deadline has passed.
  internal func wait(until deadline: SuspendingClock.Instant) -> Bool {
    while true {
      let (seconds, attoseconds) = now().duration(to: deadline).components
      guard seconds > 0 || attoseconds > 0 else { return false }
      // Rounded up: a wait that ends too early would be followed by another one.
      let nanoseconds = Int(attoseconds / 1_000_000_000) + 1
      if !isTimedOut(seconds: Int(seconds), nanoseconds: nanoseconds) { return true }
    }
  }

  /// Waits for some time that is positive. Returns whether it has passed.
  private func isTimedOut(seconds: Int, nanoseconds: Int) -> Bool {
    #if os(Linux)
      var end = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC, &end)
      let sum = end.tv_nsec + nanoseconds
      end.tv_sec += seconds + sum / 1_000_000_000
      end.tv_nsec = sum % 1_000_000_000
      return unsafe pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT
    #else
      var length = timespec(
        tv_sec: seconds + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
      return unsafe pthread_cond_timedwait_relative_np(condition, mutex, &length) == ETIMEDOUT
    #endif
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A lock that the thread sanitizer knows.
@safe final class PosixLock<State>: @unchecked Sendable {
  // Sendable: the state is behind the mutex.

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var state: State

  init(_ state: State) {
    self.state = state
    // SAFETY: the mutex does not move.
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  func withLock<Output>(_ body: (inout State) -> Output) -> Output {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body(&state)
  }
}

/// Threads under way, with the number of each.
@safe struct Threads {
  private final class Start: Sendable {
    let number: Int
    let body: @Sendable (Int) -> Void
    init(_ number: Int, _ body: @escaping @Sendable (Int) -> Void) {
      self.number = number
      self.body = body
    }
  }

  #if canImport(Darwin)
    private var threads: [pthread_t?]
  #else
    private var threads: [pthread_t]
  #endif

  /// Starts them.
  init(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    #if canImport(Darwin)
      unsafe threads = Array(repeating: nil, count: count)
    #else
      threads = Array(repeating: pthread_t(), count: count)
    #endif
    for number in 0..<count {
      // SAFETY: the new thread takes over the reference to what it starts with.
      let start = unsafe Unmanaged.passRetained(Start(number, body)).toOpaque()
      let status = unsafe pthread_create(
        &threads[number], nil,
        { argument in
          #if canImport(Darwin)
            let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
          #else
            let start = unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
          #endif
          start.body(start.number)
          return nil
        }, start)
      precondition(status == 0, "no thread")
    }
  }

  /// Waits for their ends.
  func join() {
    for thread in threads {
      #if canImport(Darwin)
        unsafe pthread_join(thread!, nil)
      #else
        pthread_join(thread, nil)
      #endif
    }
  }
}

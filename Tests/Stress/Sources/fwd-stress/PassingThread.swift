// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import CStressSupport
internal import Forwarding
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What a short-lived thread does: it subscribes, forwards, holds a batch, and
/// ends.
@safe final class PassingThread: @unchecked Sendable {
  // Sendable: only the thread uses it until it has ended, then only the thread
  // that has started it.

  let worker: Worker
  /// A subscription that goes on when the thread has ended.
  private(set) var left: Membership?
  /// How many exit handlers have run, and how many have been set.
  private(set) var exits = 0
  private(set) var dueExits = 0
  private var batch: OpaquePointer?
  /// The exit handler that ends the batch.
  private let endsBatchAt: Int
  private var joinedBy = 0
  private var present: [Member] = []

  init(_ worker: Worker) {
    self.worker = worker
    endsBatchAt = 1 + worker.random.below(2)
  }

  func live() {
    worker.makeCurrent()
    worker.followOne(Membership.Kind.allCases.randomElement(using: &worker.random)!)
    worker.forwardBatch()
    worker.change()
    violations.unfailing("a thread's subscription") {
      let kind = Membership.Kind.allCases.randomElement(using: &worker.random)!
      left = try Membership(Member(), kind, in: worker.stage.main)
      worker.tally.joined += 1
    }
    beginBatch()
    forwardInBatch()
    // The thread sanitizer crashes when exit handlers of other keys than its own
    // use what it intercepts.
    if stress_has_thread_sanitizer() { return endBatch() }
    for key in [ExitHandler.early, ExitHandler.late] {
      // SAFETY: the object lives until the thread has ended.
      let status = unsafe pthread_setspecific(key, Unmanaged.passUnretained(self).toOpaque())
      violations.check(status == 0, "an exit handler was not set: \(status)")
      dueExits += 1
    }
  }

  /// Runs in the exit handlers of the thread.
  fileprivate func exit() {
    exits += 1
    worker.followOne(Membership.Kind.allCases.randomElement(using: &worker.random)!)
    worker.change()
    // Other threads get time to end subscriptions that the batch still has, and
    // all fan-outs under way to end.
    if worker.random.isOneOf(8) { usleep(UInt32(worker.random.below(100_000))) }
    forwardInBatch()
    if exits == endsBatchAt { endBatch() }
    if exits == dueExits {
      violations.check(unsafe batch == nil, "the batch of a thread has not ended")
    }
  }

  private func beginBatch() {
    joinedBy = clock.load(ordering: .sequentiallyConsistent)
    // Members that the test keeps alive would hide a batch that does not.
    if worker.random.isOneOf(2) { present = worker.stage.presentMembers() }
    // SAFETY: the stage keeps the proxy.
    let status = unsafe fwd_batch_begin(worker.stage.main.unsafeHandle, &batch, nil)
    violations.check(status == FWD_OK, "a batch could not begin: \(status)")
  }

  private func forwardInBatch() {
    guard let batch = unsafe batch else { return }
    worker.fan(.strike, joinedBy: joinedBy, present: present) { fan in
      unsafe fan.withFrame { frame in
        // SAFETY: the batch is this thread's.
        let status = unsafe fwd_batch_forward(
          batch, fwd_selector_register("strike:fan:"), frame.baseAddress, frame.count, nil, 0)
        violations.check(status == FWD_OK, "a thread's batch could not forward: \(status)")
      }
    }
  }

  private func endBatch() {
    unsafe fwd_batch_end(batch)
    unsafe batch = nil
    present = []
  }

  /// Hands over the subscription that is left.
  func takeLeft() -> Membership? {
    defer { left = nil }
    return left
  }
}

/// Keys whose values have a function called when a thread ends.
enum ExitHandler {
  /// Made before the library's own key and after it. The C library calls the
  /// handlers in this order: the first one runs before the library gives back
  /// what it keeps for the thread, the second one after that.
  static let early = makeKey()
  static let late = makeKey()

  private static func makeKey() -> pthread_key_t {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key) { value in
      #if canImport(Darwin)
        let thread = unsafe Unmanaged<PassingThread>.fromOpaque(value)
      #else
        let thread = unsafe Unmanaged<PassingThread>.fromOpaque(value!)
      #endif
      unsafe thread.takeUnretainedValue().exit()
    }
    precondition(status == 0, "no key")
    return key
  }
}

// MARK: - Starting

extension Worker {
  /// Starts short-lived threads and waits until they have ended. The
  /// subscriptions that they leave go on.
  func startPassingThreads() {
    let count = 1 + random.below(2)
    let numbers = stage.freeNumbers.withLock { free -> [Int] in
      guard free.count >= count else { return [] }
      defer { free.removeLast(count) }
      return free.suffix(count)
    }
    // Other threads have all of them.
    if numbers.isEmpty { return forwardToPassingProxy() }
    let passing = numbers.map { number in
      PassingThread(Worker(number, stage, seed: random.next(), isPassing: true))
    }
    let threads = Threads(count) { passing[$0].live() }
    fan(.strike) { try stage.main.send("strike:fan:", $0.ticket, $0.address) }
    threads.join()
    for thread in passing { check(thread) }
    stage.freeNumbers.withLock { $0 += numbers }
  }

  private func check(_ thread: PassingThread) {
    tally += thread.worker.tally
    tally.passing += 1
    tally.exits += thread.exits
    violations.check(
      thread.exits == thread.dueExits,
      "\(thread.exits) of \(thread.dueExits) exit handlers of a thread have run")
    guard let left = thread.takeLeft() else {
      return violations.note("a thread has left no subscription")
    }
    fan(.strike) { fan in
      try unsafe fan.withFrame { try unsafe stage.strike.forward(frame: $0) }
      violations.check(
        left.member.hasSeen(fan) == callsNewMembers,
        "a subscription was lost with its thread, or a batch called a new one")
    }
    left.cancel(byObject: random.isOneOf(3))
    tally.cancelled += 1
    fan(.strike) { fan in
      try unsafe fan.withFrame { try unsafe stage.strike.forward(frame: $0) }
      violations.check(!left.member.hasSeen(fan), "a former member of a thread was called")
    }
  }
}

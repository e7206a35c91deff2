// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

/// Delivers on the main actor.
internal struct MainActorPlace: MailPlace {
  internal func makeAttachment(for driver: MailboxDriver) -> AnyObject? { Starter(driver) }

  internal func start(_ driver: MailboxDriver) -> Bool {
    guard let starter = driver.attachment as? Starter else { return false }
    starter.drains.start()
    return true
  }

  // After the first suspension of an asynchronous `main`, the main actor on Linux is
  // not the main thread, so it cannot be asked either.
  internal var isCurrent: Bool { false }

  /// Ends the task that drains, when the mailbox ends.
  private final class Starter {
    let drains: Drains

    init(_ driver: MailboxDriver) { drains = Drains(driver) }

    deinit { drains.end() }
  }
}

/// One task on the main actor that drains a mailbox again and again. Resuming the task
/// allocates nothing; a new task for each drain would. The task would keep another
/// actor alive, so only the main actor has one.
@safe private final class Drains: @unchecked Sendable {
  // Sendable: the lock protects the state. The driver is only used while a drain is
  // due, which keeps the mailbox and its driver.
  private unowned let driver: MailboxDriver

  @safe private enum State {
    /// No drain has been due, so there is no task.
    case new
    /// The task drains, or is about to.
    case busy
    /// The task drains, and another drain is due.
    case due
    /// The task waits.
    case parked(UnsafeContinuation<Bool, Never>)
    case ended
  }

  private let state = Lock(State.new)

  init(_ driver: MailboxDriver) { self.driver = driver }

  /// Starts one more drain.
  func start() {
    let former = state.withLock { state -> State in
      let former = state
      switch former {
      case .new, .parked: state = .busy
      case .busy: state = .due
      case .due, .ended: break
      }
      return former
    }
    switch former {
    case .new:
      // Detached, or it would keep the task-local values of this thread.
      Task.detached { [self] in await run() }
    case .parked(let continuation):
      unsafe continuation.resume(returning: true)
    case .busy, .due, .ended:
      break
    }
  }

  func end() {
    let parked = unsafe state.withLock { state -> UnsafeContinuation<Bool, Never>? in
      defer { state = .ended }
      if case .parked(let continuation) = state { return unsafe continuation }
      return nil
    }
    unsafe parked?.resume(returning: false)
  }

  @MainActor func run() async {
    repeat {
      driver.drain()
    } while await isDue()
  }

  /// Waits until a drain is due. False at the end.
  @MainActor private func isDue() async -> Bool {
    // SAFETY: the continuation is resumed once: here, or by the thread that takes it
    // out of the state.
    await unsafe withUnsafeContinuation { continuation in
      let isDue = state.withLock { state -> Bool? in
        switch state {
        case .due:
          state = .busy
          return true
        case .ended:
          return false
        case .busy, .new, .parked:
          state = unsafe .parked(continuation)
          return nil
        }
      }
      if let isDue { unsafe continuation.resume(returning: isDue) }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Remembers the actor that a slot belongs to, and releases objects there.
///
/// The actor is referenced weakly, since it often owns the forwarder.
@safe internal final class SlotHome: @unchecked Sendable {
  // Sendable: the state is behind a lock.

  private struct State {
    weak var actor: (any Actor)?
    var isBound = false
  }

  private let state = Lock(State())

  internal init(_ actor: (any Actor)? = nil) { bind(to: actor) }

  /// Names the actor. The first call with an actor counts.
  internal func bind(to actor: (any Actor)?) {
    guard let actor else { return }
    state.withLock { state in
      if state.isBound { return }
      state.isBound = true
      state.actor = actor
    }
  }

  private var actor: (any Actor)? { state.withLock { $0.actor } }

  /// Runs a closure, then releases it, on the actor: at once if the caller runs
  /// there, else later. Without an actor the closure runs at once, and the caller uses its
  /// objects on this thread. If the actor has died, it also runs at once: no other code can
  /// have its objects.
  internal func perform(_ work: @escaping () -> Void) {
    guard let actor else { return work() }
    _ = ActorRelease(actor, ActorRelease.Work(run: work))
  }
}

/// Runs a closure on another actor when it is released.
///
/// An isolated `deinit` runs on the object's executor: at once if the thread
/// is there already, else as a job. This actor borrows the executor of another.
private actor ActorRelease {
  struct Work: @unchecked Sendable {
    // Sendable: see `SlotHome.perform`.
    let run: () -> Void
  }

  private let owner: any Actor
  private var work: Work?

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe owner.unownedExecutor }

  init(_ owner: any Actor, _ work: Work) {
    self.owner = owner
    self.work = work
  }

  isolated deinit {
    work?.run()
    work = nil
  }
}

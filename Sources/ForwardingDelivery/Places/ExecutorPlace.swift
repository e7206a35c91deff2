// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

/// Delivers on a serial executor.
///
/// An executor that was subscribed itself is kept alive. Otherwise its actors keep it
/// alive, and this place refers to them weakly. Only an actor can give work to its
/// executor, so actors that share an executor share the place.
internal final class ExecutorPlace: MailPlace {
  private struct WeakActor {
    weak var actor: (any Actor)?
  }

  private struct State {
    var actors: [WeakActor] = []
    /// The number of actors at which dead ones, and repetitions, are removed.
    var sizeToSweep = 16
    /// Keeps the executor, if that is subscribed to itself.
    var host: Host?
    /// Whether the messages have been dropped since no actor was left.
    var isAbandoned = false

    /// An actor that lives, and with it the executor.
    mutating func liveActor() -> (any Actor)? {
      if let host { return host }
      while let last = actors.last {
        if let actor = last.actor { return actor }
        actors.removeLast()
      }
      return nil
    }

    /// Adds an actor.
    ///
    /// - Returns: actors that were loaded. Each may be the last reference, whose end
    ///   runs foreign code: release them without the lock.
    mutating func append(_ actor: any Actor) -> [any Actor] {
      var loaded: [any Actor] = []
      if actors.count >= sizeToSweep {
        loaded = actors.compactMap(\.actor)
        var known: Set<ObjectIdentifier> = []
        actors = loaded.filter { known.insert(ObjectIdentifier($0)).inserted }
          .map { WeakActor(actor: $0) }
        sizeToSweep = max(16, 2 * actors.count)
      }
      actors.append(WeakActor(actor: actor))
      return loaded
    }
  }

  private let state: Lock<State>

  internal init(_ actor: any Actor) {
    state = Lock(State(actors: [WeakActor(actor: actor)]))
  }

  internal init(_ executor: any SerialExecutor) {
    state = Lock(State(host: Host(executor)))
  }

  /// Adds an actor of the executor. False if the place has lost all of its actors:
  /// then the executor may be another one at the same address.
  internal func add(_ actor: any Actor) -> Bool {
    var loaded: [any Actor] = []
    defer { extendLifetime(loaded) }
    return state.withLock { state in
      guard !state.isAbandoned, let live = state.liveActor() else { return false }
      loaded = [live]
      if state.host == nil && live !== actor { loaded += state.append(actor) }
      return true
    }
  }

  /// Keeps the executor from now on. False as with an actor.
  internal func add(_ executor: any SerialExecutor) -> Bool {
    let host = Host(executor)
    var loaded: (any Actor)?
    defer { extendLifetime(loaded) }
    return state.withLock { state in
      loaded = state.isAbandoned ? nil : state.liveActor()
      if loaded == nil { return false }
      if state.host == nil { state.host = host }
      return true
    }
  }

  internal func makeAttachment(for driver: MailboxDriver) -> AnyObject? { nil }

  internal func start(_ driver: MailboxDriver) -> Bool {
    let actor = state.withLock { state -> (any Actor)? in
      let live = state.liveActor()
      state.isAbandoned = live == nil
      return live
    }
    guard let actor else { return false }
    Self.start(driver, on: actor)
    return true
  }

  // An executor that cannot say counts as elsewhere. An actor cannot be asked.
  internal var isCurrent: Bool {
    let host = state.withLock { $0.host }
    return host?.executor.isIsolatingCurrentContext() ?? false
  }

  /// Starts a task that begins on the actor.
  private static func start<Isolation: Actor>(_ driver: MailboxDriver, on actor: Isolation) {
    // A task begins where the closure that it runs was formed. One that is formed
    // here would begin on the global executor and then hop.
    let begin: (isolated Isolation, MailboxDriver) -> Void = { actor, driver in
      startDetached {
        _ = actor
        driver.drain()
      }
    }
    // SAFETY: isolation is not part of a function's calling convention, and forming
    // the task touches nothing of the actor.
    unsafe unsafeBitCast(begin, to: ((Isolation, MailboxDriver) -> Void).self)(actor, driver)
  }
}

/// Starts a task where the closure is isolated to. Unlike a `Task` it has neither the
/// task-local values nor the priority of the thread that starts it.
private func startDetached(
  @_inheritActorContext(always) _ body: sending @escaping @isolated(any) () async -> Void
) {
  Task.detached(operation: body)
}

/// An actor of an executor.
private actor Host {
  nonisolated let executor: any SerialExecutor

  init(_ executor: any SerialExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }
}

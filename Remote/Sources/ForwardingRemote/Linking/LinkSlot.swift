// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Holds the present link of an object that connects again by itself.
///
/// Each link has a number, its *generation*. An event counts only if its link is the present one:
/// an earlier link may report a failure or a stored message long after it was closed, on a thread
/// of the client.
internal final class LinkSlot: @unchecked Sendable {
  private let engine: any RemoteEngine
  private let isPrompt: Bool

  // SAFETY: the condition's lock protects the variables. The owner uses the same condition for
  // its own variables, so a check of the generation and what follows from it are one step.
  private let condition: SteadyCondition
  /// The number of the present link, or of the one that is being made. Access only with the lock
  /// held.
  internal private(set) var generation = 0
  /// The link that is in use, or nil. Access only with the lock held.
  internal private(set) var link: (any RemoteLink)?
  /// The first failure that the present link has reported. Access only with the lock held.
  internal private(set) var fault: RemoteError?

  /// - Parameters:
  ///   - engine: makes the links.
  ///   - isPrompt: whether messages are sent at once, as requests need it.
  ///   - condition: the owner's. It is broadcast when the present link fails, and when it is
  ///     closed.
  internal init(_ engine: any RemoteEngine, promptly isPrompt: Bool, _ condition: SteadyCondition) {
    self.engine = engine
    self.isPrompt = isPrompt
    self.condition = condition
  }

  /// Closes the present link, and makes a new one.
  ///
  /// - Parameter stored: gets the positions up to which the new link has stored messages. It is
  ///   called with the lock held, and only while that link is the present one.
  internal func connect(
    _ stored: @escaping @Sendable (UInt64) -> Void = { _ in }
  ) throws(RemoteError) -> any RemoteLink {
    let generation = replace()
    let link = try engine.connect(promptly: isPrompt) { [weak self] event in
      self?.handle(event, generation, stored)
    }
    condition.lock()
    let isPresent = generation == self.generation
    if isPresent { self.link = link }
    condition.unlock()
    guard isPresent else {
      link.close()
      throw RemoteError(.disconnected, "the link was closed while it was made")
    }
    return link
  }

  /// Closes the present link. Any thread may call it; the lock is not held.
  internal func close() { _ = replace() }

  /// Closes the present link, and returns the number of the next one.
  private func replace() -> Int {
    condition.lock()
    generation += 1
    let next = generation
    let former = link
    (link, fault) = (nil, nil)
    condition.broadcast()
    condition.unlock()
    former?.close()
    return next
  }

  private func handle(_ event: RemoteEvent, _ generation: Int, _ stored: (UInt64) -> Void) {
    condition.lock()
    defer { condition.unlock() }
    guard generation == self.generation else { return }
    switch event {
    case .stored(let position):
      // After a failure, a message before this one may have been refused.
      if fault == nil { stored(position) }
    case .failed(let error):
      if fault == nil { fault = error }
      condition.broadcast()
    }
  }

  // MARK: Sessions

  /// Runs a session, and again after each failure that another link may end, with pauses in
  /// between. Runs none if the owner wants none from the beginning. Closes the link at the end.
  ///
  /// - Parameters:
  ///   - backoff: decides about the pauses.
  ///   - session: connects and works. It returns when the owner needs no link any more.
  ///   - isEnded: whether the owner wants no further session. It is called with the lock held,
  ///     and the owner broadcasts the condition when the result changes.
  ///   - failed: gets each error that is followed by another session.
  /// - Throws: the error that ended the last session.
  internal func run(
    _ backoff: Backoff = Backoff(),
    _ session: (inout Backoff) throws(RemoteError) -> Void,
    until isEnded: () -> Bool,
    failed: (RemoteError) -> Void = { _ in }
  ) throws(RemoteError) {
    defer { close() }
    var backoff = backoff
    while !condition.withLock(isEnded) {
      do throws(RemoteError) {
        return try session(&backoff)
      } catch {
        let pause = try backoff.pause(after: error)
        failed(error)
        wait(pause, until: isEnded)
      }
    }
  }

  private func wait(_ pause: Duration, until isEnded: () -> Bool) {
    let end = condition.deadline(after: pause)
    condition.lock()
    while !isEnded(), condition.wait(until: end) {}
    condition.unlock()
  }
}

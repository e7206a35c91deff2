// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Dispatch
internal import Forwarding

/// The mailboxes of the process: one for each executor, so that messages keep their
/// order across all subscribers of an executor.
internal enum Mailboxes {
  private struct Entry {
    weak var mailbox: Mailbox?
  }

  private struct State {
    /// By the address of the executor, which is that of the actor if it has none of
    /// its own.
    var entries: [UInt: Entry] = [:]
    /// The count at which entries without a mailbox are removed.
    var sizeToSweep = 64
  }

  private static let all = Lock(State())

  /// The mailbox of the main actor.
  internal static func main() throws(ForwardingError) -> Mailbox {
    try find(address(of: MainActor.shared), orMake: MainActorPlace()) { $0 is MainActorPlace }
  }

  /// The mailbox of an actor's executor.
  internal static func of(_ actor: any Actor) throws(ForwardingError) -> Mailbox {
    let address = address(of: actor)
    if address == self.address(of: MainActor.shared) { return try main() }
    return try find(address, orMake: ExecutorPlace(actor)) {
      ($0 as? ExecutorPlace)?.add(actor) == true
    }
  }

  /// The mailbox of a queue. It keeps the queue, so no other one has its address.
  internal static func of(_ queue: DispatchQueue) throws(ForwardingError) -> Mailbox {
    try find(UInt(bitPattern: ObjectIdentifier(queue)), orMake: QueuePlace(queue)) {
      $0 is QueuePlace
    }
  }

  /// The mailbox of an executor, which it keeps. It is also that of its actors.
  internal static func of(_ executor: any SerialExecutor) throws(ForwardingError) -> Mailbox {
    try find(UInt(bitPattern: ObjectIdentifier(executor)), orMake: ExecutorPlace(executor)) {
      ($0 as? ExecutorPlace)?.add(executor) == true
    }
  }

  /// Finds the mailbox of an address, or makes it.
  ///
  /// - Parameter fits: whether a place is still that of the executor.
  private static func find(
    _ address: UInt, orMake make: @autoclosure () -> any MailPlace,
    for fits: (any MailPlace) -> Bool
  ) throws(ForwardingError) -> Mailbox {
    while true {
      let found = all.withLock { $0.entries[address]?.mailbox }
      if let found, let place = found.place, fits(place) { return found }
      let made = try Mailbox(make())
      // A loaded mailbox may be the last reference, whose release runs foreign code. So
      // it is released after the lock.
      var loaded: [Mailbox] = []
      let isFirst = all.withLock { all in
        // Another thread may have been faster.
        let now = all.entries[address]?.mailbox
        if let now { loaded.append(now) }
        if now !== found { return false }
        if all.entries.count >= all.sizeToSweep {
          all.entries = all.entries.filter { entry in
            guard let mailbox = entry.value.mailbox else { return false }
            loaded.append(mailbox)
            return true
          }
          all.sizeToSweep = max(64, 2 * all.entries.count)
        }
        all.entries[address] = Entry(mailbox: made)
        return true
      }
      extendLifetime(loaded)
      if isFirst { return made }
    }
  }

  /// The address of the object that names an actor's executor.
  private static func address(of actor: any Actor) -> UInt {
    // SAFETY: an unowned executor begins with the address of its object, and that is
    // not followed here.
    unsafe unsafeBitCast(actor.unownedExecutor, to: (UInt, UInt).self).0
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Releases listeners where their typed proxy is used.
///
/// A typed proxy may keep alive a listener that is not `Sendable`, while the
/// subscription is. A subscription that is cancelled on another thread leaves a
/// reference here first, so that the list does not release the last one there.
/// The typed proxy releases it with its next change, or when it dies.
package final class ListenerParking: Sendable {
  fileprivate struct Parked: @unchecked Sendable {
    // Sendable: nobody uses the object through this reference, and the typed
    // proxy releases it.
    let object: AnyObject
  }

  private let parked = Lock<[Parked]>([])

  package init() {}

  /// Parks a listener. The reference that this takes is never the last, since
  /// the lock is held until it has been released.
  fileprivate func park(_ listener: KeptListener) {
    parked.withLock { parked in
      if let object = listener.object { parked.append(Parked(object: object)) }
    }
  }

  /// Releases what is parked. The caller is where the listeners may be used.
  package func release() {
    let released = parked.withLock { parked in
      defer { parked = [] }
      return parked
    }
    withExtendedLifetime(released) {}
  }
}

/// A listener that a typed proxy keeps alive by one subscription.
internal final class KeptListener: @unchecked Sendable {
  // Sendable: the reference is only copied, under the parking's lock.
  fileprivate weak let object: AnyObject?
  private let parking: ListenerParking

  internal init(_ listener: AnyObject, _ parking: ListenerParking) {
    object = listener
    self.parking = parking
  }

  /// Has the typed proxy release the listener, whichever thread ends the
  /// subscription.
  internal func park() { parking.park(self) }
}

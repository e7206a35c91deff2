// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Foundation
internal import Synchronization

/// Holds the link on which a connection makes its requests. After a failure, the next request
/// makes a new link.
internal final class RequestLink: @unchecked Sendable {
  /// A link that is closed when the last request on it has ended. A link that has failed may
  /// still carry requests: the server may have refused the subject of one of them only.
  internal final class Shared: Sendable {
    internal let link: any RemoteLink
    private let failure: Failure

    fileprivate var hasFailed: Bool { failure.hasOccurred.load(ordering: .relaxed) }

    fileprivate init(_ engine: any RemoteEngine) throws(RemoteError) {
      let failure = Failure()
      self.failure = failure
      link = try engine.connect(promptly: true) { event in
        if case .failed = event { failure.hasOccurred.store(true, ordering: .relaxed) }
      }
    }

    deinit { link.close() }
  }

  /// Belongs to one link, so a late event of that link concerns no other one.
  fileprivate final class Failure: Sendable {
    let hasOccurred = Atomic(false)
  }

  private let engine: any RemoteEngine

  // SAFETY: the lock protects the variable.
  private let lock = NSLock()
  private var shared: Shared?

  internal init(_ engine: any RemoteEngine) { self.engine = engine }

  /// Returns a link that is not known to have failed. The caller keeps the result until its
  /// request has ended.
  internal func current() throws(RemoteError) -> Shared {
    if let present = lock.withLock({ shared }), !present.hasFailed { return present }
    let new = try Shared(engine)
    let (present, surplus) = lock.withLock { () -> (Shared, Shared?) in
      // Another request may have replaced the failed link in the meantime.
      if let shared, !shared.hasFailed { return (shared, new) }
      defer { shared = new }
      return (new, shared)
    }
    // The last reference closes the link. The engine may wait meanwhile, or call code that makes a
    // request, so the lock must be free.
    withExtendedLifetime(surplus) {}
    return present
  }
}

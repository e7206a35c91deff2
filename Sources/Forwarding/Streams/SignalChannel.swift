// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The lock of a signal: its emitters and the channels of its iterators share it,
/// so that an element for one iterator takes one lock.
internal typealias SignalLock = Lock<Void>

/// One iterator's side of a signal: a buffer, and the tasks that wait for an
/// element.
///
/// No task is resumed, and no element released, under the lock.
@safe internal final class SignalChannel<Element: Sendable>: SignalSink, @unchecked Sendable {
  // Sendable: the lock protects the buffer.

  internal let lock: SignalLock
  private let buffer: SignalBuffer<Element>

  /// The buffer's; valid as long as this object.
  internal var ring: UnsafeMutablePointer<SignalRing> { unsafe buffer.ring }

  internal init(_ policy: DynamicProxy.Overflow, _ lock: SignalLock = SignalLock(())) {
    self.lock = lock
    buffer = SignalBuffer(policy)
  }

  internal func receive(_ element: Element) {
    var dropped: Element?
    while true {
      var blocked: UInt32?
      let waiter = unsafe lock.withLock { _ -> SignalWaiter? in
        switch unsafe ring.pointee.offer(element) {
        case .taken: return nil
        case .waiter(let waiter): return unsafe waiter
        case .full:
          dropped = buffer.append(element)
          return nil
        case .blocked:
          unsafe blocked = ring.pointee.block()
          return nil
        }
      }
      unsafe waiter?.resume(with: element)
      guard let seen = blocked, let room = unsafe ring.pointee.room else { break }
      // SAFETY: the word lives as long as the ring, and so as this object.
      unsafe fwd_wait_begin(room, seen)
    }
    withExtendedLifetime(dropped) {}
  }

  /// Ends the channel. Elements in the buffer can still be taken.
  internal func finish() {
    end { [] }
  }

  /// Ends the channel and drops the buffer.
  internal func cancel() {
    end { buffer.removeAll() }
  }

  private func end(_ clear: () -> [Element]) {
    var dropped: [Element] = []
    var waiters = unsafe lock.withLock { _ -> SignalWaiters in
      unsafe ring.pointee.isFinished = true
      unsafe ring.pointee.unblock()
      dropped = clear()
      return unsafe ring.pointee.waiters.removeAll()
    }
    while let waiter = unsafe waiters.popFirst() {
      unsafe waiter.resume(returning: Element?.none)
    }
    withExtendedLifetime(dropped) {}
  }

  /// Waits for the next element. Returns nil at the end.
  internal func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
    // SAFETY: the continuation is resumed once: here, or by the thread that takes
    // the waiter out of the ring.
    await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Element?, Never>) in
      var element: Element?
      let waits = lock.withLock { _ -> Bool in
        element = buffer.popFirst()
        if element != nil { return false }
        if unsafe ring.pointee.isFinished { return false }
        unsafe ring.pointee.waiters.append(SignalWaiter(continuation))
        return true
      }
      if !waits { unsafe continuation.resume(returning: element) }
    }
  }

  /// Takes the next element, if there is one.
  internal func poll() -> Element? {
    var element: Element?
    lock.withLock { _ in element = buffer.popFirst() }
    return element
  }
}

// MARK: - Giving elements

/// The outcome of offering an element to a channel.
@unsafe internal enum SignalOffer {
  /// It is in the buffer, or the policy or the end of the channel drops it.
  case taken
  /// The caller resumes the task with the element, not under the lock.
  case waiter(SignalWaiter)
  /// The caller has to drop the first element, not under the lock.
  case full
  /// The caller waits for room, not under the lock, and offers the element again.
  case blocked
}

extension SignalRing {
  /// Offers an element to a channel, whose lock the caller has.
  @inline(__always)
  internal mutating func offer<Element>(_ element: Element) -> SignalOffer {
    if unsafe isFinished { return unsafe .taken }
    if let waiter = unsafe waiters.popFirst() { return unsafe .waiter(waiter) }
    if unsafe !isFull {
      unsafe push(element)
      return unsafe .taken
    }
    if unsafe room != nil { return unsafe .blocked }
    // The caller releases what the channel does not keep.
    if unsafe !dropsOldest { return unsafe .taken }
    guard _isPOD(Element.self) else { return unsafe .full }
    _ = unsafe popFirst(Element.self)
    unsafe push(element)
    return unsafe .taken
  }
}

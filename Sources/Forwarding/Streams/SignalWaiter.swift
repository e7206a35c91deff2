// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A task that waits for an element: a continuation without its type.
@unsafe internal struct SignalWaiter {
  private let continuation: UnsafeRawPointer

  internal init<Element>(_ continuation: UnsafeContinuation<Element?, Never>) {
    // SAFETY: a continuation is one pointer.
    unsafe self.continuation = unsafeBitCast(continuation, to: UnsafeRawPointer.self)
  }

  /// Resumes the task, once. The element is of the type that it waits for.
  // Not inlined: the caller would make room for an optional, and look up its
  // metadata, for each element, also if no task waits.
  @inline(never)
  internal func resume<Element: Sendable>(with element: Element) {
    unsafe resume(returning: element)
  }

  /// Resumes the task, once.
  internal func resume<Element: Sendable>(returning element: Element?) {
    // SAFETY: as above.
    unsafe unsafeBitCast(continuation, to: UnsafeContinuation<Element?, Never>.self)
      .resume(returning: element)
  }
}

/// Waiting tasks in order. Copies of an iterator share a buffer, so there may be
/// several, but usually there is at most one.
@unsafe internal struct SignalWaiters {
  private var first: SignalWaiter?
  private var others: [SignalWaiter] = unsafe []

  internal var count: Int { unsafe first == nil ? 0 : 1 + others.count }

  internal mutating func append(_ waiter: SignalWaiter) {
    if unsafe first == nil {
      unsafe first = waiter
    } else {
      unsafe others.append(waiter)
    }
  }

  /// Takes the first one.
  @inline(__always)
  internal mutating func popFirst() -> SignalWaiter? {
    let taken = unsafe first
    unsafe first = nil
    if unsafe !others.isEmpty { unsafe first = others.removeFirst() }
    return unsafe taken
  }

  /// Takes all.
  internal mutating func removeAll() -> SignalWaiters {
    let all = unsafe self
    unsafe self = SignalWaiters()
    return unsafe all
  }
}

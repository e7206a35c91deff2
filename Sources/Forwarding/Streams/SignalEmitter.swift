// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Gives elements to the iterators and subscribers of a signal.
///
/// A closure of `DynamicProxy.signal(for:of:at:overflow:_:)` gets the emitter
/// before the method's arguments, and may call it any number of times, also later
/// and on other threads. A call has no effect when the signal has ended or is not
/// observed.
///
/// An emitter keeps neither the proxy nor the signal's subscription alive.
@safe public final class SignalEmitter<Element: Sendable>: @unchecked Sendable {
  // Sendable: the lock protects the state.

  private let lock: SignalLock
  /// Memory of its own, since a property that changes would be checked for
  /// exclusive access at each element.
  private let state: UnsafeMutablePointer<SignalEmitterState>

  internal init(_ lock: SignalLock = SignalLock(())) {
    self.lock = lock
    unsafe state = .allocate(capacity: 1)
    unsafe state.initialize(to: SignalEmitterState())
  }

  deinit {
    // SAFETY: allocated in `init`, freed once.
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Gives an element to each iterator and subscriber, in the order in which they
  /// joined. It waits for those with the overflow rule `.block` only.
  ///
  /// - Complexity: O(*n*) in their number.
  public func callAsFunction(_ element: Element) {
    let emission = unsafe lock.withLock { _ -> SignalEmission in
      guard let ring = unsafe state.pointee.soleRing else {
        return unsafe .list(state.pointee.list)
      }
      // SAFETY: the list has the channel of the ring, which has this lock.
      switch unsafe ring.pointee.offer(element) {
      case .taken: return unsafe .done
      case .waiter(let waiter): return unsafe .waiter(waiter)
      case .full, .blocked: return unsafe .list(state.pointee.list)
      }
    }
    switch unsafe emission {
    case .done: return
    case .waiter(let waiter): unsafe waiter.resume(with: element)
    case .list(let list): emit(element, list)
    }
  }

  @inline(never)
  private func emit(_ element: Element, _ list: AnyObject?) {
    for sink in Self.sinks(list) { sink.receive(element) }
  }

  /// Adds a sink.
  internal func add(_ sink: any SignalSink<Element>) {
    let channel = sink as? SignalChannel<Element>
    let ring = unsafe channel.flatMap { unsafe $0.lock.isSame(lock) ? $0.ring : nil }
    change { unsafe $0 + [SignalSinkList<Element>.Entry(sink: sink, ring: ring)] }
  }

  /// Removes a sink, which the caller keeps alive. Returns whether it was the
  /// last one.
  internal func remove(_ sink: any SignalSink<Element>) -> Bool {
    var isLast = false
    change { entries in
      guard let index = entries.firstIndex(where: { $0.sink === sink }) else { return nil }
      isLast = entries.count == 1
      var entries = entries
      entries.remove(at: index)
      return entries
    }
    return isLast
  }

  /// Finishes all sinks.
  internal func finish() {
    for sink in Self.sinks(change { _ in [] }) { sink.finish() }
  }

  /// Changes the list under the lock, if `body` gives entries. Returns the list
  /// before, which the caller releases under no lock.
  @discardableResult
  private func change(
    _ body: ([SignalSinkList<Element>.Entry]) -> [SignalSinkList<Element>.Entry]?
  ) -> AnyObject? {
    lock.withLock { _ -> AnyObject? in
      let earlier = unsafe state.pointee.list
      guard let entries = body(Self.entries(earlier)) else { return earlier }
      unsafe state.pointee.list = entries.isEmpty ? nil : SignalSinkList(entries)
      unsafe state.pointee.soleRing = entries.count == 1 ? entries[0].ring : nil
      return earlier
    }
  }

  private static func entries(_ list: AnyObject?) -> [SignalSinkList<Element>.Entry] {
    guard let list else { return [] }
    // SAFETY: an emitter has lists of its own type only.
    return unsafe unsafeDowncast(list, to: SignalSinkList<Element>.self).entries
  }

  private static func sinks(_ list: AnyObject?) -> [any SignalSink<Element>] {
    entries(list).map(\.sink)
  }
}

// Neither depends on the type of the elements: this module's code is not
// specialised for them.

/// The sinks of an emitter.
@unsafe private struct SignalEmitterState {
  /// A `SignalSinkList`, or nil if there is no sink.
  var list: AnyObject?
  /// The ring of the only sink, if that sink is a channel with the emitter's lock.
  var soleRing: UnsafeMutablePointer<SignalRing>?
}

/// The work that remains for an element after the lock is released.
@unsafe private enum SignalEmission {
  case done
  case waiter(SignalWaiter)
  /// It is given to each sink of the list.
  case list(AnyObject?)
}

/// Sinks in the order in which they joined; immutable.
private final class SignalSinkList<Element: Sendable> {
  @safe struct Entry {
    let sink: any SignalSink<Element>
    /// The ring of the sink, if the sink is a channel with the emitter's lock.
    let ring: UnsafeMutablePointer<SignalRing>?
  }

  let entries: [Entry]

  init(_ entries: [Entry]) { self.entries = entries }
}

extension SignalEmitter where Element == Void {
  /// Gives each iterator and subscriber an element.
  public func callAsFunction() { self(()) }
}

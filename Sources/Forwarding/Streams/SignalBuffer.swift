// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The elements that an iterator has not taken yet, in order, by its policy: a
/// ring buffer. The owner's lock protects it.
@safe package final class SignalBuffer<Element> {
  /// Lives as long as this object, and does not move.
  internal let ring: UnsafeMutablePointer<SignalRing>

  /// Makes an empty buffer.
  package init(_ policy: DynamicProxy.Overflow) {
    unsafe ring = .allocate(capacity: 1)
    unsafe ring.initialize(to: SignalRing(policy))
  }

  // SAFETY, here and below: the ring has elements of this buffer's type.
  deinit {
    unsafe ring.pointee.release(Element.self)
    unsafe ring.deinitialize(count: 1)
    unsafe ring.deallocate()
  }

  /// The number of elements.
  package var count: Int { unsafe ring.pointee.count }

  package var isEmpty: Bool { count == 0 }

  /// The number of elements for which there is memory.
  package var capacity: Int { unsafe ring.pointee.capacity }

  /// Appends an element. Returns the element that the policy drops: its `deinit`
  /// may run any code, so the caller releases it outside of locks.
  package func append(_ element: Element) -> Element? {
    if unsafe ring.pointee.isFull {
      guard unsafe ring.pointee.dropsOldest, let oldest = popFirst() else { return element }
      unsafe ring.pointee.push(element)
      return oldest
    }
    unsafe ring.pointee.push(element)
    return nil
  }

  /// Removes and returns the first element, or nil if the buffer is empty.
  package func popFirst() -> Element? {
    if unsafe ring.pointee.count == 0 { return nil }
    return unsafe ring.pointee.popFirst(Element.self)
  }

  /// Removes all elements, and gives them to the caller to release.
  package func removeAll() -> [Element] {
    unsafe ring.pointee.removeAll(Element.self)
  }
}

/// A ring buffer of elements of one type, which its users know.
///
/// The type is not a parameter of the struct, but of the methods that copy an
/// element: the code of this module is not specialised for the elements of other
/// modules, and would look up the metadata of each generic type that it uses.
@unsafe internal struct SignalRing {
  /// Memory for `capacity` elements; nil if that is 0.
  private var cells: UnsafeMutableRawPointer?
  /// A power of two, or 0.
  internal private(set) var capacity = 0
  private var head = 0
  internal private(set) var count = 0
  /// The most elements that there may be.
  private let limit: Int
  /// Whether a full ring drops its first element, and not the one that comes.
  internal let dropsOldest: Bool

  // For `SignalChannel`.

  /// The word that threads wait on for room; nil unless the rule is `.block`. Freed
  /// with the ring.
  internal let room: UnsafeMutablePointer<UInt32>?
  /// How many threads wait for room.
  private var blockedCount = 0

  /// Whether no more elements are taken.
  internal var isFinished = false
  /// The waiting tasks, in order; none while there is an element. Usually there is
  /// at most one.
  internal var waiters = unsafe SignalWaiters()

  /// - Precondition: the policy's limit is at least 1.
  internal init(_ policy: DynamicProxy.Overflow) {
    unsafe room = Self.makeRoom(policy)
    unsafe limit = policy.limit ?? .max
    switch policy {
    case .dropOldest, .latest: unsafe dropsOldest = true
    case .unbounded, .dropNewest, .block: unsafe dropsOldest = false
    }
  }

  private static func makeRoom(_ policy: DynamicProxy.Overflow) -> UnsafeMutablePointer<UInt32>? {
    guard case .block = policy else { return nil }
    let room = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    unsafe room.initialize(to: 0)
    return unsafe room
  }

  /// Counts a thread that is going to wait for room. Returns what it has seen of it.
  internal mutating func block() -> UInt32 {
    unsafe blockedCount += 1
    return unsafe room!.pointee
  }

  /// Wakes the threads that wait for room.
  internal mutating func unblock() {
    guard unsafe blockedCount > 0, let room = unsafe room else { return }
    unsafe blockedCount = 0
    unsafe fwd_wait_end(room)
  }

  /// Whether the policy lets no element in unless another one goes.
  internal var isFull: Bool { unsafe count >= limit }

  /// The address of the element at an offset from the first.
  @inline(__always)
  private func cell<Element>(_ offset: Int, _: Element.Type) -> UnsafeMutablePointer<Element> {
    // SAFETY: the index is below the capacity.
    unsafe cells!.assumingMemoryBound(to: Element.self) + ((head + offset) & (capacity - 1))
  }

  /// Appends an element, whatever the policy.
  @inline(__always)
  internal mutating func push<Element>(_ element: Element) {
    if unsafe count == capacity { unsafe grow(Element.self) }
    unsafe cell(count, Element.self).initialize(to: element)
    unsafe count += 1
  }

  /// Takes the first element, which there must be.
  @inline(__always)
  internal mutating func popFirst<Element>(_: Element.Type) -> Element {
    let first = unsafe cell(0, Element.self).move()
    unsafe head = (head + 1) & (capacity - 1)
    unsafe count -= 1
    if unsafe blockedCount > 0 { unsafe unblock() }
    // A quarter, so that a buffer whose count goes up and down around a power of
    // two is not resized each time: O(1), amortised.
    if unsafe capacity > Self.largestIdle && count <= capacity / 4 {
      unsafe resize(to: capacity / 2, Element.self)
    }
    return first
  }

  /// Removes all elements.
  internal mutating func removeAll<Element>(_: Element.Type) -> [Element] {
    var elements: [Element] = []
    elements.reserveCapacity(unsafe count)
    for offset in 0..<(unsafe count) { elements.append(unsafe cell(offset, Element.self).move()) }
    unsafe cells?.deallocate()
    unsafe (cells, capacity, head, count) = (nil, 0, 0, 0)
    return elements
  }

  /// Releases the elements and the memory.
  internal func release<Element>(_: Element.Type) {
    for offset in 0..<(unsafe count) {
      unsafe cell(offset, Element.self).deinitialize(count: 1)
    }
    unsafe cells?.deallocate()
    unsafe room?.deallocate()
  }

  // MARK: Memory

  /// The capacity of a buffer with its first element.
  private static var smallest: Int { 4 }

  /// The capacity down to which a buffer does not shrink.
  private static var largestIdle: Int { 64 }

  @inline(never)
  private mutating func grow<Element>(_: Element.Type) {
    unsafe resize(to: max(Self.smallest, 2 * capacity), Element.self)
  }

  /// Moves the elements to new memory.
  @inline(never)
  private mutating func resize<Element>(to capacity: Int, _: Element.Type) {
    let next = UnsafeMutableRawPointer.allocate(
      byteCount: max(capacity * MemoryLayout<Element>.stride, 1),
      alignment: MemoryLayout<Element>.alignment)
    let elements = unsafe next.assumingMemoryBound(to: Element.self)
    if let cells = unsafe cells {
      // Up to the end of the old memory, then from its start.
      let first = unsafe min(count, self.capacity - head)
      unsafe elements.moveInitialize(from: cell(0, Element.self), count: first)
      unsafe (elements + first).moveInitialize(
        from: cells.assumingMemoryBound(to: Element.self), count: count - first)
      unsafe cells.deallocate()
    }
    unsafe (cells, self.capacity, head) = (next, capacity, 0)
  }
}

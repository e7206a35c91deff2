// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The elements that an iterator has not taken yet, in order, by its policy.
package struct SignalBuffer<Element> {
  private let policy: SignalBuffering
  /// A ring buffer. Cells without an element are nil.
  private var cells: [Element?] = []
  private var head = 0

  /// The number of elements.
  package private(set) var count = 0

  /// Makes an empty buffer.
  package init(_ policy: SignalBuffering) {
    self.policy = policy
  }

  package var isEmpty: Bool { count == 0 }

  /// The number of elements for which there is memory.
  package var capacity: Int { cells.count }

  /// Appends an element. Returns the element that the policy drops: its `deinit`
  /// may run any code, so the caller releases it outside of locks.
  package mutating func append(_ element: Element) -> Element? {
    switch policy {
    case .unbounded: break
    case .newest(let limit) where count >= limit:
      guard let oldest = popFirst() else { return element }
      push(element)
      return oldest
    case .oldest(let limit) where count >= limit: return element
    case .newest, .oldest: break
    }
    push(element)
    return nil
  }

  private mutating func push(_ element: Element) {
    if count == cells.count { resize(to: max(Self.smallest, 2 * count)) }
    cells[(head + count) % cells.count] = element
    count += 1
  }

  /// Takes the first element; nil if there is none.
  package mutating func popFirst() -> Element? {
    if count == 0 { return nil }
    let first = cells[head]
    cells[head] = nil
    head = (head + 1) % cells.count
    count -= 1
    // A quarter, so that a buffer whose count goes up and down around a power of
    // two is not resized each time: O(1), amortised.
    if cells.count > Self.largestIdle && count <= cells.count / 4 { resize(to: cells.count / 2) }
    return first
  }

  /// The capacity of a buffer with its first element.
  private static var smallest: Int { 4 }

  /// The capacity down to which a buffer does not shrink.
  private static var largestIdle: Int { 32 }

  private mutating func resize(to capacity: Int) {
    var next: [Element?] = []
    next.reserveCapacity(capacity)
    for offset in 0..<count { next.append(cells[(head + offset) % cells.count]) }
    next.append(contentsOf: repeatElement(nil, count: capacity - count))
    cells = next
    head = 0
  }

  /// Removes all elements, and gives them to the caller to release.
  package mutating func removeAll() -> [Element?] {
    defer {
      cells = []
      head = 0
      count = 0
    }
    return cells
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The elements that an observer has not taken yet, in order, by its policy.
package struct SignalBuffer<Element> {
  private let policy: SignalBuffering
  /// A ring. Places without an element are nil.
  private var places: [Element?] = []
  private var head = 0

  /// The number of elements.
  package private(set) var count = 0

  /// Makes an empty buffer.
  package init(_ policy: SignalBuffering) {
    self.policy = policy
  }

  package var isEmpty: Bool { count == 0 }

  /// Puts an element behind the others. Gives the one that has no room: its end
  /// may run any code, so it is the caller's to drop, outside of locks.
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
    if count == places.count { grow() }
    places[(head + count) % places.count] = element
    count += 1
  }

  private mutating func grow() {
    var next: [Element?] = []
    next.reserveCapacity(max(4, 2 * count))
    for offset in 0..<count { next.append(places[(head + offset) % places.count]) }
    next.append(contentsOf: repeatElement(nil, count: max(4, 2 * count) - count))
    places = next
    head = 0
  }

  /// Takes the first element; nil if there is none.
  package mutating func popFirst() -> Element? {
    if count == 0 { return nil }
    let first = places[head]
    places[head] = nil
    head = (head + 1) % places.count
    count -= 1
    return first
  }

  /// Takes all elements, for the caller to drop.
  package mutating func removeAll() -> [Element?] {
    defer {
      places = []
      head = 0
      count = 0
    }
    return places
  }
}

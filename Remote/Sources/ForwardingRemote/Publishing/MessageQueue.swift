// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The messages of a publisher that the log does not have yet, in order. The first ones
/// have been given to the link.
internal struct MessageQueue {
  internal struct Message {
    internal var bytes: [UInt8]
    /// The number of the last call in it.
    internal var lastCall: UInt64
  }

  private var storage: [Message] = []
  private var head = 0
  /// How many messages have been given to the link, and their bytes.
  internal private(set) var sentCount = 0
  internal private(set) var sentSize = 0

  internal var count: Int { storage.count - head }
  internal var first: Message? { count > 0 ? storage[head] : nil }

  internal mutating func append(_ message: Message) { storage.append(message) }

  /// Returns the next message for the link, and counts it as sent. Its trailer says which message and
  /// which call are known to be accepted.
  internal mutating func send(confirming position: UInt64, calls: UInt64) -> [UInt8]? {
    guard sentCount < count else { return nil }
    let index = head + sentCount
    MessageTrailer.setConfirmed(position, calls: calls, in: &storage[index].bytes)
    sentCount += 1
    sentSize += storage[index].bytes.count
    return storage[index].bytes
  }

  /// Counts all messages as unsent.
  internal mutating func rewind() { (sentCount, sentSize) = (0, 0) }

  /// Removes the first message.
  ///
  /// - Complexity: O(1), amortized.
  internal mutating func removeFirst() -> Message {
    let message = storage[head]
    storage[head] = Message(bytes: [], lastCall: 0)
    head += 1
    if sentCount > 0 {
      sentCount -= 1
      sentSize -= message.bytes.count
    }
    if head >= 64, head * 2 >= storage.count {
      storage.removeFirst(head)
      head = 0
    }
    return message
  }

  internal mutating func removeAll() { self = MessageQueue() }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The state of a publisher, which its callers, its thread and the link share.
///
/// Callers append records to the open message. The publisher's thread closes it, gives it
/// to the link, and keeps it until the log has it and all messages before it. Each message names
/// the position that it must follow.
internal final class PublisherCore: @unchecked Sendable {
  internal let name: String
  internal let options: RemotePublisherOptions
  internal let schema: [UInt8]
  internal let timeout: Duration
  internal let lostLogWait: Duration
  internal let identity = WriterIdentity.random()

  // SAFETY: the condition's lock protects all variables. Only the publisher's thread uses
  // the link, outside of the lock; other threads may only close it.
  internal let condition = SteadyCondition()
  internal let slot: LinkSlot

  /// The message to which calls are appended.
  private var openMessage: [UInt8] = []
  private var openCallCount = 0
  internal var messages = MessageQueue()
  /// The number of the last call that a caller has made.
  internal var lastCall: UInt64 = 0
  /// The bytes of all messages, the open one included.
  private var bufferedSize = 0
  internal private(set) var droppedCalls: UInt64 = 0

  /// The position of the last message of this publisher that is known to be accepted.
  internal var storedPosition: UInt64 = 0
  /// The number of the last call that is known to be accepted.
  internal var storedCalls: UInt64 = 0
  internal var lastProgress = SuspendingClock.now

  internal var messageLimit = 0
  internal var failure: RemoteError?
  /// The last passing fault, for the description of errors that time out.
  internal var lastFault: RemoteError?
  internal var isClosing = false
  /// Whether the publisher's thread must end at once.
  internal var isAbandoned = false
  /// The position of the message by which the present link has taken the log.
  internal var takenPosition: UInt64?
  /// How many bytes the log keeps; nil if it keeps all.
  internal var logSize: Int?
  /// Whether the publisher's thread must be woken when there is something to send.
  internal var senderWaits = false
  /// How many callers wait for room.
  private var callersWaiting = 0
  /// The lowest number of a call for which somebody waits.
  internal var awaitedCall = UInt64.max

  /// A message of this size takes no more calls.
  private static let fullSize = 64 << 10

  internal init(
    _ name: String, _ engine: any RemoteEngine, _ options: RemotePublisherOptions,
    schema: [UInt8], timeout: Duration, lostLogWait: Duration = Timing.lostLog
  ) {
    self.name = name
    slot = LinkSlot(engine, promptly: false, condition)
    self.options = options
    self.schema = schema
    self.timeout = timeout
    self.lostLogWait = lostLogWait
  }

  internal func withLock<Value>(_ body: () -> Value) -> Value { condition.withLock(body) }

  internal func error(_ code: RemoteError.Code, _ sentence: String) -> RemoteError {
    RemoteError(code, "producer \"\(name)\": \(sentence)")
  }

  // MARK: Callers

  /// The bytes of a message besides its calls.
  private var overhead: Int { schema.count + MessageTrailer.size }

  /// Appends the record of a call to the open message.
  internal func append(_ record: RawSpan) {
    condition.lock()
    let size = record.byteCount
    guard overhead + size <= messageLimit else {
      droppedCalls += 1
      let limit = messageLimit
      condition.unlock()
      return options.onError(
        error(
          .messageTooLarge,
          "a call was not sent: with its schema it has \(overhead + size) bytes, and a message may "
            + "have at most \(limit)"))
    }
    guard makeRoom(size) else {
      droppedCalls += 1
      return condition.unlock()
    }
    let fullSize = min(messageLimit, Self.fullSize)
    if openCallCount > 0, openMessage.count + size + MessageTrailer.size > fullSize {
      closeMessage()
    }
    if openCallCount == 0 {
      // Each message begins with the schema, so that a consumer can begin with any.
      openMessage.reserveCapacity(overhead + size)
      openMessage.append(contentsOf: schema)
      bufferedSize += overhead
    }
    unsafe record.withUnsafeBytes { unsafe openMessage.append(contentsOf: $0) }
    openCallCount += 1
    bufferedSize += size
    lastCall += 1
    if openCallCount >= options.maxCallsPerMessage { closeMessage() }
    if senderWaits && canSend {
      senderWaits = false
      condition.broadcast()
    }
    condition.unlock()
  }

  /// Returns whether there is room for a call, for which it may wait.
  private func makeRoom(_ size: Int) -> Bool {
    while failure == nil && !isClosing {
      // A call that is larger than the buffer may be alone in it.
      if bufferedSize == 0 || bufferedSize + overhead + size <= options.bufferSize { return true }
      switch options.overflow {
      case .drop: return false
      case .block:
        callersWaiting += 1
        condition.wait()
        callersWaiting -= 1
      case .fail:
        let error = error(
          .bufferFull,
          "\(bufferedSize) bytes of calls wait to be stored, and the limit is \(options.bufferSize)"
            + reason)
        fail(error)
        condition.unlock()
        options.onError(error)
        condition.lock()
      }
    }
    return false
  }

  /// The last passing fault, in parentheses.
  internal var reason: String { lastFault.map { " (\($0))" } ?? "" }

  // MARK: Messages

  /// Closes the open message, which has a call.
  private func closeMessage() {
    let trailer = MessageTrailer(
      writer: identity, firstCall: lastCall - UInt64(openCallCount) + 1, confirmed: 0,
      confirmedCalls: 0,
      callCount: UInt32(openCallCount))
    trailer.append(to: &openMessage)
    messages.append(MessageQueue.Message(bytes: openMessage, lastCall: trailer.lastCall))
    openMessage = []
    openCallCount = 0
  }

  /// When so many messages are in flight, calls gather for a larger message.
  private static let promptCount = 8
  /// The most messages and bytes in flight. The next publisher of the name reads these messages one by one, so they
  /// are not more.
  private static let sentLimit = (count: Int(MessageTrailer.mostInFlight), size: 8 << 20)

  /// The most bytes in flight. A quarter of the log, so that the log has not removed the message that a message in flight
  /// names.
  private var sentSizeLimit: Int { min(Self.sentLimit.size, (logSize ?? .max) / 4) }

  /// The most messages and bytes that the link gets at once. The last one may exceed the size.
  private static let batchLimit = (count: 128, size: 64 << 10)

  /// Returns the next messages for the link, with the position that the first one must follow.
  /// Returns nil if no message waits, or if the server has yet to acknowledge too much.
  internal func nextMessages() -> (messages: [[UInt8]], position: UInt64)? {
    let position = storedPosition + UInt64(messages.sentCount)
    let size = messages.sentSize
    var batch: [[UInt8]] = []
    while batch.count < Self.batchLimit.count, messages.sentSize - size < Self.batchLimit.size,
      let message = nextMessage()
    {
      batch.append(message)
    }
    return batch.isEmpty ? nil : (batch, position)
  }

  private func nextMessage() -> [UInt8]? {
    guard messages.sentCount < Self.sentLimit.count, messages.sentSize < sentSizeLimit else {
      return nil
    }
    if messages.sentCount == messages.count {
      guard openCallCount > 0, messages.sentCount < Self.promptCount else { return nil }
      closeMessage()
    }
    return messages.send(confirming: storedPosition, calls: storedCalls)
  }

  /// Forgets the messages up to a position, which are accepted.
  internal func stored(upTo position: UInt64) {
    while storedPosition < position, messages.sentCount > 0 {
      removeStored()
      storedPosition += 1
    }
    lastProgress = .now
    // Each wake-up costs a thread some microseconds, and acknowledgements are frequent.
    let hasRoom = callersWaiting > 0 && bufferedSize <= options.bufferSize / 4 * 3
    if hasRoom || storedCalls >= awaitedCall || (senderWaits && canSend) {
      senderWaits = false
      condition.broadcast()
    }
  }

  /// Whether the publisher's thread can send.
  private var canSend: Bool {
    messages.sentCount < messages.count
      ? messages.sentCount <= Self.sentLimit.count / 2
        && messages.sentSize <= sentSizeLimit / 2
      : openCallCount > 0 ? messages.sentCount < Self.promptCount : isClosing
  }

  /// Forgets the messages whose calls are accepted.
  internal func stored(upToCall call: UInt64) {
    while let first = messages.first, first.lastCall <= call { removeStored() }
  }

  private func removeStored() {
    let message = messages.removeFirst()
    bufferedSize -= message.bytes.count
    storedCalls = message.lastCall
  }

  /// Whether all calls are stored.
  internal var isDrained: Bool { messages.count == 0 && openCallCount == 0 }

  /// Ends the publisher. Only the first failure counts. The lock is held.
  ///
  /// - Returns: whether this is the first one.
  @discardableResult
  internal func fail(_ error: RemoteError) -> Bool {
    guard failure == nil else { return false }
    failure = error
    messages.removeAll()
    (openMessage, openCallCount, bufferedSize) = ([], 0, 0)
    senderWaits = false
    condition.broadcast()
    return true
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CNATS
internal import Foundation

/// The handlers of all links, by number. The client gets the number as the context of
/// its callbacks, not a reference: it may call back on threads of its own after a
/// connection was destroyed, and then finds no handler.
internal final class NATSHandlers: @unchecked Sendable {
  internal typealias Handler = @Sendable (NATSSignal) -> Void

  internal static let shared = NATSHandlers()

  // SAFETY: the lock protects both.
  private let lock = NSLock()
  private var handlers: [UInt: Handler] = [:]
  private var lastNumber: UInt = 0

  internal func add(_ handler: @escaping Handler) -> UInt {
    lock.withLock {
      lastNumber += 1
      handlers[lastNumber] = handler
      return lastNumber
    }
  }

  internal func remove(_ number: UInt) { lock.withLock { handlers[number] = nil } }

  /// Calls the handler of a context, under no lock.
  @unsafe internal static func signal(_ context: UnsafeMutableRawPointer?, _ signal: NATSSignal) {
    let number = UInt(bitPattern: context)
    if let handler = shared.lock.withLock({ shared.handlers[number] }) { handler(signal) }
  }
}

/// An event of a connection that the client reports.
internal enum NATSSignal: Sendable {
  /// A message of a subscription, and whether more messages of the subscription wait.
  case message(NATSMessage, isFollowed: Bool)
  /// An asynchronous error, such as a subject that is not permitted.
  case error(natsStatus, String)
  case closed(String)
}

// MARK: - Callbacks

@unsafe internal let natsMessageCallback: natsMsgHandler = { _, subscription, message, context in
  guard let message = unsafe message else { return }
  var count: UInt64 = 0
  // SAFETY: the subscription lives during the callback, which owns the message.
  unsafe natsSubscription_QueuedMsgs(subscription, &count)
  unsafe NATSHandlers.signal(
    context, .message(NATSMessage(owning: message), isFollowed: count > 0))
}

@unsafe internal let natsErrorCallback: natsErrHandler = { connection, _, status, context in
  // The client sets the error of this thread before the call. The connection's last error may
  // already be another one.
  unsafe NATSHandlers.signal(context, .error(status, threadError ?? text(status)))
}

@unsafe internal let natsClosedCallback: natsConnectionHandler = { connection, context in
  let last = unsafe lastError(connection)
  unsafe NATSHandlers.signal(
    context, .closed(last.status == NATS_OK ? "it has been closed" : last.text))
}

/// Returns how the client describes this thread's last error, or nil if no call has failed.
internal var threadError: String? {
  var status = NATS_OK
  // SAFETY: a string of this thread.
  guard let text = unsafe nats_GetLastError(&status), unsafe text.pointee != 0 else { return nil }
  return unsafe String(cString: text)
}

/// The last error of a connection.
@unsafe internal func lastError(
  _ connection: OpaquePointer?
) -> (status: natsStatus, text: String) {
  var words: UnsafePointer<CChar>?
  let status = unsafe natsConnection_GetLastError(connection, &words)
  // SAFETY: the client's buffer lives as long as the connection. A NUL ends it also while
  // another error is written to it.
  guard let words = unsafe words, unsafe words.pointee != 0 else { return (status, text(status)) }
  return (status, unsafe String(cString: words))
}

/// The client's words for a status.
internal func text(_ status: natsStatus) -> String {
  // SAFETY: a constant string of the client.
  unsafe natsStatus_GetText(status).map { unsafe String(cString: $0) }
    ?? "status \(status.rawValue)"
}

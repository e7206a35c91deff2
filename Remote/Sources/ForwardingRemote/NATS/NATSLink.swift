// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CNATS
internal import Foundation

/// One connection to a server of NATS.
///
/// It uses JetStream by its messages rather than by the client's contexts: version 3.4.1 of
/// the client uses freed memory when a context is destroyed while messages arrive.
@safe internal final class NATSLink: RemoteLink, @unchecked Sendable {
  // SAFETY: `lock` protects the variables below. The client's functions may be called by
  // any thread while the connection exists: it is destroyed when nothing refers to the
  // link any more.
  private let lock = NSLock()
  private var connection: OpaquePointer?
  private var subscriptions: [OpaquePointer] = unsafe []
  private var numbers: [UInt] = []
  /// The first fault that no retry on this connection can end.
  private var fault: RemoteError?
  /// The server's refusals, by subject; the empty one is for sentences that name no subject.
  private var refusals: [String: RemoteError] = [:]

  /// What is read. Only the thread that calls `read` and `nextMessages` uses it.
  internal var reading: NATSReading?
  /// Where the link appends.
  private var appending: NATSAppending?

  private let number: UInt
  internal let timeout: Int64
  internal let handler: @Sendable (RemoteEvent) -> Void
  internal private(set) var messageLimit = 0

  internal init(timeout: Int64, _ handler: @escaping @Sendable (RemoteEvent) -> Void) {
    self.timeout = timeout
    self.handler = handler
    let box = WeakLink()
    number = NATSHandlers.shared.add { [box] in box.link?.handle($0) }
    box.link = self
  }

  /// The context of the client's callbacks.
  internal var context: UnsafeMutableRawPointer? {
    unsafe UnsafeMutableRawPointer(bitPattern: number)
  }

  /// Takes the connection, once.
  @unsafe internal func begin(_ connection: OpaquePointer) {
    lock.withLock { unsafe self.connection = connection }
    // Some bytes are for the message's headers.
    messageLimit = max(0, Int(unsafe natsConnection_GetMaxPayload(connection)) - 128)
  }

  deinit {
    close()
    // The last reference may end in a callback, on a thread that the client waits for when it
    // destroys a connection.
    let addresses = unsafe subscriptions.map { UInt(bitPattern: $0) }
    let address = unsafe UInt(bitPattern: connection)
    DispatchQueue.global().async {
      // SAFETY: nothing else refers to them, so no call into the client is running.
      for address in addresses {
        unsafe natsSubscription_Destroy(OpaquePointer(bitPattern: address))
      }
      unsafe natsConnection_Destroy(OpaquePointer(bitPattern: address))
    }
  }

  /// Ends the connection. Calls that wait in it return with an error.
  internal func close() {
    let (connection, numbers) = unsafe lock.withLock {
      let numbers = self.numbers + [number]
      self.numbers = []
      if fault == nil { fault = RemoteError(.disconnected, "the link has been closed") }
      return unsafe (self.connection, numbers)
    }
    for number in numbers { NATSHandlers.shared.remove(number) }
    if let connection = unsafe connection { unsafe natsConnection_Close(connection) }
  }

  private func handle(_ signal: NATSSignal) {
    switch signal {
    case .message: break
    case .error(NATS_NOT_PERMITTED, let text):
      let violation = PermissionViolation(sentence: text)
      lock.withLock { refusals[violation.subject ?? ""] = violation.error }
      fail(violation.error)
    // Other errors need no response. The client reports requests that it has dropped, since more of
    // them wait than `subscribe` permits: these requests time out.
    case .error: break
    case .closed(let text): fail(RemoteError(.disconnected, "the connection ended: \(text)"))
    }
  }

  /// Keeps the first fault, and reports it.
  internal func fail(_ error: RemoteError) {
    let isFirst = lock.withLock {
      if fault != nil { return false }
      fault = error
      return true
    }
    if isFirst { handler(.failed(error)) }
  }

  /// Throws the fault of the link.
  internal func checkFault() throws(RemoteError) {
    if let fault = lock.withLock({ fault }) { throw fault }
  }

  /// Throws the fault of the link, unless it is the refusal of other subjects.
  internal func checkFault(concerning subjects: String...) throws(RemoteError) {
    let (fault, refusals) = lock.withLock { (self.fault, self.refusals) }
    for subject in subjects + [""] {
      if let refusal = refusals[subject] { throw refusal }
    }
    if let fault, fault.code != .permissionDenied { throw fault }
  }

  /// The connection, to call the client with.
  internal func client() throws(RemoteError) -> OpaquePointer {
    guard let connection = unsafe lock.withLock({ unsafe connection }) else {
      throw RemoteError(.disconnected, "the link has no connection")
    }
    return unsafe connection
  }

  /// What an append needs, by one use of the lock.
  internal var stateForAppending: (RemoteError?, OpaquePointer?, NATSAppending?) {
    unsafe lock.withLock { unsafe (fault, connection, appending) }
  }

  internal func setAppending(_ appending: NATSAppending) {
    lock.withLock { self.appending = appending }
  }

  /// The error for a status of the client; the fault that ended the link, if there is one.
  internal func error(_ status: natsStatus, _ place: String) -> RemoteError {
    if let fault = lock.withLock({ fault }), fault.code != .permissionDenied {
      return fault.at(place)
    }
    let sentence = "\(place): \(text(status))"
    switch status {
    case NATS_TIMEOUT: return RemoteError(.timedOut, sentence)
    case NATS_NO_RESPONDERS: return RemoteError(.noResponders, sentence)
    case NATS_MAX_PAYLOAD: return RemoteError(.messageTooLarge, sentence)
    case NATS_NOT_PERMITTED: return RemoteError(.permissionDenied, sentence)
    case NATS_INVALID_SUBJECT, NATS_INVALID_ARG: return RemoteError(.invalidArgument, sentence)
    default: return RemoteError(.disconnected, sentence)
    }
  }

  // MARK: Subscriptions

  /// Calls a closure with each message of a subject, on a thread of the client, until the
  /// link is closed. The closure also gets whether another message waits for it.
  ///
  /// - Parameter limit: how many messages, and how many bytes of them, may wait for the
  ///   closure. The client drops others. By default there is no limit.
  internal func subscribe(
    _ subject: String, group: String? = nil, limit: (count: Int32, size: Int32) = (-1, -1),
    _ body: @escaping @Sendable (NATSMessage, _ isFollowed: Bool) -> Void
  ) throws(RemoteError) {
    let connection = try unsafe client()
    let number = NATSHandlers.shared.add {
      if case .message(let message, let isFollowed) = $0 { body(message, isFollowed) }
    }
    let context = unsafe UnsafeMutableRawPointer(bitPattern: number)
    var subscription: OpaquePointer?
    let status: natsStatus
    if let group {
      status = unsafe natsConnection_QueueSubscribe(
        &subscription, connection, subject, group, natsMessageCallback, context)
    } else {
      status = unsafe natsConnection_Subscribe(
        &subscription, connection, subject, natsMessageCallback, context)
    }
    guard status == NATS_OK, let subscription = unsafe subscription else {
      NATSHandlers.shared.remove(number)
      throw error(status, "subscribing to \"\(subject)\"")
    }
    unsafe natsSubscription_SetPendingLimits(subscription, limit.count, limit.size)
    lock.withLock {
      numbers.append(number)
      unsafe subscriptions.append(subscription)
    }
  }

  /// Subscribes to a subject of its own, from which messages are taken one by one.
  internal func inbox() throws(RemoteError) -> NATSInbox {
    try unsafe NATSInbox(client(), self)
  }

  /// Waits until the server has seen everything that was sent, so that subscriptions are
  /// in effect and violations of permissions have been told.
  internal func settle() throws(RemoteError) {
    let connection = try unsafe client()
    let status = unsafe natsConnection_FlushTimeout(connection, timeout)
    if status != NATS_OK { throw error(status, "waiting for the server") }
    // The handler gets errors later, on another thread.
    let last = unsafe lastError(connection)
    if last.status == NATS_NOT_PERMITTED { handle(.error(last.status, last.text)) }
    try checkFault()
  }
}

/// Keeps the handler from keeping its link.
private final class WeakLink: @unchecked Sendable {
  // SAFETY: written once, before the link is connected.
  weak var link: NATSLink?
}

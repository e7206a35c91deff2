// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Connects to a service that stores logs and carries requests. ``RemoteConnection``
/// uses NATS JetStream; conform to this protocol to use another service.
///
/// A *log* is a sequence of messages that the service keeps. The first message has the
/// position 1, and each further one the next position. A message never changes, and the service
/// uses no position again. It may remove the oldest messages of a log. Each producer has its own log.
public protocol RemoteEngine: Sendable {
  /// Connects once. Publishers and consumers each have a link of their own, and make
  /// another one when theirs has failed.
  ///
  /// - Parameters:
  ///   - promptly: whether each message is sent at once, as requests need it. Otherwise
  ///     the link may collect messages for some milliseconds.
  ///   - handler: gets what happens to the link. It may be called on any thread, also after
  ///     `close()`.
  /// - Throws: `disconnected`, `authenticationFailed`, `insecure`, `invalidArgument`.
  func connect(
    promptly: Bool, _ handler: @escaping @Sendable (RemoteEvent) -> Void
  ) throws(RemoteError) -> any RemoteLink
}

/// What happens to a link.
public enum RemoteEvent: Sendable {
  /// The message at this position, which the link has appended, and all that it has appended before are
  /// stored, each at the position for which it was sent. A server may be killed without losing them.
  case stored(UInt64)
  /// An append or the link has failed. With the codes `disconnected`, `timedOut`,
  /// `conflict` and `serverFault` the publisher connects again, reads the end of the log
  /// and appends what is not in it. Other codes end the publisher.
  case failed(RemoteError)
}

/// The positions of the messages in a log, and its size. `last` is 0 if the log has never had a message, and
/// `first` is greater than `last` if all messages have been removed.
public struct RemoteLog: Sendable, Equatable {
  /// The position of the oldest message.
  public var first: UInt64
  /// The position of the newest message.
  public var last: UInt64
  /// How many bytes the log keeps before it removes its oldest messages; nil if it keeps all.
  public var size: Int?

  /// Creates the description of a log.
  public init(first: UInt64, last: UInt64, size: Int? = nil) {
    self.first = first
    self.last = last
    self.size = size
  }
}

/// One connection to a service. It never connects again by itself: a link that buffers and
/// resends messages would change their order.
public protocol RemoteLink: AnyObject, Sendable {
  /// The greatest size of a message in bytes.
  var messageLimit: Int { get }

  /// Returns the first and the last position of a log, or nil if the log does not exist. A message that
  /// has been reported as stored must be among them, unless the log has removed it.
  func log(_ name: String) throws(RemoteError) -> RemoteLog?

  /// Makes a log, or returns the one that exists.
  ///
  /// - Parameters:
  ///   - name: the name: letters, digits, `-` and `_`.
  ///   - replicas: how many servers keep it.
  ///   - size: how many bytes it keeps; it then removes its oldest messages. If nil, it
  ///     keeps all messages.
  func makeLog(_ name: String, replicas: Int, size: Int?) throws(RemoteError) -> RemoteLog

  /// Returns the message at a position, or nil if the log does not have it.
  func message(at position: UInt64, of log: String) throws(RemoteError) -> [UInt8]?

  /// Appends messages in order, without waiting for the service.
  ///
  /// Each message is stored only if it gets its position: the first one the position after
  /// `position`, each other one the position after the message before it. A message that would
  /// get another position is refused with the code `conflict`; the check and the storing are one step.
  /// So if one is refused, all later ones are, unless somebody else appends meanwhile. What a link
  /// has sent may still be stored after the link was closed.
  ///
  /// The link reports `stored` when the service has acknowledged a message and all before it. It
  /// reports `failed` when a message is refused. Neither is required if the service cannot be
  /// reached. One `stored` may stand for several messages if the service has acknowledged each of
  /// them: after a refused message, later ones may be stored. After the first `failed`, no other
  /// event of the link counts.
  ///
  /// Only one thread calls this at a time.
  ///
  /// - Parameters:
  ///   - messages: at least one message, each of at most `messageLimit` bytes.
  ///   - log: the name of the log.
  ///   - position: the position of the message that the first one must follow.
  /// - Throws: `disconnected` and other errors of the link. Some of the messages may have been
  ///   appended. The publisher then connects again and reads the end of the log.
  func append(
    _ messages: [[UInt8]], to log: String, after position: UInt64
  ) throws(RemoteError)

  /// Begins to read a log after a position. A link reads at most one.
  func read(_ log: String, after position: UInt64) throws(RemoteError)

  /// Waits for messages of the log that `read(_:after:)` named, and calls `body` with the position and
  /// the bytes of each that has arrived, in order, until it returns false. The bytes are
  /// valid during the call. The next call of this function means that the earlier messages have
  /// been consumed.
  ///
  /// - Throws: `disconnected` if the link has ended or messages were lost on the way.
  func nextMessages(
    within time: Duration, _ body: (UInt64, RawSpan) -> Bool
  ) throws(RemoteError)

  /// Responds to the requests to an address until the link is closed. The closure is called on
  /// any thread.
  ///
  /// - Parameters:
  ///   - address: letters, digits, `-`, `_`, and dots between these.
  ///   - response: makes the response to a request; nil sends none.
  func respond(
    to address: String, _ response: @escaping @Sendable ([UInt8]) -> [UInt8]?
  ) throws(RemoteError)

  /// Sends a request to the links that respond to an address, and waits for their responses.
  ///
  /// - Parameters:
  ///   - address: the address, as for `respond(to:_:)`.
  ///   - everyone: whether every responder of the address gets the request, or one of them.
  ///   - request: the bytes to send.
  ///   - time: the deadline.
  ///   - body: gets each response, and returns whether it wants more.
  /// - Throws: `noResponders`; `timedOut` at the deadline.
  func request(
    _ address: String, everyone: Bool, _ request: [UInt8], within time: Duration,
    _ body: ([UInt8]) -> Bool
  ) throws(RemoteError)

  /// Ends the link.
  func close()
}

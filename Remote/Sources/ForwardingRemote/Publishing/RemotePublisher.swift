// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding
internal import ForwardingWire
internal import Foundation

/// Appends the calls of a proxy to the log of a producer.
///
/// ```swift
/// let publisher = try await link.publisher("sensors", of: proxy, schema)
/// try proxy.send(tick, 101.5, "ACME")   // does not wait for the network
/// try await publisher.flush()           // now a server has stored the call
/// ```
///
/// Store the publisher: calls that are not stored when it is deinitialised are lost. Call
/// ``close(within:)`` at the end.
///
/// Calls have the numbers 1, 2, 3 and so on, also across runs of the program. The calls
/// of one thread are in the order in which they were made. A call that is counted in
/// ``storedCount`` stays in the log if the publisher or the server is killed.
/// Other calls end with the process. A program that must not
/// lose them makes its calls from something that lasts, and continues after
/// ``storedCount`` when it starts again.
///
/// The publisher connects again by itself. Meanwhile calls gather in its buffer.
public final class RemotePublisher: Sendable {
  private let core: PublisherCore
  private let token: DynamicProxy.Token

  internal init(
    _ core: PublisherCore, _ proxy: DynamicProxy, _ schema: WireSchema
  ) throws(RemoteError) {
    self.core = core
    try core.open()
    let encoder = WireEncoder(schema, startingAt: core.withLock { core.storedCalls } + 1)
    do throws(WireError) {
      token = try proxy.record(with: encoder) { core.append($0) }
    } catch {
      core.slot.close()
      throw RemoteError(.invalidArgument, error.description, wireError: error)
    }
    let thread = Thread { core.run() }
    thread.name = "fwd-publisher"
    thread.start()
  }

  deinit {
    token.cancel()
    core.abandon()
  }

  /// How many calls of this producer are stored and accepted, those of earlier runs included.
  public var storedCount: UInt64 { core.withLock { core.storedCalls } }

  /// How many calls of this object have not been sent, since the buffer was full, since
  /// they were too large, or since the publisher had failed.
  public var droppedCount: UInt64 { core.withLock { core.droppedCalls } }

  /// The error that has ended the publisher, or nil if it is running or was closed.
  ///
  /// Possible codes are `producerTaken`, `permissionDenied`, `authenticationFailed`,
  /// `insecure`, `logLost`, `bufferFull`, `messageTooLarge` if the server takes smaller
  /// messages than before, and `undecodable` if something else has written to the log.
  public var failure: RemoteError? { core.withLock { core.failure } }

  /// Waits until all calls that have been made before are stored.
  ///
  /// - Throws: ``failure``; `timedOut`, with the reason that kept the publisher from
  ///   sending.
  public func flush(within time: Duration = .seconds(10)) async throws(RemoteError) {
    try await onThread { [core] () throws(RemoteError) in try core.flush(within: time) }
  }

  /// Ends the recording, waits until all calls are stored, and ends the publisher.
  ///
  /// - Throws: as ``flush(within:)``. The publisher has ended in any case.
  public func close(within time: Duration = .seconds(10)) async throws(RemoteError) {
    token.cancel()
    try await onThread { [core] () throws(RemoteError) in try core.close(within: time) }
  }
}

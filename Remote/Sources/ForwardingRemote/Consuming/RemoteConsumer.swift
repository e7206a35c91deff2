// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding
internal import ForwardingWire
internal import Foundation
internal import Synchronization

/// Forwards the calls of a producer to a proxy of this process, in order and without gaps.
///
/// ```swift
/// let subscription = try proxy.subscribe { $0.on(tick) { price, symbol in … } }
/// let consumer = try link.consumer("sensors", into: proxy, schema, positions: positions)
/// try await consumer.run()
/// ```
///
/// Subscribers are called on a thread of the consumer. While they work, the server holds
/// further messages back.
///
/// The consumer connects again by itself, and then continues after its own position. Only
/// ``RemotePositions`` stores the position. The server stores none for the consumer, so the
/// position and the effects of the calls can be stored in one transaction.
public final class RemoteConsumer: Sendable {
  /// Where a consumer without a position begins.
  public enum Start: Sendable {
    /// With the oldest call that the log still has.
    case oldest
    /// With the calls that are stored after the consumer has connected.
    case newest
  }

  private let loop: ConsumerLoop
  private let isRunning = Atomic(false)

  internal init(_ loop: ConsumerLoop) { self.loop = loop }

  /// The last message and the number of calls that the consumer has processed, or nil before it
  /// knows where it begins.
  public var position: RemotePosition? { loop.position }

  /// Consumes until the task is cancelled, and then returns. It waits while no server can be
  /// reached, and for a producer that has never published.
  ///
  /// It may be called again when it has returned or thrown. It then continues after the
  /// stored position.
  ///
  /// - Throws: `RemoteError`: `missingCalls` if the log no longer has the calls after
  ///   the position; `logLost` if it ends before the position; `undecodable` if a message
  ///   cannot be decoded, has another number of calls than its trailer says, or the
  ///   producer's schema does not fit, before any of its calls is delivered;
  ///   `notForwarded` if the proxy throws; `positionNotStored`; `permissionDenied`,
  ///   `authenticationFailed` and `insecure`.
  public func run() async throws(RemoteError) {
    guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else {
      throw RemoteError(.invalidArgument, "the consumer of \"\(loop.name)\" is running already")
    }
    defer { isRunning.store(false, ordering: .releasing) }
    let cancellation = Cancellation()
    let result = await withTaskCancellationHandler {
      await Self.result { [loop] () throws(RemoteError) in try loop.run(cancellation) }
    } onCancel: {
      cancellation.cancel()
    }
    try result.get()
  }

  private static func result(
    _ body: @escaping @Sendable () throws(RemoteError) -> Void
  ) async -> Result<Void, RemoteError> {
    do throws(RemoteError) {
      try await onThread(body)
      return .success(())
    } catch {
      return .failure(error)
    }
  }
}

/// Tells a consumer's thread to end.
internal final class Cancellation: @unchecked Sendable {
  // SAFETY: the condition's lock protects the variable.
  internal let condition = SteadyCondition()
  /// Whether the thread must end. The lock is held.
  internal private(set) var isRequested = false

  internal var isCancelled: Bool { condition.withLock { isRequested } }

  internal func cancel() {
    condition.withLock {
      isRequested = true
      condition.broadcast()
    }
  }
}

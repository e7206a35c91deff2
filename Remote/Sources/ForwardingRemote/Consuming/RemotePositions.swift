// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Foundation

/// The position of a consumer in the log of a producer.
public struct RemotePosition: Sendable, Hashable, Codable {
  /// The position of the last message in the log.
  public var message: UInt64
  /// How many calls of the producer have been consumed.
  public var calls: UInt64
  /// A random number of the publisher that has written the message, at most `Int64.max`. It tells a
  /// log that was made anew, with a message at the same position, from the log that was consumed.
  /// Nil if it is unknown: then the consumer compares only the position and the number of calls.
  public var writer: UInt64?

  /// Creates a position that has been stored elsewhere.
  public init(message: UInt64, calls: UInt64, writer: UInt64? = nil) {
    self.message = message
    self.calls = calls
    self.writer = writer
  }
}

/// Keeps the positions of consumers. If it stores a position and the effect of the calls
/// in one transaction, each call takes effect exactly once.
///
/// ```swift
/// func commit(
///   _ position: RemotePosition, of producer: String, delivering deliver: () throws -> Void
/// ) throws {
///   try database.transaction {
///     try deliver()   // the proxy's subscribers write to the same database
///     try database.execute("INSERT OR REPLACE INTO positions …")
///   }
/// }
/// ```
///
/// A consumer calls both functions on its own thread, one at a time.
public protocol RemotePositions: Sendable {
  /// Returns the stored position, or nil if this consumer has never consumed a call of the
  /// producer.
  func load(_ producer: String) throws -> RemotePosition?

  /// Calls `deliver` once, which calls the subscribers, and stores the position. If `deliver`
  /// throws, this function must not store the position, and must throw the error.
  ///
  /// If this function does not call `deliver`, or calls it again, the consumer ends with
  /// `positionNotStored`. A second call delivers nothing, and throws.
  func commit(
    _ position: RemotePosition, of producer: String, delivering deliver: () throws -> Void
  ) throws
}

/// Keeps positions in memory: a new process begins with the first message again.
public final class RemoteMemoryPositions: RemotePositions, @unchecked Sendable {
  // SAFETY: the lock protects the positions.
  private let lock = NSLock()
  private var positions: [String: RemotePosition]

  /// Creates a store.
  ///
  /// - Parameter positions: the positions to begin with, by producer.
  public init(_ positions: [String: RemotePosition] = [:]) { self.positions = positions }

  /// Returns the position of a producer.
  public func load(_ producer: String) -> RemotePosition? { lock.withLock { positions[producer] } }

  /// Delivers, then keeps the position.
  public func commit(
    _ position: RemotePosition, of producer: String, delivering deliver: () throws -> Void
  ) throws {
    try deliver()
    lock.withLock { positions[producer] = position }
  }
}

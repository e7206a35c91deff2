// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Foundation

/// How a publisher buffers, collects and stores calls.
public struct RemotePublisherOptions: Sendable {
  /// What happens to a call when the buffer is full.
  public var overflow = RemoteOverflow.block
  /// How many bytes of calls may wait until they are stored: 64 MiB.
  public var bufferSize = 64 << 20
  /// The greatest number of calls in one message. A call never waits for others to fill a
  /// message: the publisher sends the calls that were made while earlier messages were on
  /// their way. 1 sends a message for each call.
  public var maxCallsPerMessage = 256
  /// How many servers of a cluster keep the log. It is read when the log is made.
  public var replicas = 1
  /// How many bytes of messages the log keeps, at least 256 KiB. It then removes its
  /// oldest messages. If nil, it keeps all. It is read when the log is made. A message may have
  /// a quarter of it.
  public var logSize: Int?
  /// Called when a call cannot be sent since it is too large, and once when the publisher
  /// has failed. It is called under no lock, on the thread of the call or of the
  /// publisher. By default a line goes to standard error.
  public var onError: @Sendable (RemoteError) -> Void = { error in
    FileHandle.standardError.write(Data("Forwarding: \(error)\n".utf8))
  }

  /// Creates the default options.
  public init() {}
}

/// What happens to a call when a publisher's buffer is full.
public enum RemoteOverflow: Sendable {
  /// The caller waits until there is room.
  case block
  /// The call is not sent, but counted. See ``RemotePublisher/droppedCount``.
  case drop
  /// The publisher fails. What it has sent are the first calls, without gaps.
  case fail
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Foundation

/// Passes connections of the loopback address on to a server, and each byte late, as a long network
/// does. It ends with the object.
public final class DelayingProxy: @unchecked Sendable {
  // SAFETY: the lock protects the sockets.
  private let lock = NSLock()
  private var sockets: [Int32] = []
  private let listener: Int32
  public let port: UInt16

  /// - Parameters:
  ///   - server: the port of the server.
  ///   - delay: how long each byte takes, in each direction.
  public init(to server: UInt16, delay: Duration) throws {
    (listener, port) = try NATSServer.listeningSocket()
    let listener = listener
    Self.thread { [weak self] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        guard let self, let target = NATSServer.connected(server) else {
          close(client)
          continue
        }
        lock.withLock { sockets += [client, target] }
        Self.pass(client, target, delay)
        Self.pass(target, client, delay)
      }
    }
  }

  /// Ends the connections. Their sockets are not closed here: other threads use them.
  deinit {
    for socket in sockets + [listener] { shutdown(socket, Int32(SHUT_RDWR)) }
  }

  private static func thread(_ body: @escaping @Sendable () -> Void) {
    let thread = Thread { body() }
    thread.start()
  }

  private static func pass(_ source: Int32, _ target: Int32, _ delay: Duration) {
    let queue = DispatchQueue(label: "delay")
    thread {
      var buffer = [UInt8](repeating: 0, count: 65536)
      while true {
        // SAFETY: the buffer has the size that is passed.
        let count = unsafe read(source, &buffer, buffer.count)
        let bytes = Array(buffer.prefix(max(0, count)))
        let time = ContinuousClock.now + delay
        // The queue keeps the order.
        queue.async {
          let left = ContinuousClock.now.duration(to: time)
          usleep(UInt32(max(0, left / .microseconds(1))))
          // SAFETY: the array has so many bytes.
          let sent = unsafe send(target, bytes, bytes.count, Int32(MSG_NOSIGNAL))
          if sent <= 0 { shutdown(target, Int32(SHUT_WR)) }
        }
        if count <= 0 { return }
      }
    }
  }
}

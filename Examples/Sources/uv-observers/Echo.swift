// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CUV
import ExampleSupport
import Forwarding
import SharedUV
import Synchronization

/// A server that returns what it gets, and its client, over the loopback device. Each has several observers.
enum Echo {
  // MARK: - Observers

  /// Adds up what a side receives. Only the loop's thread changes it.
  private final class Meter: DynamicProxy.Subscriber {
    let loop: EventLoop
    let byteCount = Atomic(0)
    let sum = Atomic<UInt64>(0)
    let endings = Atomic(0)

    init(_ loop: EventLoop) { self.loop = loop }

    static let functionTable = FunctionTable(for: Meter.self) {
      $0.on(UVKey.received) { meter, _, count, buffer in
        check(meter.loop.isCurrent, "bytes on another thread")
        guard count >= 0 else {
          check(Int32(count), is: UV_EOF.rawValue, "the end of a stream")
          meter.endings.add(1, ordering: .relaxed)
          return
        }
        var sum: UInt64 = 0
        for index in 0..<count { sum &+= UInt64(UInt8(bitPattern: buffer.pointee.base[index])) }
        meter.sum.add(sum, ordering: .relaxed)
        meter.byteCount.add(count, ordering: .relaxed)
      }
    }
  }

  /// Returns what the server receives, and closes connections that have ended.
  private final class Responder: DynamicProxy.Subscriber {
    static let functionTable = FunctionTable(for: Responder.self) {
      $0.on(UVKey.received) { _, stream, count, buffer in
        if count > 0 {
          send(UnsafeRawBufferPointer(start: buffer.pointee.base, count: count), to: stream)
        } else if count < 0 {
          uv_close(UnsafeMutableRawPointer(stream).assumingMemoryBound(to: uv_handle_t.self), nil)
        }
      }
    }
  }

  /// Accepts connections.
  private final class Acceptor: Sendable {
    let accepted = Atomic(0)
  }

  // MARK: - Reading and writing

  /// Sends a copy of some bytes. libuv may need them after the call.
  private static func send(
    _ bytes: UnsafeRawBufferPointer, to stream: UnsafeMutablePointer<uv_stream_t>
  ) {
    let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
    UnsafeMutableRawBufferPointer(copy).copyMemory(from: bytes)
    let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
    request.pointee.data = UnsafeMutableRawPointer(copy.baseAddress)
    var buffer = uv_buf_init(copy.baseAddress, UInt32(bytes.count))
    let status = uv_write(request, stream, &buffer, 1) { request, status in
      check(status, is: 0, "the status of a write")
      request!.pointee.data.deallocate()
      request!.deallocate()
    }
    EventLoop.require(status, "writing")
  }

  // MARK: - The connection

  static func checkAll(_ loop: EventLoop, bytes: Int) throws {
    let server = try DynamicProxy("Server") {
      $0.optional(UVKey.connected)
      $0.optional(UVKey.received)
    }
    let client = try DynamicProxy("Client") { $0.optional(UVKey.received) }
    let serverMeters = [Meter(loop), Meter(loop)]
    let clientMeters = [Meter(loop), Meter(loop)]
    let responder = Responder()
    let acceptor = Acceptor()
    for meter in serverMeters { try server.subscribe(meter) }
    try server.subscribe(responder)
    for meter in clientMeters { try client.subscribe(meter) }
    let connected = try server.functionPointer(for: UVKey.connected, owner: server)
    let serverReceived = try server.functionPointer(for: UVKey.received, owner: server)
    let clientReceived = try client.functionPointer(for: UVKey.received, owner: client)

    try server.subscribe(acceptor) {
      $0.on(UVKey.connected) { acceptor, server, status in
        check(loop.isCurrent, "a connection on another thread")
        check(status, is: 0, "the status of a connection")
        loop.accept(from: server, serverReceived.unsafeCast())
        acceptor.accepted.add(1, ordering: .relaxed)
      }
    }

    let sockets = loop.perform { loop in
      var (listening, address) = loop.listen(connected.unsafeCast())
      let connecting = loop.makeSocket()
      let request = loop.allocate(uv_connect_t.self)
      request.pointee.data = UnsafeMutableRawPointer(mutating: clientReceived.unsafePointer)
      let started = withSocketAddress(of: &address) { address in
        uv_tcp_connect(request, connecting.pointer, address) { request, status in
          check(status, is: 0, "the status of connecting")
          let received = unsafeBitCast(request!.pointee.data, to: uv_read_cb.self)
          EventLoop.require(
            uv_read_start(request!.pointee.handle, EventLoop.allocateBuffer, received), "reading")
        }
      }
      EventLoop.require(started, "connecting")
      return (listening, connecting)
    }
    wait(until: "the client is connected") { acceptor.accepted.load(ordering: .relaxed) == 1 }

    // An observer that dies while bytes are on their way.
    var guest: Meter? = Meter(loop)
    try client.subscribe(guest!)
    var random = SystemRandomNumberGenerator()
    var sent = 0
    var sum: UInt64 = 0
    while sent < bytes {
      let part = (0..<min(Int.random(in: 1...100_000, using: &random), bytes - sent)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      sent += part.count
      sum = part.reduce(sum) { $0 &+ UInt64($1) }
      loop.perform { _ in part.withUnsafeBytes { send($0, to: sockets.1.stream) } }
      if sent > bytes / 2 { guest = nil }
    }
    for meter in serverMeters + clientMeters {
      wait(until: "all bytes have come") { meter.byteCount.load(ordering: .relaxed) == sent }
      check(meter.sum.load(ordering: .relaxed), is: sum, "the sum of the bytes")
    }
    check(client.count, is: 2, "the client's observers")
    loop.perform { _ in uv_close(sockets.1.handle, nil) }
    for meter in serverMeters {
      wait(until: "the server has seen the end") { meter.endings.load(ordering: .relaxed) == 1 }
    }
    loop.perform { _ in uv_close(sockets.0.handle, nil) }
    print(
      "echo: \(sent) bytes there and back, told to \(serverMeters.count + clientMeters.count) observers"
    )
    withExtendedLifetime((server, client)) {}
    withExtendedLifetime((serverMeters, clientMeters, acceptor, responder, guest)) {}
  }
}

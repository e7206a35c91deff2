// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CUV

/// Connections over the loopback device. These functions run on the loop's thread.
extension EventLoop {
  /// One buffer is enough for all streams of a loop: libuv asks for it, and calls back at once.
  private nonisolated(unsafe) static let buffer = UnsafeMutableBufferPointer<CChar>.allocate(
    capacity: 1 << 16)

  /// Gives libuv memory for the bytes that it has received.
  public static let allocateBuffer: uv_alloc_cb = { _, _, result in
    result!.pointee = uv_buf_init(EventLoop.buffer.baseAddress, UInt32(EventLoop.buffer.count))
  }

  /// Listens on a free port.
  public func listen(
    _ connected: @escaping uv_connection_cb
  ) -> (server: Handle<uv_tcp_t>, address: sockaddr_in) {
    let server = makeSocket()
    var address = sockaddr_in()
    Self.require(uv_ip4_addr("127.0.0.1", 0, &address), "the address")
    let bound = withSocketAddress(of: &address) { uv_tcp_bind(server.pointer, $0, 0) }
    Self.require(bound, "binding")
    Self.require(uv_listen(server.stream, 16, connected), "listening")
    // The system has chosen the port.
    var length = Int32(MemoryLayout<sockaddr_in>.size)
    let named = withSocketAddress(of: &address) { uv_tcp_getsockname(server.pointer, $0, &length) }
    Self.require(named, "the port")
    return (server, address)
  }

  /// Accepts a connection, and reads from it.
  public func accept(
    from server: UnsafeMutablePointer<uv_stream_t>, _ received: @escaping uv_read_cb
  ) {
    let connection = makeSocket()
    Self.require(uv_accept(server, connection.stream), "accepting")
    Self.require(uv_read_start(connection.stream, Self.allocateBuffer, received), "reading")
  }

  public func makeSocket() -> Handle<uv_tcp_t> {
    let socket = Handle(allocate(uv_tcp_t.self))
    Self.require(uv_tcp_init(loop, socket.pointer), "making a socket")
    return socket
  }
}

/// Calls `body` with an address in the form that functions for sockets take.
public func withSocketAddress<Result>(
  of address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
) -> Result {
  withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Foundation

/// A server of NATS on the loopback address, with a store in a temporary directory. It ends
/// with the object, or with this process, and the directory is removed.
public final class NATSServer: @unchecked Sendable {
  // SAFETY: the lock protects the process.
  private let lock = NSLock()
  private var process: Process?
  private let watcher: Process
  /// Closed when this object or this process ends.
  private let life = Pipe()
  public let port: UInt16
  public let directory: URL
  /// The configuration's first lines.
  private let head: String
  private var configuration: String

  /// - Parameter configuration: more lines of the server's configuration file. `DIRECTORY`
  ///   is replaced by the path of the directory.
  public init(
    _ configuration: String = "", port: UInt16? = nil, jetStream: Bool = true
  ) throws {
    self.port = try port ?? Self.freePort()
    directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "fwd-remote-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let store = jetStream ? "jetstream { store_dir: \"\(directory.path)/store\" }\n" : ""
    head = "listen: \"127.0.0.1:\(self.port)\"\n" + store
    self.configuration = configuration
    watcher = try Self.run("/bin/sh", ["-c", Self.watch, "sh", directory.path], life)
    try life.fileHandleForReading.close()
  }

  /// Ends the server and removes its directory, also if this process is killed.
  private static let watch = """
    read -r _
    if [ -f "$1/pid" ]; then kill -9 "$(cat "$1/pid")"; fi
    rm -rf "$1"
    """

  private static func run(
    _ program: String, _ arguments: [String], _ input: Any = FileHandle.nullDevice
  ) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  deinit {
    kill()
    try? life.fileHandleForWriting.close()
    // Foundation keeps each `Process` that runs.
    watcher.waitUntilExit()
  }

  public var url: String { "nats://127.0.0.1:\(port)" }

  /// Starts the server, and waits until it listens.
  ///
  /// - Parameter configuration: replaces that of the initializer.
  @discardableResult
  public func start(_ configuration: String? = nil) throws -> NATSServer {
    if let configuration { self.configuration = configuration }
    let file = directory.appendingPathComponent("server.conf")
    let text = head + self.configuration.replacingOccurrences(of: "DIRECTORY", with: directory.path)
    try Data(text.utf8).write(to: file)
    let path = directory.path
    let process = try Self.run(
      "/usr/bin/env",
      ["nats-server", "-c", file.path, "-l", path + "/log", "-P", path + "/pid"])
    lock.withLock { self.process = process }
    let end = Date(timeIntervalSinceNow: 120)
    while !Self.listens(port) {
      guard process.isRunning, Date() < end else {
        throw Failure(description: "nats-server did not start: \(log.suffix(500))")
      }
      usleep(5000)
    }
    return self
  }

  public var log: String {
    (try? String(contentsOf: directory.appendingPathComponent("log"), encoding: .utf8)) ?? ""
  }

  private func signal(_ number: Int32) {
    if let process = lock.withLock({ process }), process.isRunning {
      _ = Foundation.kill(process.processIdentifier, number)
    }
  }

  /// Ends the server as `kill -9` does, and waits for its end.
  public func kill() {
    let process = lock.withLock {
      defer { self.process = nil }
      return self.process
    }
    guard let process else { return }
    if process.isRunning { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: directory.appendingPathComponent("pid"))
  }

  /// Stops the server's process without closing its connections.
  public func freeze() { signal(SIGSTOP) }
  public func thaw() { signal(SIGCONT) }

  /// Removes all that the server has stored. It must not be running.
  public func removeStore() throws {
    try FileManager.default.removeItem(at: directory.appendingPathComponent("store"))
  }

  /// Whether the server responds on a port for HTTP that it is healthy: its logs are like
  /// those of the other servers of its cluster.
  public static func isHealthy(_ port: UInt16) -> Bool {
    guard let socket = connected(port) else { return false }
    defer { close(socket) }
    let request = Array("GET /healthz HTTP/1.0\r\n\r\n".utf8)
    var response = [UInt8](repeating: 0, count: 200)
    // SAFETY: the buffers have the sizes that are passed.
    guard unsafe write(socket, request, request.count) == request.count,
      case let count = unsafe read(socket, &response, response.count), count > 0
    else { return false }
    return String(decoding: response.prefix(count), as: UTF8.self).contains(" 200 ")
  }

  // MARK: Ports

  public static func freePort() throws -> UInt16 {
    let (socket, port) = try boundSocket()
    close(socket)
    return port
  }

  /// A socket that listens on a free port.
  static func listeningSocket() throws -> (socket: Int32, port: UInt16) {
    let (socket, port) = try boundSocket()
    guard listen(socket, 16) == 0 else {
      close(socket)
      throw Failure(description: "port \(port) cannot be listened to")
    }
    return (socket, port)
  }

  private static func boundSocket() throws -> (socket: Int32, port: UInt16) {
    let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = loopback(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    // SAFETY: the address has the size of a sockaddr_in, and is valid during the calls.
    let result = unsafe withUnsafeMutablePointer(to: &address) { address in
      let pointer = unsafe UnsafeMutableRawPointer(address).assumingMemoryBound(to: sockaddr.self)
      return unsafe bind(socket, pointer, size) == 0 && getsockname(socket, pointer, &size) == 0
    }
    guard result else {
      close(socket)
      throw Failure(description: "there is no free port")
    }
    return (socket, UInt16(bigEndian: address.sin_port))
  }

  private static func listens(_ port: UInt16) -> Bool {
    guard let socket = connected(port) else { return false }
    close(socket)
    return true
  }

  static func connected(_ port: UInt16) -> Int32? {
    let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = loopback(port)
    // SAFETY: as above.
    let result = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe connect(
        socket, UnsafeMutableRawPointer(address).assumingMemoryBound(to: sockaddr.self),
        socklen_t(MemoryLayout<sockaddr_in>.size))
    }
    if result == 0 { return socket }
    close(socket)
    return nil
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding
public import ForwardingWire

/// Connects the proxies of several processes through a service that stores their calls.
///
/// ```swift
/// let link = try await RemoteConnection(to: "nats://127.0.0.1:4222")
/// let publisher = try await link.publisher("sensors", of: proxy, schema)
/// // in another process:
/// let consumer = try link.consumer("sensors", into: proxy, schema, positions: positions)
/// try await consumer.run()
/// ```
///
/// Each publisher and each consumer has a network connection of its own, made with the
/// options of this object.
public final class RemoteConnection: Sendable {
  internal let engine: any RemoteEngine
  internal let timeout: Duration
  internal let lostLogWait: Duration
  internal let requestLink: RequestLink

  /// Connects to a server of NATS with JetStream.
  ///
  /// - Parameters:
  ///   - servers: a URL such as `nats://host:4222`, or several with commas between them
  ///     for a cluster. Each connection is to one that is up.
  ///   - options: the user, the certificates and the time-out.
  /// - Throws: `RemoteError` with the codes `disconnected` if no server can be reached,
  ///   `authenticationFailed`, `insecure`, `invalidArgument`.
  public convenience init(
    to servers: String, options: RemoteOptions = RemoteOptions()
  ) async throws(RemoteError) {
    let urls = servers.split { $0 == "," || $0 == " " }.map(String.init)
    try await self.init(
      engine: NATSEngine(servers: urls, options: options), timeout: options.timeout)
  }

  /// Connects to another service.
  ///
  /// - Parameters:
  ///   - engine: makes the connections.
  ///   - timeout: how long a service may be silent.
  public convenience init(
    engine: any RemoteEngine, timeout: Duration = .seconds(5)
  ) async throws(RemoteError) {
    try await self.init(engine: engine, timeout: timeout, lostLogWait: Timing.lostLog)
  }

  internal init(
    engine: any RemoteEngine, timeout: Duration, lostLogWait: Duration
  ) async throws(RemoteError) {
    self.engine = engine
    self.timeout = timeout
    self.lostLogWait = lostLogWait
    requestLink = RequestLink(engine)
    _ = try await onThread { [requestLink] () throws(RemoteError) in try requestLink.current() }
  }

  /// Takes the log of a producer, and appends the calls of a proxy to it until the
  /// publisher is closed.
  ///
  /// The proxy's own subscribers are called as before. Methods with a result of a C type
  /// are recorded too, without the result.
  ///
  /// - Parameters:
  ///   - name: the producer: letters, digits, `-` and `_`, at most 64. Only one publisher
  ///     of a name can run at a time.
  ///   - proxy: the proxy. The publisher does not keep it alive.
  ///   - schema: the methods to record, with rules for their pointers.
  ///   - options: the buffer, the messages and the log.
  /// - Throws: `RemoteError` with the code `producerTaken` if another publisher of the
  ///   name is running; `permissionDenied`; `serverFault` if there is no JetStream;
  ///   `invalidArgument`; the codes of a connection.
  public func publisher(
    _ name: String, of proxy: DynamicProxy, _ schema: WireSchema,
    options: RemotePublisherOptions = RemotePublisherOptions()
  ) async throws(RemoteError) -> RemotePublisher {
    try checkName(name, "a producer's name")
    guard options.maxCallsPerMessage > 0, options.bufferSize > 0, options.replicas > 0,
      options.logSize ?? .max >= 256 << 10
    else {
      throw RemoteError(
        .invalidArgument,
        "producer \"\(name)\": maxCallsPerMessage \(options.maxCallsPerMessage), bufferSize \(options.bufferSize), "
          + "replicas \(options.replicas) and logSize \(options.logSize.map(String.init) ?? "nil"): "
          + "expected numbers above 0, and at least \(256 << 10) for logSize")
    }
    let core = PublisherCore(
      name, engine, options, schema: schema.bytes, timeout: timeout, lostLogWait: lostLogWait)
    return try await onThread { () throws(RemoteError) in
      try RemotePublisher(core, proxy, schema)
    }
  }

  /// Returns a consumer of a producer's calls. Nothing happens before
  /// ``RemoteConsumer/run()``.
  ///
  /// - Parameters:
  ///   - name: the producer.
  ///   - proxy: gets the calls. The consumer keeps it alive.
  ///   - schema: the methods that this program knows. The producer's schema is compared
  ///     with it.
  ///   - positions: stores the position of this consumer. By default in memory, so that each
  ///     run of the program begins at `start`.
  ///   - start: where to begin if there is no position.
  /// - Throws: `RemoteError` with the code `invalidArgument` if the name is not valid.
  public func consumer(
    _ name: String, into proxy: DynamicProxy, _ schema: WireSchema,
    positions: any RemotePositions = RemoteMemoryPositions(),
    start: RemoteConsumer.Start = .oldest
  ) throws(RemoteError) -> RemoteConsumer {
    try checkName(name, "a producer's name")
    return RemoteConsumer(
      ConsumerLoop(name, engine, proxy, schema, positions, start, lostLogWait: lostLogWait))
  }
}

/// Throws if a name cannot be a part of a subject and of a stream's name.
internal func checkName(_ name: String, _ what: String) throws(RemoteError) {
  let isValid =
    (1...64).contains(name.utf8.count)
    && name.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
        || $0 == 0x2D || $0 == 0x5F
    }
  guard isValid else {
    throw RemoteError(
      .invalidArgument,
      "\(what) is \"\(name)\", expected 1 to 64 letters, digits, \"-\" and \"_\"")
  }
}

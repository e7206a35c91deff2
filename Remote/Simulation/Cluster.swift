// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteSupport

/// What a consumer has got of the numbers 1, 2, 3 and so on.
final class Tally: @unchecked Sendable {
  // SAFETY: the lock protects the variables.
  private let lock = NSLock()
  private var next: Int64 = 1
  private var missing: Int64 = 0
  private var doubled: Int64 = 0
  private var inverted: Int64 = 0
  private var seen: Set<Int64> = []

  func take(_ number: Int64) {
    lock.withLock {
      if number == next {
        next += 1
      } else if number > next {
        missing += number - next
        next = number + 1
      } else if seen.contains(number) {
        doubled += 1
      } else {
        inverted += 1
        missing -= 1
      }
      seen.insert(number)
    }
  }

  var last: Int64 { lock.withLock { next - 1 } }
  var faults: [Int64] { lock.withLock { [missing, doubled, inverted] } }
}

/// Publishes the numbers 1, 2, 3 and so on until it is told to stop.
final class Producer: @unchecked Sendable {
  // SAFETY: the lock protects the variables.
  private let lock = NSLock()
  private var last: Int64 = 0
  private var isStopped = false
  let publisher: RemotePublisher
  private let proxy: DynamicProxy

  init(_ name: String, _ link: RemoteConnection) async throws {
    let proxy = try makeProxy()
    let schema = try WireSchema(of: proxy)
    var options = RemotePublisherOptions()
    options.replicas = 3
    self.proxy = proxy
    publisher = try await retrying {
      try await link.publisher(name, of: proxy, schema, options: options)
    }
  }

  var count: Int64 { lock.withLock { last } }
  func stop() { lock.withLock { isStopped = true } }

  func run() async throws {
    while !lock.withLock({ isStopped }) {
      for _ in 0..<10 {
        let number = lock.withLock {
          last += 1
          return last
        }
        try proxy.send(Method("number:", ((Int64) -> Void).self), number)
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    try await publisher.close(within: .seconds(60))
  }
}

/// Three servers with a store of their own each. Each log is kept by all three.
final class Cluster {
  let servers: [NATSServer]
  private let healthPorts: [UInt16]

  init() throws {
    let routes = try (0..<3).map { _ in try NATSServer.freePort() }
    let healthPorts = try (0..<3).map { _ in try NATSServer.freePort() }
    self.healthPorts = healthPorts
    let list = routes.map { "\"nats-route://127.0.0.1:\($0)\"" }.joined(separator: ", ")
    servers = try (0..<3).map { index in
      try NATSServer(
        """
        server_name: s\(index)
        http: "127.0.0.1:\(healthPorts[index])"
        cluster { name: simulation, listen: "127.0.0.1:\(routes[index])", routes: [\(list)] }
        """)
    }
  }

  var urls: String { servers.map(\.url).joined(separator: ",") }

  /// Waits until all servers are up and have the same logs.
  func settle() async throws {
    let end = Date(timeIntervalSinceNow: 60)
    for port in healthPorts {
      while !NATSServer.isHealthy(port) {
        if Date() > end { throw Failure(description: "a server does not become healthy") }
        try await Task.sleep(for: .milliseconds(100))
      }
    }
  }
}

/// Kills one server of a cluster at a time while producers publish.
///
/// - Returns: whether each consumer has got each number once and in order.
func simulateCluster(kills: Int) async throws -> Bool {
  let (producerCount, consumerCount) = (4, 12)
  let cluster = try Cluster()
  for server in cluster.servers { try server.start() }
  try await cluster.settle()
  let link = try await retrying { try await RemoteConnection(to: cluster.urls) }
  var producers: [Producer] = []
  for index in 0..<producerCount { producers.append(try await Producer("p\(index)", link)) }
  let publishing = producers.map { producer in Task { try await producer.run() } }

  var tallies: [Tally] = []
  var consuming: [Task<Void, any Error>] = []
  var tokens: [DynamicProxy.Token] = []
  for index in 0..<consumerCount {
    let (tally, proxy) = (Tally(), try makeProxy())
    tokens.append(try proxy.subscribe { $0.on(number) { tally.take($0) } })
    let consumer = try link.consumer(
      "p\(index % producerCount)", into: proxy, WireSchema(of: proxy))
    consuming.append(Task { try await consumer.run() })
    tallies.append(tally)
  }

  var recoveries: [Double] = []
  for kill in 0..<kills {
    try await cluster.settle()
    try await Task.sleep(for: .seconds(1))
    let victim = cluster.servers[kill % 3]
    victim.kill()
    let killed = Date()
    let goals = producers.map(\.count)
    // Until each consumer has got a number that was made after the kill.
    while zip(0..., tallies).contains(where: { $1.last <= goals[$0 % producerCount] }) {
      if let failure = producers.lazy.compactMap(\.publisher.failure).first { throw failure }
      if Date().timeIntervalSince(killed) > 90 {
        print("the cluster stands still after kill \(kill + 1)")
        return false
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    recoveries.append(Date().timeIntervalSince(killed))
    try victim.start()
  }
  for producer in producers { producer.stop() }
  for task in publishing { try await task.value }
  let goals = producers.map(\.count)
  let end = Date(timeIntervalSinceNow: 60)
  while zip(0..., tallies).contains(where: { $1.last < goals[$0 % producerCount] }), Date() < end {
    try await Task.sleep(for: .milliseconds(10))
  }
  try await Task.sleep(for: .milliseconds(300))
  for task in consuming {
    task.cancel()
    try await task.value
  }
  let total = goals.reduce(0, +)
  var faults = tallies.reduce([0, 0, 0]) { sum, tally in zip(sum, tally.faults).map { $0 + $1 } }
  for (index, tally) in tallies.enumerated() {
    faults[0] += goals[index % producerCount] - tally.last
  }
  let sorted = recoveries.sorted()
  print(
    """
    servers           3, each log on all of them
    producers         \(producerCount)
    consumers         \(consumerCount)
    calls             \(total) published, \(tallies.reduce(0) { $0 + $1.last }) delivered
    servers killed    \(kills), one at a time
    missing           \(faults[0])
    doubled           \(faults[1])
    out of order      \(faults[2])
    time to recover   \(String(format: "%.1f", sorted[sorted.count / 2])) s median, \
    \(String(format: "%.1f", sorted.last ?? 0)) s longest, until every consumer has a new call
    """)
  return faults == [0, 0, 0]
}

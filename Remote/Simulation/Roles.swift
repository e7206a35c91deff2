// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteSupport

let number = Method("number:", ((Int64) -> Void).self)

func makeProxy() throws -> DynamicProxy { try DynamicProxy { $0.optional(number) } }

/// The process that publishes the numbers from 1 on, and continues after those that are
/// stored when it is started again.
func runPublisher(_ url: String, _ count: Int, rate: Int) async throws {
  let link = try await retrying { try await RemoteConnection(to: url) }
  let proxy = try makeProxy()
  let schema = try WireSchema(of: proxy)
  let publisher = try await retrying { try await link.publisher("numbers", of: proxy, schema) }
  let first = Int(publisher.storedCount) + 1
  let burst = max(1, rate / 500)
  var next = first
  let start = ContinuousClock.now
  while next <= count {
    for value in next..<min(next + burst, count + 1) { try proxy.send(number, Int64(value)) }
    next += burst
    try await Task.sleep(until: start + .seconds(Double(next - first) / Double(rate)))
    if let failure = publisher.failure { throw failure }
  }
  try await publisher.close(within: .seconds(60))
}

/// The process that stores what it gets.
func runConsumer(_ url: String, _ path: String) async throws {
  let database = try Database(path)
  let link = try await retrying { try await RemoteConnection(to: url) }
  let proxy = try makeProxy()
  let token = try proxy.subscribe { $0.on(number) { database.insert($0) } }
  let consumer = try link.consumer(
    "numbers", into: proxy, WireSchema(of: proxy), positions: database)
  try await consumer.run()
  token.cancel()
}

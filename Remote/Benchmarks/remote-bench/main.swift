// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CRawNATS
import Forwarding
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteSupport

// Publishers and consumers beside the C client, each against the same server, by turns.
// Wall time: a server and two clients share the processors.

let number = Method("number:", ((Int64) -> Void).self)

func publish(
  _ link: RemoteConnection, _ name: String, _ count: Int, callsPerMessage: Int
) async throws -> Double {
  let proxy = try DynamicProxy { $0.optional(number) }
  var options = RemotePublisherOptions()
  options.maxCallsPerMessage = callsPerMessage
  let publisher = try await link.publisher(name, of: proxy, WireSchema(of: proxy), options: options)
  let start = ContinuousClock.now
  for value in 0..<count { try proxy.send(number, Int64(value)) }
  try await publisher.flush(within: .seconds(60))
  let time = start.duration(to: .now)
  guard publisher.storedCount == UInt64(count) else {
    throw Failure(description: "\(publisher.storedCount) of \(count) calls are stored")
  }
  try await publisher.close()
  return time / .nanoseconds(1)
}

final class Sum: @unchecked Sendable {
  // SAFETY: the consumer's thread writes it, and is waited for.
  var value: Int64 = 0
}

func consume(_ link: RemoteConnection, _ name: String, _ count: Int) async throws -> Double {
  let proxy = try DynamicProxy { $0.optional(number) }
  let sum = Sum()
  let token = try proxy.subscribe { $0.on(number) { sum.value += $0 } }
  let consumer = try link.consumer(name, into: proxy, WireSchema(of: proxy))
  let start = ContinuousClock.now
  let task = Task { try await consumer.run() }
  while (consumer.position?.calls ?? 0) < count {
    try await Task.sleep(for: .microseconds(200))
    if start.duration(to: .now) > .seconds(60) {
      throw Failure(description: "the consumer stands still")
    }
  }
  let time = start.duration(to: .now)
  task.cancel()
  try await task.value
  token.cancel()
  guard sum.value == Int64(count) * Int64(count - 1) / 2 else {
    throw Failure(description: "wrong sum: \(sum.value)")
  }
  return time / .nanoseconds(1)
}

func checked(_ time: Double) throws -> Double {
  guard time > 0 else { throw Failure(description: "the C client has failed") }
  return time
}

extension [Double] {
  var median: Double { sorted()[count / 2] }
}

let help = """
  Measures publishers and consumers beside the C client, by turns, against one server.

  usage: remote-bench [--quick] [--help]

    --quick  less data, once: look that everything runs and that sums are right; judge no times
    --help   print this

  Exit status: 0; 1 if a sum is wrong or a goal is missed; 64 for wrong arguments.
  """

let arguments = CommandLine.arguments.dropFirst()
if arguments.contains("--help") {
  print(help)
  exit(0)
}
if let unknown = arguments.first(where: { $0 != "--quick" }) {
  FileHandle.standardError.write(
    Data("remote-bench: unknown argument: \(unknown); see --help\n".utf8))
  exit(64)
}

do {
  let isQuick = arguments.contains("--quick")
  let (messages, calls, rounds) = isQuick ? (5000, 100_000, 1) : (300_000, 2_000_000, 5)
  let server = try NATSServer().start()
  let link = try await RemoteConnection(to: server.url)
  // Calls a second, by row.
  var rates: [String: [Double]] = [:]
  var ratios: [String: [Double]] = [:]
  func note(_ row: String, _ count: Int, _ time: Double) {
    rates[row, default: []].append(Double(count) / time * 1e9)
  }
  for round in 0..<rounds {
    let raw = "raw\(round)"
    guard unsafe raw_nats_make_stream(server.url, raw) else {
      throw Failure(description: "the C client makes no stream")
    }
    // A record with one number has 48 bytes.
    let rawPublish = try checked(unsafe raw_nats_publish(server.url, raw, 48, Int32(messages)))
    let single = try await publish(link, "single\(round)", messages, callsPerMessage: 1)
    let fifty = try await publish(link, "fifty\(round)", calls, callsPerMessage: 50)
    let joined = try await publish(link, "joined\(round)", calls, callsPerMessage: 256)
    // The same messages as ours; the first one has taken the log.
    let rawConsume = try checked(
      unsafe raw_nats_consume(server.url, "fwd.log.single\(round)", Int32(messages + 1)))
    let consumed = try await consume(link, "single\(round)", messages)
    let consumedJoined = try await consume(link, "joined\(round)", calls)
    note("publish, C client with identifiers", messages, rawPublish)
    note("publish, one call a message", messages, single)
    note("publish, 50 calls a message", calls, fifty)
    note("publish, 256 calls a message", calls, joined)
    note("consume, C client", messages, rawConsume)
    note("consume, one call a message", messages, consumed)
    note("consume, 256 calls a message", calls, consumedJoined)
    ratios["publish / C client", default: []].append(rawPublish / single)
    let perCall = rawPublish / Double(messages) * Double(calls)
    ratios["publish, 50 calls a message / C client", default: []].append(perCall / fifty)
    ratios["consume / C client", default: []].append(rawConsume / consumed)
  }
  func line(_ name: String, _ value: String) {
    print(name.padding(toLength: 40, withPad: " ", startingAt: 0) + value)
  }
  for row in rates.keys.sorted().reversed() {
    line(row, String(format: "%10.0f calls a second", rates[row]?.median ?? 0))
  }
  print("")
  let goals = [
    ("publish / C client", 0.9), ("publish, 50 calls a message / C client", 10),
    ("consume / C client", 0.8),
  ]
  var isMissed = false
  for (name, goal) in goals {
    let ratio = ratios[name]?.median ?? 0
    let verdict = isQuick ? "not judged" : ratio >= goal ? "met" : "missed"
    if verdict == "missed" { isMissed = true }
    line(name, String(format: "%10.2f  at least %.1f  ", ratio, goal) + verdict)
  }
  if isMissed { throw Failure(description: "a goal is missed") }
} catch {
  FileHandle.standardError.write(Data("remote-bench: \(error)\n".utf8))
  exit(1)
}

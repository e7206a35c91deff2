// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import RemoteSupport

/// Kills the publisher, the server and the consumer in turn while numbers pass.
///
/// - Returns: whether each number has arrived once and in order.
func simulateKills(messages: Int, kills: Int) async throws -> Bool {
  let server = try NATSServer().start()
  let path = server.directory.appendingPathComponent("effects.sqlite").path
  let database = try Database(path)
  let publisher = Child(["publisher", server.url, "\(messages)", "\(max(10_000, messages / 10))"])
  let consumer = Child(["consumer", server.url, path])
  defer {
    publisher.kill()
    consumer.kill()
  }
  let start = ContinuousClock.now
  try publisher.start()
  try consumer.start()
  var killed = ["publisher": 0, "server": 0, "consumer": 0]
  var longest = 0.0
  for step in 1...(3 * kills + 1) {
    // Each process is killed at work: the numbers go on in between.
    let goal = Int64(messages) * Int64(step) / Int64(3 * kills + 1)
    let since = Date()
    while try database.row("SELECT COALESCE(MAX(id), 0) FROM effects")[0] < goal {
      if publisher.hasFailed || consumer.hasFailed || Date().timeIntervalSince(since) > 120 {
        print(
          "the simulation stands still: step \(step), publisher failed: \(publisher.hasFailed), "
            + "consumer failed: \(consumer.hasFailed)")
        return false
      }
      try await Task.sleep(for: .milliseconds(2))
    }
    longest = max(longest, Date().timeIntervalSince(since))
    if step > 3 * kills { break }
    switch step % 3 {
    case 1:
      publisher.kill()
      try publisher.start()
      killed["publisher", default: 0] += 1
    case 2:
      server.kill()
      try server.start()
      killed["server", default: 0] += 1
    default:
      consumer.kill()
      try consumer.start()
      killed["consumer", default: 0] += 1
    }
  }
  let seconds = start.duration(to: .now)
  // What a late duplicate would add.
  try await Task.sleep(for: .milliseconds(300))
  let counts = try database.row(
    "SELECT COUNT(*), COUNT(DISTINCT number), SUM(number BETWEEN 1 AND \(messages)) FROM effects")
  let inversions = try database.row(
    "SELECT COUNT(*) FROM (SELECT number < LAG(number) OVER (ORDER BY id) AS back FROM effects) WHERE back"
  )[0]
  let (missing, doubled) = (Int64(messages) - counts[1], counts[0] - counts[1])
  print(
    """
    calls             \(messages)
    killed            publisher \(killed["publisher"] ?? 0), server \(killed["server"] ?? 0), \
    consumer \(killed["consumer"] ?? 0)
    missing           \(missing)
    doubled           \(doubled)
    out of order      \(inversions)
    longest step      \(String(format: "%.2f", longest)) s
    time              \(seconds)
    """)
  return missing == 0 && doubled == 0 && inversions == 0 && counts[2] == counts[0]
}

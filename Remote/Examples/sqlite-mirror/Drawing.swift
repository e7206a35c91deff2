// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteSupport

/// Draws the changes that another process publishes.
///
/// The picture is in memory only, so the process begins with the oldest change each time that it is
/// started, and soon has the newest one. A process that stores what it gets would store its position, too.
func draw(_ server: String, until limit: Int?) async throws {
  let picture = Picture()
  let mirror = try Feed.proxy()
  let token = try mirror.subscribe(picture) {
    $0.on(Feed.changed) { picture, sensor, value in picture.change(Int(sensor), value) }
  }
  let link = try await retrying { try await RemoteConnection(to: server) }
  let consumer = try link.consumer(Feed.name, into: mirror, WireSchema(of: mirror))
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await consumer.run() }
    group.addTask { try await show(picture, until: limit) }
    // The consumer ends by an error only.
    try await group.next()
    group.cancelAll()
  }
  print(picture.state.bars)
  withExtendedLifetime(token) {}
}

/// Draws a picture again and again, until it has so many changes.
private func show(_ picture: Picture, until limit: Int?) async throws {
  var shown = 0
  while true {
    let state = picture.state
    if let limit, state.changes >= limit { return }
    if limit == nil, state.changes != shown {
      print("\u{1B}[H\u{1B}[2J\(state.bars)")
      shown = state.changes
    }
    try await Task.sleep(for: .milliseconds(limit == nil ? 100 : 5))
  }
}

/// The values that have been drawn.
final class Picture: @unchecked Sendable {
  // Sendable: the lock protects the values.
  struct State {
    var changes = 0
    var values = [Double](repeating: 0, count: Feed.sensors)

    var bars: String {
      let lines = values.enumerated().map { sensor, value in
        let bar = String(repeating: "▇", count: max(0, Int(value / 2)))
        return "sensor \(sensor) \(String(format: "%5.1f", value)) \(bar)"
      }
      return (["\(changes) changes"] + lines).joined(separator: "\n")
    }
  }

  private let lock = NSLock()
  private var current = State()

  var state: State { lock.withLock { current } }

  func change(_ sensor: Int, _ value: Double) {
    lock.withLock {
      guard current.values.indices.contains(sensor) else { return }
      current.changes += 1
      current.values[sensor] = value
    }
  }
}

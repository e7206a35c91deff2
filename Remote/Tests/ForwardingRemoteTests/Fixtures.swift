// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteSupport

/// The methods of the tests.
enum Feed {
  static let number = Method("number:", ((Int64) -> Void).self)
  static let tick = Method("tick:symbol:", ((Double, String) -> Void).self)

  static func proxy() throws -> DynamicProxy {
    try DynamicProxy {
      $0.optional(number)
      $0.optional(tick)
    }
  }
}

/// A proxy in another process, as it were: what it gets is collected.
final class Receiver: Sendable {
  let proxy: DynamicProxy
  let schema: WireSchema
  let numbers = Collected<Int64>()
  let ticks = Collected<String>()
  private let tokens: [DynamicProxy.Token]

  init() throws {
    proxy = try Feed.proxy()
    schema = try WireSchema(of: proxy)
    tokens = try [
      proxy.subscribe { [numbers] in $0.on(Feed.number) { numbers.append($0) } },
      proxy.subscribe { [ticks] in $0.on(Feed.tick) { ticks.append("\($1) \($0)") } },
    ]
  }
}

/// Waits until a condition holds. Returns false if it still does not after a time that is long
/// even for a slow machine.
func eventually(
  within seconds: Double = 120, _ condition: () async -> Bool
) async -> Bool {
  let end = Date(timeIntervalSinceNow: seconds)
  while !(await condition()) {
    if Date() > end { return false }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return true
}

/// The error that a closure throws.
func remoteError(_ body: () async throws -> Void) async -> RemoteError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? RemoteError
  }
}

extension RemotePosition {
  /// Whether the numbers are these, whatever publisher has written the message.
  func isAt(message: UInt64, calls: UInt64) -> Bool {
    self.message == message && self.calls == calls
  }
}

extension RemoteConsumer {
  /// Runs the consumer while a closure runs.
  func during(_ body: () async throws -> Void) async throws {
    let task = Task { try await self.run() }
    do {
      try await body()
    } catch {
      task.cancel()
      throw error
    }
    task.cancel()
    try await task.value
  }
}

extension RemoteOptions {
  /// Options with a long time-out, so that a server on a slow machine does not count as dead.
  static var patient: RemoteOptions {
    var options = RemoteOptions()
    options.timeout = .seconds(20)
    return options
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import RemoteSupport
import Testing

@testable import ForwardingRemote

/// When links are made again, and whose events count.
@Suite(.timeLimit(.minutes(1))) struct LinkingTests {
  private let engine = MemoryEngine()
  private let condition = NSCondition()

  @Test func `Pauses become longer up to a second, and short again after a success`() throws {
    var backoff = Backoff()
    let error = RemoteError(.disconnected, "")
    var pauses: [Duration] = []
    for _ in 0..<8 { pauses.append(try backoff.pause(after: error)) }
    #expect(pauses == [20, 40, 80, 160, 320, 640, 1000, 1000].map { .milliseconds($0) })
    backoff.reset()
    #expect(try backoff.pause(after: error) == .milliseconds(20))
  }

  @Test func `Errors that no attempt can end are thrown`() throws {
    var backoff = Backoff()
    for code in RemoteError.Code.allCases where code != .logLost {
      let error = RemoteError(code, "")
      if [.disconnected, .timedOut, .conflict, .serverFault].contains(code) {
        _ = try backoff.pause(after: error)
      } else {
        #expect(throws: error) { try backoff.pause(after: error) }
      }
    }
  }

  @Test func `A lost log is an error when every attempt has found it so for the whole wait`() throws
  {
    let error = RemoteError(.logLost, "")
    var backoff = Backoff(lostLogWait: .milliseconds(200))
    _ = try backoff.pause(after: error)
    usleep(250_000)
    // Something else happened in between.
    _ = try backoff.pause(after: RemoteError(.disconnected, ""))
    _ = try backoff.pause(after: error)
    usleep(250_000)
    backoff.logFound()
    _ = try backoff.pause(after: error)
    usleep(250_000)
    #expect(throws: error) { try backoff.pause(after: error) }
  }

  @Test func `Only the present link of a slot is heard`() throws {
    let slot = LinkSlot(engine, promptly: false, condition)
    let stored = Collected<UInt64>()
    _ = try slot.connect { stored.append($0) }
    _ = try slot.connect { stored.append($0 + 100) }
    #expect(engine.linkCount.open == 1)
    engine.report(late: .stored(7))
    engine.report(late: .failed(RemoteError(.disconnected, "late")))
    #expect(stored.all.isEmpty && condition.withLock { slot.fault } == nil)
    engine.cut()
    #expect(condition.withLock { slot.fault }?.code == .disconnected)
    slot.close()
    #expect(engine.linkCount.open == 0 && condition.withLock { slot.link } == nil)
  }

  @Test func `A link that is closed while it is made is not kept`() throws {
    let slot = LinkSlot(engine, promptly: false, condition)
    engine.whenConnecting { slot.close() }
    #expect(throws: RemoteError.self) { try slot.connect() }
    #expect(engine.linkCount == (1, 0) && condition.withLock { slot.link } == nil)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingWire
import Foundation
import RemoteSupport
import Testing

@testable import ForwardingRemote

/// When links are made again, and whose events count.
@Suite(.timeLimit(.minutes(15))) struct LinkingTests {
  private let engine = MemoryEngine()
  private let condition = SteadyCondition()

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
    engine.next(.connecting) { slot.close() }
    #expect(throws: RemoteError.self) { try slot.connect() }
    #expect(engine.linkCount == (1, 0) && condition.withLock { slot.link } == nil)
  }

  // MARK: Sessions

  @Test func `A consumer in a task that is already cancelled does not connect`() async throws {
    let link = try await RemoteConnection(engine: engine)
    let receiver = try Receiver()
    let consumer = try link.consumer("sensors", into: receiver.proxy, receiver.schema)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await consumer.run()
    }
    task.cancel()
    try await task.value
    #expect(engine.linkCount == (1, 1), "only the link for requests")
  }

  @Test func `A publisher that is closed before its first session stores its calls`() async throws {
    let proxy = try Feed.proxy()
    let core = try openCore(WireSchema(of: proxy))
    let token = try proxy.record(with: WireEncoder(WireSchema(of: proxy))) { core.append($0) }
    try proxy.send(Feed.number, 1)
    token.cancel()
    async let isClosed: Void = onThread { () throws(RemoteError) in
      try core.close(within: .seconds(50))
    }
    #expect(await eventually { core.withLock { core.isClosing } })
    try await onThread { core.run() }
    try await isClosed
    #expect(engine.messages("sensors").count == 2 && engine.linkCount == (1, 0))
  }

  @Test func `An abandoned publisher sends nothing, and closes its link`() throws {
    let proxy = try Feed.proxy()
    let core = try openCore(WireSchema(of: proxy))
    let token = try proxy.record(with: WireEncoder(WireSchema(of: proxy))) { core.append($0) }
    try proxy.send(Feed.number, 1)
    token.cancel()
    core.abandon()
    core.run()
    #expect(engine.messages("sensors").count == 1 && engine.linkCount == (1, 0))
  }

  private func openCore(_ schema: WireSchema) throws -> PublisherCore {
    let core = PublisherCore(
      "sensors", engine, RemotePublisherOptions(), schema: schema.bytes, timeout: .seconds(2))
    try core.open()
    return core
  }

  @Test func `A publisher that fails to take its log lets others that asked for it continue`()
    async throws
  {
    engine.setMessages("sensors", [[1, 2, 3]])
    let core = PublisherCore(
      "sensors", engine, RemotePublisherOptions(), schema: [], timeout: .seconds(50))
    let other = try engine.connect(promptly: true) { _ in }
    defer { other.close() }
    let outcomes = Collected<RemoteError.Code?>()
    // The publisher responds already, and has not read the message yet.
    engine.next(.fetching) { [engine] in
      let thread = Thread {
        do throws(RemoteError) {
          try other.request("owner.sensors", everyone: true, [], within: .seconds(50)) { _ in true }
          outcomes.append(nil)
        } catch {
          outcomes.append(error.code)
        }
      }
      thread.start()
      while engine.handledRequestCount == 0 { usleep(1000) }
      usleep(50_000)
    }
    let error = #expect(throws: RemoteError.self) { try core.open() }
    #expect(error?.code == .undecodable)
    #expect(await eventually(within: 60) { outcomes.all == [.timedOut] })
  }

  // MARK: Requests

  @Test func `A failed link for requests is closed without a lock`() async throws {
    let requests = RequestLink(engine)
    _ = try requests.current()
    engine.cut()
    engine.next(.closing) { _ = try? requests.current() }
    let links = Collected<RequestLink.Shared>()
    let thread = Thread { if let link = try? requests.current() { links.append(link) } }
    thread.start()
    try #require(await eventually(within: 60) { links.all.count == 1 }, "the lock is free")
    #expect(engine.linkCount == (2, 1))
  }

  @Test func `Requests that find the same failure share one new link`() throws {
    let requests = RequestLink(engine)
    _ = try requests.current()
    engine.cut()
    let links = Collected<RequestLink.Shared>()
    // Another request makes a link while this one does.
    engine.next(.connecting) {
      if let link = try? requests.current() { links.append(link) }
    }
    let link = try requests.current()
    #expect(links.all.first === link)
    #expect(engine.linkCount == (3, 1))
  }
}

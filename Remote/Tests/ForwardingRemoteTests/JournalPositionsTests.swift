// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingJournal
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteSupport
import Testing

/// A journal that keeps the calls of a producer together with the consumer's position, as the
/// documentation shows it.
private final class JournalPositions: RemotePositions, @unchecked Sendable {
  // Sendable: the consumer calls it on one thread, which also delivers.
  private let journal: Journal
  private let schema: WireSchema
  private var records: [UInt8] = []
  private var token: DynamicProxy.Token?

  init(_ journal: Journal, of proxy: DynamicProxy, _ schema: WireSchema) throws {
    (self.journal, self.schema) = (journal, schema)
    token = try proxy.record(with: WireEncoder(schema)) { [unowned self] record in
      unsafe record.withUnsafeBytes { unsafe records.append(contentsOf: $0) }
    }
  }

  func load(_ producer: String) throws -> RemotePosition? {
    guard let message = try journal.mark("\(producer).message"),
      let calls = try journal.mark("\(producer).calls")
    else { return nil }
    return try RemotePosition(
      message: UInt64(message), calls: UInt64(calls),
      writer: journal.mark("\(producer).writer").flatMap(UInt64.init(exactly:)))
  }

  func commit(
    _ position: RemotePosition, of producer: String, delivering deliver: () throws -> Void
  ) throws {
    records = schema.bytes
    try deliver()
    try journal.append(
      records,
      marks: [
        "\(producer).message": Int(position.message), "\(producer).calls": Int(position.calls),
        "\(producer).writer": position.writer.map { Int($0) } ?? -1,
      ])
  }
}

@Suite(.timeLimit(.minutes(15))) struct JournalPositionsTests {
  @Test func `A journal has each call of a producer once, and the position after it`() async throws
  {
    let server = try NATSServer().start()
    let link = try await RemoteConnection(to: server.url, options: .patient)
    let feed = try Feed.proxy()
    let publisher = try await link.publisher("sensors", of: feed, WireSchema(of: feed))
    let path = server.directory.appendingPathComponent("calls.journal").path
    let (rounds, count) = (5, 100)
    for round in 0..<rounds {
      // Each round is a new process, as it were: the journal is all that it knows.
      let mirror = try Feed.proxy()
      let schema = try WireSchema(of: mirror)
      let journal = try Journal(path, durability: .everyCall)
      let positions = try JournalPositions(journal, of: mirror, schema)
      #expect(try positions.load("sensors")?.calls == (round == 0 ? nil : UInt64(round * count)))
      for number in 0..<count { try feed.send(Feed.number, Int64(round * count + number)) }
      let consumer = try link.consumer("sensors", into: mirror, schema, positions: positions)
      try await consumer.during {
        #expect(await eventually { consumer.position?.calls == UInt64((round + 1) * count) })
      }
      try journal.close()
    }
    let receiver = try Receiver()
    try await Journal(reading: path).replay(to: receiver.proxy, receiver.schema)
    #expect(receiver.numbers.all == (0..<Int64(rounds * count)).map { $0 })
    try await publisher.close()
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingWire
import Foundation
import RemoteSupport
import Testing

@testable import ForwardingRemote

/// A consumer decodes the messages of a log, also those of hostile writers.
@Suite(.timeLimit(.minutes(15))) struct MessageGroupTests {
  private let source: Source
  private let receiver: Receiver

  init() throws {
    source = try Source()
    receiver = try Receiver()
  }

  // MARK: Counts

  @Test func `A message with other calls than its trailer says is an error`() throws {
    for (stated, made) in [(5, 3), (3, 5), (0, 1), (1, 0)] {
      let log = try [
        source.taking(), source.message(1...2), source.message(3, stated, calls: made),
      ]
      let (records, next, fault) = group(log).decode(after: .beginning, receiver.schema)
      #expect(fault?.code == .undecodable)
      #expect(
        fault?.description
          == "message 3: the records are \(made) calls, but the trailer says \(stated)")
      #expect(records.map(\.sequence) == [1, 2], "those before it are delivered")
      #expect(next.position == 2 && next.calls == 2)
    }
  }

  @Test func `Wrong counts of two messages do not make up for one another`() throws {
    let log = try [
      source.taking(), source.message(1, 2, calls: 1), source.message(3, 1, calls: 2),
    ]
    let (records, next, fault) = group(log).decode(after: .beginning, receiver.schema)
    #expect(fault?.code == .undecodable && fault?.description.hasPrefix("message 2: ") == true)
    #expect(records.isEmpty && next.position == 1 && next.calls == 0)
  }

  @Test func `Calls of methods that the consumer leaves out count`() throws {
    let proxy = try DynamicProxy { $0.optional(Feed.number) }
    let schema = try WireSchema(of: proxy) { $0.leaveOut(Feed.tick.selector.name) }
    let log = try [source.taking(), source.message(1...3)]
    let (records, next, fault) = group(log).decode(after: .beginning, schema)
    #expect(fault == nil && next.calls == 3 && records.map(\.sequence) == [1, 3])
  }

  @Test func `A message without its schema is an error, also behind one that has it`() throws {
    let whole = try source.message(2...2)
    let bare = Array(whole[source.schema.bytes.count...])
    let log = try [source.taking(), source.message(1...1), Source.resealed(bare)]
    let (records, next, fault) = group(log).decode(after: .beginning, receiver.schema)
    #expect(
      fault?.wireError?.code == .notWireForm && fault?.description.hasPrefix("message 3: ") == true)
    #expect(records.count == 1 && next.position == 2)
  }

  @Test func `A consumer does not go past a message with another count`() async throws {
    let engine = MemoryEngine()
    try engine.setMessages(
      "sensors", [source.taking(), source.message(1...2), source.message(3, 5, calls: 3)])
    let link = try await RemoteConnection(engine: engine)
    let positions = RemoteMemoryPositions()
    let consumer = try link.consumer(
      "sensors", into: receiver.proxy, receiver.schema, positions: positions)
    let error = await remoteError { try await consumer.run() }
    #expect(error?.code == .undecodable)
    #expect(error?.description.hasPrefix("producer \"sensors\": message 3: ") == true)
    #expect(receiver.numbers.all == [1] && receiver.ticks.all == ["call 2 2.0"])
    #expect(positions.load("sensors")?.isAt(message: 2, calls: 2) == true)
  }

  // MARK: At random

  @Test func `Hostile messages are refused, or delivered as their numbers say`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix(state: seed)
    var (accepted, refused, counts) = (0, 0, 0)
    for round in 0..<3000 {
      var log = [source.taking()]
      var call: UInt64 = 1
      for _ in 0...random.below(4) {
        let last = call + UInt64(random.below(4))
        log.append(try source.message(call...last))
        call = last + 1
      }
      for _ in 0...random.below(3) { mutate(&log[random.below(log.count)], &random) }
      let note: Comment = "seed \(seed), round \(round)"

      let (records, next, fault) = group(log).decode(after: .beginning, receiver.schema)
      #expect(records.count == Int(next.calls), note)
      // All that was accepted can be read: strings are copied, and buffers lie in the records.
      for record in records {
        do throws(WireError) {
          try record.forward(to: receiver.proxy)
        } catch {
          #expect(error.code == .notForwarded, "seed \(seed): a string that is no UTF-8")
        }
      }
      if let fault {
        #expect([.undecodable, .missingCalls].contains(fault.code), note)
        refused += 1
        if fault.description.contains("but the trailer says") { counts += 1 }
      }
      accepted += records.count

      // It makes no difference which messages come together.
      var state = AcceptedCalls.beginning
      var (single, singleFault): ([WireRecord], RemoteError?) = ([], nil)
      for (index, message) in log.enumerated() where singleFault == nil {
        let part = group([message], after: UInt64(index))
        let (records, next, fault) = part.decode(after: state, receiver.schema)
        single += records
        (state, singleFault) = (next, fault)
      }
      #expect(single.map(\.json) == records.map(\.json), note)
      #expect(state.calls == next.calls && singleFault?.code == fault?.code, note)
      // After an error, messages without calls between two others may be read again.
      if fault == nil { #expect(state == next, note) }
    }
    #expect(accepted > 1000 && refused > 1000 && counts > 10, "seed \(seed)")
  }

  /// Damages or forges a message. Half of its records then have right checksums.
  private func mutate(_ message: inout [UInt8], _ random: inout SplitMix) {
    if message.isEmpty { return }
    let isSealed = random.below(2) == 0
    switch random.below(8) {
    case 0: message.removeLast(1 + random.below(message.count))
    case 1: message = Source.resealed(Array(message.dropLast(random.below(message.count))))
    case 2, 3:
      // A number of the trailer.
      let field = [16, 24, 32, 40, 44][random.below(5)]
      let start = max(0, message.count - MessageTrailer.size) + field
      if start < message.count { message[start] &+= UInt8(random.below(4)) &- 2 }
    case 4:
      let records = Array(message.dropLast(MessageTrailer.size))
      let start = records.count / 8 / 2 * 8
      message.replaceSubrange(
        ..<records.count, with: records[..<start] + records[start...].dropFirst(8 * random.below(9))
      )
      if isSealed { message = Source.resealed(message) }
    default:
      message[random.below(message.count)] ^= 1 << UInt8(random.below(8))
    }
    if isSealed { Source.sealRecords(&message) }
  }

  private func group(_ messages: [[UInt8]], after position: UInt64 = 0) -> MessageGroup {
    var group = MessageGroup()
    for (index, message) in messages.enumerated() {
      // SAFETY: the span is used during the call.
      _ = unsafe group.append(message.span.bytes, at: position + 1 + UInt64(index))
    }
    return group
  }
}

/// Makes messages as a publisher does, and others.
private struct Source {
  let proxy: DynamicProxy
  let schema: WireSchema
  private let writer = WriterIdentity(high: 1, low: 2)

  init() throws {
    proxy = try Feed.proxy()
    schema = try WireSchema(of: proxy)
  }

  /// The message by which the publisher takes the log.
  func taking() -> [UInt8] { sealed([], 1, 0) }

  func message(_ calls: ClosedRange<UInt64>) throws -> [UInt8] {
    try message(calls.lowerBound, calls.count, calls: calls.count)
  }

  /// A message whose trailer says that it has `stated` calls. Every second one is `tick:symbol:`.
  func message(_ first: UInt64, _ stated: Int, calls: Int) throws -> [UInt8] {
    let records = Collected<[UInt8]>()
    let token = try proxy.record(with: WireEncoder(schema)) { record in
      unsafe record.withUnsafeBytes { unsafe records.append([UInt8]($0)) }
    }
    for call in first..<first + UInt64(calls) {
      if call % 2 == 1 {
        try proxy.send(Feed.number, Int64(call))
      } else {
        try proxy.send(Feed.tick, Double(call), "call \(call)")
      }
    }
    token.cancel()
    let numbered = records.all.enumerated().map { index, record in
      var record = record
      // The sequence number, by which the tests know the call.
      record.replaceSubrange(24..<32, with: bytes(first + UInt64(index)))
      return record
    }
    var message = sealed(schema.bytes + numbered.joined(), first, UInt32(stated))
    Self.sealRecords(&message)
    return message
  }

  private func bytes(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(little: number)
    return bytes
  }

  private func sealed(_ records: [UInt8], _ first: UInt64, _ count: UInt32) -> [UInt8] {
    var message = records
    MessageTrailer(
      writer: writer, firstCall: first, confirmed: 0, confirmedCalls: 0, callCount: count
    ).append(to: &message)
    return message
  }

  /// The message with the right number of bytes in its trailer.
  static func resealed(_ message: [UInt8]) -> [UInt8] {
    guard message.count >= MessageTrailer.size else { return message }
    var message = message
    let length = UInt32(message.count - MessageTrailer.size)
    var bytes: [UInt8] = []
    bytes.append(little: length)
    message.replaceSubrange(message.count - 12..<message.count - 8, with: bytes)
    return message
  }

  /// Gives each record of a message the right checksum, as far as the lengths lead.
  static func sealRecords(_ message: inout [UInt8]) {
    var start = 0
    let end = message.count - MessageTrailer.size
    while start + 40 <= end {
      let length = (0..<4).reduce(0) { $0 | Int(message[start + $1]) << (8 * $1) }
      guard length >= 40, length <= end - start else { return }
      if message[start + 8] == 1 {
        let identifier = checksum(0, message[start + 40..<start + length])
        for byte in 0..<4 {
          message[start + 12 + byte] = UInt8(truncatingIfNeeded: identifier >> (8 * byte))
        }
      }
      let sum = checksum(UInt32(length), message[start + 8..<start + length])
      for byte in 0..<4 { message[start + 4 + byte] = UInt8(truncatingIfNeeded: sum >> (8 * byte)) }
      start += length
    }
  }

  /// CRC-32C, continued from an earlier checksum.
  private static func checksum(_ earlier: UInt32, _ bytes: ArraySlice<UInt8>) -> UInt32 {
    var sum = ~earlier
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 1 ? 0x82F6_3B78 : 0) }
    }
    return ~sum
  }
}

/// A generator whose sequence a seed determines.
private struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number from 0 to below `bound`, which is positive.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

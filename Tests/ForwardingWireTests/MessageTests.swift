// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingWire
import Testing

/// One decoder reads several messages as it reads each alone.
@Suite struct MessageTests {
  /// Messages one behind the other, as `startMessage` reads them.
  private struct Messages {
    var bytes: [UInt8] = []
    var ranges: [Range<Int>] = []

    init(_ messages: [[UInt8]]) {
      for message in messages {
        ranges.append(bytes.count..<bytes.count + message.count)
        bytes += message
        while bytes.count % 8 != 0 { bytes.append(0xFF) }
      }
    }

    /// The names of the methods, the number of invocations, or the error of each message.
    func read(_ schema: WireSchema) -> [String] {
      var decoder = WireDecoder(bytes, schema: schema)
      return ranges.map { range in
        decoder.startMessage(range)
        return Self.read(&decoder)
      }
    }

    static func read(_ decoder: inout WireDecoder) -> String {
      var names: [String] = []
      do {
        while let record = try decoder.next() { names.append("\(record.selector)") }
      } catch {
        names.append("\(error.code) at \(error.offset ?? -1)")
      }
      return names.joined(separator: " ") + " (\(decoder.invocationCount))"
    }
  }

  /// What a decoder of a message alone reads.
  private func alone(_ message: [UInt8], _ schema: WireSchema) -> String {
    var decoder = WireDecoder(message, schema: schema)
    return Messages.read(&decoder)
  }

  @Test func `Invocations of methods that the reader leaves out count`() throws {
    let sample = try Sample()
    let reader = try WireSchema(of: Log.proxy()) {
      Log.rules(&$0)
      $0.leaveOut("none")
    }
    #expect(alone(sample.all, reader) == "tick:price:symbol: write:count: moved: named: (4)")
    let least = try WireSchema(of: DynamicProxy { $0.optional(Log.number) }) {
      for name in [
        "tick:price:symbol:", "place:", "sum:", "write:count:", "moved:", "named:", "none",
      ] { $0.leaveOut(name) }
    }
    #expect(alone(sample.all, least) == " (4)")
    #expect(alone(sample.schema.bytes, least) == " (0)")
  }

  @Test func `Each message has its own count, and errors count bytes from its beginning`() throws {
    let sample = try Sample()
    let schema = sample.schema.bytes
    let messages: [[UInt8]] = [
      schema + sample.string + sample.fixed, [], schema, schema + sample.counted.dropLast(),
      schema + sample.string.dropLast(3), schema + sample.string + [1, 2, 3],
      sample.string, schema + sample.named,
    ]
    let read = Messages(messages).read(sample.schema)
    #expect(read == messages.map { alone($0, sample.schema) })
    #expect(read[0] == "tick:price:symbol: moved: (2)" && read[7] == "named: (1)")
    #expect(read[1] == " (0)" && read[6] == "notWireForm at 0 (0)")
    #expect(read[4] == "truncated at \(schema.count) (0)")
  }

  @Test func `A message cannot use the schema of another one`() throws {
    let sample = try Sample()
    let other = try WireSchema(of: DynamicProxy { $0.optional(Log.number) })
    let whole = sample.schema.bytes + sample.string
    let borrowing = other.bytes + sample.string
    let both = other.bytes + sample.schema.bytes + sample.string
    let messages = [whole, borrowing, both, borrowing, whole]
    let read = Messages(messages).read(sample.schema)
    #expect(read == messages.map { alone($0, sample.schema) })
    #expect(read[1] == "unknownSchema at \(other.bytes.count) (0)")
    #expect(read[4] == "tick:price:symbol: (1)")
  }

  @Test func `Records of earlier messages can be forwarded later`() throws {
    let sample = try Sample()
    let messages = Messages([sample.all, sample.schema.bytes + sample.string])
    var decoder = WireDecoder(messages.bytes, schema: sample.schema)
    var records: [WireRecord] = []
    for range in messages.ranges {
      decoder.startMessage(range)
      while let record = try decoder.next() { records.append(record) }
    }
    let symbols = Collected<String?>()
    let token = try sample.proxy.before(Log.tick) { _, _, symbol in symbols.append(symbol) }
    for record in records { try record.forward(to: sample.proxy) }
    token.cancel()
    #expect(records.count == 5 && symbols.all == ["a string", "a string"])
  }

  @Test func `A message that is not among the unread bytes is a broken promise`() async {
    func output(_ result: ExitTest.Result?) -> String {
      String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }
    let behind = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let sample = try Sample()
      var decoder = WireDecoder(sample.all, schema: sample.schema)
      decoder.startMessage(0..<sample.all.count + 8)
    }
    #expect(output(behind).contains("which have not been read"))
    let between = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let sample = try Sample()
      var decoder = WireDecoder(sample.all, schema: sample.schema)
      decoder.startMessage(4..<sample.all.count)
    }
    #expect(output(between).contains("expected a multiple of 8"))
    let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let sample = try Sample()
      var decoder = WireDecoder(sample.all, schema: sample.schema)
      _ = try decoder.next()
      decoder.startMessage(0..<sample.all.count)
    }
    #expect(output(read).contains("which have not been read"))
  }
}

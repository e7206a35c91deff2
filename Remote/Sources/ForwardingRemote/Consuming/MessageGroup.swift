// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import ForwardingWire

/// Messages that are delivered in one transaction.
internal struct MessageGroup {
  private struct Message {
    var position: UInt64
    /// The range of the records in `bytes`.
    var records: Range<Int>
    var trailer: Result<MessageTrailer, RemoteError>
    var headers: Headers

    /// Whether the records are as many calls as the trailer says.
    var isWhole: Bool { headers.callCount == (try? trailer.get()).map { Int($0.callCount) } }
  }

  /// The records of all messages. Each message begins with a schema record, and a decoder
  /// takes any number of them. So one decoder reads all, which saves its making.
  private var bytes: [UInt8] = []
  private var messages: [Message] = []

  /// A group takes no more messages at so many bytes, or so many messages.
  private static let limit = (bytes: 1 << 20, messages: 1024)

  internal var isEmpty: Bool { messages.isEmpty }

  internal mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    messages.removeAll(keepingCapacity: true)
  }

  /// Appends a message, and returns whether there is room for another one.
  internal mutating func append(_ message: RawSpan, at position: UInt64) -> Bool {
    let start = bytes.count
    let trailer = Result { () throws(RemoteError) in try MessageTrailer.read(message) }
    var headers = Headers(RawSpan())
    if case .success = trailer {
      headers = Headers(message.extracting(droppingLast: MessageTrailer.size))
      unsafe message.withUnsafeBytes {
        unsafe bytes.append(contentsOf: $0.dropLast(MessageTrailer.size))
      }
    }
    messages.append(
      Message(
        position: position, records: start..<bytes.count, trailer: trailer, headers: headers))
    return bytes.count < Self.limit.bytes && messages.count < Self.limit.messages
  }

  /// The contents of the headers of a message's records. *Wire form* has their bytes.
  private struct Headers {
    /// How many calls the records are; nil if the headers contradict each other. Decoding the
    /// message then says what is wrong.
    var callCount: Int? = 0
    /// Whether the first record is the schema of all others, so that the message can be decoded
    /// behind others as it is decoded alone.
    var isUniform = true

    init(_ records: RawSpan) {
      let (size, schemaKind, invocationKind) = (40, 1 as UInt8, 2 as UInt8)
      var (start, schema) = (0, UInt32(0))
      while start < records.byteCount {
        let left = records.byteCount - start
        let length = left < size ? 0 : Int(MessageTrailer.load(records, start, UInt32.self))
        guard length >= size, length <= left else {
          callCount = nil
          return
        }
        let kind = MessageTrailer.load(records, start + 8, UInt8.self)
        let identifier = MessageTrailer.load(records, start + 12, UInt32.self)
        if start == 0 { schema = identifier }
        if identifier != schema || (start == 0) != (kind == schemaKind) { isUniform = false }
        if kind == invocationKind { callCount = (callCount ?? 0) + 1 }
        start += length
      }
    }
  }

  /// Decodes the accepted calls that follow.
  ///
  /// - Returns: the calls, the state after them, and the fault of the first bad
  ///   message. All accepted messages before that one are among the calls.
  internal func decode(
    after state: AcceptedCalls, _ schema: WireSchema
  ) -> (records: [WireRecord], next: AcceptedCalls, fault: RemoteError?) {
    var next = state
    var accepted: [(message: Message, next: AcceptedCalls)] = []
    var fault: RemoteError?
    for message in messages where message.position > next.end {
      do throws(RemoteError) {
        if try next.advance(over: message.trailer.get(), at: message.position) {
          accepted.append((message, next))
        }
      } catch {
        fault = error.at("message \(message.position)")
        break
      }
    }
    // Decoded together, a message could use the schema of another one.
    let areWhole = accepted.allSatisfy { $0.message.isWhole && $0.message.headers.isUniform }
    if areWhole, accepted.count == messages.count, let records = try? Self.records(bytes, schema) {
      return (records, next, fault)
    }
    return decodeEach(accepted, from: state, to: next, schema, fault)
  }

  /// Decodes message by message, to find the first one that is bad.
  private func decodeEach(
    _ accepted: [(message: Message, next: AcceptedCalls)], from first: AcceptedCalls,
    to last: AcceptedCalls, _ schema: WireSchema, _ fault: RemoteError?
  ) -> ([WireRecord], AcceptedCalls, RemoteError?) {
    var records: [WireRecord] = []
    var state = first
    for (message, next) in accepted {
      let place = "message \(message.position)"
      do throws(WireError) {
        let decoded = try Self.records(Array(bytes[message.records]), schema)
        guard message.isWhole else {
          return (records, state, Self.otherCount(message).at(place))
        }
        records += decoded
      } catch {
        return (records, state, RemoteError(.undecodable, "\(place): \(error)", wireError: error))
      }
      state = next
    }
    return (records, last, fault)
  }

  private static func otherCount(_ message: Message) -> RemoteError {
    let expected = (try? message.trailer.get())?.callCount ?? 0
    return RemoteError(
      .undecodable,
      "the records are \(message.headers.callCount ?? 0) calls, but the trailer says \(expected)")
  }

  private static func records(
    _ bytes: [UInt8], _ schema: WireSchema
  ) throws(WireError) -> [WireRecord] {
    var records: [WireRecord] = []
    var decoder = WireDecoder(bytes, schema: schema)
    while let record = try decoder.next() { records.append(record) }
    return records
  }
}

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
    if case .success = trailer {
      unsafe message.withUnsafeBytes {
        unsafe bytes.append(contentsOf: $0.dropLast(MessageTrailer.size))
      }
    }
    messages.append(
      Message(position: position, records: start..<bytes.count, trailer: trailer))
    return bytes.count < Self.limit.bytes && messages.count < Self.limit.messages
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
    let isWhole = accepted.count == messages.count
    if isWhole, let records = try? Self.records(bytes, schema) { return (records, next, fault) }
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
      do throws(WireError) {
        records += try Self.records(Array(bytes[message.records]), schema)
      } catch {
        let place = "message \(message.position)"
        return (records, state, RemoteError(.undecodable, "\(place): \(error)", wireError: error))
      }
      state = next
    }
    return (records, last, fault)
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

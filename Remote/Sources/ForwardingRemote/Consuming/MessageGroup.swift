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

  /// The records of all messages, each of which begins at a multiple of 8. One decoder reads
  /// them, which saves the making of a decoder for each message.
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
    // Records have multiples of 8 bytes; damaged ones may have any number.
    while bytes.count % 8 != 0 { bytes.append(0) }
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
    var state = state
    var records: [WireRecord] = []
    var decoder = WireDecoder(bytes, schema: schema)
    for message in messages where message.position > state.end {
      let place = "message \(message.position)"
      var next = state
      let isAccepted: Bool
      do throws(RemoteError) {
        isAccepted = try next.advance(over: message.trailer.get(), at: message.position)
      } catch {
        return (records, next, error.at(place))
      }
      if isAccepted {
        let count = records.count
        decoder.startMessage(message.records)
        do throws(RemoteError) {
          try Self.read(&decoder, message, into: &records)
        } catch {
          records.removeSubrange(count...)
          return (records, state, error.at(place))
        }
      }
      state = next
    }
    return (records, state, nil)
  }

  /// Appends the records of a message, which must be as many calls as its trailer says.
  private static func read(
    _ decoder: inout WireDecoder, _ message: Message, into records: inout [WireRecord]
  ) throws(RemoteError) {
    let expected = try message.trailer.get().callCount
    do throws(WireError) {
      while let record = try decoder.next() { records.append(record) }
    } catch {
      throw RemoteError(.undecodable, "\(error)", wireError: error)
    }
    guard decoder.invocationCount == Int(expected) else {
      throw RemoteError(
        .undecodable,
        "the records are \(decoder.invocationCount) calls, but the trailer says \(expected)")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The last bytes of each message in a log. They stand after the records, whose number
/// is known only when the message is complete.
///
/// | byte | size | contents |
/// |---|---|---|
/// | 0 | 16 | the publisher: random bytes, which no other publisher object has |
/// | 16 | 8 | the number of the message's first call, from 1 |
/// | 24 | 8 | the position of the last message that the publisher knew to be accepted when it sent this one; 0 if none |
/// | 32 | 8 | the number of the last call up to that message |
/// | 40 | 4 | the number of calls; 0 in the message by which a publisher takes the log |
/// | 44 | 4 | the number of bytes before the trailer |
/// | 48 | 8 | "FWDLOG2" and a newline |
///
/// Numbers are little-endian.
internal struct MessageTrailer: Equatable {
  internal static let size = 56
  /// The most messages that a publisher has in flight. So a message names an accepted message at most
  /// this far before it.
  internal static let mostInFlight: UInt64 = 4000

  /// "FWDLOG2" and a newline.
  private static let magicNumber: UInt64 = 0x0A32_474F_4C44_5746

  internal var writer: WriterIdentity
  internal var firstCall: UInt64
  /// The position of the last message that the publisher knew to be accepted, in the sense of
  /// ``AcceptedCalls``, and the number of the last call up to there.
  internal var confirmed: UInt64
  internal var confirmedCalls: UInt64
  internal var callCount: UInt32

  /// Whether a publisher takes the log by this message.
  internal var takesLog: Bool { callCount == 0 }

  /// The number of the message's last call, or of the last call before it.
  internal var lastCall: UInt64 { firstCall &+ UInt64(callCount) &- 1 }

  internal func append(to message: inout [UInt8]) {
    let length = UInt32(truncatingIfNeeded: message.count)
    message.append(little: writer.high)
    message.append(little: writer.low)
    message.append(little: firstCall)
    message.append(little: confirmed)
    message.append(little: confirmedCalls)
    message.append(little: callCount)
    message.append(little: length)
    message.append(little: Self.magicNumber)
  }

  /// Changes what a message with a trailer confirms.
  internal static func setConfirmed(
    _ position: UInt64, calls: UInt64, in message: inout [UInt8]
  ) {
    let start = message.count - size + 24
    for byte in 0..<8 {
      message[start + byte] = UInt8(truncatingIfNeeded: position >> (8 * UInt64(byte)))
      message[start + 8 + byte] = UInt8(truncatingIfNeeded: calls >> (8 * UInt64(byte)))
    }
  }

  /// Reads the trailer of a message. The records are the bytes before it.
  ///
  /// - Throws: `undecodable`.
  internal static func read(_ message: RawSpan) throws(RemoteError) -> MessageTrailer {
    let start = message.byteCount - size
    guard start >= 0, load(message, start + 48, UInt64.self) == magicNumber else {
      throw RemoteError(
        .undecodable,
        "a message of \(message.byteCount) bytes is not one of a publisher: expected "
          + "\"FWDLOG2\\n\" at its end")
    }
    let length = load(message, start + 44, UInt32.self)
    let trailer = MessageTrailer(
      writer: WriterIdentity(
        high: load(message, start, UInt64.self), low: load(message, start + 8, UInt64.self)),
      firstCall: load(message, start + 16, UInt64.self),
      confirmed: load(message, start + 24, UInt64.self),
      confirmedCalls: load(message, start + 32, UInt64.self),
      callCount: load(message, start + 40, UInt32.self))
    guard length == start else {
      throw RemoteError(
        .undecodable, "a message has \(start) bytes of records, but its trailer says \(length)")
    }
    guard trailer.firstCall > 0, trailer.firstCall <= UInt64(Int64.max) else {
      throw RemoteError(
        .undecodable, "a message begins with call \(trailer.firstCall), expected 1 or more")
    }
    guard max(trailer.confirmed, trailer.confirmedCalls) <= UInt64(Int64.max) else {
      throw RemoteError(
        .undecodable,
        "a message confirms message \(trailer.confirmed) and call \(trailer.confirmedCalls), expected numbers up to "
          + "\(Int64.max)")
    }
    return trailer
  }

  /// The number at an offset, which lies in the bytes.
  private static func load<Number: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: RawSpan, _ offset: Int, _: Number.Type
  ) -> Number {
    // SAFETY: the span checks the bounds, and any bytes are a number.
    Number(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}

/// Names one publisher object among all that ever were.
internal struct WriterIdentity: Equatable, Sendable {
  internal var high: UInt64
  internal var low: UInt64

  /// The part that positions have. It fits into an `Int64`, as most databases store numbers.
  internal var number: UInt64 { high & UInt64(Int64.max) }

  internal static func random() -> WriterIdentity {
    WriterIdentity(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max))
  }
}

extension [UInt8] {
  internal mutating func append<Number: FixedWidthInteger>(little number: Number) {
    for byte in 0..<Number.bitWidth / 8 {
      append(UInt8(truncatingIfNeeded: number >> (8 * byte)))
    }
  }
}

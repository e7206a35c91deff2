// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CNATS

/// A message that has arrived.
@safe internal final class NATSMessage: @unchecked Sendable {
  // SAFETY: the message is immutable but for its headers, which are parsed when they are
  // first read. Only one thread at a time has a message.
  private let message: OpaquePointer

  /// Takes ownership of a message.
  @unsafe internal init(owning message: OpaquePointer) { unsafe self.message = message }

  deinit { unsafe natsMsg_Destroy(message) }

  internal var count: Int { Int(unsafe natsMsg_GetDataLength(message)) }

  /// Calls a closure with the bytes, which are valid during the call.
  internal func withBytes<Value>(_ body: (RawSpan) -> Value) -> Value {
    // SAFETY: the data has so many bytes, and lives as long as the message.
    withExtendedLifetime(self) {
      body(unsafe UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: count).bytes)
    }
  }

  /// A copy of the bytes.
  internal var bytes: [UInt8] {
    withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } }
  }

  internal var reply: String? {
    unsafe natsMsg_GetReply(message).map { unsafe String(cString: $0) }
  }

  internal func header(_ name: String) -> String? {
    var value: UnsafePointer<CChar>?
    // SAFETY: the value lives as long as the message.
    guard unsafe natsMsgHeader_Get(message, name, &value) == NATS_OK else { return nil }
    return unsafe value.map { unsafe String(cString: $0) }
  }

  /// The position of a stored message in its stream, and its number among those that the
  /// server's consumer has delivered; nil if the message comes from no stream.
  ///
  /// The reply subject has them: `$JS.ACK.stream.consumer.delivered.position.number.…`,
  /// with a domain and an account after the second token in later servers.
  internal var place: (position: UInt64, delivery: UInt64)? {
    guard let reply = unsafe natsMsg_GetReply(message) else { return nil }
    var numbers: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
    var token = 0
    var number: UInt64 = 0
    var index = 0
    // SAFETY: a NUL ends the subject.
    while true {
      let byte = unsafe UInt8(bitPattern: reply[index])
      if byte == 0x2E || byte == 0 {
        switch token {
        case 5: numbers.0 = number
        case 6: numbers.1 = number
        case 7: numbers.2 = number
        case 8: numbers.3 = number
        default: break
        }
        token += 1
        number = 0
        if byte == 0 { break }
      } else {
        number = number &* 10 &+ UInt64(byte &- 0x30)
      }
      index += 1
    }
    if token == 9 { return (numbers.0, numbers.1) }
    return token >= 11 ? (numbers.2, numbers.3) : nil
  }
}

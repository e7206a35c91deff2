// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingWire

/// Makes schema records.
internal enum SchemaRecord {
  /// The first bytes behind the header of a schema record: "FWDWIRE" and a newline,
  /// which transfers as text change.
  internal static let magic: [UInt8] = Array("FWDWIRE\n".utf8)
  /// The offset of the first method.
  internal static let start = RecordHeader.size + 16

  /// Returns the record of a schema, and its identifier.
  internal static func make(_ methods: [WireMethod]) throws(WireError) -> ([UInt8], UInt32) {
    var bytes = [UInt8](repeating: 0, count: RecordHeader.size)
    bytes += magic
    bytes.append(little: UInt32(methods.count))
    bytes.append(little: 0 as UInt32)
    for method in methods {
      bytes += method.entry
      guard bytes.count <= WireLimits.recordLength else {
        throw WireError(
          .limitExceeded,
          "the schema record is longer than \(WireLimits.recordLength) bytes at method "
            + "\"\(method.name)\"", selector: method.name)
      }
    }
    var identifier: UInt32 = 0
    unsafe bytes.withUnsafeMutableBytes { bytes in
      // SAFETY: the bytes have a header, and something behind it.
      let base = unsafe bytes.baseAddress.unsafelyUnwrapped
      unsafe identifier = Self.identifier(base, length: bytes.count)
      unsafe RecordHeader(
        origin: RecordHeader.Origin(
          kind: RecordHeader.Kind.schema, method: 0, schema: identifier, producer: 0, frameSize: 0),
        sequence: 0, time: 0
      ).write(base, length: bytes.count)
    }
    return (bytes, identifier)
  }

  /// The CRC-32C of a schema record behind its header.
  @unsafe internal static func identifier(_ base: UnsafeRawPointer, length: Int) -> UInt32 {
    unsafe fwd_wire_checksum(0, base + RecordHeader.size, length - RecordHeader.size)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingWire

/// The first 40 bytes of each record. The article *Wire form* describes them.
internal struct RecordHeader {
  internal static let size = 40
  /// The major version. A reader refuses every other one.
  internal static let version: UInt8 = 1

  internal enum Kind {
    static let schema: UInt8 = 1
    static let invocation: UInt8 = 2
    /// A reader skips this kind and all above it if it does not know them.
    static let firstOptional: UInt8 = 128
  }

  /// The fields that are equal in all records of a producer's method, as two words of the
  /// header.
  internal struct Origin {
    /// The words at the offsets 8 and 16.
    fileprivate let wordAt8: UInt64
    fileprivate let wordAt16: UInt64

    internal init(
      kind: UInt8, method: UInt16, schema: UInt32, producer: UInt32, frameSize: UInt32
    ) {
      // The platform is little-endian: `WireSchema` checks it.
      let marks = UInt64(kind) | UInt64(RecordHeader.version) << 8 | UInt64(method) << 16
      wordAt8 = marks | UInt64(schema) << 32
      wordAt16 = UInt64(producer) | UInt64(frameSize) << 32
    }
  }

  internal var origin: Origin
  internal var sequence: UInt64
  internal var time: Int64

  /// Writes the header of a record whose other bytes are complete.
  @inline(__always)
  @unsafe internal func write(_ base: UnsafeMutableRawPointer, length: Int) {
    // SAFETY: a record has a header.
    unsafe writeUnsealed(base, length: length)
    unsafe Self.seal(base, length: length)
  }

  /// Writes the header without the checksum.
  @inline(__always)
  @unsafe internal func writeUnsealed(_ base: UnsafeMutableRawPointer, length: Int) {
    // SAFETY: a record has a header. Whole words, as the checksum reads them: the processor
    // cannot pass on two stores to one load.
    unsafe base.storeBytes(of: UInt32(truncatingIfNeeded: length), as: UInt32.self)
    unsafe base.storeBytes(of: origin.wordAt8, toByteOffset: 8, as: UInt64.self)
    unsafe base.storeBytes(of: origin.wordAt16, toByteOffset: 16, as: UInt64.self)
    unsafe base.storeBytes(of: sequence, toByteOffset: 24, as: UInt64.self)
    unsafe base.storeBytes(of: time, toByteOffset: 32, as: Int64.self)
  }

  /// Writes the checksum of a record whose other bytes are complete.
  @inline(__always)
  @unsafe internal static func seal(_ base: UnsafeMutableRawPointer, length: Int) {
    // SAFETY: a record has a header.
    let checksum = unsafe checksum(base, length: length)
    unsafe base.storeBytes(of: checksum, toByteOffset: 4, as: UInt32.self)
  }

  /// The checksum of a record: the CRC-32C of the bytes behind the checksum, which
  /// begins with the length instead of 0.
  @inline(__always)
  @unsafe internal static func checksum(_ base: UnsafeRawPointer, length: Int) -> UInt32 {
    // SAFETY: a record is longer than 8 bytes.
    unsafe fwd_wire_checksum(UInt32(truncatingIfNeeded: length), base + 8, length - 8)
  }
}

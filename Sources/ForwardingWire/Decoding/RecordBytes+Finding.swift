// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension RecordBytes {
  /// Some of the records that bytes consist of.
  package struct Found {
    /// The bytes of those that are wanted, as far as there are any.
    package var range: Range<Int>
    /// The number of the records up to the last wanted one.
    package var count = 0
    /// Whether each of these has a length that fits.
    package var isWhole = true
  }

  /// Finds records in bytes that may be damaged. Reads nothing but lengths and schemas.
  ///
  /// - Parameters:
  ///   - wanted: the indices of the records.
  ///   - schemas: gets the identifiers of their schemas.
  package static func find(
    _ wanted: ClosedRange<Int>, in bytes: UnsafeRawBufferPointer, _ schemas: inout Set<UInt32>
  ) -> Found {
    let size = bytes.count
    var found = Found(range: size..<size)
    var start = 0
    var last: UInt32?
    while start < size {
      if found.count == wanted.lowerBound { found.range = start..<size }
      if found.count > wanted.upperBound {
        found.range = found.range.lowerBound..<start
        break
      }
      guard let header = unsafe header(bytes, at: start) else {
        found.isWhole = false
        break
      }
      let (length, schema) = header
      // Consecutive records mostly have one schema.
      let isWanted = found.count >= wanted.lowerBound
      if isWanted && schema != last {
        schemas.insert(schema)
        last = schema
      }
      // Most records also have the same length. The next address then depends on no load, so that the processor need
      // not wait for one record's length to read the next one's.
      let end = isWanted ? wanted.upperBound + 1 : wanted.lowerBound
      repeat {
        start += length
        found.count += 1
      } while unsafe found.count < end && isAlike(bytes, at: start, length, schema)
    }
    return found
  }

  /// Reads the length and the schema of a record that may be damaged.
  ///
  /// - Returns: nil if the record does not lie in the bytes.
  @inline(__always)
  private static func header(
    _ bytes: UnsafeRawBufferPointer, at start: Int
  ) -> (length: Int, schema: UInt32)? {
    let left = bytes.count - start
    guard left >= RecordHeader.size else { return nil }
    // SAFETY: there is a header. Damage may have left it unaligned.
    let length = Int(unsafe bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self))
    guard length >= RecordHeader.size, length % 8 == 0, length <= left else { return nil }
    return (length, unsafe bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
  }

  /// Whether a record of some length and schema lies in the bytes.
  @inline(__always)
  private static func isAlike(
    _ bytes: UnsafeRawBufferPointer, at start: Int, _ length: Int, _ schema: UInt32
  ) -> Bool {
    guard length <= bytes.count - start else { return false }
    // SAFETY: there is a header, since another record of this length has one.
    let found = unsafe bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)
    return unsafe Int(found) == length
      && bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self) == schema
  }
}

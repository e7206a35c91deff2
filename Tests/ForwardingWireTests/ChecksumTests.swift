// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwardingWire
import Testing

@Suite struct ChecksumTests {
  /// The vectors of RFC 3720, appendix B.4, whose checksums stand there as bytes on the
  /// wire, and that of the catalogue of CRC algorithms ("check").
  static let vectors: [(bytes: [UInt8], checksum: UInt32)] = [
    ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
    ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
    (Array(0..<32), 0x46DD_794E),
    (Array((0..<32).reversed()), 0x113F_DB5C),
    (
      [
        0x01, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0,
        0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
      ], 0xD996_3A56
    ),
    (Array("123456789".utf8), 0xE306_9283),
    ([], 0),
  ]

  @Test(arguments: vectors.indices)
  func `The published vectors have their checksums`(_ index: Int) {
    let (bytes, checksum) = Self.vectors[index]
    #expect(unsafe fwd_wire_checksum(0, bytes, bytes.count) == checksum)
    #expect(unsafe fwd_wire_checksum_by_tables(0, bytes, bytes.count) == checksum)
  }

  @Test func `The instruction and the tables agree on each length and alignment`() {
    var random = SystemRandomNumberGenerator()
    let bytes = (0..<300).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    unsafe bytes.withUnsafeBytes { bytes in
      for start in 0..<9 {
        for end in start...bytes.count {
          let part = unsafe bytes.baseAddress! + start
          let expected = unsafe fwd_wire_checksum_by_tables(7, part, end - start)
          #expect(unsafe fwd_wire_checksum(7, part, end - start) == expected)
          // In two parts.
          let middle = (end - start) / 3
          let first = unsafe fwd_wire_checksum(7, part, middle)
          #expect(unsafe fwd_wire_checksum(first, part + middle, end - start - middle) == expected)
        }
      }
    }
  }
}

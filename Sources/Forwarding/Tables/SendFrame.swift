// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Where a direct send writes its arguments: one behind the other, aligned as
/// Swift aligns them. Whether a method's argument frame has them there too is
/// checked once, see `DerivedMethod.isDirect(for:)`.
@usableFromInline
internal struct SendPlaces {
  @usableFromInline internal var end = 0
  @usableFromInline internal var alignment = 1

  @inlinable internal init() {}

  /// The offset of the next argument.
  @inlinable
  @inline(__always)
  internal mutating func next<Value>(_: Value.Type) -> Int {
    let mask = MemoryLayout<Value>.alignment &- 1
    let offset = (end &+ mask) & ~mask
    // The padding at the end of a struct belongs to it in C.
    end = offset &+ MemoryLayout<Value>.stride
    alignment = max(alignment, mask &+ 1)
    return offset
  }

  /// Writes the next argument. Objects are not retained.
  @inlinable
  @inline(__always)
  @unsafe internal mutating func write<Value>(
    _ value: Value, to frame: UnsafeMutableRawPointer
  ) {
    let offset = next(Value.self)
    // SAFETY: the caller has room for the argument. Bytes are copied, so that no
    // reference is counted.
    unsafe withUnsafeBytes(of: value) { bytes in
      if let start = bytes.baseAddress {
        unsafe (frame + offset).copyMemory(from: start, byteCount: MemoryLayout<Value>.size)
      }
    }
  }

  /// Whether all arguments have room in a `SendFrame`.
  @inlinable
  @inline(__always) internal var fit: Bool {
    end <= MemoryLayout<SendFrame>.size && alignment <= MemoryLayout<SendFrame>.alignment
  }
}

/// Room for the frames of typed sends: larger ones go another way.
@usableFromInline
internal struct SendFrame {
  @usableFromInline internal var words:
    (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)

  @inlinable internal init() {}
}

/// Room for the result of a direct send.
@usableFromInline
internal struct SendResult {
  @usableFromInline internal var words: (UInt64, UInt64) = (0, 0)

  @inlinable internal init() {}
}

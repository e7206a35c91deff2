// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

// Reads one record. All of its bytes are hostile.
extension RecordStorage {
  // MARK: Headers

  /// Checks the header of the record that begins at an offset in a message.
  ///
  /// - Returns: the length of the record, which lies in the message.
  @inline(__always)
  internal func checkRecord(
    at start: Int, of message: Range<Int>
  ) throws(WireError) -> Int {
    let left = message.upperBound - start
    guard left >= RecordHeader.size else { throw truncated(left, expected: RecordHeader.size) }
    // SAFETY: there is a header. Records begin at multiples of 8, as the lengths say.
    let record = unsafe base + start
    if start == message.lowerBound { try checkBeginning(start, left) }
    let version = unsafe record.load(fromByteOffset: 9, as: UInt8.self)
    guard version == RecordHeader.version else { throw otherVersion(version) }
    let length = Int(unsafe record.load(as: UInt32.self))
    guard length >= RecordHeader.size, length % 8 == 0, length <= WireLimits.recordLength else {
      throw badLength(length)
    }
    guard length <= left else { throw truncated(left, expected: length) }
    let given = unsafe record.load(fromByteOffset: 4, as: UInt32.self)
    let expected = unsafe RecordHeader.checksum(record, length: length)
    guard given == expected else { throw badChecksum(given, expected) }
    return length
  }

  /// Tells bytes of another form from damaged ones.
  private func checkBeginning(_ start: Int, _ left: Int) throws(WireError) {
    let magic = SchemaRecord.magic
    // SAFETY: at most as many bytes are read as there are.
    let found = unsafe UnsafeRawBufferPointer(
      start: base + start + RecordHeader.size, count: min(left - RecordHeader.size, magic.count))
    let kind = unsafe base.load(fromByteOffset: start + 8, as: UInt8.self)
    guard unsafe kind == RecordHeader.Kind.schema && magic.starts(with: found) else {
      throw WireError(
        .notWireForm,
        "the bytes do not begin with a schema record: expected the kind 1 at byte 8, got \(kind), "
          + "and \"FWDWIRE\\n\" at byte 40")
    }
  }

  /// Whether the record whose header has been checked is an invocation.
  @inline(__always)
  internal func isInvocation(_ start: Int) -> Bool {
    // SAFETY: there is a header.
    unsafe base.load(fromByteOffset: start + 8, as: UInt8.self) == RecordHeader.Kind.invocation
  }

  /// Reads a record whose header has been checked.
  ///
  /// - Returns: nil if it is no invocation of a method that the reader knows.
  @inline(__always) @unsafe
  internal func read(
    _ start: Int, _ length: Int, _ last: inout LastSchema
  ) throws(WireError) -> FoundRecord? {
    let kind = unsafe base.load(fromByteOffset: start + 8, as: UInt8.self)
    if kind == RecordHeader.Kind.invocation {
      return unsafe try readInvocation(start, length, &last)
    }
    if kind == RecordHeader.Kind.schema {
      try readSchema(start, length)
      return nil
    }
    if kind >= RecordHeader.Kind.firstOptional { return nil }
    throw WireError(
      .malformed, "the record has the kind \(kind), expected 1, 2, or 128 and above")
  }

  // MARK: Invocations

  @inline(__always) @unsafe
  private func readInvocation(
    _ start: Int, _ length: Int, _ last: inout LastSchema
  ) throws(WireError) -> FoundRecord? {
    // SAFETY: there is a header.
    let record = unsafe base + start
    let index = Int(unsafe record.load(fromByteOffset: 10, as: UInt16.self))
    let schema = unsafe record.load(fromByteOffset: 12, as: UInt32.self)
    guard let found = try unsafe last.method(index, of: schema, in: self) else {
      try checkLeftOut(index, of: schema)
      return nil
    }
    // SAFETY: the storage holds the schema, which holds its methods.
    try unsafe found.use { method throws(WireError) in
      let frameSize = Int(unsafe record.load(fromByteOffset: 20, as: UInt32.self))
      guard frameSize == method.frameSize, length >= method.heapStart else {
        throw badFrame(method, frameSize, length)
      }
      if method.pointerCount == 0 {
        guard length == method.heapStart else { throw badEnd(method, method.heapStart, length) }
      } else {
        try unsafe method.resolvePointers(record, length)
      }
    }
    return unsafe FoundRecord(base: record, method: found)
  }

  // MARK: Errors

  @inline(never)
  private func truncated(_ left: Int, expected: Int) -> WireError {
    WireError(.truncated, "the bytes end: \(left) are left, expected \(expected)")
  }

  @inline(never)
  private func otherVersion(_ version: UInt8) -> WireError {
    WireError(
      .unsupportedVersion,
      "the record has version \(version) of the wire form, but this library reads version "
        + "\(RecordHeader.version)")
  }

  @inline(never)
  private func badLength(_ length: Int) -> WireError {
    WireError(
      .malformed,
      "the length is \(length), expected a multiple of 8 from \(RecordHeader.size) to "
        + "\(WireLimits.recordLength)")
  }

  @inline(never)
  private func badChecksum(_ given: UInt32, _ expected: UInt32) -> WireError {
    WireError(
      .checksumMismatch,
      "the checksum is \(hexadecimal(given)), expected \(hexadecimal(expected))")
  }

  @inline(never)
  private func badFrame(_ method: WireMethod, _ frameSize: Int, _ length: Int) -> WireError {
    WireError(
      .malformed,
      "the frame of \"\(method.name)\" has \(frameSize) bytes in a record of \(length), expected "
        + "\(method.signature.frameSize) in a record of at least \(method.heapStart)",
      selector: method.name)
  }

  @inline(never)
  private func badEnd(_ method: WireMethod, _ end: Int, _ length: Int) -> WireError {
    WireError(
      .malformed,
      "the arguments of \"\(method.name)\" end at byte \(end) of the record, expected its length, "
        + "\(length)", selector: method.name)
  }
}

extension UnsafeRawPointer {
  /// Whether the first NUL of some bytes is the last of them. They begin at a multiple of 8, and
  /// the rest of their last word can be read.
  @inline(__always)
  @unsafe fileprivate func isCString(_ count: Int) -> Bool {
    // A call of `memchr` takes longer for a few bytes.
    if count > 32 {
      return unsafe memchr(self, 0, count) == UnsafeMutableRawPointer(mutating: self + (count - 1))
    }
    var offset = 0
    while true {
      let word = unsafe load(fromByteOffset: offset, as: UInt64.self)
      // The highest bit of each byte that is 0, and perhaps of bytes behind the first of these. The
      // platform is little-endian, so the first byte is the lowest.
      let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
      if zeros != 0 { return offset &+ zeros.trailingZeroBitCount / 8 == count &- 1 }
      offset &+= 8
      if offset >= count { return false }
    }
  }
}

// MARK: - Pointers

extension WireMethod {
  /// Checks what each pointer of a record points to, then stores the pointers into the
  /// frame. Swift values keep their offsets, since they are made for each call.
  ///
  /// The record is unchanged if an error is thrown.
  @inline(__always)
  @unsafe internal func resolvePointers(
    _ record: UnsafeMutableRawPointer, _ length: Int
  ) throws(WireError) {
    var end = heapStart
    guard length &- end <= WireLimits.heapSize else { throw badHeap(length - end) }
    for index in 0..<pointerCount {
      // SAFETY: the places lie in the frame, which lies in the record. The address of the
      // element is used, since a copy of it takes as long as the rest.
      let pointer = unsafe pointers + index
      let slot = unsafe record.loadUnaligned(
        fromByteOffset: pointer.pointee.place, as: UInt64.self)
      if slot == 0 { continue }
      let (offset, size) = (Int(slot & 0xFFFF_FFFF), Int(slot >> 32))
      // Copies follow one another, so there is one right offset. Both are below 2^32,
      // so that the sum does not overflow.
      guard offset == end, end + size <= length else {
        throw badPlace(index, offset, size, expected: end, length)
      }
      try unsafe check(record, index, UnsafeRawPointer(record + offset), size)
      end += (size + 7) & ~7
    }
    guard end == length else {
      throw WireError(
        .malformed,
        "the heap of \"\(name)\" ends at byte \(end) of the record, expected its length, \(length)",
        selector: name)
    }
    for index in 0..<pointerCount {
      let pointer = unsafe pointers + index
      if unsafe pointer.pointee.rule == .codable { continue }
      let place = unsafe pointer.pointee.place
      let slot = unsafe record.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      if slot == 0 { continue }
      // SAFETY: the loop above has checked the offset.
      unsafe record.storeBytes(
        of: record + Int(slot & 0xFFFF_FFFF), toByteOffset: place,
        as: UnsafeMutableRawPointer.self)
    }
  }

  /// Checks that the copy of a pointer fits its rule. It lies in the record.
  @inline(__always)
  @unsafe private func check(
    _ record: UnsafeMutableRawPointer, _ index: Int, _ target: UnsafeRawPointer, _ size: Int
  ) throws(WireError) {
    // SAFETY: the index is below the count.
    let pointer = unsafe pointers + index
    switch unsafe pointer.pointee.rule {
    case .cString:
      // SAFETY: the copy has `size` bytes.
      guard size > 0, size <= WireLimits.stringLength, unsafe target.isCString(size) else {
        throw badString(index, size)
      }
    case .counted:
      let count = unsafe pointer.pointee.countType.load(record + pointer.pointee.countPlace)
      guard let count, unsafe size == count * pointer.pointee.size else {
        throw badSize(index, size, count)
      }
    case .fixed:
      guard unsafe size == pointer.pointee.size else { throw badSize(index, size, 1) }
    case .codable:
      guard size > 0 else { throw badSize(index, size, 1) }
    }
  }

  @inline(never)
  private func badHeap(_ size: Int) -> WireError {
    WireError(
      .malformed,
      "the heap of \"\(name)\" has \(size) bytes, expected at most \(WireLimits.heapSize)",
      selector: name)
  }

  @inline(never)
  private func badPlace(
    _ index: Int, _ offset: Int, _ size: Int, expected: Int, _ length: Int
  ) -> WireError {
    WireError(
      .malformed,
      "\(place(ofPointer: index)) has \(size) bytes at byte \(offset) of the record, expected byte "
        + "\(expected) and at most \(length - expected) bytes", selector: name)
  }

  @inline(never)
  private func badString(_ index: Int, _ size: Int) -> WireError {
    WireError(
      .malformed,
      "\(place(ofPointer: index)) has \(size) bytes, expected 1 to \(WireLimits.stringLength) with a "
        + "NUL at the end and nowhere else", selector: name)
  }

  @inline(never)
  private func badSize(_ index: Int, _ size: Int, _ count: Int?) -> WireError {
    // SAFETY: the index is below the count.
    let elementSize = unsafe pointers[index].size
    let expected =
      count.map { "\($0) times \(elementSize)" } ?? "a count from 0 to \(WireLimits.heapSize)"
    return WireError(
      .malformed, "\(place(ofPointer: index)) has \(size) bytes, expected \(expected)",
      selector: name)
  }
}

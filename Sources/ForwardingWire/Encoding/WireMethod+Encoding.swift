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

/// Pointers to all arguments of a call, the receiver and the selector included.
internal typealias ArgumentPointers = UnsafePointer<UnsafeMutableRawPointer>

/// What has been found out about the pointers of one call: the size of each copy in
/// the heap, or -1 for NULL.
@unsafe internal struct MeasuredCall {
  var sizes: UnsafeMutablePointer<Int>
  /// The JSON of Swift values, in order; nil if there is none, which saves counting
  /// references to an empty array.
  var coded: [[UInt8]]?
  /// The length of the record.
  var length: Int
}

extension WireMethod {
  /// Measures the record of a call.
  ///
  /// - Throws: `WireError` with the codes `notEncodable`, `limitExceeded`.
  @inline(__always)
  @unsafe internal func measure(
    _ arguments: ArgumentPointers, _ sizes: UnsafeMutablePointer<Int>
  ) throws(WireError) -> MeasuredCall {
    var call = unsafe MeasuredCall(sizes: sizes, coded: nil, length: heapStart)
    for index in 0..<pointerCount {
      // SAFETY: the index is below the count, and the slot holds a pointer.
      let pointer = unsafe pointers[index]
      let slot = unsafe arguments[pointer.argument]
      guard let target = unsafe slot.load(as: UnsafeRawPointer?.self) else {
        unsafe sizes[index] = -1
        continue
      }
      let size: Int
      switch pointer.rule {
      case .cString:
        // SAFETY: the rule says that a NUL ends it.
        unsafe size = strlen(target.assumingMemoryBound(to: CChar.self)) + 1
        if size > WireLimits.stringLength { throw tooLong(pointer, size) }
      case .counted:
        let counter = unsafe arguments[pointer.countArgument]
        guard let count = unsafe pointer.countType.load(counter) else { throw badCount(pointer) }
        size = count * pointer.size
      case .fixed: size = pointer.size
      case .codable:
        let bytes = try unsafe encode(target, index, pointer)
        size = bytes.count
        unsafe call.coded = (call.coded ?? []) + [bytes]
      }
      unsafe sizes[index] = size
      unsafe call.length += (size + 7) & ~7
      if unsafe size > WireLimits.heapSize || call.length - heapStart > WireLimits.heapSize {
        throw heapTooLarge(pointer)
      }
    }
    return unsafe call
  }

  /// Writes the frame and the heap of a measured call.
  @inline(__always)
  @unsafe internal func write(
    _ arguments: ArgumentPointers, _ call: MeasuredCall, to base: UnsafeMutableRawPointer
  ) {
    // SAFETY: there is room for as many bytes as were measured. The places lie in the
    // frame, and each argument has its size.
    if hasPadding {
      unsafe memset(base + RecordHeader.size, 0, heapStart - RecordHeader.size)
    }
    for index in 0..<pieceCount {
      let piece = unsafe pieces[index]
      let from = unsafe arguments[piece.argument] + piece.source
      if piece.size == 8 {
        unsafe base.storeBytes(
          of: from.loadUnaligned(as: UInt64.self), toByteOffset: piece.place, as: UInt64.self)
      } else if piece.size == 4 {
        unsafe base.storeBytes(
          of: from.loadUnaligned(as: UInt32.self), toByteOffset: piece.place, as: UInt32.self)
      } else {
        unsafe memcpy(base + piece.place, from, piece.size)
      }
    }
    if pointerCount > 0 { unsafe writeHeap(arguments, call, to: base) }
  }

  @inline(__always)
  @unsafe private func writeHeap(
    _ arguments: ArgumentPointers, _ call: MeasuredCall, to base: UnsafeMutableRawPointer
  ) {
    var end = heapStart
    var nextCoded = 0
    for index in 0..<pointerCount {
      let pointer = unsafe pointers[index]
      let size = unsafe call.sizes[index]
      if size < 0 {
        unsafe base.storeBytes(of: 0, toByteOffset: pointer.place, as: UInt64.self)
        continue
      }
      let slot = UInt64(UInt32(truncatingIfNeeded: end)) | UInt64(size) << 32
      unsafe base.storeBytes(of: slot, toByteOffset: pointer.place, as: UInt64.self)
      let next = end + (size + 7) & ~7
      // The padding in the end of the copy and behind it: less than 8 bytes each, and
      // in the last word. The copy may overwrite a part.
      if next > end { unsafe base.storeBytes(of: 0, toByteOffset: next - 8, as: UInt64.self) }
      if pointer.rule == .codable {
        unsafe call.coded?[nextCoded].withUnsafeBytes { bytes in
          // SAFETY: JSON is not empty.
          _ = unsafe memcpy(base + end, bytes.baseAddress.unsafelyUnwrapped, size)
        }
        nextCoded += 1
      } else if size > 0 {
        let slot = unsafe arguments[pointer.argument]
        let target = unsafe slot.load(as: UnsafeRawPointer?.self).unsafelyUnwrapped
        unsafe memcpy(base + end, target, size - pointer.tail)
      }
      end = next
    }
  }

  // MARK: Swift values and errors

  @inline(never)
  @unsafe private func encode(
    _ target: UnsafeRawPointer, _ index: Int, _ pointer: Pointer
  ) throws(WireError) -> [UInt8] {
    do {
      return try unsafe codedTypes[index]?.encode(target) ?? []
    } catch {
      throw WireError(
        .notEncodable, "\(place(pointer.argument)) cannot be encoded: \(error)", selector: name)
    }
  }

  @inline(never)
  private func tooLong(_ pointer: Pointer, _ size: Int) -> WireError {
    WireError(
      .limitExceeded,
      "\(place(pointer.argument)) is a string of \(size) bytes, expected at most "
        + "\(WireLimits.stringLength)", selector: name)
  }

  @inline(never)
  private func badCount(_ pointer: Pointer) -> WireError {
    WireError(
      .notEncodable,
      "\(place(pointer.argument)) is counted by \(place(pointer.countArgument)), which is negative "
        + "or above \(WireLimits.heapSize)", selector: name)
  }

  @inline(never)
  private func heapTooLarge(_ pointer: Pointer) -> WireError {
    WireError(
      .limitExceeded,
      "the heap of \"\(name)\" is larger than \(WireLimits.heapSize) bytes at "
        + place(pointer.argument), selector: name)
  }
}

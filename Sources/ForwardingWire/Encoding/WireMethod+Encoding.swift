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

/// Pointers to the arguments of a call behind the receiver and the selector.
internal typealias ArgumentPointers = UnsafePointer<UnsafeMutableRawPointer>

/// The sizes of the data behind the pointers of one call, and the JSON of its Swift values.
@unsafe internal struct MeasuredCall {
  /// The size of each copy in the heap, or -1 for NULL.
  let sizes: UnsafeMutablePointer<Int>
  /// The JSON of Swift values, or nil if the call has none. `end` releases it. Swift would
  /// count references to an optional array in every call.
  var coded: Unmanaged<CodedBytes>?
  /// The length of the record.
  var length = 0

  init(sizes: UnsafeMutablePointer<Int>) { unsafe self.sizes = sizes }

  /// Must be called once.
  @inline(__always)
  func end() { unsafe coded?.release() }
}

/// The JSON of the Swift values of one call, in order.
internal final class CodedBytes {
  fileprivate var values: [[UInt8]] = []
}

extension WireMethod {
  /// The error that is reported for a call of which no record has been made.
  internal func notRecorded(_ reason: String) -> ForwardingError {
    ForwardingError(.deliveryFailed, selector: name, "a call was not recorded: \(reason)")
  }

  /// Writes the frame and the heap of a call if they fit into some room. Most calls do, and
  /// need not be measured first.
  ///
  /// - Parameter capacity: the size of the room, at least `heapStart`.
  /// - Returns: the length of the record; 0 if it does not fit, if the method has Swift values,
  ///   or if the call cannot be recorded.
  @inline(__always)
  @unsafe internal func write(
    _ arguments: ArgumentPointers, to base: UnsafeMutableRawPointer, capacity: Int
  ) -> Int {
    // SAFETY: there is room for the frame.
    unsafe writeFrame(arguments, to: base)
    var end = heapStart
    // SAFETY: the address of an element is used, since a copy of it takes as long as the rest.
    var pointer = unsafe pointers
    let last = unsafe pointers + pointerCount
    while unsafe pointer < last {
      defer { unsafe pointer += 1 }
      // SAFETY: the slot holds a pointer.
      let slot = unsafe arguments[pointer.pointee.argument]
      let place = unsafe base + pointer.pointee.place
      guard let target = unsafe slot.load(as: UnsafeRawPointer?.self) else {
        unsafe place.storeBytes(of: 0, as: UInt64.self)
        continue
      }
      let rule = unsafe pointer.pointee.rule
      let size: Int
      if rule == .cString {
        // SAFETY: the rule says that a NUL ends it.
        // Not further than the room goes, since a destination may be locked meanwhile.
        let most = capacity &- end
        size = unsafe strnlen(target.assumingMemoryBound(to: CChar.self), most) &+ 1
        if size > most || size > WireLimits.stringLength { return 0 }
      } else if rule == .fixed {
        size = unsafe pointer.pointee.size
      } else {
        size = unsafe counted(pointer, arguments)
        if size < 0 { return 0 }
      }
      // No sum overflows: a size is less than 2^58, and the capacity is that of memory.
      let next = end &+ (size &+ 7) & ~7
      if next > capacity || next &- heapStart > WireLimits.heapSize { return 0 }
      let words = UInt64(UInt32(truncatingIfNeeded: end)) | UInt64(truncatingIfNeeded: size) &<< 32
      unsafe place.storeBytes(of: words, as: UInt64.self)
      // The padding that is left out lies in the last word.
      if size > 0 { unsafe (base + end).copyPadded(target, size &- pointer.pointee.tail) }
      end = next
    }
    return end
  }

  /// The size of what another argument counts; -1 if the count is wrong, or if it is a Swift
  /// value.
  @inline(never)
  @unsafe private func counted(
    _ pointer: UnsafePointer<Pointer>, _ arguments: ArgumentPointers
  ) -> Int {
    guard unsafe pointer.pointee.rule == .counted else { return -1 }
    let counter = unsafe arguments[pointer.pointee.countArgument]
    guard let count = unsafe pointer.pointee.countType.load(counter) else { return -1 }
    return unsafe count &* pointer.pointee.size
  }

  /// Measures the record of a call. The measured call must be new.
  ///
  /// - Throws: `WireError` with the codes `notEncodable`, `limitExceeded`.
  @inline(__always)
  @unsafe internal func measure(
    _ arguments: ArgumentPointers, _ call: inout MeasuredCall
  ) throws(WireError) {
    unsafe call.length = heapStart
    for index in 0..<pointerCount {
      // SAFETY: the index is below the count, and the slot holds a pointer. The address
      // of the element is used, since a copy of it takes as long as the rest.
      let pointer = unsafe pointers + index
      let slot = unsafe arguments[pointer.pointee.argument]
      guard let target = unsafe slot.load(as: UnsafeRawPointer?.self) else {
        unsafe call.sizes[index] = -1
        continue
      }
      let size: Int
      switch unsafe pointer.pointee.rule {
      case .cString:
        // SAFETY: the rule says that a NUL ends it.
        unsafe size = strlen(target.assumingMemoryBound(to: CChar.self)) + 1
        if size > WireLimits.stringLength { throw tooLong(index, size) }
      case .counted:
        let counter = unsafe arguments[pointer.pointee.countArgument]
        guard let count = unsafe pointer.pointee.countType.load(counter) else {
          throw badCount(index)
        }
        unsafe size = count * pointer.pointee.size
      case .fixed: unsafe size = pointer.pointee.size
      case .codable:
        let bytes = try unsafe encode(target, index)
        size = bytes.count
        let coded = unsafe call.coded ?? Unmanaged.passRetained(CodedBytes())
        unsafe call.coded = coded
        unsafe coded._withUnsafeGuaranteedRef { $0.values.append(bytes) }
      }
      unsafe call.sizes[index] = size
      unsafe call.length += (size + 7) & ~7
      if unsafe size > WireLimits.heapSize || call.length - heapStart > WireLimits.heapSize {
        throw heapTooLarge(index)
      }
    }
  }

  /// Writes the frame and the heap of a measured call.
  @unsafe internal func write(
    _ arguments: ArgumentPointers, _ call: MeasuredCall, to base: UnsafeMutableRawPointer
  ) {
    // SAFETY: there is room for as many bytes as were measured.
    unsafe writeFrame(arguments, to: base)
    if pointerCount > 0 { unsafe writeHeap(arguments, call, to: base) }
  }

  /// Writes all of the frame but the slots of pointers.
  @inline(__always)
  @unsafe internal func writeFrame(
    _ arguments: ArgumentPointers, to base: UnsafeMutableRawPointer
  ) {
    if hasPlainFrame {
      unsafe writePlainFrame(arguments, to: base)
    } else {
      unsafe writeAnyFrame(arguments, to: base)
    }
  }

  /// Writes a plain frame but for the slots of pointers.
  @inline(__always)
  @unsafe internal func writePlainFrame(
    _ arguments: ArgumentPointers, to base: UnsafeMutableRawPointer
  ) {
    // SAFETY: as for `writePieces`.
    unsafe writePieces(arguments, to: base, isPlain: true)
  }

  /// Writes a frame that is not plain, but for the slots of pointers. Not inlined, since its
  /// calls would take registers from plain frames.
  @inline(never)
  @unsafe private func writeAnyFrame(
    _ arguments: ArgumentPointers, to base: UnsafeMutableRawPointer
  ) {
    // SAFETY: as for `writePieces`.
    if hasPadding {
      unsafe memset(base + RecordHeader.size, 0, heapStart - RecordHeader.size)
    }
    unsafe writePieces(arguments, to: base, isPlain: false)
  }

  /// Copies the arguments, but for the slots of pointers. `isPlain` is a constant: all pieces
  /// have 4 or 8 bytes.
  @inline(__always)
  @unsafe private func writePieces(
    _ arguments: ArgumentPointers, to base: UnsafeMutableRawPointer, isPlain: Bool
  ) {
    // SAFETY: there is room up to the heap. The places lie in the frame, and each
    // argument has its size. The address of an element is used, since a copy of it takes
    // as long as the rest.
    var piece = unsafe pieces
    let last = unsafe pieces + pieceCount
    while unsafe piece < last {
      let from = unsafe arguments[piece.pointee.argument] + piece.pointee.source
      let place = unsafe base + piece.pointee.place
      let size = unsafe piece.pointee.size
      if size == 8 {
        unsafe place.storeBytes(of: from.loadUnaligned(as: UInt64.self), as: UInt64.self)
      } else if isPlain || size == 4 {
        unsafe place.storeBytes(of: from.loadUnaligned(as: UInt32.self), as: UInt32.self)
      } else {
        unsafe memcpy(place, from, size)
      }
      unsafe piece += 1
    }
  }

  @inline(__always)
  @unsafe private func writeHeap(
    _ arguments: ArgumentPointers, _ call: MeasuredCall, to base: UnsafeMutableRawPointer
  ) {
    var end = heapStart
    var nextCoded = 0
    for index in 0..<pointerCount {
      let pointer = unsafe pointers + index
      let place = unsafe pointer.pointee.place
      let size = unsafe call.sizes[index]
      if size < 0 {
        unsafe base.storeBytes(of: 0, toByteOffset: place, as: UInt64.self)
        continue
      }
      let slot = UInt64(UInt32(truncatingIfNeeded: end)) | UInt64(size) << 32
      unsafe base.storeBytes(of: slot, toByteOffset: place, as: UInt64.self)
      let next = end + (size + 7) & ~7
      if unsafe pointer.pointee.rule == .codable {
        unsafe call.coded?._withUnsafeGuaranteedRef { coded in
          unsafe coded.values[nextCoded].withUnsafeBytes { bytes in
            // SAFETY: JSON is not empty.
            unsafe (base + end).copyPadded(bytes.baseAddress.unsafelyUnwrapped, size)
          }
        }
        nextCoded += 1
      } else if size > 0 {
        let slot = unsafe arguments[pointer.pointee.argument]
        let target = unsafe slot.load(as: UnsafeRawPointer?.self).unsafelyUnwrapped
        // The padding that is left out lies in the last word.
        unsafe (base + end).copyPadded(target, size - pointer.pointee.tail)
      }
      end = next
    }
  }

  // MARK: Swift values and errors

  @inline(never)
  @unsafe private func encode(
    _ target: UnsafeRawPointer, _ index: Int
  ) throws(WireError) -> [UInt8] {
    do {
      return try unsafe codedTypes[index]?.encode(target) ?? []
    } catch {
      throw WireError(
        .notEncodable, "\(place(ofPointer: index)) cannot be encoded: \(error)", selector: name)
    }
  }

  @inline(never)
  private func tooLong(_ index: Int, _ size: Int) -> WireError {
    WireError(
      .limitExceeded,
      "\(place(ofPointer: index)) is a string of \(size) bytes, expected at most "
        + "\(WireLimits.stringLength)", selector: name)
  }

  @inline(never)
  private func badCount(_ index: Int) -> WireError {
    WireError(
      .notEncodable,
      "\(place(ofPointer: index)) is counted by \(place(unsafe pointers[index].countArgument)), which is negative "
        + "or above \(WireLimits.heapSize)", selector: name)
  }

  @inline(never)
  private func heapTooLarge(_ index: Int) -> WireError {
    WireError(
      .limitExceeded,
      "the heap of \"\(name)\" is larger than \(WireLimits.heapSize) bytes at "
        + place(ofPointer: index), selector: name)
  }
}

extension RecordHeader.Origin {
  /// The origin of a method's invocations.
  internal init(_ method: WireMethod, index: Int, schema: UInt32, producer: UInt32) {
    self.init(
      kind: RecordHeader.Kind.invocation, method: UInt16(truncatingIfNeeded: index),
      schema: schema, producer: producer, frameSize: UInt32(truncatingIfNeeded: method.frameSize))
  }
}

extension UnsafeMutableRawPointer {
  /// Copies some bytes, at least one, and fills the rest of the last word with zeros.
  ///
  /// A few bytes are written as whole words, since the processor cannot pass on several
  /// stores to the one load of a checksum.
  @inline(__always)
  @unsafe fileprivate func copyPadded(_ source: UnsafeRawPointer, _ count: Int) {
    let rest = count & 7
    let whole = count &- rest
    if whole > 64 {
      unsafe memcpy(self, source, whole)
    } else {
      var offset = 0
      while offset < whole {
        unsafe storeBytes(
          of: source.loadUnaligned(fromByteOffset: offset, as: UInt64.self), toByteOffset: offset,
          as: UInt64.self)
        offset &+= 8
      }
    }
    if rest > 0 {
      let last = unsafe whole > 0 ? source.lastWord(count) : source.onlyWord(rest)
      unsafe storeBytes(of: last, toByteOffset: whole, as: UInt64.self)
    }
  }
}

// The loads overlap, and read nothing behind the bytes. The platform is little-endian.
extension UnsafeRawPointer {
  /// The last bytes of more than 8, as many as are behind the last whole word.
  @inline(__always)
  @unsafe fileprivate func lastWord(_ count: Int) -> UInt64 {
    let end = unsafe loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    return end &>> UInt64(truncatingIfNeeded: 64 &- 8 &* (count & 7))
  }

  /// All bytes of 1 to 7.
  @inline(__always)
  @unsafe fileprivate func onlyWord(_ count: Int) -> UInt64 {
    if count >= 4 {
      let low = unsafe UInt64(loadUnaligned(as: UInt32.self))
      let high = unsafe UInt64(loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
      return low | high &<< UInt64(truncatingIfNeeded: 8 &* (count &- 4))
    }
    let low = unsafe UInt64(load(as: UInt8.self))
    let middle = unsafe UInt64(load(fromByteOffset: count / 2, as: UInt8.self))
    let high = unsafe UInt64(load(fromByteOffset: count - 1, as: UInt8.self))
    return low | middle &<< UInt64(truncatingIfNeeded: 8 &* (count / 2))
      | high &<< UInt64(truncatingIfNeeded: 8 &* (count &- 1))
  }
}

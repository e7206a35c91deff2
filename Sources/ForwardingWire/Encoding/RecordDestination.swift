// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

package import CForwardingInternal
internal import CForwardingWire
package import Forwarding

/// Stores the records of an area.
package protocol RecordDestination: AnyObject, Sendable {
  /// Where records are made. Valid as long as the destination.
  @unsafe var area: UnsafeMutablePointer<RecordArea> { get }

  /// The lock that protects the area. Valid as long as the destination.
  @unsafe var areaLock: UnsafeMutablePointer<fwd_quick_lock> { get }

  /// Makes room for a record in the area, whose lock the caller holds. May unlock it meanwhile.
  ///
  /// - Parameter length: the least size of the room.
  /// - Returns: false if the destination takes no records.
  func makeRoom(_ length: Int) -> Bool

  /// Is told, under the lock, of a record beyond the area's `quietEnd`. May unlock it meanwhile.
  ///
  /// - Returns: false if the record has been lost.
  func recordAdded() -> Bool

  /// Why `makeRoom` or `recordAdded` has returned false.
  var refusal: String { get }
}

extension DynamicProxy {
  /// Makes records as `record(with:_:)` does, in place.
  ///
  /// The destination writes the records' checksums later, with `RecordBytes.seal`.
  package func record(
    _ schema: WireSchema, producer: UInt32, into destination: any RecordDestination
  ) throws(WireError) -> Token {
    var tokens: [Token] = []
    for (index, method) in schema.methods.enumerated() {
      try declare(method)
      let origin = RecordHeader.Origin(
        method, index: index, schema: schema.identifier, producer: producer)
      let writer = unsafe RecordWriter(
        method: method, origin: origin, area: destination.area, lock: destination.areaLock,
        destination: destination, report: configuration.onError)
      do throws(ForwardingError) {
        // SAFETY: the proxy's method has the arguments of the schema's. The closure only
        // reads them.
        let token = try unsafe unsafeObserve(method.selector) { arguments in
          unsafe writer.write(arguments)
        }
        tokens.append(token)
      } catch {
        throw WireError(error, selector: method.name)
      }
    }
    return Token(tokens)
  }
}

/// Makes the records of one method of a proxy.
@safe private struct RecordWriter: @unchecked Sendable {
  // Sendable: the area is used under its lock, and all else is immutable.
  // SAFETY: of each `unsafe` without another reason below, this.
  let method: WireMethod
  let origin: RecordHeader.Origin
  let area: UnsafeMutablePointer<RecordArea>
  let lock: UnsafeMutablePointer<fwd_quick_lock>
  let destination: any RecordDestination
  let report: @Sendable (ForwardingError) -> Void

  @inline(__always)
  @unsafe func write(_ arguments: ArgumentPointers) {
    guard lockRoom(method.heapStart) else { return refused() }
    let base = unsafe area.pointee.nextRecord()
    let length = unsafe method.write(arguments, to: base, capacity: area.pointee.room)
    if length == 0 {
      unlock()
      return unsafe writeMeasured(arguments)
    }
    unsafe finish(base, length)
  }

  @inline(never)
  @unsafe private func writeMeasured(_ arguments: ArgumentPointers) {
    // SAFETY: room for the size of each pointer's copy.
    unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: WireLimits.pointerCount) { sizes in
      do throws(WireError) {
        var call = unsafe MeasuredCall(sizes: sizes.baseAddress.unsafelyUnwrapped)
        defer { unsafe call.end() }
        try unsafe method.measure(arguments, &call)
        guard unsafe lockRoom(call.length) else { return refused() }
        let base = unsafe area.pointee.nextRecord()
        unsafe method.write(arguments, call, to: base)
        unsafe finish(base, call.length)
      } catch {
        failed(error.description)
      }
    }
  }

  /// Locks the area if it has room for a record.
  @inline(__always)
  private func lockRoom(_ length: Int) -> Bool {
    unsafe fwd_quick_lock_lock(lock)
    if unsafe area.pointee.room >= length || destination.makeRoom(length) { return true }
    unlock()
    return false
  }

  @inline(__always)
  private func unlock() { unsafe fwd_quick_lock_unlock(lock) }

  /// Completes the record at the end of the area, and unlocks it.
  @inline(__always)
  @unsafe private func finish(_ base: UnsafeMutableRawPointer, _ length: Int) {
    let header = unsafe RecordHeader(
      origin: origin, sequence: UInt64(truncatingIfNeeded: area.pointee.next),
      time: fwd_wire_time())
    unsafe header.writeUnsealed(base, length: length)
    let isStored = unsafe !area.pointee.add(length) || destination.recordAdded()
    unlock()
    if !isStored { refused() }
  }

  @inline(never)
  private func refused() { failed(destination.refusal) }

  @inline(never)
  private func failed(_ reason: String) { report(method.notRecorded(reason)) }
}

/// The records of a buffer, for those that store records and do not read them.
@unsafe package struct RecordBytes {
  private let base: UnsafeMutableRawPointer

  /// - Parameter base: a record whose length is right.
  @unsafe package init(_ base: UnsafeMutableRawPointer) { unsafe self.base = base }

  /// The length in bytes.
  package var length: Int { unsafe Int(base.load(as: UInt32.self)) }

  package var isInvocation: Bool {
    unsafe base.load(fromByteOffset: 8, as: UInt8.self) == RecordHeader.Kind.invocation
  }

  /// The index of the method in the schema.
  package var method: UInt16 { unsafe base.load(fromByteOffset: 10, as: UInt16.self) }

  /// The identifier of the schema.
  package var schema: UInt32 { unsafe base.load(fromByteOffset: 12, as: UInt32.self) }

  package var producer: UInt32 { unsafe base.load(fromByteOffset: 16, as: UInt32.self) }

  /// The time of the call in nanoseconds since 1970 in UTC.
  package var time: Int64 { unsafe base.load(fromByteOffset: 32, as: Int64.self) }

  /// Writes the checksum.
  package func seal() { unsafe RecordHeader.seal(base, length: length) }
}

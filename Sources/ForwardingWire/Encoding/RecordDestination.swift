// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingWire
package import Forwarding

/// Memory in which records are made where they stay, instead of being copied there.
package protocol RecordDestination: AnyObject, Sendable {
  /// Returns room for a record, aligned to 8 bytes, and the record's sequence number.
  /// `finish` follows on the same thread. Nil if the destination takes no records.
  ///
  /// - Parameter length: the least size of the room.
  @unsafe func begin(_ length: Int) -> RecordRoom?

  /// Ends what `begin` began: adds a record of `length` bytes, without a checksum yet. If `length`
  /// is 0, adds none.
  ///
  /// - Returns: false if the record has been lost.
  func finish(_ length: Int) -> Bool

  /// Why `begin` has returned nil, or `finish` false.
  var refusal: String { get }
}

/// Where a record is made, how much room is there, and the record's sequence number.
package typealias RecordRoom = (base: UnsafeMutableRawPointer, capacity: Int, number: UInt64)

extension DynamicProxy {
  /// Makes records as `record(with:_:)` does, in place.
  ///
  /// The destination numbers the records and writes their checksums later, with
  /// `RecordBytes.seal`.
  package func record(
    _ schema: WireSchema, producer: UInt32, into destination: any RecordDestination
  ) throws(WireError) -> Token {
    var tokens: [Token] = []
    for (index, method) in schema.methods.enumerated() {
      try declare(method)
      let origin = RecordHeader.Origin(
        method, index: index, schema: schema.identifier, producer: producer)
      let writer = RecordWriter(
        method: method, origin: origin, destination: destination, report: configuration.onError)
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
    return Token(owning: tokens)
  }
}

/// Makes the records of one method of a proxy.
private struct RecordWriter: Sendable {
  let method: WireMethod
  let origin: RecordHeader.Origin
  let destination: any RecordDestination
  let report: @Sendable (ForwardingError) -> Void

  @inline(__always)
  @unsafe func write(_ arguments: ArgumentPointers) {
    guard let room = unsafe destination.begin(method.heapStart) else { return refused() }
    let length = unsafe method.write(arguments, to: room.base, capacity: room.capacity)
    if length == 0 {
      _ = destination.finish(0)
      return unsafe writeMeasured(arguments)
    }
    unsafe finish(room, length)
  }

  @inline(never)
  @unsafe private func writeMeasured(_ arguments: ArgumentPointers) {
    // SAFETY: room for the size of each pointer's copy.
    unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: WireLimits.pointerCount) { sizes in
      do throws(WireError) {
        var call = unsafe MeasuredCall(sizes: sizes.baseAddress.unsafelyUnwrapped)
        defer { unsafe call.end() }
        try unsafe method.measure(arguments, &call)
        guard let room = unsafe destination.begin(call.length) else { return refused() }
        unsafe method.write(arguments, call, to: room.base)
        unsafe finish(room, call.length)
      } catch {
        failed(error.description)
      }
    }
  }

  @inline(__always)
  @unsafe private func finish(_ room: RecordRoom, _ length: Int) {
    let header = unsafe RecordHeader(
      origin: origin, sequence: room.number, time: fwd_wire_time())
    unsafe header.writeUnsealed(room.base, length: length)
    if !destination.finish(length) { refused() }
  }

  @inline(never)
  private func refused() { failed(destination.refusal) }

  @inline(never)
  private func failed(_ reason: String) {
    report(
      ForwardingError(
        .deliveryFailed, selector: method.name, "a call was not recorded: \(reason)"))
  }
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

  /// The time of the call in nanoseconds since 1970 in UTC.
  package var time: Int64 { unsafe base.load(fromByteOffset: 32, as: Int64.self) }

  /// Writes the checksum.
  package func seal() { unsafe RecordHeader.seal(base, length: length) }
}

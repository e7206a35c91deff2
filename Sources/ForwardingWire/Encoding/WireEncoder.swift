// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingWire
public import Forwarding

/// Makes records of invocations, numbered in sequence.
///
/// ```swift
/// let encoder = WireEncoder(schema, producer: 7)
/// let token = try proxy.record(with: encoder) { record in log.append(record) }
/// ```
///
/// Any number of threads may use an encoder. Each record has the next sequence
/// number. Records of one thread are made in the order of its calls; records of
/// several threads may reach their destination in another order than their numbers.
public final class WireEncoder: Sendable {
  internal let schema: WireSchema
  private let producer: UInt32
  private let sequence: SequenceCounter

  /// Creates an encoder.
  ///
  /// - Parameters:
  ///   - schema: the methods. Write its ``WireSchema/bytes`` before the records.
  ///   - producer: names the source of the records among those of a program.
  ///   - sequence: the number of the first record. To go on where an earlier run has
  ///     ended, pass the last recorded number plus 1.
  public init(_ schema: WireSchema, producer: UInt32 = 0, startingAt sequence: UInt64 = 1) {
    self.schema = schema
    self.producer = producer
    self.sequence = SequenceCounter(startingAt: sequence)
  }

  /// Appends the record of an invocation. The receiver and the result are not
  /// recorded.
  ///
  /// - Parameters:
  ///   - invocation: the invocation. Its pointers must be valid, as the schema's rules
  ///     say.
  ///   - bytes: gets the record. It is unchanged if an error is thrown.
  /// - Throws: `WireError` with the codes `methodMismatch`, `notEncodable`,
  ///   `limitExceeded`.
  /// - Complexity: O(*n*) in the length of the record.
  public func encode(_ invocation: Invocation, into bytes: inout [UInt8]) throws(WireError) {
    let selector = invocation.selector
    guard let index = schema.index(of: selector) else {
      throw WireError(
        .methodMismatch,
        "\"\(selector)\" is not carried: the schema has no such method, or leaves it out",
        selector: selector.name)
    }
    let method = schema.methods[index]
    guard method.takes(invocation.signature) else {
      throw method.mismatch("the invocation has the signature", invocation.signature)
    }
    var failure: WireError?
    unsafe invocation.unsafeWithArgumentPointers { arguments in
      do throws(WireError) {
        // SAFETY: the pointers are to all arguments. Their types are the method's.
        let first = invocation.signature.firstArgumentIndex
        try unsafe encode(method, origin(method, index), arguments + first) { record in
          unsafe record.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  /// Calls `body` with the record of a call, which is valid during the call.
  ///
  /// - Parameters:
  ///   - index: the index of the method in the schema.
  ///   - arguments: pointers to the arguments behind the receiver and the selector.
  @inline(__always)
  @unsafe package func encode(
    _ index: Int, _ arguments: UnsafePointer<UnsafeMutableRawPointer>,
    _ body: (RawSpan) -> Void
  ) throws(WireError) {
    // SAFETY: the schema holds the method, so it need not be retained.
    try unsafe Unmanaged.passUnretained(schema.methods[index]).use { method throws(WireError) in
      try unsafe encode(method, origin(method, index), arguments, body)
    }
  }

  /// Does the same with a method of the schema, which need not be looked up.
  @inline(__always)
  @unsafe internal func encode(
    _ method: WireMethod, _ origin: RecordHeader.Origin, _ arguments: ArgumentPointers,
    _ body: (RawSpan) -> Void
  ) throws(WireError) {
    guard method.isPlain else { return try unsafe encodeAny(method, origin, arguments, body) }
    // A constant size, so that the compiler takes it from the stack.
    unsafe withUnsafeTemporaryAllocation(byteCount: WireMethod.stackRoom, alignment: 16) {
      let room = unsafe $0.baseAddress.unsafelyUnwrapped
      unsafe method.writePlainFrame(arguments, to: room)
      unsafe complete(origin, room, method.heapStart, body)
    }
  }

  /// The part of the header that all records of a method have.
  @inline(__always)
  internal func origin(_ method: WireMethod, _ index: Int) -> RecordHeader.Origin {
    RecordHeader.Origin(method, index: index, schema: schema.identifier, producer: producer)
  }

  /// Encodes a call of a method that is not plain. Not inlined, since its code would take
  /// registers from plain methods.
  @inline(never)
  @unsafe private func encodeAny(
    _ method: WireMethod, _ origin: RecordHeader.Origin, _ arguments: ArgumentPointers,
    _ body: (RawSpan) -> Void
  ) throws(WireError) {
    var length = 0
    if method.heapStart <= WireMethod.stackRoom {
      unsafe withUnsafeTemporaryAllocation(byteCount: WireMethod.stackRoom, alignment: 16) {
        let room = unsafe $0.baseAddress.unsafelyUnwrapped
        length = unsafe method.write(arguments, to: room, capacity: WireMethod.stackRoom)
        if length > 0 { unsafe complete(origin, room, length, body) }
      }
    }
    if length == 0 { try unsafe encodeMeasured(method, origin, arguments, body) }
  }

  @inline(never)
  @unsafe private func encodeMeasured(
    _ method: WireMethod, _ origin: RecordHeader.Origin, _ arguments: ArgumentPointers,
    _ body: (RawSpan) -> Void
  ) throws(WireError) {
    var failure: WireError?
    // SAFETY: room for the size of each pointer's copy.
    unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: WireLimits.pointerCount) { sizes in
      do throws(WireError) {
        var call = unsafe MeasuredCall(sizes: sizes.baseAddress.unsafelyUnwrapped)
        defer { unsafe call.end() }
        try unsafe method.measure(arguments, &call)
        let room = unsafe UnsafeMutableRawPointer.allocate(byteCount: call.length, alignment: 16)
        defer { unsafe room.deallocate() }
        unsafe method.write(arguments, call, to: room)
        unsafe complete(origin, room, call.length, body)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  /// Writes the header of a record that is complete but for that.
  @inline(__always)
  @unsafe private func complete(
    _ origin: RecordHeader.Origin, _ room: UnsafeMutableRawPointer, _ length: Int,
    _ body: (RawSpan) -> Void
  ) {
    let header = RecordHeader(origin: origin, sequence: sequence.next(), time: fwd_wire_time())
    unsafe header.write(room, length: length)
    // SAFETY: all bytes of the record have been written.
    body(unsafe UnsafeRawBufferPointer(start: room, count: length).bytes)
  }
}

extension WireMethod {
  /// Whether calls with a signature have the arguments of this method.
  internal func takes(_ other: MethodSignature) -> Bool {
    other.isIdentical(to: signature) || other.hasArguments(of: signature)
  }

  /// The error for a signature with other arguments.
  internal func mismatch(_ place: String, _ other: MethodSignature) -> WireError {
    WireError(
      .methodMismatch, "\"\(name)\": \(place) \"\(other)\", but the schema \"\(signature)\"",
      selector: name)
  }
}

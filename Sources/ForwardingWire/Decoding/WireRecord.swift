// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding

/// Where a decoder has found a record.
@usableFromInline @unsafe internal struct FoundRecord {
  /// The record, whose pointers have been resolved.
  internal let base: UnsafeMutableRawPointer
  /// A method of the storage's schema.
  internal let method: Unmanaged<WireMethod>
}

/// A recorded invocation, which a decoder has checked.
@safe public struct WireRecord {
  @usableFromInline internal let storage: RecordStorage
  @usableFromInline internal let place: FoundRecord

  /// - Parameter place: of a record in the storage.
  @unsafe @inlinable internal init(storage: RecordStorage, _ place: FoundRecord) {
    self.storage = storage
    unsafe self.place = unsafe place
  }

  internal var base: UnsafeMutableRawPointer { unsafe place.base }
  internal var found: Unmanaged<WireMethod> { unsafe place.method }

  /// The name of the method.
  // SAFETY: the storage holds the schema, which holds its methods.
  public var selector: MethodSelector { unsafe found._withUnsafeGuaranteedRef { $0.selector } }

  /// The signature that the reader's schema has for the method. The writer's has the same
  /// arguments, and may have another result.
  // SAFETY: as above.
  public var signature: MethodSignature { unsafe found._withUnsafeGuaranteedRef { $0.signature } }

  /// The `producer` of the encoder that made the record.
  public var producer: UInt32 { unsafe base.load(fromByteOffset: 16, as: UInt32.self) }

  /// The number of the record among those of its encoder. Consecutive records have
  /// consecutive numbers.
  public var sequence: UInt64 { unsafe base.load(fromByteOffset: 24, as: UInt64.self) }

  /// The time of the call in nanoseconds since 1970 in UTC. It is exact to some
  /// milliseconds. Order records by ``sequence`` instead.
  public var time: Int64 { unsafe base.load(fromByteOffset: 32, as: Int64.self) }

  /// Forwards the invocation to the subscribers of a proxy. Its result is dropped.
  ///
  /// Pointers point to the decoder's copy of the record, or to a decoded Swift value.
  /// They are valid during the call. What a subscriber writes there is seen by the
  /// subscribers after it, and by no one else.
  ///
  /// - Throws: `WireError` with the code `methodMismatch` if the proxy does not declare
  ///   the method, or declares it with other arguments; `notDecodable` if a Swift value
  ///   cannot be decoded; `notForwarded` with the proxy's error.
  /// - Complexity: O(*n*) in the number of subscribers.
  public func forward(to proxy: DynamicProxy) throws(WireError) {
    try unsafe forward(to: proxy, nil)
  }

  /// Forwards the invocation to the subscribers of a proxy, and calls `body` with the bytes
  /// of the result, which are valid during the call. Without a result there are no bytes.
  ///
  /// An object in the result belongs to `body`, which must release it.
  ///
  /// - Throws: `WireError`, as `forward(to:)`, and with the code `methodMismatch` if the
  ///   proxy's method has another result than the ``signature``. Then `body` is not called.
  /// - Complexity: O(*n*) in the number of subscribers.
  @unsafe public func unsafeForward(
    to proxy: DynamicProxy, result body: (RawSpan) -> Void
  ) throws(WireError) {
    let declared: MethodSignature
    do throws(ForwardingError) {
      declared = try proxy.method(for: selector).signature
    } catch {
      throw WireError(error, selector: selector.name)
    }
    guard declared.result == signature.result else {
      throw WireError(
        .methodMismatch,
        "\"\(selector)\": the proxy declares \"\(declared)\", but the schema \"\(signature)\"",
        selector: selector.name)
    }
    let layout = declared.resultLayout
    let room = UnsafeMutableRawBufferPointer.allocate(
      byteCount: layout.size, alignment: max(layout.alignment, 16))
    defer { unsafe room.deallocate() }
    // SAFETY: all of the room is initialized. It has the result's size.
    unsafe room.initializeMemory(as: UInt8.self, repeating: 0)
    try unsafe forward(to: proxy, layout.size == 0 ? nil : room)
    body(unsafe UnsafeRawBufferPointer(room).bytes)
  }

  @inline(__always)
  @unsafe private func forward(
    to proxy: DynamicProxy, _ result: UnsafeMutableRawBufferPointer?
  ) throws(WireError) {
    guard storage.schema != nil else { throw WireError(shown: selector) }
    do throws(ForwardingError) {
      if let method = try unsafe storage.resolve(found, of: proxy) {
        let size = unsafe found._withUnsafeGuaranteedRef { $0.frameSize }
        // SAFETY: the frame is that of the method's signature.
        return try unsafe proxy.forward(
          method, frame: UnsafeRawBufferPointer(start: base + RecordHeader.size, count: size),
          result: result)
      }
    } catch {
      throw WireError(error, selector: selector.name)
    }
    try unsafe found.use { method throws(WireError) in
      try unsafe forwardSlowly(method, to: proxy, result)
    }
  }

  @inline(never)
  @unsafe private func forwardSlowly(
    _ method: WireMethod, to proxy: DynamicProxy, _ result: UnsafeMutableRawBufferPointer?
  ) throws(WireError) {
    let size = method.signature.frameSize
    // A copy, since the proxy's subscribers may forward the record again.
    let frame = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    defer { unsafe frame.deallocate() }
    unsafe frame.copyMemory(
      from: UnsafeRawBufferPointer(start: base + RecordHeader.size, count: size))
    var values = DecodedValues()
    defer { values.destroy() }
    try unsafe method.decodeValues(base, into: frame, &values)
    do throws(ForwardingError) {
      let resolved = try proxy.method(for: method.selector)
      guard method.takes(resolved.signature) else {
        throw ForwardingError(
          .unknownSelector, selector: method.name,
          method.mismatch("the proxy declares", resolved.signature).description)
      }
      // SAFETY: the frames of both signatures are alike.
      try unsafe resolved.forward(frame: UnsafeRawBufferPointer(frame), result: result)
    } catch {
      throw WireError(error, selector: method.name)
    }
  }
}

extension WireError {
  @inline(never)
  fileprivate init(shown selector: MethodSelector) {
    self.init(
      .notForwarded,
      "\"\(selector)\" was read by its recorded schema, which shows records only: to forward it, "
        + "read it with a WireSchema of the proxy", selector: selector.name)
  }
}

/// Owns the Swift values of one call.
@safe private struct DecodedValues {
  private var values: [(type: any CodedType, address: UnsafeMutableRawPointer)] = unsafe []

  mutating func add(_ type: any CodedType, _ address: UnsafeMutableRawPointer) {
    unsafe values.append((type, address))
  }

  mutating func destroy() {
    while let value = unsafe values.popLast() { unsafe value.type.destroy(value.address) }
  }
}

extension WireMethod {
  /// Decodes the Swift values of a record, and stores their addresses into a frame.
  @unsafe fileprivate func decodeValues(
    _ record: UnsafeRawPointer, into frame: UnsafeMutableRawBufferPointer,
    _ values: inout DecodedValues
  ) throws(WireError) {
    for (index, type) in codedTypes.enumerated() {
      guard let type else { continue }
      // SAFETY: the decoder has checked the offset and the size in the slot.
      let pointer = unsafe pointers[index]
      let slot = unsafe record.loadUnaligned(fromByteOffset: pointer.place, as: UInt64.self)
      if slot == 0 { continue }
      let bytes = unsafe UnsafeRawBufferPointer(
        start: record + Int(slot & 0xFFFF_FFFF), count: Int(slot >> 32))
      let address: UnsafeMutableRawPointer
      do {
        unsafe address = try unsafe type.decode(bytes)
      } catch {
        throw WireError(
          .notDecodable, "\(place(pointer.argument)) cannot be decoded: \(error)", selector: name)
      }
      unsafe values.add(type, address)
      unsafe frame.storeBytes(
        of: address, toByteOffset: pointer.place - RecordHeader.size,
        as: UnsafeMutableRawPointer.self)
    }
  }
}

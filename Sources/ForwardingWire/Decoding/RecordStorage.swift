// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

/// Owns a copy of the bytes that a decoder reads, aligned for every record, and the
/// recorded schemas that have been read.
///
/// The bytes are a copy since decoding replaces offsets by pointers. They lie in one
/// block of exactly their size, so that the address sanitizer reports reads beyond it.
@usableFromInline @safe internal final class RecordStorage {
  internal let base: UnsafeMutableRawPointer
  internal let count: Int
  /// The reader's schema, which keeps the methods alive that the tables and the
  /// records refer to; nil if the records are only shown.
  internal let schema: WireSchema?
  /// The methods of the recorded schemas, if the records are only shown.
  internal var recordedMethods: [WireMethod] = []

  /// A recorded schema.
  @safe internal struct Recorded {
    /// The offset and the length of its record.
    var range: Range<Int>
    /// The reader's method for each recorded one; nil for those that it leaves out, and for
    /// those with a fault.
    var methods: [Unmanaged<WireMethod>?]
    /// Why methods do not fit the reader's, by their indices.
    var faults: [Int: WireError]
    /// The number of the last message that has it.
    var message: Int
  }

  /// Where a recorded method that does not fit the reader's schema is an error.
  internal enum MisfitRule {
    case atSchema
    /// At invocations of the named methods, or of all. The invocations of others are skipped.
    case atInvocation(of: Set<String>?)
  }

  internal let misfitRule: MisfitRule
  internal var schemas: [UInt32: Recorded] = [:]
  /// Whether a recorded schema has faults.
  internal var hasFaults = false
  /// The number of the message that is being read. Its records can refer only to schemas in the
  /// same message.
  internal private(set) var message = 0

  /// The method that was last forwarded, the proxy's method, and the proxy. Records mostly have
  /// one method and go to one proxy.
  ///
  /// The first two count no references, since each would cost a forwarded record as much as its
  /// checksum. The schema keeps the method alive, and `lastProxy` the proxy: if it were freed,
  /// another one might get its address. Each access ends at once, so exclusivity is not
  /// checked.
  @exclusivity(unchecked) private var lastMethod: Unmanaged<WireMethod>?
  @exclusivity(unchecked) private var lastResolved: ResolvedMethod.Unowned?
  private var lastProxy: DynamicProxy?

  /// - Parameter pieces: the bytes, in the order in which they follow one another.
  internal init(
    _ pieces: [[UInt8]], _ schema: WireSchema?, _ misfitRule: MisfitRule = .atSchema
  ) {
    self.schema = schema
    self.misfitRule = misfitRule
    count = pieces.reduce(0) { $0 + $1.count }
    unsafe base = .allocate(byteCount: max(count, 1), alignment: 16)
    var end = 0
    for piece in pieces {
      unsafe piece.withUnsafeBytes { bytes in
        // SAFETY: there is room for the bytes of all pieces.
        unsafe UnsafeMutableRawBufferPointer(start: base + end, count: bytes.count)
          .copyMemory(from: bytes)
      }
      end += piece.count
    }
  }

  deinit {
    // SAFETY: allocated in `init`, freed once. Records hold this object.
    unsafe base.deallocate()
  }

  /// Finds a method of a proxy that gets frames of the method as they are.
  ///
  /// - Returns: nil if frames must be made or compared first.
  @inline(__always)
  internal func resolve(
    _ method: Unmanaged<WireMethod>, of proxy: DynamicProxy
  ) throws(ForwardingError) -> ResolvedMethod.Unowned? {
    if let lastMethod = unsafe lastMethod, let lastResolved = unsafe lastResolved,
      unsafe lastMethod.toOpaque() == method.toOpaque(), lastResolved.isMethod(of: proxy)
    {
      return lastResolved
    }
    return try unsafe findMethod(method, of: proxy)
  }

  @inline(never)
  @unsafe private func findMethod(
    _ method: Unmanaged<WireMethod>, of proxy: DynamicProxy
  ) throws(ForwardingError) -> ResolvedMethod.Unowned? {
    // SAFETY: the storage holds the schema, which holds its methods.
    let found = unsafe method.takeUnretainedValue()
    let resolved = try proxy.method(for: found.selector)
    guard found.codedTypes.isEmpty, resolved.hasIdentical(found.signature) else { return nil }
    let proxyBefore = lastProxy
    unsafe (lastMethod, lastResolved) = (method, resolved.unowned)
    lastProxy = proxy
    // If this frees the proxy, foreign code runs, which may forward records.
    extendLifetime(proxyBefore)
    return resolved.unowned
  }

  /// Starts a new message. The schemas stay in the table: a message mostly repeats one, and
  /// comparing bytes is faster than reading the schema again.
  internal func forgetSchemas() { message += 1 }

  /// Returns the methods of a schema that the message has.
  @inline(never)
  internal func findSchema(_ identifier: UInt32) throws(WireError) -> [Unmanaged<WireMethod>?] {
    guard let found = schemas[identifier], found.message == message else {
      throw WireError(
        .unknownSchema,
        "the record has the schema \(hexadecimal(identifier)), but no schema record before it has: "
          + "expected the schema record at the head of each file and message")
    }
    return unsafe found.methods
  }

  /// Throws if a method of a schema is not left out, but does not fit.
  @inline(never)
  internal func checkLeftOut(_ index: Int, of schema: UInt32) throws(WireError) {
    if hasFaults, let fault = schemas[schema]?.faults[index] { throw fault }
  }
}

/// The methods of the schema that the last record had. Not in the storage, where each
/// access would be checked for exclusivity.
@safe internal struct LastSchema {
  private var identifier: UInt32?
  private var methods: [Unmanaged<WireMethod>?] = unsafe []

  /// The reader's method for a recorded one.
  ///
  /// - Returns: nil if the reader leaves the method out.
  @inline(__always)
  internal mutating func method(
    _ index: Int, of schema: UInt32, in storage: RecordStorage
  ) throws(WireError) -> Unmanaged<WireMethod>? {
    if schema != identifier {
      unsafe methods = try unsafe storage.findSchema(schema)
      identifier = schema
    }
    guard unsafe index < methods.count else { throw badIndex(index) }
    return unsafe methods[index]
  }

  @inline(never)
  private func badIndex(_ index: Int) -> WireError {
    WireError(
      .malformed,
      "the method has the index \(index), but the schema has \(unsafe methods.count) methods")
  }
}

extension Unmanaged<WireMethod> {
  /// Calls `body` with the method, which something else keeps alive.
  ///
  /// `_withUnsafeGuaranteedRef` has no typed errors.
  @inline(__always)
  @unsafe internal func use<Output, Failure: Error>(
    _ body: (WireMethod) throws(Failure) -> Output
  ) throws(Failure) -> Output {
    let result: Result<Output, Failure> = unsafe _withUnsafeGuaranteedRef { method in
      do throws(Failure) { return .success(try body(method)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}

/// A number as errors show it.
internal func hexadecimal(_ value: UInt32) -> String {
  let digits = String(value, radix: 16)
  return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
}

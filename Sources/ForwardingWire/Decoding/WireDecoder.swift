// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Reads records from bytes of any origin.
///
/// ```swift
/// var decoder = WireDecoder(bytes, schema: schema)
/// while let record = try decoder.next() {
///   try record.forward(to: proxy)
/// }
/// ```
///
/// A decoder never trusts the bytes, also if their checksums are right. It checks the
/// length, the version and the checksum of each record, compares the recorded schema
/// with the reader's, and checks the place, the size and the terminator of everything
/// that a pointer will point to. It reads no byte outside of the bytes that it was
/// given, and interprets nothing that the reader's own schema does not declare.
///
/// A checksum finds damage, not forgery. Authenticate bytes that an attacker may have
/// written: their numbers are as valid as any.
public struct WireDecoder: ~Copyable {
  @usableFromInline internal let storage: RecordStorage
  private var position = 0
  /// The bytes of the message that is read: all bytes, unless `startMessage` says otherwise.
  private var message: Range<Int>
  private var last = LastSchema()
  /// How many invocations the decoder has read, including those of methods that the
  /// reader's schema leaves out.
  ///
  /// It counts from the beginning of the bytes, or from the last ``startMessage(_:)``. When
  /// ``next()`` has returned nil, it is the number of all invocations in the bytes or in the
  /// message. Compare it with the number of calls that the writer states, to notice missing
  /// records.
  public private(set) var invocationCount = 0
  /// The bytes of the last record.
  package private(set) var lastRange = 0..<0

  /// Creates a decoder for a file, a message or another piece that begins with a
  /// schema record.
  ///
  /// - Parameters:
  ///   - bytes: the bytes. They are copied, so that records are aligned.
  ///   - schema: the methods that the reader knows, with its rules for their pointers.
  ///     A recorded schema may have fewer methods, and in another order.
  /// - Complexity: O(*n*) in the number of bytes.
  public init(_ bytes: [UInt8], schema: WireSchema) {
    storage = RecordStorage([bytes], schema)
    message = 0..<storage.count
  }

  /// Creates a decoder that reads records by their recorded schemas, to show or to
  /// check them. They cannot be forwarded: a forged schema could make subscribers read
  /// beyond a copy. The names of the recorded methods stay in memory.
  package init(showing bytes: [UInt8]) {
    storage = RecordStorage([bytes], nil)
    message = 0..<storage.count
  }

  /// Creates a decoder for bytes that lie in several arrays, each of which ends with a
  /// record. Without a schema it shows records only.
  ///
  /// A recorded method that does not fit the schema is an error at its first invocation, not
  /// at the schema record.
  ///
  /// - Parameter methods: the names of the methods that must fit; nil for all. The
  ///   invocations of others that do not fit are skipped.
  package init(joining pieces: [[UInt8]], schema: WireSchema?, methods: Set<String>?) {
    storage = RecordStorage(pieces, schema, .atInvocation(of: methods))
    message = 0..<storage.count
  }

  /// The recorded schemas that have been read, with the places of their records and the
  /// names of their methods. The decoder must be one that shows records.
  package var recordedSchemas: [(identifier: UInt32, range: Range<Int>, methods: [String])] {
    storage.schemas.map { identifier, recorded in
      // SAFETY: the storage holds the methods.
      let names = unsafe recorded.methods.map { method in
        unsafe method?._withUnsafeGuaranteedRef { $0.name } ?? ""
      }
      return (identifier, recorded.range, names)
    }
  }

  /// Returns the next invocation; nil behind the last one. Skips the records of methods
  /// that the reader's schema leaves out.
  ///
  /// - Throws: `WireError`: `notWireForm`, `unsupportedVersion`, `truncated`,
  ///   `checksumMismatch`, `malformed`, `unknownSchema`; `unknownMethod` and
  ///   `schemaMismatch` for a recorded schema that does not fit the reader's, at the schema
  ///   record and so before all of its invocations. The error's
  ///   `offset` is the byte at which the record begins, counted from the beginning of the
  ///   bytes or of the message. The decoder stays there: the next call throws the same error.
  /// - Complexity: O(*n*) in the length of the record.
  // Inlinable, so that the compiler sees that a record which the caller does not keep needs
  // no reference to the storage: counting it would cost as much as decoding.
  @inlinable
  public mutating func next() throws(WireError) -> WireRecord? {
    guard let found = unsafe try find() else { return nil }
    // SAFETY: the record lies in the storage.
    return unsafe WireRecord(storage: storage, found)
  }

  /// Starts to read one of several messages that lie in the decoder's bytes.
  ///
  /// Each message begins with its schema record. It is read as if it were alone: its records can
  /// refer to its own schemas only, ``next()`` returns nil at its end, and
  /// ``invocationCount`` begins with 0. One decoder for many short messages costs less than a
  /// decoder for each.
  ///
  /// ```swift
  /// var decoder = WireDecoder(bytes, schema: schema)
  /// for message in messages {
  ///   decoder.startMessage(message.range)
  ///   while let record = try decoder.next() { records.append(record) }
  ///   guard decoder.invocationCount == message.callCount else { throw Incomplete() }
  /// }
  /// ```
  ///
  /// - Parameter range: the bytes of the message.
  /// - Precondition: the range lies in the decoder's bytes, begins at a multiple of 8, and
  ///   does not begin before the end of the last record that was read, since decoding changes
  ///   its bytes. Otherwise the program ends: if ranges come from untrusted bytes, check them
  ///   first.
  public mutating func startMessage(_ range: Range<Int>) {
    precondition(
      range.lowerBound >= position && range.upperBound <= storage.count,
      "the message \(range) does not lie in the bytes \(position)..<\(storage.count), which have not been read"
    )
    precondition(
      range.lowerBound % 8 == 0,
      "the message begins at byte \(range.lowerBound), expected a multiple of 8")
    storage.forgetSchemas()
    last = LastSchema()
    message = range
    position = range.lowerBound
    lastRange = position..<position
    invocationCount = 0
  }

  /// Finds, checks and counts the next invocation.
  @usableFromInline @unsafe
  internal mutating func find() throws(WireError) -> FoundRecord? {
    while position < message.upperBound {
      let start = position
      do throws(WireError) {
        let length = try storage.checkRecord(at: start, of: message)
        let record = unsafe try storage.read(start, length, &last)
        position = start + length
        lastRange = start..<position
        if storage.isInvocation(start) { invocationCount += 1 }
        if let record = unsafe record { return unsafe record }
      } catch {
        throw error.at(start - message.lowerBound)
      }
    }
    return nil
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding

/// The error that every throwing function of this module throws.
///
/// `code` says what is wrong. `description` says in one sentence what was given,
/// what was expected and where:
///
/// ```
/// record at byte 248: the checksum is 0x1b2c3d4e, expected 0x90a1b2c3
/// ```
public struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of error.
  ///
  /// Later versions may add codes, so a `switch` needs an `@unknown default`.
  @nonexhaustive
  public enum Code: String, Sendable, CaseIterable {
    // MARK: Making a schema

    /// An argument has a type that cannot be carried, or a pointer has no rule.
    case notCarried
    /// A rule names no argument, does not fit its argument, or is stated twice.
    case invalidRule
    /// The processor is big-endian, or its pointers are not 64 bits wide.
    case unsupportedPlatform

    // MARK: Encoding

    /// The schema does not carry the method, or carries it with other arguments.
    case methodMismatch
    /// An argument of one call cannot be encoded: a negative count, or a Swift
    /// value whose `encode(to:)` throws.
    case notEncodable
    /// A call or a schema that is to be encoded exceeds a limit of ``WireLimits``.
    case limitExceeded

    // MARK: Decoding

    /// The bytes end inside of a record.
    case truncated
    /// The bytes do not begin with a schema record of this form.
    case notWireForm
    /// The record has another major version of the form.
    case unsupportedVersion
    /// The checksum is not that of the bytes.
    case checksumMismatch
    /// The checksum is right, but the record contradicts the form or the schema, or exceeds a
    /// limit of ``WireLimits``.
    case malformed
    /// No schema record with this identifier precedes the record.
    case unknownSchema
    /// The recorded schema has a method that the reader's schema does not have.
    case unknownMethod
    /// The recorded method has another encoding or other pointer rules than the
    /// reader's.
    case schemaMismatch

    // MARK: Replaying

    /// A recorded Swift value cannot be decoded.
    case notDecodable
    /// The proxy could not forward the invocation: see ``WireError/forwardingError``.
    case notForwarded
  }

  // One reference keeps the error in a register when it is thrown.
  private let storage: Storage

  private final class Storage: Sendable {
    let fields: Fields

    init(_ fields: Fields) { self.fields = fields }
  }

  private struct Fields: Equatable, Sendable {
    var code: Code
    var sentence: String
    var selector: String?
    var offset: Int?
    var forwardingError: ForwardingError?
  }

  private init(_ fields: Fields) { storage = Storage(fields) }

  internal init(
    _ code: Code, _ sentence: String, selector: String? = nil,
    forwardingError: ForwardingError? = nil
  ) {
    self.init(
      Fields(
        code: code, sentence: sentence, selector: selector, forwardingError: forwardingError))
  }

  /// The kind of error.
  public var code: Code { storage.fields.code }

  /// The byte at which the record begins that could not be read, counted from the
  /// first byte of the decoder. All records before it are whole.
  public var offset: Int? { storage.fields.offset }

  /// The name of the method.
  public var selector: String? { storage.fields.selector }

  /// The error that the proxy threw, with the code `notForwarded` or `methodMismatch`.
  public var forwardingError: ForwardingError? { storage.fields.forwardingError }

  /// The description without the offset, for errors that give another place.
  package var reason: String { storage.fields.sentence }

  /// One sentence that says what was given, what was expected and where.
  public var description: String {
    let sentence = storage.fields.sentence
    return offset.map { "record at byte \($0): \(sentence)" } ?? sentence
  }

  /// Returns whether two errors have the same code, place and description.
  public static func == (left: WireError, right: WireError) -> Bool {
    left.storage.fields == right.storage.fields
  }

  /// Returns the error with the byte at which the record begins.
  internal func at(_ offset: Int) -> WireError {
    var fields = storage.fields
    fields.offset = offset
    return WireError(fields)
  }
}

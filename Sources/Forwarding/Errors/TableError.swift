// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Tells why a protocol table or a function table could not be made, registered
/// or joined to a proxy.
public struct TableError: Error, Equatable, Sendable {
  /// Classes what can be wrong with a table. More may be added.
  public struct Code: Hashable, Sendable {
    private let name: String

    private init(_ name: String) { self.name = name }

    /// The name of a table or of a method cannot be one.
    public static let invalidName = Code("invalidName")
    /// An encoding could not be read.
    public static let invalidEncoding = Code("invalidEncoding")
    /// A Swift type among those of a method key has no encoding.
    public static let noEncoding = Code("noEncoding")
    /// A signature's first argument is no pointer, so that it cannot take a
    /// receiver.
    public static let noReceiver = Code("noReceiver")
    /// Two declarations of one method, or of one protocol, differ.
    public static let conflict = Code("conflict")
    /// A table declares a method twice.
    public static let duplicate = Code("duplicate")
    /// A function's types are not those of the method.
    public static let signatureMismatch = Code("signatureMismatch")
    /// A result policy or a default result does not fit the method's result.
    public static let policyMismatch = Code("policyMismatch")
    /// A required method is missing.
    public static let missingMethod = Code("missingMethod")
    /// No protocol declares the method.
    public static let unknownMethod = Code("unknownMethod")
    /// A proxy adopts more or fewer protocols than its configuration asks for.
    public static let wrongProtocolCount = Code("wrongProtocolCount")
    /// A pointer that must not be null is.
    public static let nullPointer = Code("nullPointer")
    /// An allocation failed.
    public static let outOfMemory = Code("outOfMemory")
  }

  /// What kind of fault it is.
  public let code: Code

  /// The name of the protocol, or nil if none is concerned.
  public let table: String?

  /// The name of the method, or nil if none is concerned.
  public let selector: String?

  /// What was given, what was expected, and where.
  public let description: String

  /// What is wrong with the encoding, for the code `invalidEncoding`.
  public let encodingError: EncodingError?

  package init(
    _ code: Code, table: String? = nil, selector: String? = nil, _ description: String,
    encodingError: EncodingError? = nil
  ) {
    self.encodingError = encodingError
    self.code = code
    self.table = table
    self.selector = selector
    self.description = description
  }
}

// MARK: - Conformances

extension TableError: CustomStringConvertible {}

extension TableError.Code: CustomStringConvertible {
  /// The name of the code.
  public var description: String { name }
}

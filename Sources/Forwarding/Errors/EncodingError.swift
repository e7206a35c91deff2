// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// Tells why the text of a type encoding or a method signature could not be
/// taken.
///
/// ```
/// type encoding "{Point=d": expected '}' at offset 8
///   {Point=d
///           ^
/// ```
public struct EncodingError: Error, Equatable, Sendable {
  /// Classes what is wrong with an encoding. More may be added.
  public struct Code: Hashable, Sendable {
    private let name: String

    private init(_ name: String) { self.name = name }

    /// The text is not in the grammar of type encodings.
    public static let malformed = Code("malformed")
    /// The text is well formed, but does not say what a call would need to
    /// know.
    public static let unsupported = Code("unsupported")
    /// A size, a count or the text itself exceeds its limit.
    public static let overflow = Code("overflow")
    /// Types are nested too deep.
    public static let tooDeep = Code("tooDeep")
    /// A stated layout is none that the type can have, or is of no type of the
    /// encoding.
    public static let wrongLayout = Code("wrongLayout")
    /// An allocation failed.
    public static let outOfMemory = Code("outOfMemory")
  }

  /// What kind of fault it is.
  public let code: Code

  /// The text that could not be taken.
  public let encoding: String

  /// The byte of `encoding`, counted from 0 in UTF-8, that could not be taken; 0
  /// where a stated layout is of no type in it.
  public let offset: Int

  /// The sentence, and on two further lines the text with a caret under the
  /// byte.
  public let description: String
}

// MARK: - From C

extension EncodingError {
  /// Takes over what the shim said about `encoding`.
  internal init(_ error: fwd_error, encoding: String) {
    switch error.status {
    case FWD_UNSUPPORTED: code = .unsupported
    case FWD_OVERFLOW: code = .overflow
    case FWD_TOO_DEEP: code = .tooDeep
    case FWD_NO_MEMORY: code = .outOfMemory
    // An empty name is the one value of a statement that the shim takes for none.
    case FWD_WRONG_LAYOUT, FWD_NULL_ARGUMENT: code = .wrongLayout
    default: code = .malformed
    }
    self.encoding = encoding
    offset = Int(clamping: error.offset)
    description = error.text
  }
}

extension fwd_error {
  /// The message as a string.
  internal var text: String {
    // SAFETY: the bytes are those of the tuple, read while it is borrowed.
    unsafe withUnsafeBytes(of: message) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

// MARK: - Conformances

extension EncodingError: CustomStringConvertible {}

extension EncodingError.Code: CustomStringConvertible {
  /// The name of the code.
  public var description: String { name }
}

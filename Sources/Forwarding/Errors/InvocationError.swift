// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Tells why a value could not be put into or taken out of a call, or why a
/// call could not be made.
///
/// `description` builds one sentence from the parts:
///
/// ```
/// argument 2 of "move:by:" is 'd' (Double), got Int32
/// ```
public struct InvocationError: Error, Equatable, Sendable {
  /// Classes what can go wrong with a call. More may be added.
  public struct Code: Hashable, Sendable {
    private let name: String

    private init(_ name: String) { self.name = name }

    /// The signature has no argument of this index, or none that can be set
    /// here.
    public static let indexOutOfRange = Code("indexOutOfRange")
    /// A call was given more or fewer arguments than its signature has.
    public static let wrongArgumentCount = Code("wrongArgumentCount")
    /// The Swift type has no place in the encoding.
    public static let typeMismatch = Code("typeMismatch")
    /// A number of bytes is not the one that the signature gives.
    public static let wrongSize = Code("wrongSize")
    /// The first argument of the signature is no pointer, so that it cannot
    /// take a receiver.
    public static let noReceiver = Code("noReceiver")
    /// The invocation has no target.
    public static let receiverMissing = Code("receiverMissing")
    /// The result was asked for before there was one.
    public static let noResult = Code("noResult")
    /// A null pointer stands where the Swift type has none.
    public static let nullPointer = Code("nullPointer")
    /// The bytes are no value of the Swift type.
    public static let valueNotRepresentable = Code("valueNotRepresentable")
    /// The name of a selector is empty, too long, or has a NUL in it.
    public static let invalidName = Code("invalidName")
    /// An allocation failed.
    public static let outOfMemory = Code("outOfMemory")
    /// The system refused memory for a function pointer made at run time.
    public static let noExecutableMemory = Code("noExecutableMemory")
  }

  /// What kind of fault it is.
  public let code: Code

  /// The name of the selector that was to be called, or nil if the call has
  /// none.
  public internal(set) var selector: String?

  /// The text of the method signature, or nil if none is concerned.
  public internal(set) var encoding: String?

  /// The index of the offending argument, the receiver and the selector
  /// counted; nil if the fault is the result's or that of the call as a whole.
  public internal(set) var argumentIndex: Int?

  /// What was expected, in words.
  public let expected: String?

  /// What was given, in words.
  public let actual: String?

  /// What part of the call is concerned, if it is neither an argument nor the
  /// result.
  private let subject: String?

  internal init(
    _ code: Code, selector: String? = nil, encoding: String? = nil, argumentIndex: Int? = nil,
    expected: String? = nil, actual: String? = nil, subject: String? = nil
  ) {
    self.code = code
    self.selector = selector
    self.encoding = encoding
    self.argumentIndex = argumentIndex
    self.expected = expected
    self.actual = actual
    self.subject = subject
  }
}

// MARK: - Sentences

extension InvocationError: CustomStringConvertible {
  /// One sentence that says what was given, what was expected and where.
  public var description: String {
    let expected = expected ?? "something else"
    let actual = actual ?? "nothing"
    switch code {
    case .indexOutOfRange: return "there is no \(place): \(expected)"
    case .wrongArgumentCount: return "\(call) takes \(expected), got \(actual)"
    case .typeMismatch: return "\(place) is \(expected), got \(actual)"
    case .wrongSize: return "\(place) takes \(expected), got \(actual)"
    case .noReceiver: return "\(call) cannot take a receiver: \(expected)"
    case .receiverMissing: return "\(call) has no target"
    case .noResult: return "\(call) has no result yet"
    case .nullPointer: return "\(place) is null, expected \(expected)"
    case .valueNotRepresentable: return "\(place) has \(actual), which is no \(expected)"
    case .invalidName: return "a selector's name is \(expected), got \(actual)"
    default: return "\(call): \(actual)"
    }
  }

  private var call: String {
    if let selector { return "\"\(selector)\"" }
    if let encoding { return "\"\(encoding)\"" }
    return "the call"
  }

  private var place: String {
    "\(subject ?? argumentIndex.map { "argument \($0)" } ?? "the result") of \(call)"
  }
}

// MARK: - Conformances

extension InvocationError.Code: CustomStringConvertible {
  /// The name of the code.
  public var description: String { name }
}

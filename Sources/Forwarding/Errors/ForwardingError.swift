// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The error of this module's functions.
///
/// `code` says what is wrong, `description` says it in one sentence for people:
///
/// ```
/// parameter 2 of "move:by:" is 'd' (Double), got Int32
/// ```
///
/// The other properties name the place. Each is nil if the error has no such
/// place. An encoding that cannot be read has a caret under the offending byte:
///
/// ```
/// type encoding "{Point=d": expected '}' at offset 8
///   {Point=d
///           ^
/// ```
///
/// Errors that listeners of a typed proxy throw are not of this type. See
/// `ForwardedErrors` of the module ForwardingMacros.
public struct ForwardingError: Error, Equatable, Sendable {
  /// The kind of error.
  ///
  /// Later versions may add codes, so a `switch` needs an `@unknown default`.
  @nonexhaustive
  public enum Code: String, Sendable, CaseIterable {
    // MARK: Encodings

    /// The text does not follow the grammar of type encodings, or is not UTF-8.
    case malformed
    /// The encoding is well formed, but does not say what a call needs to know.
    case unsupported
    /// A size, a count or the text itself exceeds its limit.
    case overflow
    /// Types are nested too deep.
    case tooDeep
    /// A stated layout contradicts the type, or no type in the encoding has its
    /// name.
    case wrongLayout
    /// A Swift type of a method key has no encoding.
    case noEncoding

    // MARK: Names and tables

    /// The name of a selector or of a protocol is empty, is too long, or
    /// contains a NUL.
    case invalidName
    /// Two declarations of one method, or of one protocol, differ.
    case conflict
    /// The first argument of a signature is not a pointer, so it cannot take a
    /// receiver.
    case noReceiver
    /// The types of a function or of a call are not those of the method.
    case signatureMismatch
    /// A result policy, a default result or a result for failed deliveries does
    /// not fit the method's result.
    case policyMismatch
    /// A function table lacks a required method.
    case missingMethod
    /// A function table has no functions.
    case emptyTable
    /// A proxy adopts more or fewer protocols than its configuration asks for.
    case wrongProtocolCount

    // MARK: Arguments and results

    /// The signature has no argument of this index, or a position or a point of
    /// interception does not exist.
    case indexOutOfRange
    /// A call has more or fewer arguments than its signature.
    case wrongArgumentCount
    /// A Swift type cannot stand for the encoding, or an object is of another
    /// class.
    case typeMismatch
    /// A number of bytes is not the one that the signature gives.
    case wrongSize
    /// A pointer that must not be null is null.
    case nullPointer
    /// The bytes are not a value of the Swift type.
    case valueNotRepresentable
    /// The invocation has no target.
    case receiverMissing
    /// The invocation has no result yet.
    case noResult

    // MARK: Sending

    /// No protocol of the proxy declares the selector.
    case unknownSelector
    /// No live subscriber implements a method whose result has no default.
    case noResponder
    /// A subscriber or an interceptor has failed. If a closure could not take a value,
    /// the code is `nullPointer`, `typeMismatch` or `valueNotRepresentable` instead.
    case deliveryFailed
    /// Invocations are forwarded inside of one another, and the thread's stack
    /// is nearly used up.
    case nestedTooDeep
    /// A reply that may be given once was given again.
    case repeatedReply

    // MARK: Subscribing

    /// The anchor of a position is not subscribed.
    case notSubscribed
    /// A table declares or implements a method twice, an object that may
    /// subscribe once is subscribed already, or a method has a replacement
    /// already.
    case duplicate
    /// A subscription was to end after less than one delivery, or to have room for
    /// less than one message.
    case invalidLimit
    /// A delivery that is made later cannot have an argument, cannot give the
    /// result, or cannot be waited for.
    case notMailable
    /// The subscription would make a proxy forward to itself.
    case cycle
    /// A delegate slot that should be empty is not.
    case slotTaken
    /// The subscriber, the proxy or an owner is being deinitialized, or a C function
    /// pointer was called after the death of its owner.
    case dead

    // MARK: Libraries

    /// The system's loader could not load a library.
    case libraryNotLoaded
    /// A library has no function of a name.
    case symbolNotFound

    // MARK: Memory

    /// An allocation failed.
    case outOfMemory
    /// The system refused executable memory for a function pointer.
    case noExecutableMemory
  }

  // One reference keeps the error in a register when it is thrown. A larger
  // struct would grow the stack frame of every function that it passes through,
  // and nested sends have many.
  private let storage: Storage

  // Two errors are equal if they have the same code, place and description.
  private final class Storage: Sendable, Equatable {
    let fields: Fields

    init(_ fields: Fields) { self.fields = fields }

    static func == (left: Storage, right: Storage) -> Bool {
      left === right || left.fields == right.fields
    }
  }

  private struct Fields: Equatable, Sendable {
    var code: Code
    var selector: String?
    var table: String?
    var encoding: String?
    var offset: Int?
    var argumentIndex: Int?
    /// Whether a closure was not called because of a value that it could not take. C
    /// programs get FWD_DELIVERY_FAILED then, whatever the code is.
    var isOfDelivery = false
    var message: Message
  }

  private enum Message: Equatable, Sendable {
    /// The whole description.
    case text(String)
    /// The parts of a sentence whose pattern the code determines. `subject` names the
    /// mismatched part, such as `parameter 1`; it is nil for the result, and for an
    /// argument whose index the user has written. `verb` stands before `expected`.
    case parts(expected: String?, actual: String?, subject: String?, verb: String)
  }

  private init(_ fields: Fields) { storage = Storage(fields) }

  /// Whether both are copies of one error.
  internal func isIdentical(to other: ForwardingError) -> Bool { storage === other.storage }
}

// MARK: - Properties

extension ForwardingError {
  /// The kind of error.
  public var code: Code { storage.fields.code }

  /// The name of the method.
  public var selector: String? { storage.fields.selector }

  /// The name of the protocol.
  public var table: String? { storage.fields.table }

  /// The text of the type encoding or of the method signature.
  public var encoding: String? { storage.fields.encoding }

  /// The byte of `encoding` that could not be read, counted from 0 in UTF-8. It
  /// is 0 if no type has the name of a stated layout.
  public var offset: Int? { storage.fields.offset }

  /// The index of the argument in ``MethodSignature/arguments`` of the method's signature.
  ///
  /// The receiver and the selector count, if the signature has them: the first parameter
  /// of a method `v@:id` has the index 2, that of `v@id` the index 1. The description
  /// says "argument" with this index only where an index was passed, as to
  /// ``Invocation/argument(at:as:)``. A parameter of a closure, a key or a C function is
  /// "parameter 1", "parameter 2" and so on, without the receiver and the selector.
  public var argumentIndex: Int? { storage.fields.argumentIndex }

  /// Whether a closure was not called because of a value that it could not take.
  internal var isOfDelivery: Bool { storage.fields.isOfDelivery }
}

// MARK: - Making

extension ForwardingError {
  /// Makes an error from its description.
  ///
  /// - Parameter encodingError: An error whose encoding and offset are this
  ///   error's too.
  package init(
    _ code: Code, table: String? = nil, selector: String? = nil, _ description: String,
    encodingError: ForwardingError? = nil
  ) {
    self.init(
      Fields(
        code: code, selector: selector, table: table, encoding: encodingError?.encoding,
        offset: encodingError?.offset, message: .text(description)))
  }

  /// Makes an error whose code determines the description's pattern.
  internal init(
    _ code: Code, selector: String? = nil, encoding: String? = nil, argumentIndex: Int? = nil,
    expected: String? = nil, actual: String? = nil, subject: String? = nil, verb: String = "is"
  ) {
    self.init(
      Fields(
        code: code, selector: selector, encoding: encoding, argumentIndex: argumentIndex,
        message: .parts(expected: expected, actual: actual, subject: subject, verb: verb)))
  }

  /// Makes an error of a value that a closure could not take, from its description.
  internal init(
    ofDelivery code: Code, selector: String?, argumentIndex: Int?, _ description: String
  ) {
    self.init(
      Fields(
        code: code, selector: selector, argumentIndex: argumentIndex, isOfDelivery: true,
        message: .text(description)))
  }

  /// Makes an error from the C target's message about a byte of an encoding.
  internal init(_ code: Code, encoding: String, offset: Int, _ description: String) {
    self.init(
      Fields(code: code, encoding: encoding, offset: offset, message: .text(description)))
  }

  /// Returns the error with the name of the method that it concerns.
  internal func naming(_ selector: String) -> ForwardingError {
    var fields = storage.fields
    fields.selector = selector
    return ForwardingError(fields)
  }
}

// MARK: - Sentences

extension ForwardingError: CustomStringConvertible {
  /// One sentence that says what was given, what was expected and where. If an
  /// encoding cannot be read, two more lines show the text with a caret.
  public var description: String {
    switch storage.fields.message {
    case .text(let text): text
    case .parts(let expected, let actual, let subject, let verb):
      sentence(expected, actual, subject, verb)
    }
  }

  private func sentence(
    _ expected: String?, _ actual: String?, _ subject: String?, _ verb: String
  ) -> String {
    let place = "\(subject ?? argumentIndex.map { "argument \($0)" } ?? "the result") of \(call)"
    let expected = expected ?? "something else"
    let actual = actual ?? "nothing"
    switch code {
    case .indexOutOfRange: return "there is no \(place): \(expected)"
    case .wrongArgumentCount: return "\(call) takes \(expected), got \(actual)"
    case .typeMismatch: return "\(place) \(verb) \(expected), got \(actual)"
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
}

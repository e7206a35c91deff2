// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// Tells why a subscription was refused, or an invocation could not be
/// forwarded.
public struct ForwardingError: Error, Equatable, Sendable {
  /// Classes what can go wrong in a proxy. More may be added.
  public struct Code: Hashable, Sendable {
    private let name: String

    private init(_ name: String) { self.name = name }

    /// No protocol table of the proxy declares the selector: of an invocation, or
    /// of a function of a subscriber's table.
    public static let unknownSelector = Code("unknownSelector")
    /// No live subscriber implements a method whose result has no default.
    public static let noResponder = Code("noResponder")
    /// A subscriber was called but could not take its arguments or give its
    /// result.
    public static let deliveryFailed = Code("deliveryFailed")
    /// An argument frame or a result buffer is not of the size that the
    /// signature gives.
    public static let wrongSize = Code("wrongSize")
    /// Another number of arguments than the signature has.
    public static let wrongArgumentCount = Code("wrongArgumentCount")
    /// A value's type is not the one that the signature gives.
    public static let typeMismatch = Code("typeMismatch")
    /// A null pointer where none is allowed.
    public static let nullPointer = Code("nullPointer")
    /// Invocations are forwarded inside of one another, and the thread's stack
    /// is nearly used up.
    public static let nestedTooDeep = Code("nestedTooDeep")
    /// A function table lacks a required method.
    public static let missingMethod = Code("missingMethod")
    /// Two encodings of one selector disagree.
    public static let signatureMismatch = Code("signatureMismatch")
    /// A function table has no functions.
    public static let emptyTable = Code("emptyTable")
    /// A function table could not be made.
    public static let invalidTable = Code("invalidTable")
    /// The anchor of a position is not subscribed.
    public static let notSubscribed = Code("notSubscribed")
    /// The subscriber is in the proxy already, which the proxy refuses.
    public static let duplicate = Code("duplicate")
    /// A position is past the end.
    public static let indexOutOfRange = Code("indexOutOfRange")
    /// A subscription was to end after less than one delivery.
    public static let invalidLimit = Code("invalidLimit")
    /// The subscription would make a proxy forward to itself.
    public static let cycle = Code("cycle")
    /// A delegate slot that should be empty is not.
    public static let slotTaken = Code("slotTaken")
    /// The subscriber is being deinitialised.
    public static let dead = Code("dead")
    /// An allocation failed.
    public static let outOfMemory = Code("outOfMemory")
    /// A reply was given that may be given once, and has been.
    public static let repeatedReply = Code("repeatedReply")
    /// The system refused memory for a function pointer made at run time.
    public static let noExecutableMemory = Code("noExecutableMemory")
  }

  /// What kind of fault it is.
  public let code: Code

  /// The name of the selector, or nil if none is concerned.
  public let selector: String?

  /// What was given, what was expected, and where.
  public let description: String

  package init(_ code: Code, selector: String? = nil, _ description: String) {
    self.code = code
    self.selector = selector
    self.description = description
  }
}

// MARK: - From the layers below

extension ForwardingError {
  /// Takes over what the shim said about a selector.
  internal init(_ error: fwd_error, selector: String?) {
    self.init(Code(error.status), selector: selector, error.text)
  }

  /// Takes over what is wrong with a table.
  internal init(_ error: TableError) {
    switch error.code {
    case .missingMethod: self.init(.missingMethod, selector: error.selector, error.description)
    case .signatureMismatch:
      self.init(.signatureMismatch, selector: error.selector, error.description)
    case .outOfMemory: self.init(.outOfMemory, selector: error.selector, error.description)
    default: self.init(.invalidTable, selector: error.selector, error.description)
    }
  }

  /// Takes over what is wrong with an argument or a result.
  internal init(_ error: InvocationError) {
    let code: Code =
      switch error.code {
      case .wrongSize: .wrongSize
      case .wrongArgumentCount, .indexOutOfRange: .wrongArgumentCount
      case .nullPointer: .nullPointer
      case .outOfMemory: .outOfMemory
      case .noExecutableMemory: .noExecutableMemory
      default: .typeMismatch
      }
    self.init(code, selector: error.selector, error.description)
  }
}

extension ForwardingError.Code {
  /// The code that stands for a status of the shim.
  fileprivate init(_ status: fwd_status) {
    self =
      switch status {
      case FWD_UNKNOWN_SELECTOR: .unknownSelector
      case FWD_NO_RESPONDER: .noResponder
      case FWD_WRONG_SIZE: .wrongSize
      case FWD_OUT_OF_RANGE: .wrongArgumentCount
      case FWD_NULL_ARGUMENT: .nullPointer
      case FWD_TYPE_MISMATCH: .typeMismatch
      case FWD_NO_MEMORY: .outOfMemory
      case FWD_NESTED_TOO_DEEP: .nestedTooDeep
      case FWD_NO_EXECUTABLE_MEMORY: .noExecutableMemory
      case FWD_SIGNATURE_MISMATCH: .signatureMismatch
      case FWD_MISSING_METHOD: .missingMethod
      case FWD_NOT_SUBSCRIBED: .notSubscribed
      case FWD_DUPLICATE: .duplicate
      case FWD_CYCLE: .cycle
      case FWD_DEAD: .dead
      default: .deliveryFailed
      }
  }

  /// The status that tells a C caller the same.
  internal var status: fwd_status {
    switch self {
    case .unknownSelector: FWD_UNKNOWN_SELECTOR
    case .noResponder: FWD_NO_RESPONDER
    case .wrongSize: FWD_WRONG_SIZE
    case .wrongArgumentCount, .indexOutOfRange, .invalidLimit: FWD_OUT_OF_RANGE
    case .nullPointer: FWD_NULL_ARGUMENT
    case .typeMismatch: FWD_TYPE_MISMATCH
    case .outOfMemory: FWD_NO_MEMORY
    case .nestedTooDeep: FWD_NESTED_TOO_DEEP
    case .noExecutableMemory: FWD_NO_EXECUTABLE_MEMORY
    case .signatureMismatch: FWD_SIGNATURE_MISMATCH
    case .missingMethod, .emptyTable: FWD_MISSING_METHOD
    case .notSubscribed: FWD_NOT_SUBSCRIBED
    case .duplicate: FWD_DUPLICATE
    case .cycle: FWD_CYCLE
    case .dead: FWD_DEAD
    case .invalidTable: FWD_MALFORMED
    default: FWD_DELIVERY_FAILED
    }
  }
}

// MARK: - Conformances

extension ForwardingError: CustomStringConvertible {}

extension ForwardingError.Code: CustomStringConvertible {
  /// The name of the code.
  public var description: String { name }
}

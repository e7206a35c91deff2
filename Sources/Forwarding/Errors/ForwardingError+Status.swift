// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

// MARK: - From C

extension ForwardingError {
  /// Makes an error of what the C target said about `encoding`.
  internal init(_ error: fwd_error, encoding: String) {
    // The C target takes an empty name of a stated layout for a missing one.
    let code = error.status == FWD_NULL_ARGUMENT ? .wrongLayout : Code(error.status) ?? .malformed
    self.init(code, encoding: encoding, offset: Int(clamping: error.offset), error.text)
  }

  /// Makes an error of what the C target said about a method.
  internal init(_ error: fwd_error, selector: String?) {
    self.init(Code(error.status) ?? .deliveryFailed, selector: selector, error.text)
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

// MARK: - Statuses

extension ForwardingError.Code {
  /// The code that stands for a status; nil if there is none.
  fileprivate init?(_ status: fwd_status) {
    switch status {
    case FWD_MALFORMED: self = .malformed
    case FWD_UNSUPPORTED: self = .unsupported
    case FWD_OVERFLOW: self = .overflow
    case FWD_TOO_DEEP: self = .tooDeep
    case FWD_WRONG_LAYOUT: self = .wrongLayout
    case FWD_NULL_ARGUMENT: self = .nullPointer
    case FWD_OUT_OF_RANGE: self = .wrongArgumentCount
    case FWD_WRONG_SIZE: self = .wrongSize
    case FWD_TYPE_MISMATCH: self = .typeMismatch
    case FWD_NO_MEMORY: self = .outOfMemory
    case FWD_NO_EXECUTABLE_MEMORY: self = .noExecutableMemory
    case FWD_NO_RECEIVER: self = .noReceiver
    case FWD_UNKNOWN_SELECTOR: self = .unknownSelector
    case FWD_NO_RESPONDER: self = .noResponder
    case FWD_NESTED_TOO_DEEP: self = .nestedTooDeep
    case FWD_SIGNATURE_MISMATCH: self = .signatureMismatch
    case FWD_MISSING_METHOD: self = .missingMethod
    case FWD_CONFLICT: self = .conflict
    case FWD_NOT_SUBSCRIBED: self = .notSubscribed
    case FWD_DUPLICATE: self = .duplicate
    case FWD_CYCLE: self = .cycle
    case FWD_DEAD: self = .dead
    case FWD_NOT_ALLOWED: self = .notMailable
    default: return nil
    }
  }

  /// The status that tells a C caller the same.
  internal var status: fwd_status {
    switch self {
    case .malformed, .noEncoding, .wrongProtocolCount: FWD_MALFORMED
    case .unsupported, .libraryNotLoaded, .symbolNotFound: FWD_UNSUPPORTED
    case .overflow: FWD_OVERFLOW
    case .tooDeep: FWD_TOO_DEEP
    case .wrongLayout: FWD_WRONG_LAYOUT
    case .nullPointer, .invalidName: FWD_NULL_ARGUMENT
    case .indexOutOfRange, .wrongArgumentCount, .invalidLimit: FWD_OUT_OF_RANGE
    case .wrongSize: FWD_WRONG_SIZE
    case .typeMismatch, .policyMismatch, .valueNotRepresentable, .receiverMissing, .noResult:
      FWD_TYPE_MISMATCH
    case .outOfMemory: FWD_NO_MEMORY
    case .noExecutableMemory: FWD_NO_EXECUTABLE_MEMORY
    case .noReceiver: FWD_NO_RECEIVER
    case .unknownSelector: FWD_UNKNOWN_SELECTOR
    case .noResponder: FWD_NO_RESPONDER
    case .nestedTooDeep: FWD_NESTED_TOO_DEEP
    case .signatureMismatch: FWD_SIGNATURE_MISMATCH
    case .missingMethod, .emptyTable: FWD_MISSING_METHOD
    case .conflict: FWD_CONFLICT
    case .notSubscribed: FWD_NOT_SUBSCRIBED
    case .duplicate: FWD_DUPLICATE
    case .cycle: FWD_CYCLE
    case .dead: FWD_DEAD
    case .notMailable: FWD_NOT_ALLOWED
    case .deliveryFailed, .repeatedReply, .slotTaken: FWD_DELIVERY_FAILED
    }
  }

  /// The status for an error in a table that a C caller passes: a method that
  /// is there twice is a conflict.
  internal var tableStatus: fwd_status { self == .duplicate ? FWD_CONFLICT : status }
}

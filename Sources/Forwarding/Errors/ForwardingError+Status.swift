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
  ///
  /// - Parameter detail: The detail of the thread's last error, if that is the error.
  internal init(_ error: fwd_error, selector: String?, detail: fwd_error_detail = 0) {
    let number = Int(detail & 0xff) - 1
    guard error.status == FWD_DELIVERY_FAILED, Self.valueCodes.indices.contains(number) else {
      self.init(Code(error.status) ?? .deliveryFailed, selector: selector, error.text)
      return
    }
    let index = Int(truncatingIfNeeded: detail >> 8) - 1
    self.init(
      ofDelivery: Self.valueCodes[number], selector: selector,
      argumentIndex: index < 0 ? nil : index, error.text)
  }
}

// MARK: - Through C

extension ForwardingError {
  /// The codes of a value that a closure could not take.
  private static let valueCodes: [Code] = [.nullPointer, .typeMismatch, .valueNotRepresentable]

  /// The code and the argument of a value that a closure could not take, as the C target
  /// passes them on beside FWD_DELIVERY_FAILED; 0 for other errors.
  internal var detail: fwd_error_detail {
    guard let number = Self.valueCodes.firstIndex(of: code) else { return 0 }
    return fwd_error_detail((argumentIndex ?? -1) + 1) << 8 | fwd_error_detail(number + 1)
  }

  /// The error of a delivery to a closure that has thrown this error, as the C target
  /// makes it where it calls the closure.
  internal func ofDelivery(_ selector: String) -> ForwardingError {
    guard Self.valueCodes.contains(code) else {
      return ForwardingError(.deliveryFailed, selector: selector, description)
    }
    return ForwardingError(
      ofDelivery: code, selector: selector, argumentIndex: argumentIndex, description)
  }

  /// The status that tells a C caller the same.
  internal var status: fwd_status { isOfDelivery ? FWD_DELIVERY_FAILED : code.status }
}

/// Sets the thread's last error to a failed delivery, and fills `error` unless that is nil.
/// The code and the argument of a value that a closure could not take are kept for Swift.
@unsafe internal func failDelivery(
  _ error: UnsafeMutablePointer<fwd_error>?, _ failure: ForwardingError
) -> fwd_status {
  let status = unsafe fwd_error_set(error, FWD_DELIVERY_FAILED, 0, failure.description)
  fwd_error_set_detail(failure.detail)
  return status
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

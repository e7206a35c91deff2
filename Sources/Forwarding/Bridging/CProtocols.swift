// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The names are those of forwarding.h.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CForwarding

// Protocol tables for forwarding.h, which documents these functions.

/// Registers a protocol table by name; see `forwarding.h`.
@c @implementation
public func fwd_protocol_register(
  _ name: UnsafePointer<CChar>?, _ requirements: UnsafePointer<fwd_requirement>?, _ count: Int,
  _ table: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<fwd_error>?
) -> fwd_status {
  guard let name = unsafe name, unsafe requirements != nil || count == 0 else {
    return unsafe fail(
      error, FWD_NULL_ARGUMENT,
      "fwd_protocol_register: no \(unsafe name == nil ? "name" : "requirements")")
  }
  do throws(TableError) {
    var missing: Int?
    // SAFETY: the caller gives `count` requirements, whose strings end with a
    // NUL.
    let made = try ProtocolTable(unsafe String(cString: name)) { builder in
      for index in 0..<count {
        let requirement = unsafe requirements![index]
        guard let selector = unsafe requirement.selector, let encoding = unsafe requirement.encoding
        else {
          missing = missing ?? index
          continue
        }
        unsafe builder.add(
          String(cString: selector), String(cString: encoding), isRequired: requirement.required)
      }
    }
    if let missing {
      return unsafe fail(
        error, FWD_NULL_ARGUMENT,
        "fwd_protocol_register: requirement \(missing) has no selector or no encoding",
        offset: missing)
    }
    let registered = try made.register()
    // SAFETY: the registry keeps the table for the life of the process.
    unsafe table?.pointee = OpaquePointer(Unmanaged.passUnretained(registered).toOpaque())
    return FWD_OK
  } catch let failure {
    return unsafe fail(error, failure.status, failure.description)
  }
}

/// Gives a registered protocol table; see `forwarding.h`.
@c @implementation
public func fwd_protocol_find(_ name: UnsafePointer<CChar>?) -> OpaquePointer? {
  // SAFETY: the caller's string ends with a NUL; the registry keeps tables for
  // the life of the process.
  guard let name = unsafe name, let table = ProtocolTable.named(unsafe String(cString: name))
  else { return nil }
  return unsafe OpaquePointer(Unmanaged.passUnretained(table).toOpaque())
}

// MARK: - Errors

/// Fills a C caller's error and the thread's message, and gives the status.
@unsafe internal func fail(
  _ error: UnsafeMutablePointer<fwd_error>?, _ status: fwd_status, _ message: String,
  offset: Int = 0
) -> fwd_status {
  // SAFETY: the error is the caller's, or nil.
  unsafe fwd_error_set(error, status, offset, message)
}

extension TableError {
  /// The status that tells a C caller the same.
  internal var status: fwd_status {
    switch code {
    case .conflict, .duplicate: FWD_CONFLICT
    case .noReceiver: FWD_NO_RECEIVER
    case .signatureMismatch: FWD_SIGNATURE_MISMATCH
    case .policyMismatch: FWD_TYPE_MISMATCH
    case .missingMethod: FWD_MISSING_METHOD
    case .unknownMethod: FWD_UNKNOWN_SELECTOR
    case .nullPointer, .invalidName: FWD_NULL_ARGUMENT
    case .outOfMemory: FWD_NO_MEMORY
    default: encodingError?.status ?? FWD_MALFORMED
    }
  }
}

extension EncodingError {
  /// The status that tells a C caller the same.
  fileprivate var status: fwd_status {
    switch code {
    case .unsupported: FWD_UNSUPPORTED
    case .overflow: FWD_OVERFLOW
    case .tooDeep: FWD_TOO_DEEP
    case .outOfMemory: FWD_NO_MEMORY
    default: FWD_MALFORMED
    }
  }
}

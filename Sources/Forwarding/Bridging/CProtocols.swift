// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The names are those of forwarding.h.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

package import CForwarding
internal import CForwardingInternal

// Protocol tables for forwarding.h, which documents these functions.

/// Registers a protocol table by name; see `forwarding.h`.
@c @implementation
package func fwd_protocol_register(
  _ name: UnsafePointer<CChar>?, _ requirements: UnsafePointer<fwd_requirement>?, _ count: Int,
  _ table: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<fwd_error>?
) -> fwd_status {
  unsafe fwd_protocol_register_stating(name, requirements, count, nil, 0, table, error)
}

/// Registers a protocol table with stated layouts; see `forwarding.h`.
@c @implementation
package func fwd_protocol_register_stating(
  _ name: UnsafePointer<CChar>?, _ requirements: UnsafePointer<fwd_requirement>?, _ count: Int,
  _ stated: UnsafePointer<fwd_stated_layout>?, _ statedCount: Int,
  _ table: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<fwd_error>?
) -> fwd_status {
  guard let name = unsafe name else {
    return unsafe fail(error, FWD_NULL_ARGUMENT, "fwd_protocol_register: no name")
  }
  // SAFETY: the name ends with a NUL.
  guard let name = unsafe String(validatingCString: name) else {
    return unsafe fail(error, FWD_MALFORMED, "fwd_protocol_register: the name is not UTF-8")
  }
  for (number, what) in [(count, "requirements"), (statedCount, "stated layouts")] {
    if let tooMany = unsafe failHuge(error, number, "protocol \"\(name)\": the count of \(what)") {
      return tooMany
    }
  }
  do throws(ForwardingError) {
    // SAFETY: the caller gives as many requirements and layouts as it says.
    let layouts = try unsafe layouts(stated, statedCount, of: name)
    let made = try unsafe ProtocolTable(
      name, unsafeRequirements: requirements, count: count, stating: layouts)
    let registered = try made.register()
    // SAFETY: the registry keeps the table for the life of the process.
    unsafe table?.pointee = OpaquePointer(Unmanaged.passUnretained(registered).toOpaque())
    return FWD_OK
  } catch let failure {
    return unsafe fail(error, failure, status: failure.code.tableStatus)
  }
}

/// Copies the layouts that a C program states for a protocol.
@unsafe private func layouts(
  _ stated: UnsafePointer<fwd_stated_layout>?, _ count: Int, of name: String
) throws(ForwardingError) -> [StatedLayout] {
  guard unsafe stated != nil || count == 0 else {
    throw ForwardingError(
      .nullPointer, table: name,
      "protocol \"\(name)\" has \(UInt(bitPattern: count)) stated layouts at NULL")
  }
  var layouts: [StatedLayout] = []
  // SAFETY: the caller gives `count` layouts.
  for index in 0..<count { layouts.append(try unsafe StatedLayout(stated![index])) }
  return layouts
}

extension ProtocolTable {
  /// Declares a protocol from an array of C structs, as `forwarding.h` has
  /// them.
  ///
  /// - Parameters:
  ///   - name: the protocol's name.
  ///   - requirements: the array, whose strings are copied.
  ///   - count: the number of requirements.
  ///   - stated: the layouts of structs and unions in their encodings.
  /// - Throws: `ForwardingError`, as `init(_:inheriting:_:)`, and `nullPointer`
  ///   for a selector or an encoding that is null.
  @unsafe internal convenience init(
    _ name: String, unsafeRequirements requirements: UnsafePointer<fwd_requirement>?, count: Int,
    stating stated: [StatedLayout] = []
  ) throws(ForwardingError) {
    guard unsafe requirements != nil || count == 0 else {
      throw ForwardingError(
        .nullPointer, table: name,
        "protocol \"\(name)\" has \(UInt(bitPattern: count)) requirements at NULL")
    }
    var declarations: [(selector: String, encoding: String, isRequired: Bool)] = []
    for index in 0..<count {
      // SAFETY: the caller gives `count` requirements, whose strings end with
      // NULs.
      let requirement = unsafe requirements![index]
      let place = "requirement \(index) of protocol \"\(name)\""
      declarations.append(
        (
          try unsafe text(requirement.selector, "the selector of \(place)"),
          try unsafe text(requirement.encoding, "the encoding of \(place)"),
          unsafe requirement.required
        ))
    }
    for layout in stated where !declarations.contains(where: { layout.isNamed(in: $0.encoding) }) {
      throw ForwardingError(
        .wrongLayout, table: name,
        """
        protocol "\(name)" states a layout of "\(layout.name)", which none of its encodings has
        """)
    }
    try self.init(name) { builder in
      for declaration in declarations {
        builder.add(
          declaration.selector, declaration.encoding,
          stated.filter { $0.isNamed(in: declaration.encoding) },
          isRequired: declaration.isRequired)
      }
    }
  }
}

/// The text of a C string.
///
/// - Throws: `ForwardingError` if it is null or not UTF-8: it would not be the
///   name that C knows.
@unsafe internal func text(
  _ string: UnsafePointer<CChar>?, _ place: String
) throws(ForwardingError) -> String {
  guard let string = unsafe string else {
    throw ForwardingError(.nullPointer, "\(place) is NULL")
  }
  // SAFETY: the caller says that the string ends with a NUL.
  guard let text = unsafe String(validatingCString: string) else {
    throw ForwardingError(.malformed, "\(place) is not UTF-8")
  }
  return text
}

/// Gives a registered protocol table; see `forwarding.h`.
@c @implementation
package func fwd_protocol_find(_ name: UnsafePointer<CChar>?) -> OpaquePointer? {
  // SAFETY: the caller's string ends with a NUL; the registry keeps tables for
  // the life of the process.
  guard let name = unsafe name, let text = unsafe String(validatingCString: name),
    let table = ProtocolTable.named(text)
  else { return nil }
  return unsafe OpaquePointer(Unmanaged.passUnretained(table).toOpaque())
}

// MARK: - Errors

/// Fills a C caller's error and the thread's message, and returns the status.
@unsafe internal func fail(
  _ error: UnsafeMutablePointer<fwd_error>?, _ status: fwd_status, _ message: String,
  offset: Int = 0
) -> fwd_status {
  // SAFETY: the error is the caller's, or nil.
  unsafe fwd_error_set(error, status, offset, message)
}

/// Fills a C caller's error and the thread's message with a Swift error. Returns
/// `status`, or if that is nil, the status of the error's code.
@unsafe internal func fail(
  _ error: UnsafeMutablePointer<fwd_error>?, _ failure: ForwardingError,
  status: fwd_status? = nil
) -> fwd_status {
  unsafe fail(
    error, status ?? failure.status, failure.description, offset: failure.offset ?? 0)
}

/// Fails if a C caller's `size_t` does not fit into an `Int`; nil if it does.
@unsafe internal func failHuge(
  _ error: UnsafeMutablePointer<fwd_error>?, _ number: Int, _ what: String
) -> fwd_status? {
  if number >= 0 { return nil }
  return unsafe fail(
    error, FWD_OUT_OF_RANGE, "\(what) is \(UInt(bitPattern: number)), expected at most \(Int.max)")
}

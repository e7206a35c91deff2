// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The interned name of a method, such as `visit:kind:`.
///
/// *Interned* means that each name is stored once, so that comparing selectors
/// compares two pointers. A name stays in memory as long as the process.
///
/// ```swift
/// let visit: MethodSelector = "visit:kind:"
/// let other = try MethodSelector(validating: nameFromOutside)
/// ```
@safe public struct MethodSelector: @unchecked Sendable {
  // Sendable: the handle refers to memory that is immutable and never freed.
  private let interned: Interned

  internal var handle: OpaquePointer { unsafe interned.handle }

  /// Creates a selector from one that the C target has interned.
  internal init(handle: OpaquePointer) {
    interned = unsafe Interned(handle: handle)
  }

  /// Interns a name.
  ///
  /// - Throws: `ForwardingError` with the code `invalidName` if the name is
  ///   empty, contains a NUL, or is longer than 65,535 bytes in UTF-8, and with
  ///   the code `outOfMemory`.
  /// - Complexity: O(*n*) in the length of the name.
  public init(validating name: String) throws(ForwardingError) {
    // Most names are interned already. An invalid name never is.
    if let found = MethodSelector(known: name) {
      self = found
      return
    }
    let length = name.utf8.count
    guard length > 0 && length <= MethodSelector.lengthLimit && !name.utf8.contains(0) else {
      throw ForwardingError(
        .invalidName, expected: "1 to \(MethodSelector.lengthLimit) bytes, none of them zero",
        actual: length > 100 ? "\(length) bytes" : String(reflecting: name))
    }
    // SAFETY: the string ends with a NUL and is copied.
    guard let handle = unsafe fwd_selector_register(name) else {
      throw ForwardingError(.outOfMemory, selector: name, actual: "no memory for a selector")
    }
    interned = unsafe Interned(handle: handle)
  }

  /// Returns the selector of a name that is interned already; nil if it is not.
  /// For names from outside: unlike ``init(validating:)`` it keeps nothing in
  /// memory.
  ///
  /// ```swift
  /// guard let selector = MethodSelector(known: name) else { return }   // no protocol declares it
  /// try proxy.method(for: selector).forward(frame: bytes)
  /// ```
  ///
  /// - Complexity: O(*n*) in the length of the name.
  public init?(known name: String) {
    var utf8 = name
    // SAFETY: the bytes are valid during the call.
    let found = utf8.withUTF8 { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
        unsafe bytes.baseAddress.flatMap { unsafe fwd_selector_find_bytes($0, bytes.count) }
      }
    }
    guard let found = unsafe found else { return nil }
    unsafe self.init(handle: found)
  }

  /// The name.
  ///
  /// - Complexity: O(*n*) in its length.
  public var name: String {
    // SAFETY: the interned name ends with a NUL and is never freed.
    unsafe String(cString: fwd_selector_name(handle))
  }

  /// The length in bytes of the longest name that the C target interns.
  private static let lengthLimit = 65_535
}

// MARK: - Conformances

// Each name is interned once, so selectors are equal if their handles are.
extension MethodSelector: Hashable {
  @safe fileprivate struct Interned: Hashable {
    let handle: OpaquePointer

    static func == (left: Interned, right: Interned) -> Bool {
      // SAFETY: the handles are compared, not read.
      unsafe left.handle == right.handle
    }

    func hash(into hasher: inout Hasher) {
      // SAFETY: the handle is hashed, not read.
      unsafe hasher.combine(handle)
    }
  }
}

extension MethodSelector: ExpressibleByStringLiteral {
  /// Interns a literal. It must not be empty, contain a NUL, or be longer than
  /// 65,535 bytes in UTF-8, or the program ends. For a name from outside use
  /// ``init(validating:)``.
  ///
  /// - Complexity: O(*n*) in the length of the name.
  public init(stringLiteral name: String) {
    do throws(ForwardingError) {
      try self.init(validating: name)
    } catch {
      preconditionFailure(error.description)
    }
  }
}

extension MethodSelector: CustomStringConvertible {
  /// The name.
  public var description: String { name }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A shared library, opened by name at run time, whose C functions can be called.
///
/// ```swift
/// let math = try Library("libm.so.6")
/// let power = try unsafe math.function("pow", as: ((Double, Double) -> Double).self)
/// let eight = try power(2, 3)
/// ```
///
/// Libraries stay open for the life of the process, so that no pointer into one
/// becomes invalid. A library that is opened twice is loaded once.
///
/// The library's constructors run when it is opened: open only what you trust.
@safe public struct Library: @unchecked Sendable {
  // Sendable: the loader may be asked on any thread.

  private let handle: UnsafeMutableRawPointer
  private let name: String?

  /// Opens a library.
  ///
  /// - Parameter name: a name without a slash, which the loader looks for where
  ///   it looks for the libraries of programs (`"libm.so.6"`), or the path of a
  ///   file. By default the program itself, with all libraries that it was linked
  ///   with.
  /// - Throws: `ForwardingError` with the code `libraryNotLoaded`, with the
  ///   loader's reason; `invalidName` for an empty name, or one with a NUL.
  public init(_ name: String? = nil) throws(ForwardingError) {
    if let name { try Self.check(name, "a library") }
    var error = fwd_error()
    let handle =
      if let name {
        // SAFETY: the string is valid during the call.
        unsafe name.withCString { unsafe fwd_library_open($0, &error) }
      } else {
        unsafe fwd_library_open(nil, &error)
      }
    guard let handle = unsafe handle else {
      throw ForwardingError(
        .libraryNotLoaded, "the library \(Self.quoted(name)) was not loaded: \(error.text)")
    }
    unsafe self.handle = handle
    self.name = name
  }

  /// The address of a C function, valid for the life of the process.
  ///
  /// ```swift
  /// let format = try unsafe Library().symbol("snprintf")
  /// let signature = try MethodSignature("i^cQ*...d")   // the double is an unnamed argument
  /// let length: Int32 = try unsafe signature.unsafeCall(format, room, capacity, "%.2f", 2.5)
  /// ```
  ///
  /// - Parameter symbol: the name of the function, as a C program writes it. A
  ///   version of it is named after an `@`: `"memcpy@GLIBC_2.14"`.
  /// - Throws: `ForwardingError` with the code `symbolNotFound`, with the loader's
  ///   reason, or because the symbol is a variable; `invalidName` for an
  ///   empty name, or one with a NUL.
  @unsafe public func symbol(_ symbol: String) throws(ForwardingError) -> UnsafeRawPointer {
    try Self.check(symbol, "a symbol")
    let parts = symbol.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    var error = fwd_error()
    // SAFETY: the strings are valid during the call.
    let address = unsafe String(parts[0]).withCString { name in
      guard parts.count == 2 else { return unsafe fwd_library_function(handle, name, nil, &error) }
      // `@@` marks the default version in the tools' lists.
      return unsafe String(parts[1].drop { $0 == "@" }).withCString {
        unsafe fwd_library_function(handle, name, $0, &error)
      }
    }
    if let address = unsafe address { return UnsafeRawPointer(address) }
    throw ForwardingError(
      .symbolNotFound,
      "the library \(Self.quoted(name)) has no function \"\(symbol)\": \(error.text)")
  }

  /// A C function, as a closure that calls it.
  ///
  /// The caller promises that the function has these types. This cannot be checked.
  /// <doc:SwiftTypes> lists which Swift type stands for which C type. A `String`
  /// is passed as a C string, by copy. After a call, `errno` has the value that
  /// the function has set.
  ///
  /// - Parameters:
  ///   - symbol: the name of the function; see ``symbol(_:)``.
  ///   - type: the type of a Swift function with the same parameters and result:
  ///     `((Double) -> Double).self`.
  /// - Returns: the function. It throws what
  ///   ``MethodSignature/unsafeCall(_:_:as:)`` throws for a value, such as a
  ///   `String` with a NUL, or a null result that is not optional.
  /// - Throws: `ForwardingError` as ``symbol(_:)``; with the code `noEncoding` for
  ///   a type that has none; as ``MethodSignature/init(_:stating:)``.
  @unsafe public func function<Output, each Argument>(
    _ symbol: String,
    as type: ((repeat each Argument) -> Output).Type = ((repeat each Argument) -> Output).self
  ) throws(ForwardingError) -> @Sendable (repeat each Argument) throws(ForwardingError) -> Output {
    let signature = try Self.signature(symbol, Output.self, repeat (each Argument).self)
    // An address: it is valid for the life of the process.
    let address = try unsafe UInt(bitPattern: self.symbol(symbol))
    return { (values: repeat each Argument) throws(ForwardingError) -> Output in
      // SAFETY: the caller of `function` promised that the types are the
      // function's.
      try unsafe signature.unsafeCall(address, repeat each values)
    }
  }
}

extension Library {
  private static func check(_ name: String, _ what: String) throws(ForwardingError) {
    if name.isEmpty { throw ForwardingError(.invalidName, "the name of \(what) is empty") }
    guard name.utf8.contains(0) else { return }
    throw ForwardingError(
      .invalidName, "the name of \(what) is \"\(name.prefix { $0 != "\0" })\" and a NUL behind it")
  }

  private static func quoted(_ name: String?) -> String {
    name.map { "\"\($0)\"" } ?? "of the program itself"
  }

  /// The signature of a function with some types.
  private static func signature<Output, each Argument>(
    _ symbol: String, _: Output.Type, _: repeat (each Argument).Type
  ) throws(ForwardingError) -> MethodSignature {
    var types: [Any.Type] = []
    repeat types.append((each Argument).self)
    let derived = try DerivedEncodings(Output.self, types, of: "the function \"\(symbol)\"")
    return try MethodSignature(
      derived.result + derived.parameters.joined(), stating: derived.statedLayouts)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A method key: a selector together with the Swift types of the method's
/// parameters and result, which the compiler checks wherever the key is used.
///
/// Declare the methods of a protocol as static constants:
///
/// ```swift
/// enum Visitor {
///   static let visit = Method(
///     "visit:status:kind:", ((UnsafePointer<CChar>, UnsafePointer<stat>?, Int32) -> Int32).self)
///   static let finished = Method("finished:", ((Int64) -> Void).self)
/// }
///
/// let proxy = try DynamicProxy {
///   $0.required(Visitor.visit, result: .untilNonzero)
///   $0.optional(Visitor.finished)
/// }
/// let subscription = try proxy.subscribe(owner) {
///   $0.on(Visitor.visit) { owner, path, status, kind in owner.visit(path, kind) }
/// }
/// let stop = try proxy.send(Visitor.visit, path, status, 3)   // an Int32
/// ```
///
/// The key's ``signature`` is derived from the types, as <doc:SwiftTypes> lists
/// them. A key fits each method of its name whose signature has types that its
/// Swift types may stand for, also if the protocol was declared with encodings
/// or in C. Whether it does is checked when the key is first used with a proxy.
///
/// ## Limits
///
/// - A type may be any, so that classes and C functions can be among them. A key
///   with a type that has no encoding can be made; the table that is declared
///   with it, and ``signature``, throw the error.
/// - `&value` cannot be passed to `send` for a pointer parameter: the compiler
///   does not convert it in a parameter pack. Use `withUnsafePointer(to:)`.
/// - Functions that are `async` or throw, and `inout` parameters, do not compile.
@safe public struct Method<Output, each Argument>: Sendable {
  /// The name of the method.
  public let selector: MethodSelector

  /// What was derived from the types. Shared by all keys of one selector and the
  /// same types, and never freed.
  @usableFromInline internal let derived: Unmanaged<DerivedMethod>

  /// Whether a tuple of the arguments can be the frame of a send.
  @usableFromInline internal let isDirect: Bool

  /// Creates a key.
  ///
  /// - Parameters:
  ///   - selector: the name. A literal must be a valid name, see
  ///     ``MethodSelector/init(stringLiteral:)``; make a name from outside with
  ///     ``MethodSelector/init(validating:)``.
  ///   - type: the type of a Swift function with the method's parameters and
  ///     result, without the receiver: `((Int64) -> Void).self`.
  /// - Complexity: O(*n*) in the number of parameters. What is derived from the
  ///   types is kept for the life of the process.
  public init(_ selector: MethodSelector, _ type: ((repeat each Argument) -> Output).Type) {
    self.selector = selector
    let derived = DerivedMethod.interned(selector, Output.self, repeat (each Argument).self)
    unsafe self.derived = .passUnretained(derived)
    isDirect = derived.directPlaces != nil
  }
}

extension Method {
  /// The signature: the result, an object as the receiver, then the parameters.
  ///
  /// ```swift
  /// try Visitor.visit.signature.description   // "i@r*r^{stat}i"
  /// ```
  ///
  /// Functions take the selector behind the receiver only if the first parameter
  /// is a ``MethodSelector``: the encoding could not tell it from that.
  ///
  /// - Throws: `ForwardingError` with the code `noEncoding` if a type has no encoding;
  ///   the message names the parameter.
  public var signature: MethodSignature {
    get throws(ForwardingError) { try derivation.signature.get() }
  }

  /// Names the selector and the types.
  @usableFromInline internal var token: UInt { unsafe UInt(bitPattern: derived.toOpaque()) }

  /// The Swift types, for errors.
  internal var typeName: String { String(describing: ((repeat each Argument) -> Output).self) }

  internal var derivation: DerivedMethod {
    // SAFETY: interned objects are never freed.
    unsafe derived.takeUnretainedValue()
  }
}

// MARK: - Conformances

extension Method: CustomStringConvertible {
  /// The selector and the Swift types.
  public var description: String {
    "\(selector) \(typeName)"
  }
}

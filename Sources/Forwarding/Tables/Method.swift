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
/// A string literal is a key, too. The compiler takes its types from the
/// context: the arguments and the result of a send, or the parameters of a
/// closure. They must be exactly the method's, so numbers often need their type:
///
/// ```swift
/// let stop = try proxy.send("visit:status:kind:", path, status, Int32(3)) as Int32
/// try proxy.send("finished:", Int64(12))
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

  /// The values derived from the types. Shared by all keys of one selector and the
  /// same types, and never freed.
  @usableFromInline internal let derived: Unmanaged<DerivedMethod>

  /// How a send passes its arguments.
  @usableFromInline internal let passing: ArgumentPassing

  /// Whether the key has its types from the context, as a string literal has: those
  /// of the closure that it stands beside, which may leave out the last parameters.
  @usableFromInline internal let hasTypesOfContext: Bool

  /// Creates a key.
  ///
  /// ```swift
  /// static let finished = Method("finished:", ((Int64) -> Void).self)
  /// let stop = try proxy.send(Method(selector), path, 3) as Int32   // types from the context
  /// $0.on(Method(selector)) { (owner: Counter) in owner.count += 1 }
  /// ```
  ///
  /// Where `type` is left out, as in the last two lines, a closure may leave out the
  /// last parameters of the method, also if a type annotation gives the key's type.
  ///
  /// - Parameters:
  ///   - selector: the name. A literal must be a valid name, see
  ///     ``MethodSelector/init(stringLiteral:)``; make a name from outside with
  ///     ``MethodSelector/init(validating:)``.
  ///   - type: the type of a Swift function with the method's parameters and
  ///     result, without the receiver: `((Int64) -> Void).self`. By default the
  ///     type that the context gives.
  /// - Complexity: O(*n*) in the number of parameters. What is derived from the
  ///   types is kept for the life of the process.
  @inlinable
  public init(
    _ selector: MethodSelector,
    _ type: ((repeat each Argument) -> Output).Type? = nil
  ) {
    unsafe self.init(
      DerivedMethod.interned(selector, Output.self, repeat (each Argument).self),
      hasTypesOfContext: type == nil)
  }

  @usableFromInline
  internal init(_ derived: Unmanaged<DerivedMethod>, hasTypesOfContext: Bool) {
    self.hasTypesOfContext = hasTypesOfContext
    unsafe self.derived = derived
    // SAFETY: interned objects are never freed.
    (selector, passing) = unsafe derived._withUnsafeGuaranteedRef {
      ($0.selector, $0.passing)
    }
  }
}

/// How a send passes its arguments.
@usableFromInline
internal enum ArgumentPassing: Sendable {
  /// A tuple of the arguments is the argument frame.
  case tuple
  /// The key's `FramePlan` makes a frame from a tuple of the arguments.
  case frame
  /// Each argument is written with its type at hand.
  case each
}

extension DerivedMethod {
  fileprivate var passing: ArgumentPassing {
    guard let frames else { return .each }
    return frames.isTuple ? .tuple : .frame
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

extension Method: ExpressibleByStringLiteral {
  /// Creates a key from a literal, with the types that the context gives.
  ///
  /// ```swift
  /// let stop = try proxy.send("visit:kind:", path, Int32(3)) as Int32
  /// ```
  ///
  /// The literal must be a valid name, see ``MethodSelector/init(stringLiteral:)``. The key
  /// is looked up each time that the expression is evaluated, which takes some
  /// nanoseconds; a key in a `static let` is not looked up.
  // Inlinable, so that the type is a constant where the caller knows it.
  @inlinable
  public init(stringLiteral name: StaticString) {
    let type = ObjectIdentifier(((repeat each Argument) -> Output).self)
    if let known = unsafe DerivedMethod.known(name, type) {
      unsafe self.init(known, hasTypesOfContext: true)
    } else {
      let made = unsafe DerivedMethod.interned(
        MethodSelector(stringLiteral: name.description), Output.self, repeat (each Argument).self)
      unsafe DerivedMethod.remember(name, type, made)
      unsafe self.init(made, hasTypesOfContext: true)
    }
  }
}

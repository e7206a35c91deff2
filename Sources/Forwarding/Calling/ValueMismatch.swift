// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Says why a value of a Swift type has no place in a slot, or why a slot holds
/// no value of it. What is missing for a `ForwardingError` is the place, which
/// only the caller knows.
@usableFromInline
internal struct ValueMismatch: Error, Equatable {
  internal let code: ForwardingError.Code
  internal let expected: String
  internal let actual: String
  /// The word before `expected` if the types do not match.
  internal var verb = "is"
}

extension ValueMismatch {
  /// The type `given` has no place in a slot of `encoding`.
  internal static func type(
    _ given: Any.Type, in encoding: TypeEncoding, because reason: String = ""
  ) -> ValueMismatch {
    ValueMismatch(
      code: .typeMismatch, expected: encoding.inWords, actual: String(describing: given) + reason)
  }

  /// The slot of a Bool is neither 0 nor 1.
  internal static func byte(_ given: UInt8) -> ValueMismatch {
    ValueMismatch(
      code: .valueNotRepresentable, expected: "Bool: expected 0 or 1", actual: "the byte \(given)")
  }

  /// The slot holds an object of another class.
  internal static func object(_ given: AnyObject, expected: Any.Type) -> ValueMismatch {
    ValueMismatch(
      code: .typeMismatch, expected: "an object of class \(expected)",
      actual: "one of class \(Swift.type(of: given))", verb: "must be")
  }

  /// A slot of a type without nil is null.
  internal static func null(_ expected: Any.Type) -> ValueMismatch {
    null(String(describing: expected))
  }

  internal static func null(_ expected: String) -> ValueMismatch {
    ValueMismatch(code: .nullPointer, expected: expected, actual: "null")
  }

  /// The mismatch with a role before the given type, such as `a default of type Int`.
  internal func given(as role: String) -> ValueMismatch {
    ValueMismatch(code: code, expected: expected, actual: "\(role) \(actual)", verb: verb)
  }
}

extension TypeEncoding {
  /// The encoding and its meaning, for errors: `'d' (Double)`.
  internal var inWords: String {
    let text = text
    let shown = text.count > 80 ? text.prefix(79) + "…" : text[...]
    return "'\(shown)' (\(typeName))"
  }
}

extension ForwardingError {
  /// Completes a mismatch with its place: an argument, or the result if there
  /// is no index.
  ///
  /// - Parameter parameter: The number of the parameter that the argument is for, counted
  ///   from 1; nil if the user has written the index.
  internal init(
    _ mismatch: ValueMismatch, selector: MethodSelector? = nil, signature: MethodSignature? = nil,
    argumentIndex: Int? = nil, parameter: Int? = nil
  ) {
    self.init(
      mismatch.code, selector: selector?.name, encoding: signature?.text,
      argumentIndex: argumentIndex, expected: mismatch.expected, actual: mismatch.actual,
      subject: parameter.map { "parameter \($0)" }, verb: mismatch.verb)
  }
}

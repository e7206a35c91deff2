// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A result that an optional argument states for a method. nil may be a result, so the
/// argument's default value throws a special error.
internal enum StatedResult: String {
  case `default` = "the default result"
  case failure = "the result for failures"

  fileprivate static let leftOut = ForwardingError(.noResult, "an argument that is left out")

  /// Returns the value of an argument, or nil if it is left out.
  ///
  /// - Throws: the error of the expression that the caller has passed.
  internal func value<Value>(
    _ argument: () throws(ForwardingError) -> Value, of selector: MethodSelector
  ) throws(ForwardingError) -> Value? {
    do throws(ForwardingError) {
      return try argument()
    } catch {
      if error.isIdentical(to: Self.leftOut) { return nil }
      throw ForwardingError(
        error.code, selector: selector.name, "\"\(selector)\": \(rawValue): \(error)")
    }
  }
}

/// Stands for a result that is left out.
@usableFromInline
internal func leftOut<Value>() throws(ForwardingError) -> Value { throw StatedResult.leftOut }

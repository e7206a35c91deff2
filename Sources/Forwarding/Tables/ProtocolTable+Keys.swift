// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// A key whose types have no encoding is an error of the table, so the
// declarations themselves do not throw.
extension ProtocolTable.Builder {
  /// Declares a method that every subscriber must implement.
  ///
  /// ```swift
  /// $0.required(Visitor.visit, result: .untilNonzero)
  /// ```
  ///
  /// The signature is that of the key. Subscribers that are written with
  /// encodings, in C for example, take the receiver and the parameters, and no
  /// selector, see ``Method/signature``.
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - result: the subscribers that are called, and what becomes of their
  ///     results.
  public mutating func required<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, result: ResultPolicy = .standard
  ) {
    add(key, isRequired: true, result)
  }

  /// Declares a method that every subscriber must implement, with the result if no
  /// subscriber responds, or that of a delivery that fails, or both.
  ///
  /// ```swift
  /// $0.required(Gate.authorize, result: .untilNonzero, default: 0, onFailure: 1)
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method.
  ///   - result: as above.
  ///   - value: the result if no subscriber responds. If it is left out, there is
  ///     none.
  ///   - failure: the result of a subscriber that could not take its arguments;
  ///     see `required(_:_:stating:result:default:onFailure:)`. If it is left out, such a
  ///     subscriber does not count as a responder.
  // Closures, which say by their error that an argument is left out: nil may be a
  // result.
  @_disfavoredOverload
  public mutating func required<Output: Sendable, each Argument>(
    _ key: Method<Output, repeat each Argument>, result: ResultPolicy = .standard,
    default value: @autoclosure () throws(ForwardingError) -> Output = try leftOut(),
    onFailure failure: @autoclosure () throws(ForwardingError) -> Output = try leftOut()
  ) {
    add(
      key, isRequired: true, result, default: (try? value()).map(Self.store),
      onFailure: (try? failure()).map(Self.store))
  }

  /// Declares a method that subscribers may implement.
  public mutating func optional<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, result: ResultPolicy = .standard
  ) {
    add(key, isRequired: false, result)
  }

  /// Declares a method that subscribers may implement, with the result if no
  /// subscriber responds, or that of a delivery that fails, or both.
  // Closures, which say by their error that an argument is left out: nil may be a
  // result.
  @_disfavoredOverload
  public mutating func optional<Output: Sendable, each Argument>(
    _ key: Method<Output, repeat each Argument>, result: ResultPolicy = .standard,
    default value: @autoclosure () throws(ForwardingError) -> Output = try leftOut(),
    onFailure failure: @autoclosure () throws(ForwardingError) -> Output = try leftOut()
  ) {
    add(
      key, isRequired: false, result, default: (try? value()).map(Self.store),
      onFailure: (try? failure()).map(Self.store))
  }

  private mutating func add<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, isRequired: Bool, _ result: ResultPolicy,
    default makeDefault: ProtocolTable.Declaration.MakeResult? = nil,
    onFailure makeFailure: ProtocolTable.Declaration.MakeResult? = nil
  ) {
    declare(
      ProtocolTable.Declaration(
        key.selector, key.derivation, isRequired, result, default: makeDefault,
        onFailure: makeFailure))
  }
}

/// Stands for an argument that is left out, since nil may be a result.
@usableFromInline
internal func leftOut<Value>() throws(ForwardingError) -> Value {
  throw ForwardingError(.noResult, "an argument that is left out")
}

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

  /// Declares a method that every subscriber must implement, with the result if
  /// no subscriber responds.
  public mutating func required<Output: Sendable, each Argument>(
    _ key: Method<Output, repeat each Argument>, result: ResultPolicy = .standard,
    default value: Output
  ) {
    add(key, isRequired: true, result, default: Self.store(value))
  }

  /// Declares a method that every subscriber must implement, with the result of a
  /// delivery that fails; see `required(_:_:result:onFailure:)`.
  public mutating func required<Output: Sendable, each Argument>(
    _ key: Method<Output, repeat each Argument>, result: ResultPolicy = .standard,
    onFailure failure: Output
  ) {
    add(key, isRequired: true, result, onFailure: Self.store(failure))
  }

  /// Declares a method that every subscriber must implement, with the result if
  /// no subscriber responds, and that of a delivery that fails.
  public mutating func required<Output: Sendable, each Argument>(
    _ key: Method<Output, repeat each Argument>, result: ResultPolicy = .standard,
    default value: Output, onFailure failure: Output
  ) {
    add(
      key, isRequired: true, result, default: Self.store(value), onFailure: Self.store(failure))
  }

  /// Declares a method that subscribers may implement.
  public mutating func optional<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, result: ResultPolicy = .standard
  ) {
    add(key, isRequired: false, result)
  }

  /// Declares a method that subscribers may implement, with the result if no
  /// subscriber responds.
  public mutating func optional<Output: Sendable, each Argument>(
    _ key: Method<Output, repeat each Argument>, result: ResultPolicy = .standard,
    default value: Output
  ) {
    add(key, isRequired: false, result, default: Self.store(value))
  }

  /// Declares a method that subscribers may implement, with the result of a
  /// delivery that fails; see `required(_:_:result:onFailure:)`.
  public mutating func optional<Output: Sendable, each Argument>(
    _ key: Method<Output, repeat each Argument>, result: ResultPolicy = .standard,
    onFailure failure: Output
  ) {
    add(key, isRequired: false, result, onFailure: Self.store(failure))
  }

  /// Declares a method that subscribers may implement, with the result if no
  /// subscriber responds, and that of a delivery that fails.
  public mutating func optional<Output: Sendable, each Argument>(
    _ key: Method<Output, repeat each Argument>, result: ResultPolicy = .standard,
    default value: Output, onFailure failure: Output
  ) {
    add(
      key, isRequired: false, result, default: Self.store(value), onFailure: Self.store(failure))
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

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
      key, isRequired: true, result, default: store(value, of: key, as: .default),
      onFailure: store(failure, of: key, as: .failure))
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
      key, isRequired: false, result, default: store(value, of: key, as: .default),
      onFailure: store(failure, of: key, as: .failure))
  }

  /// The maker of a result; nil if the argument was left out, or throws an error, which the
  /// table then throws.
  private mutating func store<Output: Sendable, each Argument>(
    _ value: () throws(ForwardingError) -> Output, of key: Method<Output, repeat each Argument>,
    as role: StatedResult
  ) -> ProtocolTable.Declaration.MakeResult? {
    do throws(ForwardingError) {
      return try role.value(value, of: key.selector).map(Self.store)
    } catch {
      keep(error)
      return nil
    }
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

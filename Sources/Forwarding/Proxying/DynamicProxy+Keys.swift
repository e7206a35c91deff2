// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Makes a proxy for methods that are declared here.
  ///
  /// ```swift
  /// let proxy = try DynamicProxy {
  ///   $0.required(Visitor.visit, result: .untilNonzero)
  ///   $0.optional(Visitor.finished)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: the name of the protocol, for messages.
  ///   - configuration: options that control the proxy's behavior.
  ///   - build: declares the methods, by keys or by encodings.
  /// - Throws: `ForwardingError`, as ``ProtocolTable/init(_:inheriting:_:)`` and
  ///   `init(adopting:configuration:)`.
  public convenience init(
    _ name: String = "Anonymous", configuration: Configuration = Configuration(),
    _ build: (inout ProtocolTable.Builder) -> Void
  ) throws(ForwardingError) {
    try self.init(adopting: [ProtocolTable(name, build)], configuration: configuration)
  }
}

// MARK: - Finding

extension DynamicProxy {
  /// Finds the method of a key.
  ///
  /// - Throws: `ForwardingError`: `unknownSelector` if no protocol declares the
  ///   method, with similar names in the message; `signatureMismatch` if it has
  ///   other types than the key.
  /// - Complexity: O(1), and O(*n*) in the number of parameters when the key is
  ///   first used with the proxy.
  public func method<Output, each Argument>(
    for key: Method<Output, repeat each Argument>
  ) throws(ForwardingError) -> ResolvedMethod {
    let method = try method(for: key.selector)
    try verify(key, method)
    return method
  }

  /// Whether sending the method of a key would reach a subscriber: by default,
  /// whether some live subscriber or the forward target implements the method.
  /// False if the method has other types than
  /// the key.
  ///
  /// - Complexity: as ``responds(to:)-(MethodSelector)``; and O(*n*) in the
  ///   number of parameters when the key is first used with the proxy.
  public func responds<Output, each Argument>(
    to key: Method<Output, repeat each Argument>
  ) -> Bool {
    (try? verify(key)) != nil && responds(to: key.selector)
  }
}

// MARK: - Checking

extension DynamicProxy {
  /// Checks that a protocol declares the method of a key, with types that the
  /// key's may stand for.
  ///
  /// - Throws: `ForwardingError`: `unknownSelector`, `signatureMismatch`.
  @usableFromInline
  internal func verify<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>
  ) throws(ForwardingError) {
    try verify(key, try method(for: key.selector))
  }

  /// Checks that a method has types that a key's may stand for. The last keys that
  /// did are remembered, so that the next check is one comparison.
  ///
  /// - Parameter dropsResult: whether a key without a result fits a method with
  ///   one.
  internal func verify<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, _ method: ResolvedMethod,
    dropsResult: Bool = false
  ) throws(ForwardingError) {
    let mayDrop = dropsResult && Output.self == Void.self
    let isKnown = unsafe core.verifiedKeys.holds(key.token, method.entry)
    // The key may be remembered from a send that drops the result.
    if isKnown && (mayDrop || Output.self != Void.self) { return }
    let signature = method.signature
    var sends = true
    do throws(ForwardingError) {
      if !isKnown {
        let coders = try ArgumentCoders<repeat each Argument>(method.selector, signature)
        // How a send makes its frame is not checked again.
        sends = key.derivation.frames?.isEquivalent(for: coders) ?? true
      }
      if !mayDrop { _ = try ValueCoder<Output>(resultOf: method.selector, signature) }
    } catch {
      throw key.mismatch(signature, error)
    }
    if isKnown || !sends { return }
    unsafe core.verifiedKeys.remember(key.token, method.entry)
  }

  /// Makes the coders of the parameters of a closure for the method of a key.
  ///
  /// - Parameter takesAll: whether the closure must have all of the method's
  ///   parameters. Otherwise that of a key without a stated type may have the first
  ///   few.
  @usableFromInline
  internal func argumentCoders<Output, each Argument>(
    for key: Method<Output, repeat each Argument>, takesAll: Bool = false
  ) throws(ForwardingError) -> ArgumentCoders<repeat each Argument> {
    let signature = try method(for: key.selector).signature
    do throws(ForwardingError) {
      return try ArgumentCoders(
        key.selector, signature, mayBeFewer: key.hasTypesOfContext && !takesAll)
    } catch {
      throw key.mismatch(signature, error)
    }
  }

  /// Makes the coder of the result of a closure for the method of a key.
  @usableFromInline
  internal func resultCoder<Output, each Argument>(
    for key: Method<Output, repeat each Argument>
  ) throws(ForwardingError) -> ValueCoder<Output> {
    let signature = try method(for: key.selector).signature
    do throws(ForwardingError) {
      return try ValueCoder(ofClosure: key.selector, signature)
    } catch {
      throw key.mismatch(signature, error)
    }
  }
}

extension Method {
  /// Says why the key does not fit a method.
  fileprivate func mismatch(
    _ signature: MethodSignature, _ error: ForwardingError
  ) -> ForwardingError {
    ForwardingError(
      .signatureMismatch, selector: selector.name,
      """
      the method key "\(selector)" of type \(typeName) does not fit "\(signature)": \(error)
      """)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding

extension DynamicProxy {
  /// Makes a record of each call of the schema's methods, before the subscribers get
  /// it.
  ///
  /// ```swift
  /// let encoder = WireEncoder(try WireSchema(of: proxy))
  /// let token = try proxy.record(with: encoder) { record in log.append(record) }
  /// ```
  ///
  /// Recording observes. It changes neither arguments nor results nor the order of
  /// deliveries. A call that cannot be recorded, for example because a count is
  /// negative, is reported to the configuration's `onError` with the code
  /// `deliveryFailed`, and delivered as usual.
  ///
  /// - Parameters:
  ///   - encoder: makes and numbers the records. Each of its schema's methods must be a
  ///     method of the proxy.
  ///   - body: called on the calling thread with each record, which is valid during the
  ///     call. Several threads may call it at the same time.
  /// - Returns: a token that ends the recording when it is cancelled or deinitialised.
  /// - Throws: `WireError` with the code `methodMismatch` if the proxy does not declare
  ///   a method, or declares it with other arguments; with the code `notForwarded` if
  ///   the proxy is being deinitialised.
  /// - Complexity: O(*n*) in the number of methods.
  public func record(
    with encoder: WireEncoder, _ body: @escaping @Sendable (RawSpan) -> Void
  ) throws(WireError) -> Token {
    var tokens: [Token] = []
    for (index, method) in encoder.schema.methods.enumerated() {
      tokens.append(try record(method, index, with: encoder, body))
    }
    return Token(tokens)
  }

  private func record(
    _ method: WireMethod, _ index: Int, with encoder: WireEncoder,
    _ body: @escaping @Sendable (RawSpan) -> Void
  ) throws(WireError) -> Token {
    try declare(method)
    let recorder = CallRecorder(
      method, origin: encoder.origin(method, index), encoder, report: configuration.onError, body)
    do throws(ForwardingError) {
      // SAFETY: the proxy's method has the arguments of the schema's. The closure only
      // reads them.
      return try unsafe unsafeObserve(method.selector) { arguments in
        unsafe recorder.record(arguments)
      }
    } catch {
      throw WireError(error, selector: method.name)
    }
  }

  /// Throws unless the proxy declares a method with the arguments of the schema's.
  internal func declare(_ method: WireMethod) throws(WireError) {
    let signature: MethodSignature
    do throws(ForwardingError) {
      signature = try self.method(for: method.selector).signature
    } catch {
      throw WireError(error, selector: method.name)
    }
    guard method.takes(signature) else { throw method.mismatch("the proxy declares", signature) }
  }
}

extension WireError {
  /// The error for what a proxy throws.
  internal init(_ error: ForwardingError, selector: String) {
    self.init(
      error.code == .unknownSelector ? .methodMismatch : .notForwarded, error.description,
      selector: selector, forwardingError: error)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// Converts the arguments and the result of a method of a typed proxy for a
  /// closure. The types are checked once, when it is created.
  internal struct ForwardedHandler<each Argument, Output>: Sendable {
    private let parameters: ForwardedParameters<repeat each Argument>
    private let result: ForwardedCoder<Output>
    private let method: ForwardedMethod

    /// Creates a handler. Throws an error if the closure's types are not those
    /// of the method.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - mayBeFewer: whether the closure may have fewer parameters.
    ///   - mayThrow: whether the closure throws.
    ///   - hint: the end of the error message if the closure's result does not
    ///     fit.
    internal init(
      _ method: ForwardedMethod, mayBeFewer: Bool = true, mayThrow: Bool, hint: String = ""
    ) throws(ForwardingError) {
      try ForwardedParameters<repeat each Argument>.check(method, mayBeFewer: mayBeFewer)
      let result = ForwardedCoder<Output>()
      guard result.matches(method.result) else {
        throw method.mismatch(
          "gives \(result.description.name), but the method gives \(method.result.inWords)\(hint)")
      }
      if mayThrow && !method.isThrowing {
        throw method.mismatch("throws, but the method does not")
      }
      self.result = result
      self.method = method
      parameters = ForwardedParameters()
    }

    /// Calls a closure with the arguments of a delivery, and returns its result
    /// or its error to the caller.
    @unsafe internal func run<Failure: Error>(
      _ delivery: RawDelivery, _ body: (repeat each Argument) throws(Failure) -> Output
    ) throws(RawMismatch) {
      let arguments = unsafe method.arguments(of: delivery)
      // An earlier responder has thrown.
      if unsafe method.isThrowing && arguments.hasFailed { return }
      let values = try unsafe parameters.take(arguments)
      do throws(Failure) {
        unsafe result.give(try body(repeat each values), arguments)
      } catch {
        // If the method has no result, the register says that it has thrown.
        if method.hasResult {
          unsafe arguments.fail(error)
        } else {
          unsafe arguments.fail(error, by: nil)
        }
      }
    }
  }
#endif

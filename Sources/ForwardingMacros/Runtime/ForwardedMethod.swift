// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// One method of a protocol.
  internal struct ForwardedMethod: Sendable {
    internal let selector: MethodSelector
    internal let encoding: String
    /// The encodings of the method's own arguments.
    internal let arguments: [String]
    /// The types of the values that arguments are addresses of; nil for others.
    internal let values: [Any.Type?]
    internal let result: _ForwardedResult
    internal let isThrowing: Bool
    /// The index among the optional methods; nil if the method is required.
    internal let optionalIndex: Int?
    /// Whether the value in the register is not the method's result, so that no
    /// result policy can be applied to it.
    internal let isResultHidden: Bool
    private let policy: ResultPolicy
    private let defaultValue: (any Sendable)?
    /// Whether the method is `async`. Such a method is in no table, since C
    /// cannot forward it.
    internal let isAsync: Bool
    /// The functions that deliver to a listener; nil for an `async` method.
    internal var thunk: Thunk?

    internal init(
      _ selector: String, _ parameters: [_ForwardedParameter], _ result: _ForwardedResult,
      throws isThrowing: Bool, optional optionalIndex: Int?, isAsync: Bool
    ) {
      self.selector = MethodSelector(stringLiteral: selector)
      arguments = parameters.map(\.encoding)
      values = parameters.map(\.value)
      self.result = result
      self.isThrowing = isThrowing
      let isVoid = result.isVoid
      // If the method throws and has no result, a listener returns true in the
      // register when it has thrown. The policy `any` then ends the fan-out.
      var encoding = isThrowing && isVoid ? "B@" : result.encoding + "@"
      encoding += arguments.joined() + (result.out ?? "")
      if isThrowing { encoding += ForwardedEncoding.indirect((any Error)?.self) }
      self.encoding = encoding
      self.optionalIndex = optionalIndex
      isResultHidden = result.out != nil || (isThrowing && isVoid)
      policy = isThrowing && isVoid ? .any : .standard
      defaultValue = result.defaultValue
      self.isAsync = isAsync
    }

    internal var hasResult: Bool { !result.isVoid }

    /// The index of the argument for a result that is not in the register. It
    /// comes behind the method's own arguments.
    private var resultIndex: Int { 1 + arguments.count }
    /// The index of the argument for the error, which is the last; 0 if the
    /// method does not throw.
    private var errorIndex: Int { isThrowing ? resultIndex + (result.out == nil ? 0 : 1) : 0 }

    /// The arguments of a delivery of the method.
    @unsafe internal func arguments(
      _ pointers: UnsafePointer<UnsafeMutableRawPointer>, result: UnsafeMutableRawPointer
    ) -> _ForwardedArguments {
      unsafe _ForwardedArguments(
        UInt(bitPattern: pointers), result: UInt(bitPattern: result), at: resultIndex,
        errorAt: errorIndex)
    }

    /// The arguments of a delivery of the method.
    @unsafe internal func arguments(of delivery: RawDelivery) -> _ForwardedArguments {
      unsafe arguments(delivery.arguments, result: delivery.result)
    }

    internal func declare(in builder: inout ProtocolTable.Builder) {
      switch (optionalIndex, defaultValue) {
      case (nil, nil): builder.required(selector.name, encoding, result: policy)
      case (nil, let value?):
        builder.required(selector.name, encoding, result: policy, default: value)
      case (_, nil): builder.optional(selector.name, encoding, result: policy)
      case (_, let value?):
        builder.optional(selector.name, encoding, result: policy, default: value)
      }
      builder.describeLast(
        ProtocolTable.SwiftTypes(values: values, isResultHidden: isResultHidden))
    }

    internal func implement(
      in builder: inout FunctionTable.Builder<AnyObject>, _ conformance: UInt
    ) {
      guard let thunk else { return }
      // SAFETY: the macro has generated the thunk for these types, and the
      // thunk expects a conformance as its context.
      unsafe builder.thunk(selector.name, encoding, thunk, context: conformance)
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// One method of a protocol.
  @_documentation(visibility: internal)
  public struct ForwardedMethod: Sendable {
    /// A packed function (`fwd_packed_function`), with addresses as integers:
    /// the context, the receiver, the pointers to the arguments, the memory for
    /// the result, and the `fwd_error`. Returns a status.
    public typealias Packed = @convention(c) @Sendable (UInt, UInt, UInt, UInt, UInt) -> UInt32

    internal let selector: MethodSelector
    internal let encoding: String
    /// The encodings of the method's own arguments.
    internal let arguments: [String]
    internal let result: ForwardedResult
    internal let isThrowing: Bool
    /// The index among the optional methods; nil if the method is required.
    internal let optionalIndex: Int?
    /// Whether the value in the register is not the method's result, so that no
    /// result policy can be applied to it.
    internal let isResultHidden: Bool
    private let policy: ResultPolicy
    private let defaultValue: (any Sendable)?
    private let thunk: Thunk
    /// Whether the method is `async`. Such a method is in no table, since C
    /// cannot forward it.
    internal let isAsync: Bool

    /// Creates a method. The caller promises that the function fits the
    /// encodings.
    ///
    /// - Parameters:
    ///   - selector: the selector.
    ///   - arguments: the encodings of the arguments.
    ///   - result: how the result is returned.
    ///   - isThrowing: whether the method throws.
    ///   - optionalIndex: the index among the optional methods; nil if the
    ///     method is required.
    ///   - packed: delivers a call to a listener.
    @unsafe public init(
      _ selector: String, _ arguments: [String], _ result: ForwardedResult,
      throws isThrowing: Bool = false, optional optionalIndex: Int? = nil, _ packed: Packed
    ) {
      self.init(
        selector, arguments, result, throws: isThrowing, optional: optionalIndex,
        Thunk(packed: Self.address(of: packed), function: nil))
    }

    /// Creates a method without a result that also has a C function. The caller
    /// promises that the functions fit the encodings.
    ///
    /// - Parameters:
    ///   - selector: the selector.
    ///   - arguments: the encodings of the arguments.
    ///   - optionalIndex: the index among the optional methods; nil if the
    ///     method is required.
    ///   - registers: for each argument, the type of the C function's
    ///     parameter; nil for a word. The macro knows only the names of types.
    ///     If the real types are others, the C function is not used.
    ///   - packed: delivers a call to a listener.
    ///   - function: does the same as a C function, with the method's
    ///     parameters and a context.
    @unsafe public init<Function>(
      _ selector: String, _ arguments: [String], optional optionalIndex: Int? = nil,
      registers: [(any ForwardedDirect.Type)?] = [], _ packed: Packed, function: Function
    ) {
      let isCallable = zip(arguments, registers).allSatisfy { argument, register in
        guard let register else { return !["d", "f"].contains(argument) }
        return register._encoding == argument
      }
      self.init(
        selector, arguments, ForwardedResult(encoding: "v", out: nil), throws: false,
        optional: optionalIndex,
        Thunk(
          packed: Self.address(of: packed), function: isCallable ? Self.address(of: function) : nil)
      )
    }

    /// Creates an `async` method, which the typed proxy forwards itself.
    public init(async selector: String, optional optionalIndex: Int? = nil) {
      self.init(
        selector, [], ForwardedResult(encoding: "v", out: nil), throws: false,
        optional: optionalIndex, Thunk(packed: 0, function: nil), isAsync: true)
    }

    /// Converts a function that may be isolated to a global actor to a
    /// `Packed`. Calls must be forwarded on that actor.
    @unsafe public static func packed<Function>(_ function: Function) -> Packed {
      precondition(MemoryLayout<Function>.size == MemoryLayout<Packed>.size)
      // SAFETY: generated code passes C functions with these parameters.
      return unsafe unsafeBitCast(function, to: Packed.self)
    }

    /// The address of a C function, which is its value.
    private static func address<Function>(of function: Function) -> UInt {
      precondition(MemoryLayout<Function>.size == MemoryLayout<UInt>.size)
      // SAFETY: generated code passes only C functions.
      return unsafe unsafeBitCast(function, to: UInt.self)
    }

    private init(
      _ selector: String, _ arguments: [String], _ result: ForwardedResult,
      throws isThrowing: Bool, optional optionalIndex: Int?, _ thunk: Thunk, isAsync: Bool = false
    ) {
      self.isAsync = isAsync
      self.selector = MethodSelector(stringLiteral: selector)
      self.arguments = arguments
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
      self.thunk = thunk
    }

    /// The index of the argument for a result that is not in the register. It
    /// comes behind the method's own arguments.
    internal var outIndex: Int { 1 + arguments.count }
    /// The index of the argument for the error, which is the last; 0 if the
    /// method does not throw.
    internal var errorIndex: Int { isThrowing ? outIndex + (result.out == nil ? 0 : 1) : 0 }
    internal var hasResult: Bool { !result.isVoid }

    internal func declare(in builder: inout ProtocolTable.Builder) {
      switch (optionalIndex, defaultValue) {
      case (nil, nil): builder.required(selector.name, encoding, result: policy)
      case (nil, let value?):
        builder.required(selector.name, encoding, result: policy, default: value)
      case (_, nil): builder.optional(selector.name, encoding, result: policy)
      case (_, let value?):
        builder.optional(selector.name, encoding, result: policy, default: value)
      }
    }

    internal func implement(
      in builder: inout FunctionTable.Builder<AnyObject>, _ conformance: UInt
    ) {
      // SAFETY: the macro has generated the thunk for these types, and the
      // thunk expects a conformance as its context.
      unsafe builder.thunk(selector.name, encoding, thunk, context: conformance)
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// One method of a protocol.
  @_documentation(visibility: internal)
  public struct ForwardedMethod: Sendable {
    /// How a listener is reached: the context, the receiver, the arguments behind
    /// pointers, room for the result and for an error; a status.
    public typealias Packed = @convention(c) @Sendable (UInt, UInt, UInt, UInt, UInt) -> UInt32

    internal let selector: MethodSelector
    internal let encoding: String
    /// The encodings of the method's own arguments.
    internal let arguments: [String]
    internal let result: ForwardedResult
    internal let isThrowing: Bool
    /// The place among the optional methods; nil if the method is required.
    internal let optionalIndex: Int?
    /// Whether what comes back in the register is no result of the method, so
    /// that no policy can look at it.
    internal let isResultHidden: Bool
    private let policy: ResultPolicy
    private let defaultValue: (any Sendable)?
    private let thunk: Thunk
    /// Whether C cannot forward to it, so that it is in no table.
    internal let isAsync: Bool

    /// Describes a method. The functions must be what they are said to be.
    ///
    /// - Parameters:
    ///   - selector: the name.
    ///   - arguments: the encodings.
    ///   - result: how it comes back.
    ///   - isThrowing: whether an error may come back instead.
    ///   - optionalIndex: the place among the optional methods, of one.
    ///   - packed: delivers to a listener.
    @unsafe public init(
      _ selector: String, _ arguments: [String], _ result: ForwardedResult,
      throws isThrowing: Bool = false, optional optionalIndex: Int? = nil, _ packed: Packed
    ) {
      self.init(
        selector, arguments, result, throws: isThrowing, optional: optionalIndex,
        Thunk(packed: Self.address(of: packed), function: nil))
    }

    /// Describes a method without a result, which a C function delivers. The functions
    /// must be what they are said to be.
    ///
    /// - Parameters:
    ///   - selector: the name.
    ///   - arguments: the encodings.
    ///   - optionalIndex: the place among the optional methods, of one.
    ///   - registers: for each argument, the type by which the function takes it;
    ///     nil for a word. The macro knows the names of the method's types only. If
    ///     the types are others, calls go through `packed`.
    ///   - packed: delivers to a listener.
    ///   - function: does so as a C function of the method's types and a context.
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

    /// Describes a method that is `async`, which the proxy forwards by itself.
    public init(async selector: String, optional optionalIndex: Int? = nil) {
      self.init(
        selector, [], ForwardedResult(encoding: "v", out: nil), throws: false,
        optional: optionalIndex, Thunk(packed: 0, function: nil), isAsync: true)
    }

    /// Makes one type of functions that are isolated to a global actor and those
    /// that are not. Whoever forwards does so on that actor.
    @unsafe public static func packed<Function>(_ function: Function) -> Packed {
      precondition(MemoryLayout<Function>.size == MemoryLayout<Packed>.size)
      // SAFETY: the macro gives C functions of these parameters.
      return unsafe unsafeBitCast(function, to: Packed.self)
    }

    /// A C function's value is its address.
    private static func address<Function>(of function: Function) -> UInt {
      precondition(MemoryLayout<Function>.size == MemoryLayout<UInt>.size)
      // SAFETY: the macro gives C functions only.
      return unsafe unsafeBitCast(function, to: UInt.self)
    }

    private init(
      _ selector: String, _ arguments: [String], _ result: ForwardedResult,
      throws isThrowing: Bool, optional optionalIndex: Int?, _ thunk: Thunk, isAsync: Bool = false
    ) {
      self.isAsync = isAsync
      self.selector = MethodSelector(selector)
      self.arguments = arguments
      self.result = result
      self.isThrowing = isThrowing
      let isVoid = result.isVoid
      // The register of one that throws and has no result says that it has
      // thrown. The first that has is the last that is called.
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

    /// The place, behind the method's own arguments, of a result that is not in
    /// the register.
    internal var outIndex: Int { 1 + arguments.count }
    /// The place of the error, the last; 0 for methods that do not throw.
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
      // SAFETY: the macro has written the thunk for these types, and takes the
      // context for a conformance.
      unsafe builder.thunk(selector.name, encoding, thunk, context: conformance)
    }
  }
#endif

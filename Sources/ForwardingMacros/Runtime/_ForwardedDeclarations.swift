// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// Collects the methods of a protocol and the protocols that it inherits from. For
  /// generated code, which fills it in.
  @_documentation(visibility: internal)
  public struct _ForwardedDeclarations<Listener> {
    /// A packed function (`fwd_packed_function`), with addresses as integers:
    /// the context, the receiver, the pointers to the arguments, the memory for
    /// the result, and the `fwd_error`. Returns a status.
    public typealias Packed = @convention(c) @Sendable (UInt, UInt, UInt, UInt, UInt) -> UInt32

    internal private(set) var methods: [ForwardedMethod] = []
    internal private(set) var parents: [ForwardedParent<Listener>] = []
    /// Tells for each optional method whether a listener has it.
    internal private(set) var presence: @Sendable (Listener) -> [Bool] = { _ in [] }
    private var optionalCount = 0
    /// Whether all parameters of the last method fit the registers of its C function.
    private var fitsRegisters = false

    internal init() {}

    /// Adds a method without its functions, which `deliver` adds.
    ///
    /// - Parameters:
    ///   - selector: the selector.
    ///   - arguments: the parameters, each with the register of the C function.
    ///   - result: how the result is returned.
    ///   - isThrowing: whether the method throws.
    ///   - isOptional: whether listeners may leave the method out.
    // Marked unsafe so that generated code can always write `unsafe`, which types of
    // unsafe pointers need.
    @unsafe public mutating func add(
      _ selector: String, _ arguments: [_ForwardedParameter], _ result: _ForwardedResult = .none,
      throws isThrowing: Bool = false, optional isOptional: Bool = false
    ) {
      add(selector, arguments, result, isThrowing, isOptional, isAsync: false)
    }

    /// Adds the function that delivers a call of the last method to a listener. The
    /// caller promises that it fits the parameters and the result.
    @unsafe public mutating func deliver(_ packed: Packed) {
      methods[methods.count - 1].thunk = Thunk(packed: Self.address(of: packed), function: nil)
    }

    /// The same for a method without a result, with a C function that has the
    /// method's parameters and a context. If a parameter does not fit its register,
    /// the C function is not used.
    @unsafe public mutating func deliver<Function>(_ packed: Packed, function: Function) {
      methods[methods.count - 1].thunk = Thunk(
        packed: Self.address(of: packed),
        function: fitsRegisters ? Self.address(of: function) : nil)
    }

    /// Adds an `async` method, which the typed proxy forwards itself.
    public mutating func add(async selector: String, optional isOptional: Bool = false) {
      add(selector, [], .none, false, isOptional, isAsync: true)
    }

    /// Sets how to find out which optional methods a listener has, in the order of
    /// their declarations.
    public mutating func findOptionals(_ presence: @escaping @Sendable (Listener) -> [Bool]) {
      self.presence = presence
    }

    /// Adds an inherited protocol, with a conversion from a listener to a listener of
    /// that protocol.
    public mutating func inherit<Parent>(
      _ family: _ForwardedProtocol<Parent>, _ upcast: @escaping @Sendable (Listener) -> Parent
    ) {
      parents.append(
        ForwardedParent(family: family, implementations: { family.implementations(upcast($0)) }))
    }

    /// Adds nothing, for an inherited protocol without methods.
    public mutating func inherit<Parent>(
      _: _ForwardedEmptyParent, _: @escaping @Sendable (Listener) -> Parent
    ) {}

    private mutating func add(
      _ selector: String, _ arguments: [_ForwardedParameter], _ result: _ForwardedResult,
      _ isThrowing: Bool, _ isOptional: Bool, isAsync: Bool
    ) {
      fitsRegisters = arguments.allSatisfy(\.fitsRegister)
      methods.append(
        ForwardedMethod(
          selector, arguments, result, throws: isThrowing,
          optional: isOptional ? optionalCount : nil, isAsync: isAsync))
      if isOptional { optionalCount += 1 }
    }

    /// The address of a C function, which is its value.
    private static func address<Function>(of function: Function) -> UInt {
      precondition(MemoryLayout<Function>.size == MemoryLayout<UInt>.size)
      // SAFETY: generated code passes only C functions.
      return unsafe unsafeBitCast(function, to: UInt.self)
    }
  }

  extension _ForwardedMarshal {
    /// Converts a function that may be isolated to a global actor to a packed
    /// function. Calls must be forwarded on that actor.
    @unsafe public static func packed<Function>(
      _ function: Function
    ) -> @convention(c) @Sendable (UInt, UInt, UInt, UInt, UInt) -> UInt32 {
      precondition(MemoryLayout<Function>.size == MemoryLayout<UInt>.size)
      // SAFETY: generated code passes C functions with these parameters.
      return unsafe unsafeBitCast(
        function, to: (@convention(c) @Sendable (UInt, UInt, UInt, UInt, UInt) -> UInt32).self)
    }
  }

  /// A parameter of a method. For generated code.
  @_documentation(visibility: internal)
  public struct _ForwardedParameter: Sendable {
    internal let encoding: String
    /// The type of the value that the argument is the address of; nil for other
    /// arguments and for `inout`.
    internal let value: Any.Type?
    /// Whether the argument goes into the register that the C function expects.
    internal let fitsRegister: Bool

    /// Compares the encoding with the type of the register; nil for a word. The
    /// macro knows only the names of types, so the real type may be another.
    internal init(
      _ encoding: String, in register: (any _ForwardedDirect.Type)?, value: Any.Type? = nil
    ) {
      self.encoding = encoding
      self.value = value
      fitsRegister = register.map { $0._encoding == encoding } ?? !["d", "f"].contains(encoding)
    }
  }
#endif

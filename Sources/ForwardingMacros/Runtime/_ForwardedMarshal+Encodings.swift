// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  // Unavailable overloads make the checks that a macro cannot make, since it
  // does not know types. The compiler reports their messages at the line of the
  // requirement.

  // MARK: - Arguments

  extension _ForwardedMarshal {
    /// Describes a parameter.
    ///
    /// - Parameter register: the type of the register of the C function; nil for a
    ///   word.
    public static func argument<Value: _ForwardedDirect>(
      _: Value.Type, in register: (any _ForwardedDirect.Type)? = nil
    ) -> _ForwardedParameter {
      _ForwardedParameter(Value._encoding, in: register)
    }
    /// Describes a parameter.
    public static func argument<Value: AnyObject>(
      _: Value.Type, in register: (any _ForwardedDirect.Type)? = nil
    ) -> _ForwardedParameter {
      _ForwardedParameter("@", in: register)
    }
    /// Describes a parameter.
    public static func argument<Value: AnyObject>(
      _: Value?.Type, in register: (any _ForwardedDirect.Type)? = nil
    ) -> _ForwardedParameter {
      _ForwardedParameter("@", in: register)
    }
    /// Describes a parameter.
    public static func argument<Value>(
      _ type: Value.Type, in register: (any _ForwardedDirect.Type)? = nil
    ) -> _ForwardedParameter {
      _ForwardedParameter(ForwardedEncoding.indirect(type), in: register, value: type)
    }
    /// Refuses a type that cannot be copied or kept.
    @available(
      *, unavailable,
      message:
        "'@Forwarded' copies arguments, which this type, such as a Span, does not allow; pass an array, an unsafe buffer pointer, or 'inout' of a noncopyable type"
    )
    public static func argument<Value: ~Copyable & ~Escapable>(
      _: Value.Type, in _: (any _ForwardedDirect.Type)? = nil
    ) -> _ForwardedParameter {
      _ForwardedParameter("", in: nil)
    }

    /// Checks the types of arguments that may be delivered later.
    @unsafe public static func sendable<each Value: Sendable>(_: repeat (each Value).Type) {}

    /// Describes an `inout` parameter, which is the address of a value that may be
    /// changed.
    public static func inoutArgument<Value>(_ type: Value.Type) -> _ForwardedParameter {
      _ForwardedParameter("N" + ForwardedEncoding.pointer(to: type), in: nil)
    }
    /// Describes an `inout` parameter.
    public static func inoutArgument<Value: ~Copyable>(_ type: Value.Type) -> _ForwardedParameter {
      _ForwardedParameter("N" + ForwardedEncoding.indirect(type), in: nil)
    }
    /// Refuses a type that cannot be kept.
    @available(
      *, unavailable,
      message:
        "'@Forwarded' takes the address of an 'inout' argument, which this type, such as a MutableSpan, does not allow; pass an unsafe mutable buffer pointer"
    )
    public static func inoutArgument<Value: ~Copyable & ~Escapable>(
      _: Value.Type
    ) -> _ForwardedParameter {
      _ForwardedParameter("", in: nil)
    }
  }

  // MARK: - Results

  extension _ForwardedMarshal {
    /// The description of the result of a void method.
    public static func result(_: Void.Type) -> _ForwardedResult { .none }
    /// The description of a result.
    public static func result<Value: _ForwardedDirect>(_: Value.Type) -> _ForwardedResult {
      _ForwardedResult(encoding: Value._encoding, out: nil)
    }
    /// The description of a result.
    public static func result<Value: AnyObject>(_: Value.Type) -> _ForwardedResult {
      _ForwardedResult(encoding: "@", out: nil)
    }
    /// The description of a result.
    public static func result<Value: AnyObject>(_: Value?.Type) -> _ForwardedResult {
      _ForwardedResult(encoding: "@", out: nil)
    }
    /// The description of a result.
    public static func result<Value>(_: Value.Type) -> _ForwardedResult {
      _ForwardedResult(encoding: "B", out: ForwardedEncoding.indirect(Value?.self))
    }
    /// Refuses a type that cannot be copied or kept.
    @available(
      *, unavailable,
      message:
        "'@Forwarded' copies results, which this type, such as a Span, does not allow; return an array or an object"
    )
    public static func result<Value: ~Copyable & ~Escapable>(_: Value.Type) -> _ForwardedResult {
      _ForwardedResult(encoding: "v", out: nil)
    }

    /// The description of a result with a default in the table.
    public static func result<Value: _ForwardedDirect & Sendable>(
      _: Value.Type, default value: Value
    ) -> _ForwardedResult {
      _ForwardedResult(encoding: Value._encoding, out: nil, defaultValue: value)
    }
    /// The description of a result. The table has no default for a type that C
    /// does not have.
    public static func result<Value>(
      _ type: Value.Type, default _: @autoclosure () -> Value
    ) -> _ForwardedResult {
      result(type)
    }
  }

  /// The description of a method's result: how it is returned. For generated code.
  @_documentation(visibility: internal)
  public struct _ForwardedResult: Sendable {
    internal let encoding: String
    /// The encoding of the argument for the result, if the result is written to
    /// memory.
    internal let out: String?
    internal var defaultValue: (any Sendable)?

    /// No result.
    public static let none = _ForwardedResult(encoding: "v", out: nil)

    internal var isVoid: Bool { encoding == "v" }

    /// The type, for messages.
    internal var inWords: String {
      let optional = "^{Swift.Optional<"
      guard let out, out.hasPrefix(optional) else { return ForwardedEncoding.inWords(encoding) }
      return String(out.dropFirst(optional.count).dropLast(2))
    }
  }

  // MARK: - Defaults

  extension _ForwardedMarshal {
    /// The result of a method that no listener responds to.
    @inlinable
    @inline(__always)
    public static func zero(of _: Bool.Type) -> Bool { false }
    /// The result of a method that no listener responds to.
    @inlinable
    @inline(__always)
    public static func zero<Value: AdditiveArithmetic & ExpressibleByIntegerLiteral>(
      of _: Value.Type
    ) -> Value { 0 }
    /// The result of a method that no listener responds to.
    @inlinable
    @inline(__always)
    public static func zero<Value>(of _: Value?.Type) -> Value? { nil }
    /// Refuses a type that has no zero value, although it has the name of a
    /// standard type that has one.
    @available(
      *, unavailable,
      message:
        "'@Forwarded' knows no result of this type for a call that no listener responds to: it is no number, 'Bool' or optional of the standard library; add '@DefaultResult', or declare the method 'throws'"
    )
    public static func zero<Value>(of _: Value.Type) -> Value {
      preconditionFailure("unavailable")
    }
  }
#endif

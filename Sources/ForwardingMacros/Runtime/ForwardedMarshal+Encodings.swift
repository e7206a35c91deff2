// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  // Unavailable overloads make the checks that a macro cannot make, since it
  // does not know types. The compiler reports their messages at the line of the
  // requirement.

  // MARK: - Arguments

  extension ForwardedMarshal {
    /// The encoding of an argument.
    public static func argument<Value: ForwardedDirect>(_: Value.Type) -> String {
      Value._encoding
    }
    /// The encoding of an argument.
    public static func argument<Value: AnyObject>(_: Value.Type) -> String { "@" }
    /// The encoding of an argument.
    public static func argument<Value: AnyObject>(_: Value?.Type) -> String { "@" }
    /// The encoding of an argument.
    public static func argument<Value>(_ type: Value.Type) -> String {
      ForwardedEncoding.indirect(type)
    }
    /// Refuses a type that cannot be copied or kept.
    @available(
      *, unavailable,
      message:
        "'@Forwarded' copies arguments, which this type, such as a Span, does not allow; pass an array, an unsafe buffer pointer, or 'inout' of a noncopyable type"
    )
    public static func argument<Value: ~Copyable & ~Escapable>(_: Value.Type) -> String { "" }

    /// The encoding of an `inout` argument: the address of a value that may be
    /// changed.
    public static func inoutArgument<Value>(_ type: Value.Type) -> String {
      "N" + ForwardedEncoding.pointer(to: type)
    }
    /// The encoding of an `inout` argument.
    public static func inoutArgument<Value: ~Copyable>(_ type: Value.Type) -> String {
      "N" + ForwardedEncoding.indirect(type)
    }
    /// Refuses a type that cannot be kept.
    @available(
      *, unavailable,
      message:
        "'@Forwarded' takes the address of an 'inout' argument, which this type, such as a MutableSpan, does not allow; pass an unsafe mutable buffer pointer"
    )
    public static func inoutArgument<Value: ~Copyable & ~Escapable>(_: Value.Type) -> String { "" }
  }

  // MARK: - Results

  extension ForwardedMarshal {
    /// The description of the result of a void method.
    public static func result(_: Void.Type) -> ForwardedResult {
      ForwardedResult(encoding: "v", out: nil)
    }
    /// The description of a result.
    public static func result<Value: ForwardedDirect>(_: Value.Type) -> ForwardedResult {
      ForwardedResult(encoding: Value._encoding, out: nil)
    }
    /// The description of a result.
    public static func result<Value: AnyObject>(_: Value.Type) -> ForwardedResult {
      ForwardedResult(encoding: "@", out: nil)
    }
    /// The description of a result.
    public static func result<Value: AnyObject>(_: Value?.Type) -> ForwardedResult {
      ForwardedResult(encoding: "@", out: nil)
    }
    /// The description of a result.
    public static func result<Value>(_: Value.Type) -> ForwardedResult {
      ForwardedResult(encoding: "B", out: ForwardedEncoding.indirect(Value?.self))
    }
    /// Refuses a type that cannot be copied or kept.
    @available(
      *, unavailable,
      message:
        "'@Forwarded' copies results, which this type, such as a Span, does not allow; return an array or an object"
    )
    public static func result<Value: ~Copyable & ~Escapable>(_: Value.Type) -> ForwardedResult {
      ForwardedResult(encoding: "v", out: nil)
    }

    /// The description of a result with a default in the table.
    public static func result<Value: ForwardedDirect & Sendable>(
      _: Value.Type, default value: Value
    ) -> ForwardedResult {
      ForwardedResult(encoding: Value._encoding, out: nil, defaultValue: value)
    }
    /// The description of a result. The table has no default for a type that C
    /// does not have.
    public static func result<Value>(
      _ type: Value.Type, default _: @autoclosure () -> Value
    ) -> ForwardedResult {
      result(type)
    }
  }

  /// The description of a method's result: how it is returned.
  @_documentation(visibility: internal)
  public struct ForwardedResult: Sendable {
    internal let encoding: String
    /// The encoding of the argument for the result, if the result is written to
    /// memory.
    internal let out: String?
    internal var defaultValue: (any Sendable)?

    internal var isVoid: Bool { encoding == "v" }

    /// The type, for messages.
    internal var inWords: String {
      let optional = "^{Swift.Optional<"
      guard let out, out.hasPrefix(optional) else { return ForwardedEncoding.inWords(encoding) }
      return String(out.dropFirst(optional.count).dropLast(2))
    }
  }

  // MARK: - Defaults

  extension ForwardedMarshal {
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  extension ForwardedSlot {
    /// The encoding of an argument.
    public static func encoding<Value: ForwardedDirect>(of _: Value.Type) -> String {
      Value._encoding
    }
    /// The encoding of an argument.
    public static func encoding<Value: AnyObject>(of _: Value.Type) -> String { "@" }
    /// The encoding of an argument.
    public static func encoding<Value: AnyObject>(of _: Value?.Type) -> String { "@" }
    /// The encoding of an argument.
    public static func encoding<Value>(of type: Value.Type) -> String {
      ForwardedEncoding.indirect(type)
    }

    /// The encoding of an `inout` argument: the address of a value that may be
    /// changed.
    public static func inoutEncoding<Value>(of type: Value.Type) -> String {
      "N" + ForwardedEncoding.pointer(to: type)
    }

    /// How a method without a result gives it.
    public static func result(of _: Void.Type) -> ForwardedResult {
      ForwardedResult(encoding: "v", out: nil)
    }
    /// How a result comes back.
    public static func result<Value: ForwardedDirect>(of _: Value.Type) -> ForwardedResult {
      ForwardedResult(encoding: Value._encoding, out: nil)
    }
    /// How a result comes back, and what it is if nobody responds.
    public static func result<Value: ForwardedDirect & Sendable>(
      of _: Value.Type, default value: Value
    ) -> ForwardedResult {
      ForwardedResult(encoding: Value._encoding, out: nil, defaultValue: value)
    }
    /// How a result comes back.
    public static func result<Value: AnyObject>(of _: Value.Type) -> ForwardedResult {
      ForwardedResult(encoding: "@", out: nil)
    }
    /// How a result comes back.
    public static func result<Value: AnyObject>(of _: Value?.Type) -> ForwardedResult {
      ForwardedResult(encoding: "@", out: nil)
    }
    /// How a result comes back.
    public static func result<Value>(of _: Value.Type) -> ForwardedResult {
      ForwardedResult(encoding: "B", out: ForwardedEncoding.indirect(Value?.self))
    }
  }

  /// How the result of a method comes back.
  @_documentation(visibility: internal)
  public struct ForwardedResult: Sendable {
    internal let encoding: String
    /// The encoding of the argument that it comes back by.
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
#endif

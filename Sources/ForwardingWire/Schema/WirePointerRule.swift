// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// States what a pointer argument points to, so that it can be copied to a record.
///
/// ```swift
/// let schema = try WireSchema(of: proxy) {
///   $0.rule("write:count:", argument: 0, .counted(by: 1))
///   $0.rule("moved:", argument: 0, .fixed(count: 1))
/// }
/// ```
///
/// Each rule carries NULL, too. What a pointer points to must contain no pointers.
public struct WirePointerRule: Sendable {
  internal enum Form: Sendable {
    case cString
    case counted(by: Int)
    case fixed(count: Int)
    case codable(any CodedType)
  }

  internal let form: Form

  /// A string that a NUL ends. `*` has this rule without being told; state it for
  /// a `^c` or `^C` that is a string.
  public static var cString: WirePointerRule { WirePointerRule(form: .cString) }

  /// As many elements as another argument says. The elements of a `void *` are
  /// bytes.
  ///
  /// - Parameter argument: the index of an integer argument. Index 0 is the first
  ///   argument behind the receiver and the selector.
  public static func counted(by argument: Int) -> WirePointerRule {
    WirePointerRule(form: .counted(by: argument))
  }

  /// A fixed number of elements. The elements of a `void *` are bytes.
  public static func fixed(count: Int) -> WirePointerRule {
    WirePointerRule(form: .fixed(count: count))
  }

  /// A Swift value that is passed by address (`^{Module.Type}`). It travels as JSON,
  /// as its `Codable` conformance writes it.
  public static func codable<Value: Codable>(_ type: Value.Type) -> WirePointerRule {
    WirePointerRule(form: .codable(CodedValue<Value>()))
  }
}

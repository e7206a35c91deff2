// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Forwards methods written as calls. The labels make the selector:
  /// `visit(path, kind: 3)` is `visit:kind:`, `visit(path: path)` is
  /// `visitPath:`, and `finished()` is `finished`.
  ///
  /// ```swift
  /// let code: Int32 = try proxy.dynamic.visit(path, kind: 3)
  /// try proxy.dynamic.finished(12)
  /// ```
  ///
  /// Nothing is checked at compile time. Arguments are boxed, and integers and
  /// floating-point numbers are converted if their value allows; a `String` may
  /// stand for a C string (`*`) during the call. This is the slowest way to
  /// forward: an emission with two numbers takes about 800 ns and eight
  /// allocations before the first delivery. `send` is faster, and a resolved
  /// method faster still; see <doc:FanOut>.
  public var dynamic: DynamicMessenger { DynamicMessenger(proxy: self) }
}

/// Makes messages from names; see `DynamicProxy.dynamic`.
@dynamicMemberLookup
public struct DynamicMessenger: Sendable {
  internal let proxy: DynamicProxy

  /// A message whose selector begins with this name.
  public subscript(dynamicMember name: String) -> DynamicMessage {
    DynamicMessage(proxy: proxy, name: name)
  }
}

/// A method to be called with labelled arguments; see `DynamicProxy.dynamic`.
@dynamicCallable
public struct DynamicMessage: Sendable {
  internal let proxy: DynamicProxy
  internal let name: String

  /// Forwards the method and gives its result.
  ///
  /// - Throws: `ForwardingError`, as `DynamicProxy.send`.
  // Where both overloads give Void, the other one is meant.
  @_disfavoredOverload
  public func dynamicallyCall<Output>(
    withKeywordArguments arguments: KeyValuePairs<String, Any>
  ) throws(ForwardingError) -> Output {
    let selector = try selector(arguments)
    guard let method = try proxy.knownMethod(for: selector) else {
      return try DynamicProxy.zero(selector)
    }
    let invocation = try forward(method, arguments.map(\.value))
    return try invocation.result(as: Output.self)
  }

  /// Forwards the method; a result is dropped.
  ///
  /// - Throws: `ForwardingError`, as `DynamicProxy.send`.
  public func dynamicallyCall(
    withKeywordArguments arguments: KeyValuePairs<String, Any>
  ) throws(ForwardingError) {
    guard let method = try proxy.knownMethod(for: try selector(arguments)) else { return }
    _ = try forward(method, arguments.map(\.value))
  }

  /// The selector that the labels make.
  internal func selector(_ labels: [String]) -> String {
    guard let first = labels.first else { return name }
    // A selector has no label before its first argument, so that one is joined
    // to the name.
    let head =
      first.isEmpty ? "\(name):" : "\(name)\(first.prefix(1).uppercased())\(first.dropFirst()):"
    return head + labels.dropFirst().map { "\($0):" }.joined()
  }
}

// MARK: - Forwarding

extension DynamicMessage {
  private func forward(
    _ method: ResolvedMethod, _ arguments: [Any]
  ) throws(ForwardingError) -> Invocation {
    let invocation = try Invocation(method.selector, method.signature)
    try invocation.setBoxedArguments(arguments)
    try proxy.forward(invocation)
    return invocation
  }

  private func selector(
    _ arguments: KeyValuePairs<String, Any>
  ) throws(ForwardingError) -> MethodSelector {
    try MethodSelector(validating: selector(arguments.map(\.key)))
  }
}

// MARK: - Boxed arguments

extension Invocation {
  /// Sets all arguments behind the receiver and the selector from boxes,
  /// converting numbers and strings.
  fileprivate func setBoxedArguments(_ values: [Any]) throws(ForwardingError) {
    let expected = signature.arguments.count - signature.firstArgumentIndex
    guard values.count == expected else {
      throw ForwardingError(
        .wrongArgumentCount, selector: selector.name, encoding: signature.text,
        expected: "\(expected) argument\(expected == 1 ? "" : "s") (\(signature))",
        actual: "\(values.count)")
    }
    for (offset, value) in values.enumerated() {
      try setBoxed(value, at: signature.firstArgumentIndex + offset)
    }
  }

  private func setBoxed(_ value: Any, at index: Int) throws(ForwardingError) {
    let failure: ForwardingError
    do throws(ForwardingError) {
      return try setOpened(value, at: index)
    } catch {
      failure = error
    }
    let kind = signature.arguments[index].encoding.kind
    if kind == .cString, let text = value as? String, !text.utf8.contains(0) {
      return try setString(text, at: index)
    }
    guard let number = Number(value), let converted = number.converted(to: kind) else {
      throw failure
    }
    try setOpened(converted, at: index)
  }

  /// Sets an argument of the type that is in the box.
  private func setOpened(_ value: Any, at index: Int) throws(ForwardingError) {
    func set<Value>(_ value: Value) -> ForwardingError? {
      do throws(ForwardingError) {
        try setArgument(value, at: index)
        return nil
      } catch {
        return error
      }
    }
    if let error = _openExistential(value, do: set) { throw error }
  }

  /// Sets a C string, which is copied.
  private func setString(_ text: String, at index: Int) throws(ForwardingError) {
    var failure: ForwardingError?
    // SAFETY: the string is copied before the pointer ends.
    unsafe text.withCString { pointer in
      do throws(ForwardingError) {
        try unsafe setArgument(pointer, at: index)
        retainArguments()
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }
}

/// A number from a box, to be converted to what an encoding asks for.
private enum Number {
  case integer(any BinaryInteger)
  case floating(any BinaryFloatingPoint)

  init?(_ value: Any) {
    if let integer = value as? any BinaryInteger {
      self = .integer(integer)
    } else if let floating = value as? any BinaryFloatingPoint {
      self = .floating(floating)
    } else {
      return nil
    }
  }

  /// The number as the Swift type of an encoding. Nil if it is out of range, or
  /// has a fraction that an integer does not have.
  func converted(to kind: TypeEncoding.Kind) -> Any? {
    switch kind {
    case .char: exactly(Int8.self)
    case .unsignedChar: exactly(UInt8.self)
    case .short: exactly(Int16.self)
    case .unsignedShort: exactly(UInt16.self)
    case .int, .long: exactly(Int32.self)
    case .unsignedInt, .unsignedLong: exactly(UInt32.self)
    case .longLong: exactly(Int64.self)
    case .unsignedLongLong: exactly(UInt64.self)
    case .int128: exactly(Int128.self)
    case .unsignedInt128: exactly(UInt128.self)
    case .float: rounded(Float.self)
    case .double: rounded(Double.self)
    #if arch(x86_64) && !os(Windows)
      case .longDouble: rounded(Float80.self)
    #endif
    default: nil
    }
  }

  private func exactly<Integer: FixedWidthInteger>(_: Integer.Type) -> Any? {
    switch self {
    case .integer(let value): Integer(exactly: value)
    case .floating(let value): Integer(exactly: value)
    }
  }

  /// Nothing if a finite number has become infinite.
  private func finite<Floating: BinaryFloatingPoint>(
    _ rounded: Floating, of value: any BinaryFloatingPoint
  ) -> Any? {
    rounded.isFinite || !value.isFinite ? rounded : nil
  }

  private func rounded<Floating: BinaryFloatingPoint>(_: Floating.Type) -> Any? {
    switch self {
    case .integer(let value): Floating(exactly: value)
    case .floating(let value): finite(Floating(value), of: value)
    }
  }
}

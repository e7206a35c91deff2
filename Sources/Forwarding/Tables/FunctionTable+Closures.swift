// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding

/// A method whose arguments stand behind pointers: what a typed closure is
/// turned into.
@safe internal final class PackedFunction: Sendable {
  typealias Arguments = UnsafePointer<UnsafeMutableRawPointer>

  /// Takes the receiver, all arguments (the receiver and the selector included)
  /// and room for the result.
  internal let call:
    @Sendable (UnsafeMutableRawPointer?, Arguments, UnsafeMutableRawPointer) throws(InvocationError)
      -> Void

  internal init(
    _ call:
      @escaping @Sendable (UnsafeMutableRawPointer?, Arguments, UnsafeMutableRawPointer)
      throws(InvocationError) -> Void
  ) {
    unsafe self.call = call
  }
}

extension FunctionTable.Builder where Owner: AnyObject {
  /// Adds a typed closure, which gets the subscriber and the arguments.
  ///
  /// The types must fit the protocol's encoding, as `ValueCoder`'s table in the
  /// documentation lists them; that is checked when the table is joined to a
  /// proxy, or by `validate(for:)`. An argument that is no value of its Swift
  /// type at run time (null for a pointer that is not optional, a raw value
  /// without a case, an object of another class) is not delivered but reported
  /// to the proxy's error handler.
  ///
  /// Pointers are valid during the call. An object that is returned is retained
  /// for the caller.
  public mutating func on<each Argument, Output>(
    _ selector: String,
    _ body: @escaping @Sendable (Owner, repeat each Argument) -> Output
  ) {
    add(selector) { selector, signature throws(TableError) in
      let (arguments, result) = try Self.coders(
        selector, signature, Output.self, repeat (each Argument).self)
      return .packed(
        unsafe PackedFunction { receiver, pointers, room throws(InvocationError) in
          guard let receiver = unsafe receiver else { return }
          // SAFETY: the receiver is the object that the record holds, of the
          // class that the table is for; the fan-out keeps it alive during the
          // call.
          let owner = unsafe Unmanaged<Owner>.fromOpaque(receiver).takeUnretainedValue()
          var reader = unsafe arguments.reader(pointers)
          let output: Output = body(owner, repeat try reader.next(each arguments.coders))
          unsafe result.encodeRetained(output, into: room)
        })
    }
  }
}

extension FunctionTable.Builder where Owner == Void {
  /// Adds a typed closure, which gets the arguments.
  public mutating func on<each Argument, Output>(
    _ selector: String,
    _ body: @escaping @Sendable (repeat each Argument) -> Output
  ) {
    add(selector) { selector, signature throws(TableError) in
      let (arguments, result) = try Self.coders(
        selector, signature, Output.self, repeat (each Argument).self)
      return .packed(
        unsafe PackedFunction { _, pointers, room throws(InvocationError) in
          var reader = unsafe arguments.reader(pointers)
          let output: Output = body(repeat try reader.next(each arguments.coders))
          unsafe result.encodeRetained(output, into: room)
        })
    }
  }
}

extension FunctionTable.Builder {
  /// Finds how a closure's arguments and result stand in calls of a method.
  private static func coders<each Argument, Output>(
    _ selector: MethodSelector, _ signature: MethodSignature, _: Output.Type,
    _: repeat (each Argument).Type
  ) throws(TableError) -> (ArgumentCoders<repeat each Argument>, ValueCoder<Output>) {
    do throws(InvocationError) {
      return (
        try ArgumentCoders(selector, signature),
        try ValueCoder(resultOf: selector, signature)
      )
    } catch {
      throw TableError(
        .signatureMismatch, selector: selector.name,
        "the closure for \"\(selector)\" does not fit \"\(signature)\": \(error)")
    }
  }
}

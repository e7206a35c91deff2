// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A function that gets pointers to its arguments, and writes its result. A typed
/// closure is converted to one.
@usableFromInline
@safe internal final class PackedFunction: Sendable {
  @usableFromInline typealias Arguments = UnsafePointer<UnsafeMutableRawPointer>

  /// The parameters are the receiver, pointers to all arguments (the receiver
  /// and the selector included), and memory for the result.
  internal let call:
    @Sendable (UnsafeMutableRawPointer?, Arguments, UnsafeMutableRawPointer) throws(ForwardingError)
      -> Void

  /// A faster way to do the same, for arguments that need no conversion.
  internal let called: CalledClosure?

  @usableFromInline
  internal init(
    _ called: CalledClosure? = nil,
    _ call:
      @escaping @Sendable (UnsafeMutableRawPointer?, Arguments, UnsafeMutableRawPointer)
      throws(ForwardingError) -> Void
  ) {
    unsafe self.call = call
    self.called = called
  }
}

extension FunctionTable.Builder where Owner: AnyObject {
  /// Makes the function of a closure for calls of a method.
  @inlinable
  internal static func pack<each Argument, Output>(
    _ selector: MethodSelector, _ signature: MethodSignature, mayBeFewer: Bool,
    _ body: @escaping @Sendable (Owner, repeat each Argument) -> Output
  ) throws(ForwardingError) -> PackedFunction {
    let (coders, result) = try Self.coders(
      selector, signature, Output.self, repeat (each Argument).self, mayBeFewer: mayBeFewer)
    let called = CalledClosure(HeldClosure(body), takesReceiver: true, coders, result)
    return unsafe PackedFunction(called) { receiver, pointers, room throws(ForwardingError) in
      guard let receiver = unsafe receiver else { return }
      var index = coders.first
      let values = unsafe (repeat try coders.next(each coders.coders, pointers, &index))
      // SAFETY: the receiver is the subscription's object, whose class was
      // checked at subscription. The fan-out keeps it alive during the call,
      // so it need not be retained.
      let output = unsafe Unmanaged<Owner>.fromOpaque(receiver)._withUnsafeGuaranteedRef {
        body($0, repeat each values)
      }
      unsafe result.encodeRetained(output, into: room)
    }
  }
}

extension FunctionTable.Builder where Owner == Void {
  /// Makes the function of a closure for calls of a method.
  @inlinable
  internal static func pack<each Argument, Output>(
    _ selector: MethodSelector, _ signature: MethodSignature, mayBeFewer: Bool,
    _ body: @escaping @Sendable (repeat each Argument) -> Output
  ) throws(ForwardingError) -> PackedFunction {
    let (coders, result) = try Self.coders(
      selector, signature, Output.self, repeat (each Argument).self, mayBeFewer: mayBeFewer)
    let called = CalledClosure(HeldOwnerlessClosure(body), takesReceiver: false, coders, result)
    return unsafe PackedFunction(called) { _, pointers, room throws(ForwardingError) in
      var index = coders.first
      let output = unsafe body(repeat try coders.next(each coders.coders, pointers, &index))
      unsafe result.encodeRetained(output, into: room)
    }
  }
}

extension FunctionTable.Builder {
  @usableFromInline
  internal mutating func addPacked(
    _ selector: MethodSelector,
    _ bind:
      @escaping @Sendable (MethodSelector, MethodSignature) throws(ForwardingError) ->
      PackedFunction
  ) {
    add(selector) { selector, signature throws(ForwardingError) in
      .packed(try bind(selector, signature))
    }
  }

  /// Creates the coders of a closure's arguments and result. Throws if their
  /// types do not fit the signature.
  @usableFromInline
  internal static func coders<each Argument, Output>(
    _ selector: MethodSelector, _ signature: MethodSignature, _: Output.Type,
    _: repeat (each Argument).Type, mayBeFewer: Bool = false
  ) throws(ForwardingError) -> (ArgumentCoders<repeat each Argument>, ValueCoder<Output>) {
    do throws(ForwardingError) {
      return (
        try ArgumentCoders(selector, signature, mayBeFewer: mayBeFewer),
        try ValueCoder(ofClosure: selector, signature)
      )
    } catch {
      throw ForwardingError(
        .signatureMismatch, selector: selector.name,
        "the closure for \"\(selector)\" does not fit \"\(signature)\": \(error)")
    }
  }
}

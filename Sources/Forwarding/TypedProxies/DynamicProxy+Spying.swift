// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

// A recorder of calls needs a subscriber of all methods that gets undecoded
// arguments, and a way to decode copies of them later.
extension DynamicProxy {
  /// Subscribes an object with closures that get its address and the undecoded
  /// arguments of methods. Other required methods are not checked.
  ///
  /// The caller promises that each reads and writes what the method's signature says.
  @unsafe package func unsafeSubscribe(
    _ subscriber: AnyObject, lifetime: Lifetime,
    _ bodies: [(
      selector: MethodSelector,
      body: @Sendable (_ subscriber: UnsafeMutableRawPointer, RawDelivery) -> Void
    )]
  ) throws(ForwardingError) {
    let methods = unsafe bodies.map { selector, body in
      let function = unsafe PackedFunction {
        receiver, arguments, result throws(ForwardingError) in
        guard let receiver = unsafe receiver else { return }
        unsafe body(receiver, RawDelivery(arguments: arguments, result: result))
      }
      return FunctionTable.Method(selector: selector) { _ in .packed(function) }
    }
    let dispatch = try DispatchTable(
      JoinedTable(FunctionTable(methods: methods, fault: nil), core.plan), isSingle: true)
    _ = try attach(subscriber, dispatch, at: .last, lifetime: lifetime)
  }
}

extension FunctionTable {
  /// Returns the closure of a method for calls with undecoded arguments.
  ///
  /// - Throws: `ForwardingError` with the code `signatureMismatch` if the closure's
  ///   types do not fit the signature.
  package func closure(
    for selector: MethodSelector, _ signature: MethodSignature
  ) throws(ForwardingError) -> RawClosure {
    if let fault { throw fault }
    guard let method = methods[selector], case .packed(let function) = try method.bind(signature)
    else { throw ForwardingError(.missingMethod, selector: selector.name, "no closure") }
    return RawClosure(function: function)
  }
}

/// A typed closure that is called with undecoded arguments.
package struct RawClosure: Sendable {
  fileprivate let function: PackedFunction

  /// Calls the closure. Writes its result to that of the delivery.
  ///
  /// The caller promises that the owner is of the table's class, and the delivery of
  /// the signature.
  ///
  /// - Throws: `ForwardingError` if an argument is no value of the closure's type.
  @unsafe package func call(
    _ owner: AnyObject, _ delivery: RawDelivery
  ) throws(ForwardingError) {
    let receiver = unsafe Unmanaged.passUnretained(owner).toOpaque()
    try withExtendedLifetime(owner) { () throws(ForwardingError) in
      try unsafe function.call(receiver, delivery.arguments, delivery.result)
    }
  }
}

extension DynamicProxy {
  /// Returns a function that decodes the arguments of a method. It takes pointers to
  /// all arguments, the receiver included, as a `RawDelivery` has them.
  ///
  /// - Throws: `ForwardingError`: `unknownSelector` if no protocol declares the method,
  ///   `signatureMismatch` if it has other types than the key.
  @unsafe package func argumentDecoder<Output, each Argument>(
    for key: Method<Output, repeat each Argument>
  ) throws(ForwardingError) -> (
    UnsafePointer<UnsafeMutableRawPointer>
  ) throws(ForwardingError) -> (repeat each Argument) {
    try verify(key)
    return try unsafe argumentCoders(for: key, takesAll: true).decoder
  }

  /// Returns a function that decodes the first arguments of a method, as
  /// `argumentDecoder(for:)` does.
  ///
  /// - Throws: `ForwardingError`: `unknownSelector` if no protocol declares the method,
  ///   `wrongArgumentCount` and `typeMismatch` if it has other types.
  @unsafe package func argumentDecoder<each Argument>(
    for selector: MethodSelector, _ types: repeat (each Argument).Type
  ) throws(ForwardingError) -> (
    UnsafePointer<UnsafeMutableRawPointer>
  ) throws(ForwardingError) -> (repeat each Argument) {
    let signature = try method(for: selector).signature
    return try unsafe ArgumentCoders<repeat each Argument>(
      selector, signature, mayBeFewer: true
    ).decoder
  }
}

extension ArgumentCoders {
  /// Decodes the arguments behind pointers to all of a signature's.
  @unsafe fileprivate var decoder:
    (UnsafePointer<UnsafeMutableRawPointer>) throws(ForwardingError) -> (repeat each Argument)
  {
    { pointers throws(ForwardingError) in
      var index = first
      return try unsafe (repeat next(each coders, pointers, &index))
    }
  }
}

extension ProtocolTable.Requirement {
  /// The Swift types of the parameters, if the method was declared by a key.
  package var parameterTypes: [Any.Type]? { key?.parameters }

  /// Whether the method has a result if no subscriber responds.
  package var hasDefault: Bool { defaultResult != nil }

  /// Copies that result, with a reference of its own to an object.
  @unsafe package func copyDefault(to result: UnsafeMutableRawPointer) {
    guard let bytes = unsafe defaultResult?.bytes.baseAddress else { return }
    // SAFETY: the caller's room and the stored value have the result's size.
    unsafe result.copyMemory(from: bytes, byteCount: signature.resultLayout.size)
    if signature.result.kind == .object {
      unsafe fwd_object_retain(bytes.load(as: UnsafeMutableRawPointer?.self))
    }
  }
}

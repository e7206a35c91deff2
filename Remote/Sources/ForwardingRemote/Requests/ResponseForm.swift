// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding
internal import ForwardingWire

/// How the result of a method travels: as the one argument of a call of the same name,
/// which is a schema record and a record as any other. Both sides make the schema from
/// their own method, so that a result of another type is found.
internal struct ResponseForm {
  /// Begins a response that is an error. The rest is the description.
  internal static let errorMark = Array("FWDERR1\n".utf8)

  internal let selector: MethodSelector
  internal let signature: MethodSignature
  internal let schema: WireSchema

  /// - Throws: `invalidArgument` if the result cannot be carried.
  internal init(
    _ selector: MethodSelector, resultOf method: MethodSignature
  ) throws(RemoteError) {
    let result = method.result.text
    // A pointer in a result belongs to the responder, or to nobody.
    let isPointer = result.contains("*") || result.contains("^")
    let text = result == "v" ? "v@:" : "v@:\(result)"
    do {
      guard !isPointer else {
        throw RemoteError(
          .invalidArgument,
          "the result \"\(result)\" of \"\(selector)\" is a pointer, or contains one")
      }
      signature = try MethodSignature(text, stating: [])
      schema = try WireSchema(of: ProtocolTable("reply") { $0.optional(selector.name, text) })
    } catch let error as RemoteError {
      throw error
    } catch {
      throw RemoteError(
        .invalidArgument, "the result of \"\(selector)\" cannot be carried: \(error)",
        wireError: error as? WireError)
    }
    self.selector = selector
  }

  /// Returns the response with a result.
  internal func encode(_ result: RawSpan) throws -> [UInt8] {
    var bytes = schema.bytes
    let invocation = try Invocation(selector, signature)
    // SAFETY: the bytes are a value of the method's result type.
    if result.byteCount > 0 { try unsafe invocation.setBytes(result, at: 2) }
    try WireEncoder(schema).encode(invocation, into: &bytes)
    return bytes
  }

  /// Returns the result in a response.
  ///
  /// - Throws: `responderFailed`, `undecodable`.
  internal func decode<Output>(
    _ bytes: [UInt8], as type: Output.Type
  ) throws(RemoteError) -> Output {
    guard !bytes.starts(with: Self.errorMark) else {
      let reason = String(decoding: bytes.dropFirst(Self.errorMark.count), as: UTF8.self)
      throw RemoteError(.responderFailed, "the responder to \"\(selector)\": \(reason)")
    }
    var decoder = WireDecoder(bytes, schema: schema)
    do throws(WireError) {
      if let record = try decoder.next() {
        if Output.self == Void.self { return unsafe unsafeBitCast((), to: Output.self) }
        if let value = try value(in: record, as: type) { return value }
      }
    } catch {
      throw RemoteError(
        .undecodable, "the response to \"\(selector)\" cannot be decoded: \(error)",
        wireError: error)
    }
    throw RemoteError(.undecodable, "the response to \"\(selector)\" has no result")
  }

  private func value<Output>(
    in record: WireRecord, as type: Output.Type
  ) throws(WireError) -> Output? {
    let box = Box<Output>()
    let proxy: DynamicProxy
    let token: DynamicProxy.Token
    do throws(ForwardingError) {
      let key = Method(selector, ((Output) -> Void).self)
      proxy = try DynamicProxy { $0.optional(key) }
      token = try proxy.subscribe { $0.on(key) { box.value = $0 } }
    } catch {
      // The key has the result's type, of which a schema has been made.
      return nil
    }
    defer { token.cancel() }
    try record.forward(to: proxy)
    return box.value
  }

  private final class Box<Value>: @unchecked Sendable {
    // SAFETY: the closure runs during `forward`, on the same thread.
    var value: Value?
  }
}

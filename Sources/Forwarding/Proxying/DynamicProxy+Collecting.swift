// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Calls all responders of a method, whatever its policy, and returns every
  /// result with its author. It is slower than `send`: each result is decoded and
  /// stored.
  ///
  /// ```swift
  /// for answer in try proxy.collect(Table.height, row) { … answer.author, answer.value }
  /// for answer in try proxy.collect("height:", as: Double.self, Int64(row)) { … }
  /// ```
  ///
  /// - Returns: the results in order of delivery; none without a responder. A
  ///   result that is no `Output` (null, a raw value without a case) is left
  ///   out and reported to the error handler.
  /// - Throws: `ForwardingError`, as `send`, but never `noResponder`.
  /// - Complexity: O(*n*) in the number of subscribers.
  public func collect<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, as type: Output.Type = Output.self,
    _ arguments: repeat each Argument
  ) throws(ForwardingError) -> [Answer<Output>] {
    let method = try method(for: key)
    let (coders, result) = try Self.coders(method, Output.self, repeat (each Argument).self)
    let collector = Collector<Output>(result)
    // SAFETY: the frame is of the signature, and aligned for it.
    try unsafe Self.withFrame(coders, repeat each arguments) { frame throws(ForwardingError) in
      var delivery = unsafe fwd_delivery()
      unsafe delivery.frame = frame.baseAddress
      unsafe delivery.collector_context = Unmanaged.passUnretained(collector).toOpaque()
      unsafe delivery.collector = { context, identifier, object, result in
        // SAFETY: the context is the collector, alive during the call; the
        // object is held for its delivery.
        let collector = unsafe Unmanaged<AnyCollector>.fromOpaque(context!).takeUnretainedValue()
        unsafe collector.take(identifier, object, result)
        return true
      }
      try unsafe method.forward(delivery)
    }
    for mismatch in collector.mismatches {
      configuration.onError(
        ForwardingError(mismatch, selector: key.selector, signature: method.signature))
    }
    return collector.answers.map {
      Answer(
        author: $0.author, subscription: Subscription(anchor: anchor, identifier: $0.identifier),
        value: $0.value)
    }
  }
}

extension DynamicProxy {
  /// One result of a fan-out, with the subscriber that returned it.
  public struct Answer<Value> {
    /// The subscriber; nil for a C context.
    public let author: AnyObject?
    /// Its subscription.
    public let subscription: Subscription
    /// The result.
    public let value: Value
  }
}

private class AnyCollector {
  @unsafe func take(
    _ identifier: UInt64, _ object: UnsafeMutableRawPointer?, _ result: UnsafeMutableRawPointer
  ) {}
}

private final class Collector<Value>: AnyCollector {
  let coder: ValueCoder<Value>
  var answers: [(author: AnyObject?, identifier: UInt64, value: Value)] = []
  var mismatches: [ValueMismatch] = []

  init(_ coder: ValueCoder<Value>) { self.coder = coder }

  @unsafe override func take(
    _ identifier: UInt64, _ object: UnsafeMutableRawPointer?, _ result: UnsafeMutableRawPointer
  ) {
    // SAFETY: the shim gives the object of a record that holds one, and a
    // result whose reference is ours.
    let author = unsafe object.map {
      unsafe Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
    }
    do throws(ValueMismatch) {
      answers.append((author, identifier, try unsafe coder.decodeRetained(from: result)))
    } catch {
      mismatches.append(error)
    }
  }
}

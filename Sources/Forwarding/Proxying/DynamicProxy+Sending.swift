// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Forwards a method with typed arguments and gives its result.
  ///
  /// ```swift
  /// let keep: Bool = try proxy.send("visit:kind:", path, Int32(3))
  /// try proxy.send("finished:", Int64(12))
  /// ```
  ///
  /// The types are checked against the signature at each call. Where all are
  /// numbers, that costs about 20 ns; where pointers, objects, structs or raw
  /// values are among them, some hundreds: more than the rest of a small
  /// fan-out. Where that matters, resolve the method once (`method(for:)`) and
  /// forward a frame. A selector that is written as a literal is looked up at
  /// each call, about 20 ns; one in a `let` is not.
  ///
  /// If the configuration ignores unknown selectors, such a one gives zero: the
  /// number 0, false, nil, or a struct of zeros.
  ///
  /// - Throws: `ForwardingError`: `unknownSelector`, also if it is to be ignored
  ///   and the result's type has no zero; `wrongArgumentCount` and
  ///   `typeMismatch` if the arguments or the result are not the signature's, or
  ///   `valueNotRepresentable` if a string cannot be one in C,
  ///   before anybody is called; `noResponder` if nobody responds and there is
  ///   no default; `deliveryFailed` if those who did could not take the
  ///   arguments.
  /// - Complexity: O(*n*) in the number of subscribers.
  // Where both overloads give Void, the other one is meant.
  @_disfavoredOverload
  @inlinable
  public func send<each Argument, Output>(
    _ selector: MethodSelector, _ arguments: repeat each Argument
  ) throws(ForwardingError) -> Output {
    guard let target = sendTarget(selector), target.takes(repeat (each Argument).self),
      let kinds = scalarKinds(of: Output.self),
      target.result == kinds.0 || target.result == kinds.1
    else { return try sendChecking(selector, repeat each arguments) }
    var frame = SendFrame()
    var room: (UInt64, UInt64) = (0, 0)
    // SAFETY: the arguments have the types of their slots, and the room is at
    // least as large and as aligned as any number.
    let isDone = unsafe withUnsafeMutableBytes(of: &frame) { frame in
      let base = frame.baseAddress!
      var index = 0
      repeat unsafe target.write(each arguments, to: base, at: &index)
      return unsafe withUnsafeMutableBytes(of: &room) { room in
        unsafe target.forward(base, room.baseAddress!)
      }
    }
    if !isDone { throw ForwardingError.last(selector) }
    return unsafe withUnsafeBytes(of: &room) { room in
      // Any byte but 0 is true.
      if Output.self == Bool.self {
        return unsafe unsafeBitCast(room.load(as: UInt8.self) != 0, to: Output.self)
      }
      return unsafe room.loadUnaligned(as: Output.self)
    }
  }

  /// Forwards arguments of any types.
  @usableFromInline
  internal func sendChecking<each Argument, Output>(
    _ selector: MethodSelector, _ arguments: repeat each Argument
  ) throws(ForwardingError) -> Output {
    guard let method = try knownMethod(for: selector) else {
      return try Self.zero(selector)
    }
    let (coders, result) = try Self.coders(method, Output.self, repeat (each Argument).self)
    let room = ResultRoom(size: method.signature.resultLayout.size)
    // SAFETY: the frame is of the signature, and the room of the result's size.
    try unsafe Self.withFrame(coders, repeat each arguments) { frame throws(ForwardingError) in
      try unsafe method.forward(frame: frame, result: room.bytes)
    }
    do throws(ValueMismatch) {
      // SAFETY: the fan-out has put a result there, whose reference is the
      // caller's.
      return try unsafe result.decodeRetained(from: room.base)
    } catch {
      throw ForwardingError(error, selector: selector, signature: method.signature)
    }
  }

  /// What an unknown selector that is ignored gives.
  internal static func zero<Output>(_ selector: MethodSelector) throws(ForwardingError) -> Output {
    if let zero = zeroValue(of: Output.self) { return zero }
    throw ForwardingError(
      .unknownSelector, selector: selector.name,
      """
      no protocol of the proxy declares "\(selector)"; that is to be ignored, but there is no zero \
      of type \(Output.self) to give
      """)
  }

  /// Forwards a method with typed arguments; a result is dropped.
  ///
  /// - Throws: `ForwardingError`, as with a result. An unknown selector is
  ///   ignored if the configuration says so.
  /// - Complexity: O(*n*) in the number of subscribers.
  @inlinable
  public func send<each Argument>(
    _ selector: MethodSelector, _ arguments: repeat each Argument
  ) throws(ForwardingError) {
    guard let target = sendTarget(selector), target.takes(repeat (each Argument).self)
    else { return try sendDropping(selector, repeat each arguments) }
    var frame = SendFrame()
    // SAFETY: the arguments have the types of their slots.
    let isDone = unsafe withUnsafeMutableBytes(of: &frame) { frame in
      let base = frame.baseAddress!
      var index = 0
      repeat unsafe target.write(each arguments, to: base, at: &index)
      return unsafe target.forward(base, nil)
    }
    if !isDone { throw ForwardingError.last(selector) }
  }

  /// Forwards arguments of any types.
  @usableFromInline
  internal func sendDropping<each Argument>(
    _ selector: MethodSelector, _ arguments: repeat each Argument
  ) throws(ForwardingError) {
    guard let method = try knownMethod(for: selector) else { return }
    let coders = try Self.coders(method, repeat (each Argument).self)
    // SAFETY: the frame is of the signature.
    try unsafe Self.withFrame(coders, repeat each arguments) { frame throws(ForwardingError) in
      try unsafe method.forward(frame: frame)
    }
  }

  /// Forwards a method to all responders, whatever its policy, and gives every
  /// result with its author. This is slow, about 1,500 ns for one subscriber
  /// and 270 ns a delivery for 64: each result is decoded and kept.
  ///
  /// ```swift
  /// for answer in try proxy.collect("height:", as: Double.self, Int64(row)) { … answer.author, answer.value }
  /// ```
  ///
  /// - Returns: the results in order of delivery; none if nobody responds. A
  ///   result that is no `Output` (null, a raw value without a case) is left
  ///   out and reported to the error handler.
  /// - Throws: `ForwardingError`, as `send`, but not for want of a responder.
  /// - Complexity: O(*n*) in the number of subscribers.
  public func collect<each Argument, Output>(
    _ selector: MethodSelector, as type: Output.Type = Output.self,
    _ arguments: repeat each Argument
  ) throws(ForwardingError) -> [Answer<Output>] {
    let method = try method(for: selector)
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
        ForwardingError(mismatch, selector: selector, signature: method.signature))
    }
    return collector.answers.map {
      Answer(
        author: $0.author, subscription: Subscription(anchor: anchor, identifier: $0.identifier),
        value: $0.value)
    }
  }
}

/// One result of a fan-out and who gave it.
public struct Answer<Value> {
  /// The subscriber; nil for a C context.
  public let author: AnyObject?
  /// Its subscription.
  public let subscription: Subscription
  /// The result.
  public let value: Value
}

// MARK: - Frames

extension DynamicProxy {
  private static func coders<each Argument>(
    _ method: ResolvedMethod, _: repeat (each Argument).Type
  ) throws(ForwardingError) -> ArgumentCoders<repeat each Argument> {
    try ArgumentCoders(method.selector, method.signature)
  }

  private static func coders<each Argument, Output>(
    _ method: ResolvedMethod, _: Output.Type, _: repeat (each Argument).Type
  ) throws(ForwardingError) -> (ArgumentCoders<repeat each Argument>, ValueCoder<Output>) {
    (
      try ArgumentCoders(method.selector, method.signature),
      try ValueCoder(resultOf: method.selector, method.signature)
    )
  }

  /// Puts the arguments into a frame on the stack and keeps them alive while
  /// `body` uses it.
  @unsafe private static func withFrame<each Argument>(
    _ coders: ArgumentCoders<repeat each Argument>, _ arguments: repeat each Argument,
    body: (UnsafeRawBufferPointer) throws(ForwardingError) -> Void
  ) throws(ForwardingError) {
    var failure: ForwardingError?
    let size = coders.signature.frameSize
    // SAFETY: the memory has the frame's size and alignment, and is zeroed for
    // the padding.
    unsafe withUnsafeTemporaryAllocation(
      byteCount: max(size, 1), alignment: coders.signature.frameAlignment
    ) { memory in
      unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
      do throws(ForwardingError) {
        let copies = try unsafe coders.encode(repeat each arguments, into: memory.baseAddress!)
        defer { extendLifetime(copies) }
        try unsafe body(UnsafeRawBufferPointer(rebasing: memory.prefix(size)))
      } catch {
        failure = error
      }
    }
    withExtendedLifetime((repeat each arguments)) {}
    if let failure { throw failure }
  }
}

/// Zeroed memory for a result.
@safe internal final class ResultRoom {
  private let memory: UnsafeMutableRawBufferPointer

  init(size: Int) {
    unsafe memory = .allocate(byteCount: max(size, 16), alignment: 16)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
    unsafe bytes = UnsafeMutableRawBufferPointer(rebasing: memory.prefix(size))
  }

  deinit { unsafe memory.deallocate() }

  /// As many bytes as the result has.
  let bytes: UnsafeMutableRawBufferPointer
  var base: UnsafeRawPointer { unsafe UnsafeRawPointer(memory.baseAddress!) }
  /// At least a word, so that there is an address for results of no bytes.
  var start: UnsafeMutableRawPointer { unsafe memory.baseAddress! }
}

// MARK: - Collecting

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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Calls all responders of a method, whatever its policy, and returns every
  /// result with its author.
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
  // Compiled into the caller, as `send` is.
  @inlinable
  public func collect<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, as type: Output.Type = Output.self,
    _ arguments: repeat each Argument
  ) throws(ForwardingError) -> [Answer<Output>] {
    // A key without a result may be known to fit a method with one, for sends.
    if Output.self == Void.self {
      return try collectIndirect(.unverified, key, repeat each arguments)
    }
    let tuple = (repeat each arguments)
    // SAFETY: as in `send`.
    let (status, answers) = unsafe withUnsafeTemporaryAllocation(
      of: GatheredResult.self, capacity: GatheredResults.capacityOnStack
    ) { room in
      unsafe withUnsafePointer(to: tuple) { arguments in
        let gathered = unsafe gatherDirect(
          key.selector, key.derived, key.passing, UnsafeRawPointer(arguments), room)
        guard gathered.status == .done, gathered.count > 0 else {
          return (gathered.status, [Answer<Output>]())
        }
        return (.done, unsafe key.answers(gathered, of: self))
      }
    }
    if status == .done { return answers }
    return try collectIndirect(status, key, repeat each arguments)
  }

  /// Forwards a tuple of a key's arguments and gathers the results, if the key is known
  /// to fit the method. The caller takes what they refer to, then calls `free`. Leaves keys
  /// with `.each` to the caller.
  @usableFromInline
  @unsafe internal func gatherDirect(
    _ selector: MethodSelector, _ derived: Unmanaged<DerivedMethod>, _ passing: ArgumentPassing,
    _ tuple: UnsafeRawPointer, _ room: UnsafeMutableBufferPointer<GatheredResult>
  ) -> GatheredResults {
    guard passing != .each, let entry = unsafe verifiedEntry(selector, derived) else {
      return GatheredResults(status: .unverified)
    }
    guard passing == .tuple else {
      return unsafe derived.withFrame(of: tuple) { frame in
        unsafe gather(entry, frame, room)
      } ?? GatheredResults(status: .unverified)
    }
    return unsafe gather(entry, tuple, room)
  }

  @unsafe private func gather(
    _ entry: UnsafePointer<fwd_proxy_method>, _ frame: UnsafeRawPointer,
    _ room: UnsafeMutableBufferPointer<GatheredResult>
  ) -> GatheredResults {
    // SAFETY: the structs have the same layout, and the room is the caller's. The result
    // of a key that is sent by its tuple is no larger than that of a gathered one.
    var gathering = unsafe fwd_gathering(
      results: UnsafeMutableRawPointer(room.baseAddress!).assumingMemoryBound(
        to: fwd_gathered.self),
      count: 0, capacity: room.count, is_allocated: false)
    let status = unsafe fwd_gather(core.handle, entry, frame, &gathering)
    if status != FWD_OK { return GatheredResults(status: SendStatus(rawValue: status.rawValue)) }
    return unsafe GatheredResults(gathering)
  }

  /// Forwards arguments of any types, for results of any size, or with a key that
  /// is new to the method.
  @usableFromInline
  internal func collectIndirect<Output, each Argument>(
    _ status: SendStatus, _ key: Method<Output, repeat each Argument>,
    _ arguments: repeat each Argument
  ) throws(ForwardingError) -> [Answer<Output>] {
    guard status == .unverified else { throw ForwardingError.last(key.selector) }
    let method = try method(for: key)
    let (coders, result) = try Self.coders(method, Output.self, repeat (each Argument).self)
    let collector = Collector<Output>(result)
    // SAFETY: the frame is of the signature, and aligned for it.
    try unsafe Self.withFrame(coders, repeat each arguments) { frame throws(ForwardingError) in
      let receiver = unsafe fwd_collector(
        collect: { context, identifier, object, result in
          // SAFETY: the context is the collector, alive during the call; the
          // object is held for its delivery.
          let collector = unsafe Unmanaged<AnyCollector>.fromOpaque(context!)
            .takeUnretainedValue()
          unsafe collector.take(identifier, object, result)
          return true
        }, context: Unmanaged.passUnretained(collector).toOpaque())
      try unsafe withUnsafePointer(to: receiver) { receiver throws(ForwardingError) in
        var delivery = unsafe fwd_delivery()
        unsafe delivery.frame = frame.baseAddress
        unsafe delivery.collector = receiver
        unsafe delivery.collects = true
        try unsafe method.forward(delivery)
      }
    }
    report(collector.mismatches, key.selector, method.signature)
    let reference = reference
    return collector.answers.map {
      Answer(author: $0.author, reference: reference, identifier: $0.identifier, value: $0.value)
    }
  }

  fileprivate func report(
    _ mismatches: [ValueMismatch], _ selector: MethodSelector, _ signature: MethodSignature?
  ) {
    for mismatch in mismatches {
      configuration.onError(
        ForwardingError(mismatch, selector: selector, signature: signature))
    }
  }
}

extension DynamicProxy {
  /// One result of a fan-out, with the subscriber that returned it.
  public struct Answer<Value> {
    @usableFromInline internal let respondent: AnyObject?
    @usableFromInline internal let reference: ProxyReference
    @usableFromInline internal let identifier: UInt64
    /// The result.
    public let value: Value

    /// Its subscription.
    public var subscription: Subscription {
      Subscription(reference: reference, identifier: identifier)
    }

    /// The subscriber; nil for closures with a token and for C contexts, which have
    /// no object.
    public var author: AnyObject? { TokenSubscriber.hidden(respondent) }

    @inlinable
    internal init(author: AnyObject?, reference: ProxyReference, identifier: UInt64, value: Value) {
      respondent = author
      self.reference = reference
      self.identifier = identifier
      self.value = value
    }
  }
}

// MARK: - Gathered results

/// One result as C writes it. The layout is that of `fwd_gathered`, which gather.c
/// asserts.
@usableFromInline
@safe internal struct GatheredResult {
  @usableFromInline internal let identifier: UInt64
  /// With a reference of the reader's.
  @usableFromInline internal let author: Unmanaged<AnyObject>?
  @usableFromInline internal var room: SendResult
}

/// The results of a direct fan-out.
@usableFromInline
@safe internal struct GatheredResults {
  /// For more results, C allocates memory.
  @usableFromInline internal static var capacityOnStack: Int { 8 }

  @usableFromInline internal let status: SendStatus
  @usableFromInline internal let start: UnsafeMutablePointer<GatheredResult>?
  @usableFromInline internal let count: Int
  private let isAllocated: Bool

  fileprivate init(status: SendStatus) {
    self.status = status
    unsafe start = nil
    count = 0
    isAllocated = false
  }

  fileprivate init(_ gathering: fwd_gathering) {
    status = .done
    // SAFETY: the structs have the same layout.
    unsafe start = UnsafeMutableRawPointer(gathering.results).assumingMemoryBound(
      to: GatheredResult.self)
    unsafe count = gathering.count
    unsafe isAllocated = gathering.is_allocated
  }

  /// Frees the memory, if it is not the caller's.
  @usableFromInline
  @unsafe internal func free() {
    guard isAllocated, let start = unsafe start else { return }
    // SAFETY: as above; freed once.
    var gathering = unsafe fwd_gathering(
      results: UnsafeMutableRawPointer(start).assumingMemoryBound(to: fwd_gathered.self),
      count: count, capacity: count, is_allocated: true)
    unsafe fwd_gathering_free(&gathering)
  }
}

extension Method {
  /// Makes answers of gathered results, of which there are some, and takes what
  /// they refer to.
  @inlinable
  @unsafe internal func answers(
    _ gathered: GatheredResults, of proxy: DynamicProxy
  ) -> [DynamicProxy.Answer<Output>] {
    // A byte need not be a Bool.
    guard scalarKinds(of: Output.self) != nil, Output.self != Bool.self else {
      return unsafe decodedAnswers(gathered, of: proxy)
    }
    let reference = proxy.reference
    let answers = unsafe [DynamicProxy.Answer<Output>](
      unsafeUninitializedCapacity: gathered.count
    ) { answers, count in
      for index in 0..<gathered.count {
        // SAFETY: there are as many; each has a reference to its author for us.
        let answer = unsafe DynamicProxy.Answer(
          author: gathered.start![index].author?.takeRetainedValue(), reference: reference,
          identifier: gathered.start![index].identifier,
          value: scalar(in: &gathered.start![index].room))
        unsafe (answers.baseAddress! + index).initialize(to: answer)
      }
      count = gathered.count
    }
    unsafe gathered.free()
    return answers
  }

  @usableFromInline
  @unsafe internal func decodedAnswers(
    _ gathered: GatheredResults, of proxy: DynamicProxy
  ) -> [DynamicProxy.Answer<Output>] {
    let reference = proxy.reference
    var answers: [DynamicProxy.Answer<Output>] = []
    answers.reserveCapacity(gathered.count)
    var mismatches: [ValueMismatch] = []
    for index in 0..<gathered.count {
      // SAFETY: as above, and to a result that is an object.
      let author = unsafe gathered.start![index].author?.takeRetainedValue()
      do throws(ValueMismatch) {
        answers.append(
          DynamicProxy.Answer(
            author: author, reference: reference,
            identifier: unsafe gathered.start![index].identifier,
            value: try unsafe decode(&gathered.start![index].room)))
      } catch {
        mismatches.append(error)
      }
    }
    unsafe gathered.free()
    proxy.report(mismatches, selector, try? signature)
    return answers
  }
}

// MARK: - Collectors

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

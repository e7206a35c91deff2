// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding
public import Testing

/// Records the calls that a proxy forwards, replies to them as the test says, and
/// records issues for calls that the test did not expect.
///
/// ```swift
/// @Test func `the parser tells each element`() throws {
///   let spy = try Spy(Parsing.table)
///   spy.stub(Parsing.depth) { name in Int32(name.count) }
///   parse("<a><b/></a>", calling: spy.proxy)
///   #expect(spy.calls(of: Parsing.started) == ["a", "b"])
///   spy.verify()
/// }
/// ```
///
/// - A call of a method without a result needs no preparation.
/// - A method with a result needs a stub, a script or a default in its protocol.
///   Otherwise a call is an issue, and the caller gets zero.
/// - Calls may come on any thread. Issues are recorded on the test's own task: by
///   ``verify(sourceLocation:)``, or when the spy is deallocated. Keep the spy until the
///   last call.
///
/// Numbers and structs are recorded with their bytes, objects with a reference, and
/// strings as copies if the method is declared by a key with a `String`. Other pointers
/// are recorded as addresses: what they point to may be gone when the test reads them.
///
/// <doc:TestingWithSpies> has an example of each part.
public final class Spy: Sendable {
  /// The proxy whose calls are recorded. Pass it to the code under test.
  public let proxy: DynamicProxy

  @usableFromInline internal let recorder: SpyRecorder
  private let tokens: [DynamicProxy.Token]

  /// Creates a spy with a proxy of its own, which adopts a protocol.
  ///
  /// - Parameters:
  ///   - table: the protocol.
  ///   - sourceLocation: where issues with unexpected calls are recorded.
  /// - Throws: `ForwardingError`, as `DynamicProxy.init(adopting:configuration:)`.
  public convenience init(
    _ table: ProtocolTable, sourceLocation: SourceLocation = #_sourceLocation
  ) throws(ForwardingError) {
    try self.init(DynamicProxy(adopting: table), .strong, sourceLocation)
  }

  /// Creates a spy with a proxy of its own, for methods that are declared here.
  ///
  /// ```swift
  /// let spy = try Spy { $0.required(started) }
  /// ```
  ///
  /// - Parameters:
  ///   - sourceLocation: where issues with unexpected calls are recorded.
  ///   - build: declares the methods.
  /// - Throws: `ForwardingError`, as `ProtocolTable.init(_:inheriting:_:)`.
  public convenience init(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ build: (inout ProtocolTable.Builder) -> Void
  ) throws(ForwardingError) {
    try self.init(ProtocolTable("Spied", build), sourceLocation: sourceLocation)
  }

  /// Creates a spy of a proxy. The spy subscribes behind the proxy's subscribers, until
  /// it is deallocated.
  ///
  /// ```swift
  /// let feed = FeedProxy()                 // of a protocol with @Forwarded
  /// let spy = try Spy(feed.proxy)
  /// feed.tick(101.5, "ACME")
  /// #expect(spy.calls(of: FeedProxy.Keys.tick).map(\.1) == ["ACME"])
  /// ```
  ///
  /// The result policy of a method decides whether the spy is called. By default it is
  /// called for each method without a result, and for a method with a result if no
  /// subscriber before it responds.
  ///
  /// - Parameters:
  ///   - proxy: the proxy, which is kept alive.
  ///   - sourceLocation: where issues with unexpected calls are recorded.
  /// - Throws: `ForwardingError`, as `DynamicProxy.subscribe(_:table:at:lifetime:times:)`.
  public convenience init(
    _ proxy: DynamicProxy, sourceLocation: SourceLocation = #_sourceLocation
  ) throws(ForwardingError) {
    try self.init(proxy, .weak, sourceLocation)
  }

  private init(
    _ proxy: DynamicProxy, _ lifetime: DynamicProxy.Lifetime, _ location: SourceLocation
  ) throws(ForwardingError) {
    self.proxy = proxy
    recorder = SpyRecorder(proxy.requirements, location)
    tokens = try recorder.subscribe(to: proxy, lifetime)
  }

  deinit { recorder.report() }
}

// MARK: - Replies

extension Spy {
  /// Replies to the calls of a method with a closure. A later stub replaces it.
  ///
  /// ```swift
  /// spy.stub(ask) { number in number + 1 }
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method. An issue is recorded if no protocol declares it, or with
  ///     other types.
  ///   - sourceLocation: where that issue is recorded.
  ///   - body: gets the arguments and returns the result, on the caller's thread.
  ///     Pointers are valid during the call.
  @inlinable
  public func stub<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (repeat each Argument) -> Output
  ) {
    // Built here, so that the closure is specialized in the caller's module.
    let table = FunctionTable(for: SpyRecorder.self) {
      $0.on(key) { (_: SpyRecorder, arguments: repeat each Argument) in
        body(repeat each arguments)
      }
    }
    add(table, to: key.selector, sourceLocation)
  }

  /// Replies to the next calls of a method with results, in order.
  ///
  /// ```swift
  /// spy.script(ask, returning: 1, 2, 3)
  /// ```
  ///
  /// One call more is an issue, unless the method has a stub, which then replies. One
  /// call less is an issue too. A second script continues the first.
  ///
  /// - Parameters:
  ///   - key: the method. An issue is recorded if no protocol declares it, or with
  ///     other types.
  ///   - results: the results.
  ///   - sourceLocation: where these issues are recorded.
  public func script<Output: Sendable, each Argument>(
    _ key: Method<Output, repeat each Argument>, returning results: Output...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    report(sourceLocation) { () throws(ForwardingError) in
      let signature = try method(key)
      var closures: [RawClosure] = []
      for result in results {
        let table = FunctionTable(for: SpyRecorder.self) {
          $0.on(key) { (_: SpyRecorder, _: repeat each Argument) in result }
        }
        closures.append(try table.closure(for: key.selector, signature))
      }
      recorder.script(recorder.index(key.selector), closures, sourceLocation)
    }
  }

  /// Sets the closure of a table as a stub.
  @usableFromInline
  internal func add(
    _ table: FunctionTable, to selector: MethodSelector, _ location: SourceLocation
  ) {
    report(location) { () throws(ForwardingError) in
      let signature = try proxy.method(for: selector).signature
      recorder.stub(recorder.index(selector), try table.closure(for: selector, signature))
    }
  }
}

// MARK: - Calls

extension Spy {
  /// The arguments of the calls of a method, in the order in which the spy received
  /// them.
  ///
  /// ```swift
  /// #expect(spy.calls(of: started) == ["a", "b"])           // one parameter
  /// #expect(spy.calls(of: moved).map(\.0) == [1, 2])        // several: tuples
  /// #expect(spy.calls(of: ended).count == 2)                // none
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method. An issue is recorded if no protocol declares it, or with
  ///     other types.
  ///   - sourceLocation: where that issue is recorded, and one for a call whose
  ///     arguments are no values of the key's types, which is left out.
  /// - Complexity: O(*n*) in the number of all calls.
  public func calls<Output, each Argument>(
    of key: Method<Output, repeat each Argument>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> [(repeat each Argument)] {
    calls(of: key.selector, sourceLocation) { () throws(ForwardingError) in try reader(key) }
  }

  // Two functions for one parameter: Swift treats a one-element tuple of an optional as not
  // optional, so comparing it with nil would give false.

  /// The arguments of the calls of a method with one parameter.
  ///
  /// See the function of the same name for methods with several parameters.
  public func calls<Output, Argument>(
    of key: Method<Output, Argument>, sourceLocation: SourceLocation = #_sourceLocation
  ) -> [Argument] {
    calls(of: key.selector, sourceLocation) { () throws(ForwardingError) in try reader(key) }
  }

  /// The first argument of each call of a method that is named by its selector.
  ///
  /// See the function of the same name for several arguments.
  public func calls<Argument>(
    of selector: MethodSelector, as type: Argument.Type,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> [Argument] {
    calls(of: selector, sourceLocation) { () throws(ForwardingError) in
      let decode = try unsafe proxy.argumentDecoder(for: selector, type)
      return try unsafe reader(selector, decode)
    }
  }

  /// The first arguments of the calls of a method that is named by its selector, in the
  /// order in which the spy received them. For methods of a typed proxy that have no key:
  /// those that throw, or whose result has a type that C does not have.
  ///
  /// ```swift
  /// let save = StoreProxy.selector(for: .saveTo)
  /// #expect(spy.calls(of: save, as: Int.self) == [1, 2])
  /// #expect(spy.calls(of: save, as: Int.self, String.self).map(\.1) == ["a", "b"])
  /// ```
  ///
  /// - Parameters:
  ///   - selector: the method. An issue is recorded if no protocol declares it.
  ///   - types: the types of the first parameters. An issue is recorded if the method
  ///     has others. An `inout` parameter can only be read as an address.
  ///   - sourceLocation: where these issues are recorded, and one for a call whose
  ///     arguments are no values of the types, which is left out.
  /// - Complexity: O(*n*) in the number of all calls.
  public func calls<each Argument>(
    of selector: MethodSelector, as types: repeat (each Argument).Type,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> [(repeat each Argument)] {
    calls(of: selector, sourceLocation) { () throws(ForwardingError) in
      let decode = try unsafe proxy.argumentDecoder(for: selector, repeat each types)
      return try unsafe reader(selector, decode)
    }
  }

  private func calls<each Argument>(
    of selector: MethodSelector, _ location: SourceLocation,
    _ reader: () throws(ForwardingError) -> Reader<repeat each Argument>
  ) -> [(repeat each Argument)] {
    var calls: [(repeat each Argument)] = []
    report(location) { () throws(ForwardingError) in
      let read = try reader()
      let index = recorder.index(selector)
      for record in recorder.records where record.method == index {
        report(location) { () throws(ForwardingError) in calls.append(try read(record)) }
      }
    }
    return calls
  }

  /// Decodes the arguments of a call of one method.
  internal typealias Reader<each Argument> =
    (CallLog.Record) throws(ForwardingError) -> (repeat each Argument)

  /// Returns a function that decodes the arguments of a call of a method.
  internal func reader<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>
  ) throws(ForwardingError) -> Reader<repeat each Argument> {
    try unsafe reader(key.selector, proxy.argumentDecoder(for: key))
  }

  @unsafe private func reader<each Argument>(
    _ selector: MethodSelector,
    _ decode:
      @escaping (UnsafePointer<UnsafeMutableRawPointer>) throws(ForwardingError) -> (
        repeat each Argument
      )
  ) throws(ForwardingError) -> Reader<repeat each Argument> {
    let method = recorder.methods[recorder.index(selector)]
    var types: [Any.Type] = []
    repeat types.append((each Argument).self)
    if let refusal = method.refusal(of: types) {
      throw ForwardingError(.signatureMismatch, selector: selector.name, refusal)
    }
    // SAFETY: the caller passes records of the method. The spy keeps them.
    return { [self] record throws(ForwardingError) in
      try withExtendedLifetime(self) { () throws(ForwardingError) in
        try unsafe method.withArguments(of: record.start, decode)
      }
    }
  }

  /// Checks that a protocol declares the method of a key.
  internal func method<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>
  ) throws(ForwardingError) -> MethodSignature {
    try proxy.method(for: key).signature
  }

  /// Records an error as an issue.
  internal func report(
    _ location: SourceLocation, _ body: () throws(ForwardingError) -> Void
  ) {
    do throws(ForwardingError) {
      try body()
    } catch {
      Issue.record(Comment(rawValue: error.description), sourceLocation: location)
    }
  }
}

// MARK: - Verifying

extension Spy {
  /// States how often a method should be called until the next verification.
  ///
  /// ```swift
  /// spy.expect(ended, count: 2)
  /// ```
  ///
  /// - Parameters:
  ///   - key: the method. An issue is recorded if no protocol declares it, or with
  ///     other types.
  ///   - count: the number of all calls, those before this statement included.
  ///   - sourceLocation: where an issue is recorded if the number is another.
  public func expect<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, count: Int = 1,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    report(sourceLocation) { () throws(ForwardingError) in
      _ = try method(key)
      recorder.expect(recorder.index(key.selector), count, sourceLocation)
    }
  }

  /// Records an issue for each unexpected call, each expectation that is not met, and
  /// each script with results left. None is recorded twice.
  ///
  /// Call it on the test's task when the calls have been made. A spy does the same when
  /// it is deallocated, so that nothing is lost if a test forgets it or throws.
  ///
  /// - Parameter sourceLocation: where issues with unexpected calls are recorded.
  public func verify(sourceLocation: SourceLocation = #_sourceLocation) {
    recorder.report(sourceLocation)
  }

  /// Records an issue unless the spy has received exactly these calls, in this order.
  /// Then does what ``verify(sourceLocation:)`` does.
  ///
  /// ```swift
  /// spy.verify {
  ///   $0.call(started, "a")
  ///   $0.call(text)           // with any arguments
  ///   $0.call(ended, "a")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - sourceLocation: where the issues are recorded.
  ///   - calls: states the calls.
  public func verify(
    sourceLocation: SourceLocation = #_sourceLocation, _ calls: (inout ExpectedCalls) -> Void
  ) {
    var expected = ExpectedCalls(self, sourceLocation)
    calls(&expected)
    expected.compare()
    recorder.report(sourceLocation)
  }
}

// MARK: - Conformances

extension Spy: CustomStringConvertible {
  /// The calls, in order.
  public var description: String { "Spy of \(recorder.text(recorder.records))" }
}

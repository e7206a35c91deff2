// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ForwardingPresets
import Testing

@testable import Forwarding

/// What a reactive wrapper of a delegate does. The numbers are those of the
/// list of behaviours; where a number is a defect there, the test says what is
/// better here.
@Suite struct ProtocolProxyTests {
  let journal = Journal()

  /// A delegate with methods of all arities, a data source's, and required ones.
  static let table = ProtocolTable.table("TableDelegate") {
    $0.optional("done", "v@:")
    $0.optional("a:", "v@:i")
    $0.optional("a:b:", "v@:iq")
    $0.optional("a:b:c:", "v@:iqd")
    $0.optional("a:b:c:d:", "v@:iqdB")
    $0.optional("a:b:c:d:e:", "v@:iqdBf")
    $0.optional("a:b:c:d:e:f:", "v@:iqdBfs")
    $0.optional("maySelect:", "B@:q")
    $0.optional("height:of:", "d@:qq")
    $0.required("numberOfRows:", "q@:q")
    $0.optional("select:with:", "v@:i@")
    $0.optional("move:", "v@:{fixture_point=dd}")
  }

  func proxy(_ changes: Journal = Journal()) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration(.protocolProxy)
    configuration.onCapabilityChange = { changes.note("\($0)\($1 ? "+" : "-")") }
    return try DynamicProxy(adopting: Self.table, configuration: configuration)
  }

  /// Who has some of the methods.
  final class Delegate: Sendable {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }

    static let table = FunctionTable(for: Delegate.self) {
      $0.on("done") { (self: Delegate) in self.journal.note("done") } as Void
      $0.on("a:") { (self: Delegate, a: Int32) in self.journal.note("a\(a)") } as Void
      $0.on("numberOfRows:") { (self: Delegate, section: Int64) -> Int64 in 99 }
    }
  }

  // MARK: Signals

  @Test("1.5.3 a signal handles a method by a typed closure of any arity")
  func arities() async throws {
    let proxy = try proxy()
    let none = try proxy.signal(for: "done") { "none" }
    let one = try proxy.signal(for: "a:") { (a: Int32) in "\(a)" }
    let two = try proxy.signal(for: "a:b:") { (a: Int32, b: Int64) in "\(a) \(b)" }
    let three = try proxy.signal(for: "a:b:c:") { (a: Int32, b: Int64, c: Double) in
      "\(a) \(b) \(c)"
    }
    let four = try proxy.signal(for: "a:b:c:d:") { (a: Int32, b: Int64, c: Double, d: Bool) in
      "\(a) \(b) \(c) \(d)"
    }
    let five = try proxy.signal(for: "a:b:c:d:e:") {
      (a: Int32, b: Int64, c: Double, d: Bool, e: Float) in "\(a) \(b) \(c) \(d) \(e)"
    }
    let six = try proxy.signal(for: "a:b:c:d:e:f:") {
      (a: Int32, b: Int64, c: Double, d: Bool, e: Float, f: Int16) in
      "\(a) \(b) \(c) \(d) \(e) \(f)"
    }
    var iterators = [none, one, two, three, four, five, six].map { $0.makeAsyncIterator() }
    try proxy.send("done")
    try proxy.send("a:", Int32(1))
    try proxy.send("a:b:", Int32(1), Int64(2))
    try proxy.send("a:b:c:", Int32(1), Int64(2), 3.5)
    try proxy.send("a:b:c:d:", Int32(1), Int64(2), 3.5, true)
    try proxy.send("a:b:c:d:e:", Int32(1), Int64(2), 3.5, true, Float(5))
    try proxy.send("a:b:c:d:e:f:", Int32(1), Int64(2), 3.5, true, Float(5), Int16(6))
    var elements: [String?] = []
    for index in iterators.indices { elements.append(await iterators[index].next()) }
    #expect(
      elements == [
        "none", "1", "1 2", "1 2 3.5", "1 2 3.5 true", "1 2 3.5 true 5.0", "1 2 3.5 true 5.0 6",
      ])
  }

  @Test("1.5.3 the closure's result is the method's")
  func result() async throws {
    let proxy = try proxy()
    let signal = try proxy.signal(for: "maySelect:", of: Int64.self) { (emit, row: Int64) -> Bool in
      emit(row)
      return row % 2 == 0
    }
    var iterator = signal.makeAsyncIterator()
    #expect(try proxy.send("maySelect:", Int64(4)) == true)
    #expect(try proxy.send("maySelect:", Int64(5)) == false)
    #expect(await iterator.next() == 4)
    #expect(await iterator.next() == 5)
  }

  @Test("1.5.4 what is not handled goes to the forward target, what is handled never does")
  func forwarding() throws {
    let proxy = try proxy()
    var iterator: MethodSignal<Int32>.AsyncIterator?
    do {
      let delegate = Delegate(journal)
      try proxy.setForwardTarget(delegate, table: Delegate.table)
      let signal = try proxy.signal(for: "a:") { (a: Int32) in a }
      iterator = signal.makeAsyncIterator()
      try proxy.send("a:", Int32(1))
      try proxy.send("done")
      #expect(journal.take() == ["done"])
      withExtendedLifetime(iterator) {}
      iterator = nil
      try proxy.send("a:", Int32(2))
      #expect(journal.take() == ["a2"])
    }
    // It was weak.
    #expect(proxy.forwardTarget == nil)
    try proxy.send("done")
    #expect(journal.take().isEmpty)
  }

  @Test("1.5.4 better: the target may be kept, and may be told what is handled, too")
  func forwardingChosen() throws {
    let proxy = try proxy()
    try proxy.setForwardTarget(
      Delegate(journal), table: Delegate.table, for: .everything, lifetime: .strong)
    let iterator = try proxy.signal(for: "a:") { [journal] (a: Int32) in journal.note("signal") }
      .makeAsyncIterator()
    try proxy.send("a:", Int32(1))
    #expect(journal.take() == ["signal", "a1"])
    withExtendedLifetime(iterator) {}
  }

  @Test("1.5.5 better: a second signal of a method has its own closure and type of elements")
  func second() async throws {
    let proxy = try proxy()
    var numbers = try proxy.signal(for: "a:") { (a: Int32) in a }.makeAsyncIterator()
    var texts = try proxy.signal(for: "a:") { (a: Int32) in "text \(a)" }.makeAsyncIterator()
    try proxy.send("a:", Int32(3))
    #expect(await numbers.next() == 3)
    #expect(await texts.next() == "text 3")
  }

  @Test("1.5.6 observers share one registration, and the last one's end is told to the host")
  func sharing() throws {
    let changes = Journal()
    let proxy = try proxy(changes)
    let runs = Box(0)
    let signal = try proxy.signal(for: "a:") { (_: Int32) in runs.update { $0 += 1 } }
    var iterators = (0..<3).map { _ in signal.makeAsyncIterator() }
    #expect(changes.take() == ["a:+"])
    #expect(proxy.count == 1)
    try proxy.send("a:", Int32(1))
    #expect(runs.value == 1)
    iterators.removeLast(2)
    #expect(proxy.responds(to: "a:") && changes.take().isEmpty)
    iterators = []
    #expect(!proxy.responds(to: "a:") && changes.take() == ["a:-"])
    try proxy.send("a:", Int32(1))
    #expect(runs.value == 1)
  }

  // MARK: Capabilities

  @Test("1.5.8 a method is responded to if it is handled or the forward target has it")
  func responds() throws {
    let proxy = try proxy()
    #expect(!proxy.responds(to: "a:") && !proxy.responds(to: "done"))
    let iterator = try proxy.signal(for: "a:b:") { 1 }.makeAsyncIterator()
    #expect(proxy.responds(to: "a:b:") && !proxy.responds(to: "done"))
    let delegate = Delegate(journal)
    try proxy.setForwardTarget(delegate, table: Delegate.table)
    #expect(proxy.responds(to: "done") && proxy.responds(to: "a:") && proxy.responds(to: "a:b:"))
    #expect(!proxy.responds(to: "maySelect:"))
    withExtendedLifetime((iterator, delegate)) {}
  }

  @Test("1.5.8 better: it conforms to what it adopts, and to nothing else")
  func conforms() throws {
    let proxy = try proxy()
    let other = ProtocolTable.table("OtherDelegate") { $0.optional("done", "v@:") }
    #expect(proxy.conforms(to: Self.table))
    #expect(!proxy.conforms(to: other))
  }

  // MARK: Feeds

  @Test("1.5.9 a result is made of a property's current value and the arguments")
  func feed() throws {
    final class Model: Sendable {
      private let state = Lock<[Double]>([10, 20])
      var heights: [Double] {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
      }
    }
    let (proxy, model) = (try proxy(), Model())
    let height = try proxy.feed("height:of:", from: model, \.heights) {
      (heights, row: Int64, section: Int64) in heights[Int(row)] + Double(section)
    }
    let rows = try proxy.feed("numberOfRows:", from: model, \.heights) { (heights, _: Int64) in
      heights.count
    }
    #expect(try proxy.send("height:of:", Int64(1), Int64(3)) == 23.0)
    model.heights = [1, 2, 3]
    #expect(try proxy.send("height:of:", Int64(2), Int64(0)) == 3.0)
    #expect(try proxy.send("numberOfRows:", Int64(0)) == Int64(3))
    withExtendedLifetime((height, rows)) {}
  }

  @Test("1.5.9 better: a second feed of a method is an error, or replaces the first")
  func secondFeed() throws {
    let proxy = try proxy()
    let first = try proxy.feed("numberOfRows:") { Int64(1) }
    #expect(throws: ForwardingError.self) { _ = try proxy.feed("numberOfRows:") { Int64(2) } }
    #expect(try proxy.send("numberOfRows:", Int64(0)) == Int64(1))
    let second = try proxy.feed("numberOfRows:", replacing: true) { Int64(2) }
    #expect(try proxy.send("numberOfRows:", Int64(0)) == Int64(2))
    withExtendedLifetime((first, second)) {}
  }

  // MARK: Types

  @Test("1.5.10 better: a required method that nobody handles is an error of its caller")
  func unhandled() throws {
    let proxy = try proxy()
    do {
      let _: Int64 = try proxy.send("numberOfRows:", Int64(0))
      Issue.record("there is no answer")
    } catch {
      #expect(error.code == .noResponder && error.selector == "numberOfRows:")
    }
  }

  @Test("1.5.11 better: wrong types are refused at registration, and enums are arguments")
  func types() async throws {
    enum Style: Int32 {
      case plain = 2
    }
    let proxy = try proxy()
    #expect(throws: ForwardingError.self) { _ = try proxy.signal(for: "a:") { (a: String) in a } }
    #expect(throws: ForwardingError.self) { _ = try proxy.signal(for: "a:") { (a: Int64) in a } }
    var iterator = try proxy.signal(for: "a:") { (style: Style) in style }.makeAsyncIterator()
    try proxy.send("a:", Style.plain)
    #expect(await iterator.next() == .plain)
  }

  @Test("1.5.12 an object that is nil is an argument where the parameter is optional")
  func optionalObjects() async throws {
    let proxy = try proxy()
    var iterator = try proxy.signal(for: "select:with:") { (_: Int32, other: Delegate?) in
      other == nil
    }.makeAsyncIterator()
    try proxy.send("select:with:", Int32(1), Delegate?.none)
    try proxy.send("select:with:", Int32(1), Delegate?.some(Delegate(journal)))
    #expect(await iterator.next() == true)
    #expect(await iterator.next() == false)
  }

  @Test("1.5.12 better: structs are checked by their layout")
  func structs() async throws {
    struct Point: TypeEncodable, Equatable {
      static var typeEncoding: String { "{fixture_point=dd}" }
      var (x, y): (Double, Double)
    }
    struct Wrong: TypeEncodable {
      static var typeEncoding: String { "{fixture_point=dd}" }
      var x: Double
    }
    let proxy = try proxy()
    #expect(throws: ForwardingError.self) { _ = try proxy.signal(for: "move:") { (_: Wrong) in 0 } }
    var iterator = try proxy.signal(for: "move:") { (point: Point) in point }.makeAsyncIterator()
    try proxy.send("move:", Point(x: 1, y: 2))
    #expect(await iterator.next() == Point(x: 1, y: 2))
  }

  // MARK: Lifetimes and threads

  @Test("1.5.13 an argument that a closure gives on is kept")
  func keptArguments() async throws {
    let proxy = try proxy()
    let population = Population()
    var iterator = try proxy.signal(for: "select:with:") { (_: Int32, object: Population.Tracked) in
      object
    }.makeAsyncIterator()
    try proxy.send("select:with:", Int32(1), population.make())
    #expect(population.living == 1)
    #expect(await iterator.next() != nil)
    #expect(population.living == 0)
  }

  @Test("1.5.13 better: signals are observed and given up on any thread")
  func threads() throws {
    let proxy = try proxy()
    let signal = try proxy.signal(for: "a:") { (a: Int32) in a }
    onThreads(4) { thread in
      for round in 0..<50 {
        let iterator = signal.makeAsyncIterator()
        try? proxy.send("a:", Int32(round))
        withExtendedLifetime(iterator) {}
      }
    }
    #expect(proxy.count == 0 && !proxy.responds(to: "a:"))
  }
}

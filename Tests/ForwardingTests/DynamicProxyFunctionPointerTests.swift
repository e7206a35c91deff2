// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

@Suite struct DynamicProxyFunctionPointerTests {
  let journal = Journal()

  private typealias Visit = @convention(c) (UnsafePointer<CChar>, Int32) -> Int32
  private typealias Notify = @convention(c) (UnsafeMutableRawPointer?, Int32) -> Void
  private typealias Finish = @convention(c) () -> Void

  private static let table = ProtocolTable.table("Callbacks") {
    $0.optional("visit:kind:", "i@:*i", default: Int32(-7))
    $0.optional("ask:", "i@:i")
    $0.optional("notify:", "v^vi")
    $0.optional("finish", "v@:")
    $0.optional("value:text:", "d^vd*")
    $0.optional("points:", "{fixture_point=dd}@:{fixture_point=dd}")
    $0.optional("small:", "c@:c")
    $0.optional("object", "@@:")
  }

  private func proxy(
    _ errors: Box<[ForwardingError]> = Box([]),
    _ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { error in errors.update { $0.append(error) } }
    configure(&configuration)
    return try DynamicProxy(adopting: Self.table, configuration: configuration)
  }

  // MARK: Forms

  @Test func `a callback without context forwards its arguments and gives the result`() throws {
    let (proxy, journal) = (try proxy(), journal)
    let token = try proxy.subscribe {
      unsafe $0.on("visit:kind:") { (path: UnsafePointer<CChar>, kind: Int32) -> Int32 in
        journal.note("\(unsafe String(cString: path)) \(kind)")
        return kind * 2
      }
    }
    let function = try proxy.functionPointer(for: "visit:kind:")
    #expect(function.signature.text == "i*i")
    let visit: Visit = unsafe function.unsafeCast()
    #expect(unsafe fixture_visit(visit, "/usr", 21) == 42)
    #expect(unsafe fixture_visit(visit, "/bin", -1) == -2)
    #expect(journal.take() == ["/usr 21", "/bin -1"])
    withExtendedLifetime((function, token)) {}
  }

  @Test func `a callback with a context is a method whose receiver is ignored`() throws {
    let (proxy, journal) = (try proxy(), journal)
    let a = Listener("a", journal)
    try proxy.subscribe(a) {
      $0.on("notify:") { (self: Listener, number: Int32) in journal.note("\(self.name)\(number)") }
    }
    let function = try proxy.functionPointer(for: "notify:", context: .first)
    #expect(function.signature.text == "v^vi")
    let notify: Notify = unsafe function.unsafeCast()
    unsafe fixture_notify(notify, nil, 1)
    unsafe fixture_notify(notify, UnsafeMutableRawPointer(bitPattern: 64), 2)
    #expect(journal.take() == ["a1", "a2"])
    withExtendedLifetime(function) {}
  }

  @Test(
    "a context stands anywhere among the arguments",
    arguments: [
      (.first, "i^vid"), (.at(0), "i^vid"), (.at(1), "ii^vd"), (.at(2), "iid^v"), (.last, "iid^v"),
    ]
      as [(DynamicProxy.ContextPosition, String)])
  func contexts(position: DynamicProxy.ContextPosition, signature: String) throws {
    let journal = journal
    let proxy = try DynamicProxy { $0.optional("both::", "i@:id") }
    let token = try proxy.subscribe {
      $0.on("both::") { (number: Int32, value: Double) -> Int32 in
        journal.note("\(number) \(value)")
        return number
      }
    }
    let function = try proxy.functionPointer(for: "both::", context: position)
    #expect(function.signature.text == signature)
    let context = unsafe UnsafeMutableRawPointer(bitPattern: -1)
    typealias First = @convention(c) (UnsafeMutableRawPointer?, Int32, Double) -> Int32
    typealias Middle = @convention(c) (Int32, UnsafeMutableRawPointer?, Double) -> Int32
    typealias Last = @convention(c) (Int32, Double, UnsafeMutableRawPointer?) -> Int32
    switch signature {
    case "i^vid": #expect(unsafe function.unsafeCast(to: First.self)(context, 3, 0.5) == 3)
    case "ii^vd": #expect(unsafe function.unsafeCast(to: Middle.self)(3, context, 0.5) == 3)
    default: #expect(unsafe function.unsafeCast(to: Last.self)(3, 0.5, context) == 3)
    }
    #expect(journal.take() == ["3 0.5"])
    withExtendedLifetime((function, token)) {}
  }

  @Test func `a context past the end is an error`() throws {
    let proxy = try proxy()
    for index in [2, -1, 255, Int.max, Int(Int32.max), Int(UInt32.max), Int.min] {
      let error = #expect(throws: ForwardingError.self) {
        try proxy.functionPointer(for: "ask:", context: .at(index))
      }
      #expect(error?.code == .indexOutOfRange)
    }
    let error = #expect(throws: ForwardingError.self) {
      try proxy.functionPointer(for: "ask:", context: .at(2))
    }
    #expect(
      error?.description == """
        the context pointer of "ask:" has the index 2, expected at most 1: the callback has 1 other argument
        """)
    let negative = #expect(throws: ForwardingError.self) {
      try proxy.functionPointer(for: "ask:", context: .at(-1))
    }
    #expect(
      negative?.description
        == "the context pointer of \"ask:\" has a negative index, expected 0 to 1")
  }

  @Test func `a function pointer has a failure result of its own`() throws {
    let errors = Box<[ForwardingError]>([])
    let proxy = try proxy(errors)
    let function = try proxy.functionPointer(for: "ask:", onFailure: Int32(-5))
    #expect(unsafe fixture_call_int(function.unsafeCast(), 5) == -5)
    #expect(errors.value.map(\.code) == [.noResponder])
    let ask = Method("ask:", ((Int32) -> Int32).self)
    let keyed = try proxy.functionPointer(for: ask, onFailure: -6)
    #expect(unsafe fixture_call_int(keyed.unsafeCast(), 5) == -6)
    // A default is no failure.
    let visit = try proxy.functionPointer(for: "visit:kind:", onFailure: Int32(3))
    #expect(unsafe fixture_visit(visit.unsafeCast(), "/", 1) == -7)
    let error = #expect(throws: ForwardingError.self) {
      try proxy.functionPointer(for: "ask:", onFailure: 1.5)
    }
    #expect(error?.code == .policyMismatch)
    withExtendedLifetime((function, keyed, visit)) {}
  }

  @Test func `functions without arguments, of structs and of small results`() throws {
    let (proxy, journal) = (try proxy(), journal)
    let token = try proxy.subscribe {
      $0.on("finish") { journal.note("finish") }
      $0.on("points:") { (point: fixture_point) in fixture_point(x: point.y, y: point.x) }
      $0.on("small:") { (number: Int8) in number - 1 }
    }
    let finish = try proxy.functionPointer(for: "finish")
    (unsafe finish.unsafeCast(to: Finish.self))()
    #expect(journal.take() == ["finish"])
    let points = try proxy.functionPointer(for: "points:")
    let swap: @convention(c) (fixture_point) -> fixture_point = unsafe points.unsafeCast()
    let point = swap(fixture_point(x: 1, y: 2))
    #expect(point.x == 2 && point.y == 1)
    let small = try proxy.functionPointer(for: "small:")
    #expect(unsafe fixture_call_char(small.unsafeCast(), -100) == -101)
    withExtendedLifetime((finish, points, small, token)) {}
  }

  @Test func `an object result is the C caller's to release`() throws {
    let proxy = try proxy()
    let population = Population()
    let token = try proxy.subscribe { $0.on("object") { population.make() } }
    let function = try proxy.functionPointer(for: "object")
    let make: @convention(c) () -> UnsafeMutableRawPointer? = unsafe function.unsafeCast()
    let object = unsafe make()
    #expect(population.living == 1)
    if let object = unsafe object {
      unsafe Unmanaged<Population.Tracked>.fromOpaque(object).release()
    }
    #expect(population.living == 0)
    withExtendedLifetime((function, token)) {}
  }

  // MARK: What a call cannot do

  @Test func `with no responder the C caller gets the default`() throws {
    let errors = Box<[ForwardingError]>([])
    let proxy = try proxy(errors)
    let function = try proxy.functionPointer(for: "visit:kind:")
    #expect(unsafe fixture_visit(function.unsafeCast(), "/", 1) == -7)
    #expect(errors.value.isEmpty)
    withExtendedLifetime(function) {}
  }

  @Test func `without a default the C caller gets zeros, and the handler the error`() throws {
    let errors = Box<[ForwardingError]>([])
    let proxy = try proxy(errors)
    let function = try proxy.functionPointer(for: "ask:")
    #expect(unsafe fixture_call_int(function.unsafeCast(), 5) == 0)
    #expect(errors.value.map(\.code) == [.noResponder])
    #expect(errors.value.first?.selector == "ask:")
    // A void method is ignored.
    let finish = try proxy.functionPointer(for: "finish")
    (unsafe finish.unsafeCast(to: Finish.self))()
    #expect(errors.value.count == 1)
    withExtendedLifetime((function, finish)) {}
  }

  @Test(
    "each failure is reported once",
    arguments: [
      .standard, .ignore, .fail, .report,
    ] as [DynamicProxy.Configuration.NoResponder])
  func once(rule: DynamicProxy.Configuration.NoResponder) throws {
    let errors = Box<[ForwardingError]>([])
    let proxy = try proxy(errors) { $0.noResponder = rule }
    let function = try proxy.functionPointer(for: "ask:")
    #expect(unsafe fixture_call_int(function.unsafeCast(), 5) == 0)
    #expect(errors.value.map(\.code) == (rule == .ignore ? [] : [.noResponder]))
    withExtendedLifetime(function) {}
  }

  @Test func `a failed delivery is reported once, and the C caller gets zeros`() throws {
    enum Kind: Int32 { case one = 1 }
    let errors = Box<[ForwardingError]>([])
    let proxy = try proxy(errors)
    let token = try proxy.subscribe { $0.on("ask:") { (kind: Kind) -> Kind in kind } }
    let function = try proxy.functionPointer(for: "ask:")
    #expect(unsafe fixture_call_int(function.unsafeCast(), 1) == 1)
    #expect(errors.value.isEmpty)
    #expect(unsafe fixture_call_int(function.unsafeCast(), 2) == 0)
    #expect(errors.value.map(\.code) == [.valueNotRepresentable])
    withExtendedLifetime((function, token)) {}
  }

  // MARK: Lifetimes

  @Test func `a function pointer keeps its proxy, and nothing longer than that`() throws {
    weak var tracked: DynamicProxy?
    let a = Listener("a", journal)
    do {
      let function: FunctionPointer
      do {
        let proxy = try DynamicProxy.pinging()
        tracked = proxy
        try proxy.subscribe(a)
        function = try proxy.functionPointer(for: "ping:")
      }
      #expect(tracked != nil)
      let ping: @convention(c) (Int32) -> Void = unsafe function.unsafeCast()
      ping(3)
      #expect(journal.take() == ["a3"])
      withExtendedLifetime(function) {}
    }
    #expect(tracked == nil)
  }

  @Test func `may be released inside its own call`() throws {
    let holder = Box<FunctionPointer?>(nil)
    let population = Population()
    weak var tracked: DynamicProxy?
    let journal = journal
    do {
      let proxy = try proxy()
      tracked = proxy
      let captured = population.make()
      let owner = Bystander()
      try proxy.subscribe(owner, lifetime: .strong) {
        $0.on("ask:") { (_: Bystander, number: Int32) -> Int32 in
          holder.value = nil
          journal.note("\(population.living)")
          return withExtendedLifetime(captured) { number + 1 }
        }
      }
      holder.value = try proxy.functionPointer(for: "ask:")
    }
    let ask: @convention(c) (Int32) -> Int32 = unsafe holder.value!.unsafeCast()
    // The proxy, its subscriber and the closure live until the call returns.
    #expect(fixture_call_int(ask, 4) == 5)
    #expect(journal.take() == ["1"])
    #expect(tracked == nil)
    #expect(population.living == 0)
  }

  @Test func `a call may make others, and release the outer one`() throws {
    let holder = Box<FunctionPointer?>(nil)
    weak var tracked: DynamicProxy?
    do {
      let proxy = try proxy()
      tracked = proxy
      let owner = Bystander()
      try proxy.subscribe(owner, lifetime: .strong) {
        $0.on("ask:") { (_: Bystander, number: Int32) -> Int32 in
          guard number > 0, let function = holder.value else { return 0 }
          if number == 1 { holder.value = nil }
          return number + (unsafe fixture_call_int(function.unsafeCast(), number - 1))
        }
      }
      holder.value = try proxy.functionPointer(for: "ask:")
    }
    let ask: @convention(c) (Int32) -> Int32 = unsafe holder.value!.unsafeCast()
    #expect(fixture_call_int(ask, 4) == 10)
    #expect(holder.value == nil)
    #expect(tracked == nil)
  }

  @Test func `thousands of function pointers come and go`() throws {
    weak var tracked: DynamicProxy?
    do {
      let proxy = try proxy()
      tracked = proxy
      let token = try proxy.subscribe { $0.on("ask:") { (number: Int32) -> Int32 in number + 1 } }
      for number in 0..<Int32(2000) {
        let function = try proxy.functionPointer(for: "ask:")
        #expect(unsafe fixture_call_int(function.unsafeCast(), number) == number + 1)
      }
      withExtendedLifetime(token) {}
    }
    #expect(tracked == nil)
  }

  @Test func `forwards from any thread`() throws {
    let proxy = try proxy()
    let token = try proxy.subscribe { $0.on("ask:") { (number: Int32) -> Int32 in number } }
    let function = try proxy.functionPointer(for: "ask:")
    let sum = unsafe fixture_call_in_threads(function.unsafeCast(), 4, 500)
    #expect(sum == 4 * 499 * 500 / 2)
    withExtendedLifetime((function, token)) {}
  }
}

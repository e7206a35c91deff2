// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import CForwarding
  import ForwardingMacros
  import Testing

  @Forwarded
  protocol Filter: AnyObject {
    func refine(_ number: inout Int)
    func refine(text: inout String, by step: Int) throws -> Bool
    func all(
      _ flag: inout Bool, _ object: inout Tracked, maybe: inout Tracked?, list: inout [Tracked],
      pair: inout (Int, String), closure: inout () -> Int)
    func check(_ list: inout [Int]) throws
    func wait(_ list: inout [Int]) async
  }

  protocol Growing {
    var size: Int { get }
    mutating func grow()
  }

  struct Small: Growing {
    private(set) var size = 1
    mutating func grow() { size += 1 }
  }

  struct Large: Growing {
    private var words = (1, 2, 3, 4, 5, 6, 7, 8)
    var size: Int { words.7 }
    mutating func grow() { words.7 += 1 }
  }

  @Forwarded
  protocol Grower: AnyObject {
    func grow(_ value: inout any Growing)
    func replace(_ value: inout any Growing, _ error: inout any Error) throws -> Bool
    func wait(_ value: inout any Growing) async
  }

  private final class GrowingListener: Grower {
    func grow(_ value: inout any Growing) { value.grow() }
    func replace(_ value: inout any Growing, _ error: inout any Error) throws -> Bool {
      value = Large()
      error = Failure(2)
      return true
    }
    func wait(_ value: inout any Growing) async { value.grow() }
  }

  private final class Adder: Filter {
    let value: Int
    var failure: Failure?
    init(_ value: Int) { self.value = value }

    func refine(_ number: inout Int) { number = number * 10 + value }
    func refine(text: inout String, by step: Int) throws -> Bool {
      text += ", a text that is not small \(step)"
      if let failure { throw failure }
      return true
    }
    func all(
      _ flag: inout Bool, _ object: inout Tracked, maybe: inout Tracked?, list: inout [Tracked],
      pair: inout (Int, String), closure: inout () -> Int
    ) {
      flag.toggle()
      object = Tracked(object.value + value)
      maybe = maybe.map { Tracked($0.value + 1) } ?? Tracked(value)
      list.append(object)
      pair = (pair.0 + value, pair.1 + "+")
      let (earlier, value) = (closure, value)
      closure = { earlier() + value }
    }
    func check(_ list: inout [Int]) throws {
      list.append(value)
      if let failure { throw failure }
    }
    func wait(_ list: inout [Int]) async {
      await Task.yield()
      list.append(value)
    }
  }

  /// Arguments that listeners change, one after the other.
  @Suite(.serialized) struct ForwardedInoutTests {
    private let proxy = FilterProxy()
    private let adders = [Adder(1), Adder(2), Adder(3)]

    init() throws {
      for adder in adders { try proxy.subscribe(adder) }
    }

    @Test(arguments: [false, true])
    func `each listener sees what the one before it has left`(_ isLibffi: Bool) {
      fwd_use_libffi(isLibffi)
      defer { fwd_use_libffi(false) }
      var number = 0
      proxy.refine(&number)
      #expect(number == 123)
    }

    @Test func `only the first responder changes it where there is a result`() throws {
      var text = "text"
      #expect(try proxy.refine(text: &text, by: 1))
      #expect(text == "text, a text that is not small 1")
      adders[0].failure = Failure(3)
      #expect(throws: Failure(3)) { try proxy.refine(text: &text, by: 2) }
      #expect(text.hasSuffix(" 2"))
    }

    @Test func `any type may be changed, and nothing leaks`() {
      let left = Tracked.left {
        var flag = false
        var object = Tracked(0)
        var maybe: Tracked?
        var list: [Tracked] = []
        var pair = (0, "")
        var closure = { 100 }
        proxy.all(
          &flag, &object, maybe: &maybe, list: &list, pair: &pair, closure: &closure)
        #expect(flag && object.value == 6 && maybe?.value == 3)
        #expect(list.map(\.value) == [1, 3, 6] && pair == (6, "+++") && closure() == 106)
      }
      #expect(left == 0)
    }

    @Test func `an existential is changed in its box, and may get another type`() async throws {
      let (proxy, listeners) = (GrowerProxy(), [GrowingListener(), GrowingListener()])
      for listener in listeners { try proxy.subscribe(listener) }
      var (small, large): (any Growing, any Growing) = (Small(), Large())
      proxy.grow(&small)
      proxy.grow(&large)
      #expect(small.size == 3 && large.size == 10)
      await proxy.wait(&small)
      #expect(small.size == 5)
      var error: any Error = Failure(1)
      #expect(try proxy.replace(&small, &error))
      #expect(small is Large && error as? Failure == Failure(2))
    }

    @Test func `what was changed before an error stays`() {
      var list: [Int] = []
      adders[1].failure = Failure(1)
      #expect(throws: Failure(1)) { try proxy.check(&list) }
      #expect(list == [1, 2])
    }

    @Test func `async listeners see it too`() async {
      var list: [Int] = []
      await proxy.wait(&list)
      #expect(list == [1, 2, 3])
    }

    @Test func `untyped callers give the address`() throws {
      let selector = FilterProxy.selector(for: .refine)
      #expect(FilterProxy.protocolTable.requirements[0].signature.text == "v@N^q")
      var number = 0
      try unsafe withUnsafeMutablePointer(to: &number) {
        try unsafe proxy.proxy.send(Method(selector), $0)
      }
      #expect(number == 123)
    }

    @Test func `no address, or that of another object, is an error`() throws {
      let errors = Errors()
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { errors.append($0) }
      let proxy = try FilterProxy(configuration: configuration)
      try proxy.subscribe(adders[0])
      #expect(throws: ForwardingError.self) {
        try unsafe proxy.proxy.send("refine:", nil as UnsafeMutablePointer<Int>?)
      }
      #expect(errors.descriptions.first?.contains("parameter 1 of \"refine:\" is null") == true)
    }
  }
#endif

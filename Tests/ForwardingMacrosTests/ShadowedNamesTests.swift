// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Testing

  /// Types of the user's with the names of numbers and of other standard types.
  enum Shadow {
    struct Bool: Equatable { var text: Swift.String }
    struct Int: Equatable { var a = 1, b = 2, c = 3 }
    struct UInt: Equatable { var list: [Swift.Int] }
    struct Double: Equatable { var value: Float }
    enum Optional<Wrapped> {
      case empty
      case full(Wrapped)
    }
    struct Array<Element> { var only: Element }
    struct Never {}

    @Forwarded
    protocol Names: AnyObject {
      func take(_ a: Bool, _ b: Int, _ c: UInt, _ d: Double, _ e: Swift.Double)
      @DefaultResult(Int()) func give(_ a: UInt) -> Int
      // swift-format-ignore: UseShorthandTypeNames
      func boxes(_ a: Optional<Int>, _ b: Array<Bool>, _ c: Never)
      @DefaultResult(Bool(text: "none")) var flag: Bool { get set }
      @Optional func maybe(_ a: Bool) throws -> Double
      func change(_ a: inout Int)
    }
  }

  private final class NamesListener: Shadow.Names {
    var log: [String] = []
    var flag = Shadow.Bool(text: "listener's")
    func take(
      _ a: Shadow.Bool, _ b: Shadow.Int, _ c: Shadow.UInt, _ d: Shadow.Double, _ e: Double
    ) {
      log.append("\(a.text) \(b.a + b.b + b.c) \(c.list) \(d.value) \(e)")
    }
    func give(_ a: Shadow.UInt) -> Shadow.Int { Shadow.Int(a: a.list.count, b: 0, c: 0) }
    func boxes(
      _ a: Shadow.Optional<Shadow.Int>, _ b: Shadow.Array<Shadow.Bool>, _ c: Shadow.Never
    ) {
      if case .full(let value) = a { log.append("\(value.c) \(b.only.text)") }
    }
    func change(_ a: inout Shadow.Int) { a.b += 40 }
  }

  struct NoncopyableCounter: ~Copyable { var count = 0 }

  @Forwarded
  protocol NoncopyableCounting: AnyObject {
    func count(_ counter: inout NoncopyableCounter, by step: Int)
    func check(_ counter: inout NoncopyableCounter) throws -> Bool
  }

  private final class CountingListener: NoncopyableCounting {
    func count(_ counter: inout NoncopyableCounter, by step: Int) { counter.count += step }
    func check(_ counter: inout NoncopyableCounter) throws -> Bool {
      if counter.count == 0 { throw Failure(1) }
      return counter.count > 4
    }
  }

  @Suite struct ShadowedNamesTests {
    @Test func `types with the names of numbers are passed as what they are`() throws {
      let (proxy, listener) = (Shadow.NamesProxy(), NamesListener())
      let number = Shadow.UInt(list: [4, 5])
      #expect(proxy.give(number) == Shadow.Int() && proxy.flag.text == "none")
      try proxy.subscribe(listener)
      proxy.take(
        Shadow.Bool(text: "a text that is not small"), Shadow.Int(), number,
        Shadow.Double(value: 1.5), 2.5)
      #expect(listener.log == ["a text that is not small 6 [4, 5] 1.5 2.5"])
      #expect(proxy.give(number).a == 2 && proxy.flag.text == "listener's")
      proxy.flag = Shadow.Bool(text: "set")
      #expect(listener.flag.text == "set")
      proxy.boxes(.full(Shadow.Int()), Shadow.Array(only: Shadow.Bool(text: "b")), Shadow.Never())
      #expect(listener.log.last == "3 b" && !proxy.responds(to: .maybe))
      var changed = Shadow.Int()
      proxy.change(&changed)
      #expect(changed.b == 42)
    }

    @Test func `the table has the types that the names mean`() {
      let take = Shadow.NamesProxy.protocolTable.requirements[0].signature.text
      #expect(take.hasSuffix("d") && take.contains("Shadow.Int") && !take.contains("Swift.Int"))
    }

    @Test func `an inout argument of a noncopyable type`() throws {
      let (proxy, listener) = (NoncopyableCountingProxy(), CountingListener())
      try proxy.subscribe(listener)
      var counter = NoncopyableCounter()
      #expect(throws: Failure.self) { try proxy.check(&counter) }
      proxy.count(&counter, by: 6)
      #expect(counter.count == 6)
      #expect(try proxy.check(&counter))
      withExtendedLifetime(listener) {}
    }
  }
#endif

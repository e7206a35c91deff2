// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

@Suite struct DynamicProxySendingTests {
  let journal = Journal()

  private static let table = ProtocolTable.table("Sending") {
    $0.optional("finish", "v@:")
    $0.optional("mix:of:", "d@:id")
    $0.optional("callback:", "v^vi")
    $0.optional("all:", "v@:csiqCSIQfdB*@:#^v")
    $0.optional("points:", "{fixture_point=dd}@:{fixture_point=dd}{fixture_mixed=idc}")
    $0.optional("wide:", "t@:ct")
    $0.optional("object:", "@@:@")
    $0.optional("name:", "*@:*")
  }

  private func proxy() throws -> DynamicProxy { try DynamicProxy(adopting: Self.table) }

  // MARK: Typed arguments

  @Test func `sends values of all kinds`() throws {
    let proxy = try proxy()
    let (journal, listener) = (journal, Listener("object", journal))
    let token = try proxy.subscribe {
      unsafe $0.on("all:") {
        (
          a: Int8, b: Int16, c: Int32, d: Int64, e: UInt8, f: UInt16, g: UInt32, h: UInt64,
          i: Float, j: Double, k: Bool, l: UnsafePointer<CChar>, m: Listener, n: MethodSelector,
          o: AnyClass, p: UnsafeRawPointer?
        ) in
        journal.note("\(a) \(b) \(c) \(d) \(e) \(f) \(g) \(h) \(i) \(j) \(k)")
        journal.note("\(unsafe String(cString: l)) \(m.name) \(n) \(o) \(unsafe p == nil)")
      }
    }
    try unsafe "text".withCString { text in
      try unsafe proxy.send(
        "all:", Int8.min, Int16.min, Int32.min, Int64.min, UInt8.max, UInt16.max, UInt32.max,
        UInt64.max, Float(0.5), -1.5, true, text, listener, MethodSelector("finish"),
        Listener.self as AnyClass, UnsafeRawPointer?.none)
    }
    #expect(
      journal.take() == [
        "-128 -32768 -2147483648 -9223372036854775808 255 65535 4294967295 18446744073709551615 0.5 -1.5 true",
        "text object finish Listener true",
      ])
    withExtendedLifetime(token) {}
  }

  @Test func `gives the result as its type`() throws {
    let proxy = try proxy()
    let token = try proxy.subscribe {
      $0.on("mix:of:") { (number: Int32, factor: Double) in Double(number) * factor }
      $0.on("points:") { (a: fixture_point, b: fixture_mixed) in
        fixture_point(x: a.y + b.fraction, y: a.x + Double(b.number) + Double(b.last))
      }
      $0.on("wide:") { (a: Int8, b: Int128) in b + Int128(a) }
    }
    #expect(try proxy.send("mix:of:", Int32(3), 0.5) == 1.5)
    let product: Double = try proxy.send("mix:of:", Int32(-2), 4.0)
    #expect(product == -8)
    // The result may be dropped.
    try proxy.send("mix:of:", Int32(3), 0.5)
    let point: fixture_point = try proxy.send(
      "points:", fixture_point(x: 1, y: 2), fixture_mixed(number: 10, fraction: 0.5, last: 100))
    #expect(point.x == 2.5 && point.y == 111)
    let wide: Int128 = try proxy.send("wide:", Int8(-1), Int128.max)
    #expect(wide == Int128.max - 1)
    withExtendedLifetime(token) {}
  }

  @Test func `a void method gives nothing, or Void`() throws {
    let proxy = try proxy()
    let journal = journal
    let token = try proxy.subscribe { $0.on("finish") { journal.note("finish") } }
    try proxy.send("finish")
    let nothing: Void = try proxy.send("finish")
    #expect(nothing == ())
    let body: () throws -> Void = { try proxy.send("finish") }
    try body()
    #expect(journal.take() == ["finish", "finish", "finish"])
    withExtendedLifetime(token) {}
  }

  @Test func `methods without a selector argument are callbacks with a context`() throws {
    let proxy = try proxy()
    let journal = journal
    let token = try proxy.subscribe {
      $0.on("callback:") { (number: Int32) in journal.note("\(number)") }
    }
    try proxy.send("callback:", Int32(4))
    #expect(journal.take() == ["4"])
    withExtendedLifetime(token) {}
  }

  @Test func `an object comes back as it was, null as nil`() throws {
    let proxy = try proxy()
    let population = Population()
    let token = try proxy.subscribe {
      $0.on("object:") { (object: AnyObject?) -> AnyObject? in object }
    }
    do {
      let object = population.make()
      let back: Population.Tracked = try proxy.send("object:", object)
      #expect(back === object)
      let optional: Population.Tracked? = try proxy.send("object:", object)
      #expect(optional === object)
      let none: AnyObject? = try proxy.send("object:", AnyObject?.none)
      #expect(none == nil)
      let error = #expect(throws: ForwardingError.self) {
        let _: AnyObject = try proxy.send("object:", AnyObject?.none)
      }
      #expect(error?.code == .nullPointer)
      let other = #expect(throws: ForwardingError.self) {
        let _: Listener = try proxy.send("object:", object)
      }
      #expect(other?.code == .typeMismatch)
      try proxy.send("object:", object)
    }
    #expect(population.living == 0)
    withExtendedLifetime(token) {}
  }

  // MARK: Collecting

  @Test func `collects every answer with its author`() throws {
    let proxy = try DynamicProxy.pinging { $0.conformance = .lenient }
    let (a, b) = (Listener("a", journal, score: 10), Listener("b", journal, score: 20))
    let (mute, bystander) = (Bystander(), Bystander())
    let first = try proxy.subscribe(a)
    try proxy.subscribe(mute) { $0.on("finish") { (_: Bystander) in } }
    try proxy.subscribe(Listener("dead", journal))
    let second = try proxy.subscribe(b)
    let third = try proxy.subscribe(bystander) {
      $0.on("score:") { (_: Bystander, number: Int32) -> Int32 in number }
    }
    let answers = try proxy.collect("score:", as: Int32.self, Int32(3))
    #expect(answers.map(\.value) == [10, 20, 3])
    #expect(answers.map(\.subscription) == [first, second, third])
    let authors: [AnyObject] = [a, b, bystander]
    #expect(answers.compactMap(\.author).map { ObjectIdentifier($0) } == authors.map { .init($0) })
    #expect(answers.first?.subscription.cancel() == true)
    let inferred: [DynamicProxy.Answer<Int32>] = try proxy.collect("score:", Int32(3))
    #expect(inferred.map(\.value) == [20, 3])
    withExtendedLifetime(mute) {}
  }

  @Test func `collects from nobody, whatever the default`() throws {
    let proxy = try DynamicProxy(
      adopting: .table("Lonely") {
        $0.optional("none", "i@:")
        $0.optional("some", "i@:", default: Int32(3))
        $0.optional("all", "B@:", result: .all)
      })
    #expect(try proxy.collect("none", as: Int32.self).isEmpty)
    #expect(try proxy.collect("some", as: Int32.self).isEmpty)
    #expect(try proxy.collect("all", as: Bool.self).isEmpty)
  }

  @Test func `collecting calls all, whatever the policy`() throws {
    for policy in [.first, .untilNonzero, .callAll(pick: .last), .standard] as [ResultPolicy] {
      let proxy = try DynamicProxy.pinging { $0.results["score:"] = policy }
      let listeners = (1...3).map { Listener("\($0)", journal, score: $0) }
      defer { withExtendedLifetime(listeners) {} }
      for listener in listeners { try proxy.subscribe(listener) }
      #expect(try proxy.collect("score:", as: Int32.self, Int32(0)).map(\.value) == [1, 2, 3])
    }
  }

  @Test func `collected objects are neither leaked nor lost`() throws {
    let proxy = try proxy()
    let population = Population()
    let makers = try (0..<3).map { index in
      try proxy.subscribe {
        $0.on("object:") { (_: AnyObject?) -> Population.Tracked? in
          index == 1 ? nil : population.make()
        }
      }
    }
    do {
      let answers = try proxy.collect("object:", as: Population.Tracked?.self, AnyObject?.none)
      #expect(answers.map { $0.value == nil } == [false, true, false])
      #expect(population.living == 2)
      withExtendedLifetime(answers) {}
    }
    #expect(population.living == 0)
    withExtendedLifetime(makers) {}
  }

  @Test func `an answer that is no value is left out and reported`() throws {
    let errors = Box<[ForwardingError]>([])
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { error in errors.update { $0.append(error) } }
    let proxy = try DynamicProxy(adopting: Self.table, configuration: configuration)
    let population = Population()
    let tokens = try [true, false].map { isNull in
      try proxy.subscribe {
        $0.on("object:") { (_: AnyObject?) -> AnyObject? in isNull ? nil : population.make() }
      }
    }
    let answers = try proxy.collect("object:", as: Population.Tracked.self, AnyObject?.none)
    #expect(answers.count == 1)
    #expect(errors.value.map(\.code) == [.nullPointer])
    let wrong = try proxy.collect("object:", as: Listener?.self, AnyObject?.none)
    #expect(wrong.map { $0.value == nil } == [true])
    #expect(errors.value.map(\.code) == [.nullPointer, .typeMismatch])
    #expect(population.living == 1)
    withExtendedLifetime((tokens, answers)) {}
  }

  @Test func `the author is nil for a C context`() throws {
    let proxy = try DynamicProxy(
      adopting: .table("Rows") { $0.optional("row:", "{fixture_row_4=[4C]}@:i") })
    let owner = Bystander()
    try proxy.subscribe(owner) {
      unsafe $0.function("row:", "{fixture_row_4=[4C]}@:i", calling: fixture_row_method(4))
    }
    let answers = try proxy.collect("row:", as: fixture_row_4.self, Int32(5))
    #expect(answers.count == 1)
    #expect(answers.first?.author === owner)
    #expect(answers.first?.value.bytes.3 == 8)
  }

  // MARK: Bytes

  private func mixer() throws -> (DynamicProxy, DynamicProxy.Token) {
    let proxy = try proxy()
    let token = try proxy.subscribe {
      $0.on("mix:of:") { (number: Int32, factor: Double) in Double(number) * factor }
    }
    return (proxy, token)
  }

  @Test("forwards a frame, however it is aligned", arguments: 0..<8)
  func frame(shift: Int) throws {
    let (proxy, token) = try mixer()
    var frame = ArgumentFrame(try MethodSignature("d@:id"))
    try frame.setArgument(Int32(3), at: 2)
    try frame.setArgument(2.5, at: 3)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
    defer { unsafe memory.deallocate() }
    let place = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[shift..<(shift + 16)])
    let room = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[(32 + shift)..<(40 + shift)])
    try frame.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
    }
    let method = try proxy.method(for: "mix:of:")
    try unsafe method.forward(frame: UnsafeRawBufferPointer(place), result: room)
    #expect(unsafe room.loadUnaligned(as: Double.self) == 7.5)
    unsafe room.storeBytes(of: 0, as: Double.self)
    let known = try #require(MethodSelector(known: "mix:of:"))
    try unsafe proxy.method(for: known).forward(
      frame: UnsafeRawBufferPointer(place), result: room)
    #expect(unsafe room.loadUnaligned(as: Double.self) == 7.5)
    // Not wanted.
    try unsafe method.forward(frame: UnsafeRawBufferPointer(place))
    withExtendedLifetime(token) {}
  }

  @Test func `forwards arguments behind pointers`() throws {
    let (proxy, token) = try mixer()
    var (number, factor, result): (Int32, Double, Double) = (3, 2.5, 0)
    try unsafe withUnsafeMutablePointer(to: &number) { number in
      try unsafe withUnsafeMutablePointer(to: &factor) { factor in
        let pointers = unsafe [UnsafeMutableRawPointer(number), UnsafeMutableRawPointer(factor)]
        try unsafe pointers.withUnsafeBufferPointer { pointers in
          try unsafe withUnsafeMutableBytes(of: &result) { room in
            try unsafe proxy.method(for: "mix:of:").forward(arguments: pointers, result: room)
          }
          try unsafe proxy.method(for: "mix:of:").forward(arguments: pointers)
        }
        #expect(unsafe pointers[0] == UnsafeMutableRawPointer(number))
      }
    }
    #expect(result == 7.5)
    #expect(number == 3 && factor == 2.5)
    withExtendedLifetime(token) {}
  }

  @Test func `what a subscriber writes behind a pointer, the next one sees`() throws {
    let proxy = try DynamicProxy(adopting: .table("Inout") { $0.required("add:", "v@:^i") })
    let tokens = try [1, 10].map { (number: Int32) in
      try proxy.subscribe {
        unsafe $0.on("add:") { (sum: UnsafeMutablePointer<Int32>) in
          unsafe sum.pointee = sum.pointee * 2 + number
        }
      }
    }
    defer { withExtendedLifetime(tokens) {} }
    var sum: Int32 = 3
    try unsafe withUnsafeMutablePointer(to: &sum) { try unsafe proxy.send("add:", $0) }
    #expect(sum == (3 * 2 + 1) * 2 + 10)
  }

  @Test func `a struct by value is each subscriber's own`() throws {
    let encoding = "{fixture_large=qqqd}@:{fixture_large=qqqd}"
    let proxy = try DynamicProxy(adopting: .table("Copies") { $0.required("spoil:", encoding) })
    let owners = [Bystander(), Bystander()]
    defer { withExtendedLifetime(owners) {} }
    for owner in owners {
      try proxy.subscribe(owner) {
        unsafe $0.function("spoil:", encoding, calling: fixture_spoil_method)
      }
    }
    let large = fixture_large(a: 1, b: 2, c: 3, d: 4)
    let answers = try proxy.collect("spoil:", as: fixture_large.self, large)
    #expect(answers.map(\.value.a) == [2, 2])
    #expect(answers.map(\.value.d) == [5, 5])
  }

  @Test func `large arguments are aligned for their types`() throws {
    let proxy = try proxy()
    let token = try proxy.subscribe { $0.on("wide:") { (a: Int8, b: Int128) in b + Int128(a) } }
    var frame = ArgumentFrame(try MethodSignature("t@:ct"))
    try frame.setArgument(Int8(7), at: 2)
    try frame.setArgument(Int128(1) << 100, at: 3)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 48, alignment: 16)
    defer { unsafe memory.deallocate() }
    let place = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[8..<40])
    try frame.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
    }
    var result: Int128 = 0
    try unsafe withUnsafeMutableBytes(of: &result) { room in
      try unsafe proxy.method(for: "wide:").forward(
        frame: UnsafeRawBufferPointer(place), result: room)
    }
    #expect(result == Int128(1) << 100 + 7)
    withExtendedLifetime(token) {}
  }

  // MARK: Invocations

  /// Counts the things that have died.
  private final class Thing {
    nonisolated(unsafe) static var deaths: [Int] = []
    let number: Int
    init(_ number: Int) { self.number = number }
    deinit { unsafe Self.deaths.append(number) }
  }

  private final class Owner: Sendable {}

  /// The subscribers of the test below are C functions, which have no context.
  private enum Replacing {
    nonisolated(unsafe) static var invocation: Invocation?
    nonisolated(unsafe) static var seen: [(number: Int, deaths: [Int])] = []
  }

  @Test func `what subscribers replace lives until the invocation has been forwarded`() throws {
    let take = Method("take:", ((AnyObject) -> Void).self)
    let proxy = try DynamicProxy { $0.required(take) }
    // The first one is a closure, so the C functions' registers are loaded after it.
    let closure = try proxy.subscribe {
      $0.on(take) { _ in try? unsafe Replacing.invocation?.setArgument(Thing(1), at: 1) }
    }
    let owners = [Owner(), Owner()]
    for owner in owners {
      try proxy.subscribe(
        owner,
        table: FunctionTable(for: Owner.self) {
          unsafe $0.function(
            take,
            calling: { _, thing in
              let thing = unsafe Unmanaged<Thing>.fromOpaque(thing!).takeUnretainedValue()
              unsafe Replacing.seen.append((thing.number, Thing.deaths))
              try? unsafe Replacing.invocation?.setArgument(Thing(2), at: 1)
              unsafe Replacing.invocation?.retainArguments()
              try? unsafe Replacing.invocation?.setArgument(Thing(3), at: 1)
            } as @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Void)
        })
    }
    let invocation = try Invocation("take:", MethodSignature("v@@"))
    try invocation.setArgument(Thing(0), at: 1)
    unsafe Replacing.invocation = invocation
    try proxy.forward(invocation)
    // The second one gets what was the argument at the beginning of the loop, or where
    // it was called one by one, as with stock references, what is the argument now.
    #expect(unsafe [[1, 1], [1, 3]].contains(Replacing.seen.map(\.number)))
    #expect(unsafe Replacing.seen.allSatisfy { $0.deaths.isEmpty })
    // The last one is the argument.
    #expect(unsafe Thing.deaths.sorted() == [0, 1, 2, 2, 3])
    unsafe Replacing.invocation = nil
    withExtendedLifetime((closure, owners)) {}
  }

  @Test func `a block is no object that an invocation would release`() throws {
    let proxy = try DynamicProxy(adopting: ProtocolTable("Blocks") { $0.optional("make", "@?@:") })
    let invocation = try Invocation("make", MethodSignature("@@:"))
    let error = #expect(throws: ForwardingError.self) { try proxy.forward(invocation) }
    #expect(error?.code == .signatureMismatch)
  }

  @Test func `an invocation is forwarded any number of times, and gets the result`() throws {
    let (proxy, token) = try mixer()
    let invocation = try Invocation("mix:of:", try MethodSignature("d@:id"))
    for number in Int32(1)...3 {
      try invocation.setArgument(number, at: 2)
      try invocation.setArgument(0.5, at: 3)
      try proxy.forward(invocation)
      #expect(try invocation.result(as: Double.self) == Double(number) / 2)
    }
    withExtendedLifetime(token) {}
  }

  @Test func `an invocation's own target is not called`() throws {
    let proxy = try DynamicProxy.pinging()
    let (target, subscriber) = (Listener("target", journal), Listener("subscriber", journal))
    try proxy.subscribe(subscriber)
    let invocation = try Invocation("ping:", try MethodSignature("v@:i"), target: target)
    try invocation.setArgument(Int32(5), at: 2)
    try proxy.forward(invocation)
    #expect(journal.take() == ["subscriber5"])
    #expect(invocation.target === target)
  }

  @Test func `a failed forwarding leaves the invocation's result alone`() throws {
    let proxy = try DynamicProxy.pinging()
    let invocation = try Invocation("score:", try MethodSignature("i@:i"))
    #expect(throws: ForwardingError.self) { try proxy.forward(invocation) }
    #expect(!invocation.hasResult)
    try invocation.setResult(Int32(9))
    #expect(throws: ForwardingError.self) { try proxy.forward(invocation) }
    #expect(try invocation.result(as: Int32.self) == 9)
  }

  @Test func `an invocation's object results are kept, and given up`() throws {
    let proxy = try proxy()
    let population = Population()
    let token = try proxy.subscribe {
      $0.on("object:") { (_: AnyObject?) -> AnyObject? in population.make() }
    }
    do {
      let invocation = try Invocation("object:", try MethodSignature("@@:@"))
      try invocation.setArgument(population.make(), at: 2)
      for _ in 0..<3 { try proxy.forward(invocation) }
      // The argument, and the last result.
      #expect(population.living == 2)
      #expect(try invocation.result(as: Population.Tracked?.self) != nil)
    }
    #expect(population.living == 0)
    withExtendedLifetime(token) {}
  }

  @Test func `an invocation may be changed by whom it is forwarded to`() throws {
    let proxy = try proxy()
    // Used on this thread only.
    final class Holder: @unchecked Sendable {
      var invocation: Invocation?
    }
    let holder = Holder()
    let population = Population()
    let journal = journal
    let tokens = try (0..<2).map { _ in
      try proxy.subscribe {
        $0.on("object:") { (object: Population.Tracked) -> AnyObject? in
          #expect(throws: Never.self) {
            try holder.invocation?.setArgument(population.make(), at: 2)
          }
          journal.note("\(population.living)")
          return withExtendedLifetime(object) { nil }
        }
      }
    }
    let invocation = try Invocation("object:", try MethodSignature("@@:@"))
    try invocation.setArgument(population.make(), at: 2)
    holder.invocation = invocation
    try proxy.forward(invocation)
    // What was sent is kept alive until the end of the forwarding.
    #expect(journal.take() == ["2"])
    #expect(population.living == 1)
    holder.invocation = nil
    withExtendedLifetime(tokens) {}
  }

  // MARK: Enums

  /// A Swift enum that also states an encoding. Its memory is 0 and 1.
  private enum Shade: UInt8, TypeEncodable, Sendable {
    case dark = 1
    case light = 5
    static var typeEncoding: String { "C" }
  }

  @Test func `an enum is passed as its raw value, also if it states an encoding`() throws {
    let paint = Method("paint:", ((Shade) -> Shade).self)
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { _ in }
    let proxy = try DynamicProxy(configuration: configuration) { $0.required(paint) }
    #expect(try paint.signature.description == "C@C")
    let raw = try proxy.subscribe { $0.on("paint:") { (raw: UInt8) in raw } }
    #expect(try proxy.send(paint, .light) == .light)
    raw.cancel()
    let typed = try proxy.subscribe { $0.on(paint) { shade in shade == .light ? .dark : .light } }
    #expect(try proxy.send("paint:", UInt8(5)) as UInt8 == 1)
    let error = #expect(throws: ForwardingError.self) {
      let _: UInt8 = try proxy.send("paint:", UInt8(200))
    }
    #expect(error?.code == .valueNotRepresentable)
    typed.cancel()
    let wrong = try proxy.subscribe { $0.on("paint:") { (_: UInt8) in UInt8(2) } }
    let result = #expect(throws: ForwardingError.self) { try proxy.send(paint, .dark) }
    #expect(result?.code == .valueNotRepresentable)
    withExtendedLifetime((raw, typed, wrong)) {}
  }
}

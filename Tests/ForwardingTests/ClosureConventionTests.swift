// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwardingInternal
import CTestFixtures
import Foundation
import Testing

@testable import Forwarding

/// Closures that C calls, and closures that Swift calls for C: they must see the
/// same arguments, give the same results and fail alike.
@Suite struct ClosureConventionTests {
  private class Animal: @unchecked Sendable {}
  private final class Dog: Animal, @unchecked Sendable {}
  private enum Color: Int32, Sendable { case red, green }
  /// Its last four bytes are padding.
  private struct Padded: TypeEncodable, Equatable {
    var long: Int64 = 0
    var short: Int32 = 0
    static var typeEncoding: String { "{Padded=qi}" }
  }
  private struct Empty: TypeEncodable, Equatable {
    static var typeEncoding: String { "{Empty=}" }
  }
  /// A packed struct of C: its layout is stated, since the encoding does not tell it.
  private struct Stated: TypeEncodable, Equatable {
    private var bytes: (UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0)
    init(byte: UInt8, word: Int32) {
      bytes.0 = byte
      unsafe withUnsafeMutableBytes(of: &bytes) {
        unsafe $0.storeBytes(of: word, toByteOffset: 1, as: Int32.self)
      }
    }
    static func == (one: Stated, two: Stated) -> Bool {
      one.bytes.0 == two.bytes.0 && one.bytes.1 == two.bytes.1 && one.bytes.2 == two.bytes.2
        && one.bytes.3 == two.bytes.3 && one.bytes.4 == two.bytes.4
    }
    static var typeEncoding: String { "{Stated=Ci}" }
    static var statedLayouts: [StatedLayout] {
      [StatedLayout("Stated", size: 5, alignment: 1, members: [.offset(0), .offset(1)])]
    }
  }
  private struct Flags: OptionSet, Sendable { let rawValue: UInt16 }
  /// What closures compare with: a pointer, among others.
  @safe private struct Sent<Value>: @unchecked Sendable { let value: Value }
  private typealias Callback = @convention(c) (Int32) -> Int32

  private static let both = [ClosureConvention.packs, .loads]

  /// The way that this program has been built with, if `FWD_CLOSURES` forces one.
  private static let forced = ProcessInfo.processInfo.environment["FWD_CLOSURES"]

  private static let isVerified: Bool = {
    #if os(Linux) && arch(x86_64) && compiler(>=6.3) && compiler(<6.4)
      true
    #else
      false
    #endif
  }()

  // MARK: - Types

  /// Sends a value to closures that note and return it, in all ways in which a
  /// delivery is made, by both conventions.
  ///
  /// - Parameter byC: whether C can call closures with such a parameter.
  private func echo<Value: SendableMetatype>(
    _ value: Value, byC: Bool = true, isSame: @escaping @Sendable (Value, Value) -> Bool
  ) throws {
    let sent = Sent(value: value)
    let give = Method("give:::", ((Value, Int32, Value) -> Value).self)
    let take = Method("take:::", ((Value, Int32, Value) -> Void).self)
    for convention in Self.both {
      try ClosureConvention.$chosen.withValue(convention) {
        let proxy = try DynamicProxy {
          $0.required(give, result: .callAll(pick: .last))
          $0.required(take)
        }
        let seen = Box(0)
        let owners = (0..<4).map { _ in Bystander() }
        let table = FunctionTable(for: Bystander.self) {
          $0.on(give) { owner, first, number, last in
            #expect(owners.contains { $0 === owner } && number == -7)
            #expect(isSame(first, sent.value) && isSame(last, sent.value))
            seen.value += 1
            return last
          }
          $0.on(take) { owner, first, number, last in
            #expect(owners.contains { $0 === owner } && number == -7)
            #expect(isSame(first, sent.value) && isSame(last, sent.value))
            seen.value += 1
          }
        }
        #expect(try isCalledByC(table, proxy) == (byC && convention == .packs))
        // Weak, strong, with a limit, and blocked.
        try proxy.subscribe(owners[0], table: table)
        try proxy.subscribe(owners[1], table: table, lifetime: .strong)
        try proxy.subscribe(owners[2], table: table, times: 3)
        let blocked = try proxy.subscribe(owners[3], table: table)
        let pause = try blocked.block()
        #expect(pause.isLive)
        let token = try proxy.subscribe {
          $0.on(give) { first, _, last in
            #expect(isSame(first, sent.value) && isSame(last, sent.value))
            seen.value += 1
            return first
          }
          $0.on(take) { first, _, last in
            #expect(isSame(first, sent.value) && isSame(last, sent.value))
            seen.value += 1
          }
        }
        #expect(isSame(try proxy.send(give, value, -7, value), value))
        try proxy.send(take, value, -7, value)
        #expect(seen.value == 8)
        let answers = try proxy.collect(give, value, -7, value)
        #expect(answers.count == 4 && answers.allSatisfy { isSame($0.value, value) })
        #expect(seen.value == 12)
        let method = try proxy.method(for: take)
        let invocation = try Invocation(method.selector, method.signature)
        let first = method.signature.firstArgumentIndex
        try invocation.setArgument(value, at: first)
        try invocation.setArgument(-7 as Int32, at: first + 1)
        try invocation.setArgument(value, at: first + 2)
        try proxy.withBatch {
          try proxy.forward(invocation)
          try proxy.forward(invocation)
        }
        // The third owner has used its deliveries up.
        #expect(seen.value == 18)
        let observe: @Sendable (Value, Int32, Value) -> Void = { first, number, last in
          #expect(number == -7 && isSame(first, sent.value) && isSame(last, sent.value))
          seen.value += 1
        }
        let interceptions = [
          try proxy.before(give, observe), try proxy.after(give, observe),
          try proxy.instead(give) { first, number, last in
            observe(first, number, last)
            return first
          },
        ]
        #expect(isSame(try proxy.send(give, value, -7, value), value))
        #expect(seen.value == 21 && interceptions.allSatisfy(\.isLive))
        withExtendedLifetime((owners, token)) {}
      }
    }
  }

  private func echo<Value: Equatable & SendableMetatype>(_ values: Value..., byC: Bool = true)
    throws
  {
    for value in values { try echo(value, byC: byC) { $0 == $1 } }
  }

  /// Whether C calls all closures of a table itself.
  private func isCalledByC(_ table: FunctionTable, _ proxy: DynamicProxy) throws -> Bool {
    let requirements = proxy.protocols.flatMap(\.requirements)
    let joined = try DispatchTable(JoinedTable(table, proxy.core.plan), isSingle: true)
    return requirements.indices.allSatisfy {
      unsafe fwd_dispatch_table_entry(joined.handle, $0).pointee.closure != nil
    }
  }

  @Test func `this compiler's convention is the one that was tested`() {
    let expectsPacks = Self.forced.map { $0 == "packs" } ?? Self.isVerified
    #expect((ClosureConvention.current == .packs) == expectsPacks)
  }

  @Test func numbers() throws {
    try echo(Int8.min, Int8.max)
    try echo(Int16.min, Int16.max)
    try echo(Int32.min, Int32.max)
    try echo(Int64.min, Int64.max)
    try echo(Int.min, Int.max)
    try echo(UInt8.max, UInt8.min)
    try echo(UInt16.max)
    try echo(UInt32.max)
    try echo(UInt64.max)
    try echo(UInt.max)
    try echo(Int128.min, Int128.max)
    try echo(UInt128.max)
    try echo(Float.pi, -0.0, .infinity)
    try echo(Double.pi, -0.0, .infinity)
    #if arch(x86_64)
      try echo(Float80.pi)
    #endif
    try echo(true, false)
  }

  @Test func pointers() throws {
    let word = UnsafeMutablePointer<Int64>.allocate(capacity: 1)
    unsafe word.initialize(to: 12)
    defer { unsafe word.deallocate() }
    let pointer = unsafe word
    let raw = UnsafeRawPointer(pointer)
    try unsafe echo(pointer)
    try unsafe echo(UnsafePointer(pointer))
    try unsafe echo(Optional(pointer))
    try unsafe echo(UnsafeMutablePointer<Int64>?.none)
    try unsafe echo(raw)
    try unsafe echo(UnsafeRawPointer?.none)
    try unsafe echo(UnsafeMutableRawPointer(pointer))
    try unsafe echo(OpaquePointer(pointer))
    try unsafe echo(OpaquePointer?.none)
    try echo(MethodSelector("ping:"))
    try unsafe "letters".withCString { letters in
      try unsafe echo(letters)
      try unsafe echo(UnsafePointer<CChar>?(letters))
      try unsafe echo(UnsafeMutablePointer(mutating: letters))
    }
    try unsafe echo(UnsafePointer<CChar>?.none)
  }

  @Test func `classes and functions`() throws {
    let dog = Dog()
    let animal = Animal()
    try echo(dog) { $0 === $1 }
    try echo(animal) { $0 === $1 }
    // Of a subclass.
    try echo(dog as Animal) { $0 === $1 && $0 is Dog }
    try echo(dog as Dog?) { $0 === $1 }
    try echo(Dog?.none) { $0 == nil && $1 == nil }
    try echo(dog as any AnyObject & Sendable) { $0 === $1 }
    try echo({ $0 + 1 } as Callback) { $0(1) == $1(1) }
    try echo(Callback?.none) { $0 == nil && $1 == nil }
    try echo(Dog.self as any AnyObject.Type) { $0 == $1 }
  }

  /// As a result it carries the reference that the caller gets; nobody counts it.
  @Test func `unmanaged references`() throws {
    let give = unsafe Method("give:", ((Unmanaged<Dog>) -> Unmanaged<Dog>).self)
    for convention in Self.both {
      try ClosureConvention.$chosen.withValue(convention) {
        let proxy = try DynamicProxy { unsafe $0.required(give, result: .callAll(pick: .last)) }
        weak var tracked: Dog?
        do {
          let dog = Dog()
          tracked = dog
          let table = FunctionTable(for: Bystander.self) {
            unsafe $0.on(give) { _, dog in unsafe .passRetained(dog.takeUnretainedValue()) }
          }
          #expect(try isCalledByC(table, proxy) == (convention == .packs))
          let owners = [Bystander(), Bystander()]
          for owner in owners { try proxy.subscribe(owner, table: table) }
          let given = try unsafe proxy.send(give, .passUnretained(dog))
          #expect(unsafe given.takeRetainedValue() === dog)
          let answers = try unsafe proxy.collect(give, .passUnretained(dog))
          #expect(
            unsafe answers.map { unsafe $0.value.takeRetainedValue() === dog } == [true, true])
          withExtendedLifetime(owners) {}
        }
        #expect(tracked == nil)
      }
    }
  }

  @Test func structs() throws {
    try echo(Padded(long: .min, short: .max))
    try echo(fixture_point(x: 1.5, y: -2)) { $0.x == $1.x && $0.y == $1.y }
    try echo(fixture_large(a: 1, b: 2, c: 3, d: 4)) {
      (one: fixture_large, two: fixture_large) -> Bool in
      one.a == two.a && one.b == two.b && one.c == two.c && one.d == two.d
    }
    try echo(Stated(byte: 0xFE, word: .min))
  }

  @Test func `enums of C and option sets`() throws {
    try echo(fixture_red, fixture_blue, byC: false)
    // Without a case, which an enum of C may be.
    try echo(fixture_color(rawValue: 77), byC: false)
    try echo(Flags(rawValue: .max), [], byC: false)
  }

  @Test func `what needs a conversion is called by Swift`() throws {
    try echo(Color.red, .green, byC: false)
    let log = Method("log:", ((String, Int32) -> Int32).self)
    let name = Method("name:", ((Int32) -> Void).self)
    for convention in Self.both {
      try ClosureConvention.$chosen.withValue(convention) {
        let proxy = try DynamicProxy {
          $0.required(log)
          $0.required(name)
        }
        let owner = Bystander()
        let journal = Journal()
        let table = FunctionTable(for: Bystander.self) {
          $0.on(log) { _, text, count in
            journal.note(text)
            return count
          }
          // The value is dropped.
          $0.on("name:") { (_: Bystander, count: Int32) -> [Int32] in
            journal.note("\(count)")
            return [count]
          }
        }
        #expect(try !isCalledByC(table, proxy))
        try proxy.subscribe(owner, table: table)
        #expect(try proxy.send(log, "grüße", 3) == 3)
        try proxy.send(name, 4)
        #expect(journal.take() == ["grüße", "4"])
        withExtendedLifetime(owner) {}
      }
    }
  }

  // MARK: - Counts of arguments

  @Test func `no argument, and arguments on the stack`() throws {
    let none = Method("none", (() -> Int64).self)
    let many = Method(
      "many:",
      ((
        Int8, Double, Int16, Float, Int32, Bool, Int64, UInt8, Int64, Int64, Int64, Double, Double,
        Double, Double, Double, Double, Double, Int8
      ) -> Double).self)
    for convention in Self.both {
      try ClosureConvention.$chosen.withValue(convention) {
        let proxy = try DynamicProxy {
          $0.required(none)
          $0.required(many)
        }
        let owner = Bystander()
        let table = FunctionTable(for: Bystander.self) {
          $0.on(none) { _ in 42 }
          $0.on(many) { _, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s in
            #expect((a, c, e, f, g, h) == (-1, -3, -5, true, -7, 8))
            #expect((i, j, k, s) == (9, 10, 11, -19))
            let rest: [Double] = [b, Double(d), l, m, n, o, p, q, r]
            return rest.reduce(0, +)
          }
        }
        #expect(try isCalledByC(table, proxy) == (convention == .packs))
        try proxy.subscribe(owner, table: table)
        #expect(try proxy.send(none) == 42)
        let sum: Double = try proxy.send(
          many, -1, 2, -3, 4, -5, true, -7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, -19)
        #expect(sum == 111)
        withExtendedLifetime(owner) {}
      }
    }
  }

  // MARK: - Mixtures

  @Test func `closures, C functions, blocked and dead ones in one list`() throws {
    let ping = Method("ping:", ((Int64) -> Void).self)
    for convention in Self.both {
      try ClosureConvention.$chosen.withValue(convention) {
        let proxy = try DynamicProxy { $0.required(ping) }
        let sum = Box<Int64>(0)
        let function = FunctionTable(for: Counter.self) {
          unsafe $0.function(ping, calling: Counter.ping)
        }
        let closures = (1...2).map { weight in
          FunctionTable(for: Counter.self) {
            $0.on(ping) { counter, value in
              counter.sum.value += value
              sum.value += Int64(weight)
            }
          }
        }
        var living: [Counter] = []
        var pauses: [DynamicProxy.Token] = []
        var expected: Int64 = 0
        // Enough for several segments of the list.
        for index in 0..<3000 {
          let counter = Counter()
          let kind = index % 7
          let table = kind < 2 ? function : closures[kind % 2]
          let subscription = try proxy.subscribe(
            counter, table: table, lifetime: kind == 5 ? .strong : .weak)
          switch index % 11 {
          case 3: pauses.append(try subscription.block())
          case 4: #expect(subscription.cancel())
          case 5 where kind != 5: continue
          default:
            if kind >= 2 { expected += Int64(kind % 2 + 1) }
            counter.isExpected.value = true
          }
          living.append(counter)
        }
        try proxy.send(ping, 5)
        #expect(sum.value == expected && pauses.allSatisfy(\.isLive))
        #expect(living.allSatisfy { $0.sum.value == ($0.isExpected.value ? 5 : 0) })
      }
    }
  }

  private final class Counter: Sendable {
    let sum = Box<Int64>(0)
    let isExpected = Box(false)
    static let ping: @convention(c) (UnsafeRawPointer, Int64) -> Void = { receiver, value in
      unsafe Unmanaged<Counter>.fromOpaque(receiver).takeUnretainedValue().sum.value += value
    }
  }

  @Test func `closures forward to closures`() throws {
    let down = Method("down:", ((Int64) -> Int64).self)
    for convention in Self.both {
      try ClosureConvention.$chosen.withValue(convention) {
        let proxy = try DynamicProxy { $0.required(down, result: .callAll(pick: .last)) }
        let owner = Bystander()
        try proxy.subscribe(owner) {
          $0.on(down) { [unowned proxy] _, left in
            left == 0 ? 1 : 1 + (try! proxy.send(down, left - 1))
          }
        }
        #expect(try proxy.send(down, 100) == 101)
        withExtendedLifetime(owner) {}
      }
    }
  }

  // MARK: - Folds

  /// Folds the results of subscribers that return the values, in this order.
  private func fold<Value: Sendable & Equatable>(
    _ values: [Value], _ policy: ResultPolicy, byC: Bool = true
  ) throws -> [Value] {
    let get = Method("get:", ((Int8) -> Value).self)
    return try Self.both.map { convention in
      try ClosureConvention.$chosen.withValue(convention) {
        let proxy = try DynamicProxy { $0.required(get, result: policy) }
        let fitted = try policy.fit(try get.signature.result)
        #expect((fitted.fold?.called != nil) == (byC && convention == .packs))
        let tokens = try values.map { value in try proxy.subscribe { $0.on(get) { _ in value } } }
        return try withExtendedLifetime(tokens) { try proxy.send(get, 1) }
      }
    }
  }

  @Test func `closures of result policies`() throws {
    #expect(try fold([1, 2, 3, 4] as [Int32], .until { (x: Int32) in x > 2 }) == [3, 3])
    #expect(try fold([1, 2] as [Int32], .until { (x: Int32) in x > 2 }) == [2, 2])
    #expect(try fold([1, 2, 4] as [Int64], .reduce(100 as Int64) { 2 * $0 + $1 }) == [812, 812])
    #expect(try fold([0.5, 2.5, -1], .reduce(-Double.infinity) { max($0, $1) }) == [2.5, 2.5])
    #expect(try fold([0.5, 2.5] as [Float], .until { (x: Float) in x > 2 }) == [2.5, 2.5])
    #expect(try fold([1, 2, 3] as [Int128], .reduce(0 as Int128) { $0 - $1 }) == [-6, -6])
    #if arch(x86_64)
      #expect(try fold([1, 2.5] as [Float80], .reduce(0 as Float80) { $0 + $1 }) == [3.5, 3.5])
    #endif
    let padded = [Padded(long: 1, short: 2), Padded(long: 10, short: 20)]
    let sum = Padded(long: 11, short: 22)
    #expect(
      try fold(
        padded,
        .reduce(Padded()) { Padded(long: $0.long + $1.long, short: $0.short + $1.short) })
        == [sum, sum])
    #expect(try fold(padded, .until { (x: Padded) in x.short == 20 }) == [padded[1], padded[1]])
    #expect(
      try fold([false, true, false], .reduce(false) { $0 != $1 }, byC: false) == [true, true])
    #expect(
      try fold([Color.red, .green], .until { (x: Color) in x == .green }, byC: false)
        == [.green, .green])
  }

  // MARK: - Lifetimes

  @Test func `results are released, and captures live as long as the subscription`() throws {
    let make = Method("make:", ((Bool) -> Population.Tracked?).self)
    for convention in Self.both {
      let population = Population()
      let made = Population()
      try ClosureConvention.$chosen.withValue(convention) {
        let proxy = try DynamicProxy {
          $0.required(make, result: .callAll(pick: .last), default: nil)
        }
        let owner = Bystander()
        let captured = population.make()
        let subscription = try proxy.subscribe(owner) {
          $0.on(make) { _, makes in
            withExtendedLifetime(captured) { makes ? made.make() : nil }
          }
        }
        let others = try (0..<3).map { _ in
          try proxy.subscribe { $0.on(make) { $0 ? made.make() : nil } }
        }
        for _ in 0..<3 {
          #expect(try proxy.send(make, true) != nil)
          #expect(made.living == 0)
        }
        #expect(try proxy.send(make, false) == nil)
        #expect(population.living == 1)
        #expect(subscription.cancel())
        withExtendedLifetime((owner, others)) {}
      }
      #expect(population.living == 0)
    }
  }

  // MARK: - Errors

  @Test func `arguments that are no values of their types`() throws {
    let pointer = unsafe Method("pointer::", ((Int32, UnsafeRawPointer) -> Void).self)
    let dog = Method("dog:", ((Dog) -> Void).self)
    let dogs = Method("dogs:::", ((Dog?, Animal, Dog?) -> Int32).self)
    let flag = Method("flag:", ((Bool) -> Void).self)
    var journals: [[String]] = []
    for convention in Self.both {
      let journal = Journal()
      try ClosureConvention.$chosen.withValue(convention) {
        var configuration = DynamicProxy.Configuration()
        configuration.onError = {
          journal.note("\($0) (\($0.code), argument \($0.argumentIndex ?? -1))")
        }
        let proxy = try DynamicProxy("Hostile", configuration: configuration) {
          unsafe $0.required(pointer)
          $0.required(dog)
          $0.required(dogs)
          $0.required(flag)
        }
        let owners = [Bystander(), Bystander()]
        for owner in owners {
          try proxy.subscribe(owner) {
            unsafe $0.on(pointer) { _, _, _ in journal.note("pointer") }
            $0.on(dog) { _, _ in journal.note("dog") }
            $0.on(dogs) { _, _, _, _ in
              journal.note("dogs")
              return 1
            }
            $0.on(flag) { _, flag in journal.note("\(flag)") }
          }
        }
        try forward(proxy, "pointer::", journal) {
          try $0.setArgument(3 as Int32, at: 1)
          try unsafe $0.setArgument(UnsafeRawPointer?.none, at: 2)
        }
        try forward(proxy, "dog:", journal) { try $0.setArgument(Animal() as AnyObject, at: 1) }
        try forward(proxy, "dog:", journal) { try $0.setArgument(AnyObject?.none, at: 1) }
        try forward(proxy, "dog:", journal) { try $0.setArgument(Dog() as AnyObject, at: 1) }
        for (first, second, third) in [
          (nil, Dog(), Dog()), (Dog(), Animal(), nil), (nil, Dog(), Animal()),
          (Animal(), Dog(), nil), (nil, Bystander(), nil), (nil, nil, nil),
        ] as [(AnyObject?, AnyObject?, AnyObject?)] {
          try forward(proxy, "dogs:::", journal) {
            try $0.setArgument(first, at: 1)
            try $0.setArgument(second, at: 2)
            try $0.setArgument(third, at: 3)
          }
        }
        for byte: UInt8 in [0, 1, 2, 255] {
          try forward(proxy, "flag:", journal) {
            try unsafe $0.setBytes([byte].span.bytes, at: 1)
          }
        }
        withExtendedLifetime(owners) {}
      }
      journals.append(journal.take())
    }
    #expect(journals[0] == journals[1])
    #expect(journals[0].filter { $0 == "true" }.count == 2)
    for byte in [2, 255] {
      let text = "parameter 1 of \"flag:\" has the byte \(byte), which is no Bool: expected 0 or 1"
      // Of two deliveries, and of the sender.
      #expect(journals[0].filter { $0.contains(text) }.count == 3)
    }
    #expect(journals[0].filter { $0 == "dogs" }.count == 2)
    #expect(journals[0].contains { $0.contains("parameter 2 of \"pointer::\" is null") })
    #expect(
      journals[0].contains {
        $0.contains("must be an object of class Dog, got one of class Animal")
      })
  }

  private func forward(
    _ proxy: DynamicProxy, _ name: String, _ journal: Journal,
    _ fill: (Invocation) throws -> Void
  ) throws {
    let selector = try MethodSelector(validating: name)
    let invocation = try Invocation(selector, proxy.method(for: selector).signature)
    try fill(invocation)
    do {
      try proxy.forward(invocation)
    } catch {
      journal.note("thrown: \(error)")
    }
  }
}

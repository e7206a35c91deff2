// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import CTestFixtures
import Testing

@testable import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Proxies, tables and subscribers that are written with method keys.
@Suite struct MethodKeyTests {
  private class Animal: @unchecked Sendable { let name = "animal" }
  private final class Dog: Animal, @unchecked Sendable {}
  private enum Color: Int32, Sendable { case red, green }
  /// Its last four bytes are padding, which Swift does not count as its own.
  private struct Padded: TypeEncodable, Equatable {
    var long: Int64 = 0
    var short: Int32 = 0
    static var typeEncoding: String { "{Padded=qi}" }
  }
  private typealias Callback = @convention(c) (Int32) -> Int32

  private enum Visitor {
    static let visit = unsafe Method(
      "visit:status:kind:", ((UnsafePointer<CChar>, UnsafePointer<timespec>?, Int32) -> Int32).self)
    static let finished = Method("finished:", ((Int64) -> Void).self)
    static let log = Method("log:", ((String) -> Void).self)
  }
  private enum Kinds {
    static let bool = Method("bool:", ((Bool) -> Bool).self)
    static let point = Method("point:", ((fixture_point) -> fixture_point).self)
    static let packed = Method("packed:", ((fixture_packed) -> fixture_packed).self)
    static let color = Method("color:", ((Color) -> Color).self)
    static let animal = Method("animal:", ((Animal) -> Animal).self)
    static let maybe = Method("maybe:", ((AnyObject?) -> AnyObject?).self)
    static let pointer = unsafe Method("pointer:", ((UnsafeRawPointer) -> UnsafeRawPointer).self)
    static let callback = Method("callback:", ((Callback) -> Int32).self)
    static let wide = Method("wide:", ((Int128, Double) -> Int128).self)
    static let selector = Method("selector:", ((MethodSelector) -> MethodSelector).self)
    static let text = Method("text:", ((String, String?) -> Int32).self)
    static let large = Method("large:", ((fixture_large) -> fixture_large).self)
    static let many = Method(
      "many:", ((Int8, Double, Int16, Float, Int32, Bool, Int64, UInt8) -> Double).self)
  }

  private func visitors(
    _ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    configure(&configuration)
    return try DynamicProxy("Visitor", configuration: configuration) {
      unsafe $0.required(Visitor.visit, result: .untilNonzero)
      $0.optional(Visitor.finished)
      $0.optional(Visitor.log)
    }
  }

  // MARK: Sending

  @Test func `a send reaches closures with the types of the key`() throws {
    let proxy = try visitors()
    let journal = Journal()
    let owner = Bystander()
    let subscription = try proxy.subscribe(owner) {
      unsafe $0.on(Visitor.visit) { owner, path, status, kind in
        journal.note(
          "\(type(of: owner)) \(unsafe String(cString: path)) \(unsafe status == nil) \(kind)")
        return kind - 3
      }
      $0.on(Visitor.finished) { _, count in journal.note("finished \(count)") }
      $0.on(Visitor.log) { _, text in journal.note(text) }
    }
    let stop = try unsafe "a/b".withCString { try unsafe proxy.send(Visitor.visit, $0, nil, 3) }
    #expect(stop == 0)
    try proxy.send(Visitor.finished, 12)
    try proxy.send(Visitor.log, "text")
    #expect(journal.take() == ["Bystander a/b true 3", "finished 12", "text"])
    #expect(subscription.cancel() && !proxy.responds(to: Visitor.finished))
    try proxy.send(Visitor.finished, 13)
    #expect(journal.take().isEmpty)
  }

  @Test func `an owner is held weakly`() throws {
    let proxy = try visitors()
    var owner: Bystander? = Bystander()
    try proxy.subscribe(owner!) {
      unsafe $0.on(Visitor.visit) { _, _, _, _ in 1 }
    }
    #expect(unsafe proxy.responds(to: Visitor.visit))
    owner = nil
    #expect(unsafe !proxy.responds(to: Visitor.visit) && proxy.count == 0)
  }

  @Test func `values of all kinds come back as they were sent`() throws {
    let proxy = try DynamicProxy("Kinds") {
      $0.optional(Kinds.bool)
      $0.optional(Kinds.point)
      $0.optional(Kinds.packed)
      $0.optional(Kinds.color)
      $0.optional(Kinds.animal)
      $0.optional(Kinds.maybe)
      unsafe $0.optional(Kinds.pointer)
      $0.optional(Kinds.callback)
      $0.optional(Kinds.wide)
      $0.optional(Kinds.selector)
      $0.optional(Kinds.text)
      $0.optional(Kinds.large)
      $0.optional(Kinds.many)
    }
    let token = try proxy.subscribe {
      $0.on(Kinds.bool) { !$0 }
      $0.on(Kinds.point) { fixture_point(x: $0.y, y: $0.x) }
      $0.on(Kinds.packed) { $0 }
      $0.on(Kinds.color) { $0 == .red ? .green : .red }
      $0.on(Kinds.animal) { $0 }
      $0.on(Kinds.maybe) { $0 }
      unsafe $0.on(Kinds.pointer) { unsafe $0 + 1 }
      $0.on(Kinds.callback) { $0(20) }
      $0.on(Kinds.wide) { wide, double in wide + Int128(double) }
      $0.on(Kinds.selector) { $0 }
      $0.on(Kinds.text) { text, other in Int32(text.count) + Int32(other?.count ?? 100) }
      $0.on(Kinds.large) { fixture_large(a: $0.a + 1, b: $0.b, c: $0.c, d: $0.d) }
      $0.on(Kinds.many) { a, b, c, d, e, f, g, h in
        let numbers = [Double(a), b, Double(c), Double(d), Double(e), f ? 1 : 0, Double(g)]
        return numbers.reduce(Double(h), +)
      }
    }
    // Twice: the first send of a key may go another way than the next.
    for _ in 0..<2 {
      #expect(try proxy.send(Kinds.bool, true) == false)
      #expect(try proxy.send(Kinds.point, fixture_point(x: 1, y: 2)).x == 2)
      #expect(try proxy.send(Kinds.packed, fixture_packed(kind: 1, length: 7)).length == 7)
      #expect(try proxy.send(Kinds.color, .red) == .green)
      let dog = Dog()
      #expect(try proxy.send(Kinds.animal, dog) === dog)
      #expect(try proxy.send(Kinds.maybe, nil) == nil)
      #expect(try proxy.send(Kinds.maybe, dog) === dog)
      let address = unsafe UnsafeRawPointer(bitPattern: 16)!
      #expect(try unsafe proxy.send(Kinds.pointer, address) == address + 1)
      #expect(try proxy.send(Kinds.callback, { $0 + 1 }) == 21)
      #expect(try proxy.send(Kinds.wide, 1 << 100, 2) == 1 << 100 + 2)
      #expect(try proxy.send(Kinds.selector, "x:") == "x:")
      #expect(try proxy.send(Kinds.text, "abc", nil) == 103)
      #expect(try proxy.send(Kinds.text, "abc", "d") == 4)
      #expect(try proxy.send(Kinds.large, fixture_large(a: 1, b: 2, c: 3, d: 4)).a == 2)
      #expect(try proxy.send(Kinds.many, -1, 2.5, 3, 0.5, 4, true, 1 << 40, 255) == 265 + 0x1p40)
    }
    withExtendedLifetime(token) {}
  }

  @Test func `objects are retained once and released once`() throws {
    let make = Method("make:", ((AnyObject) -> AnyObject).self)
    let proxy = try DynamicProxy { $0.required(make) }
    let population = Population()
    let token = try proxy.subscribe { $0.on(make) { [population] _ in population.make() } }
    for _ in 0..<3 { _ = try proxy.send(make, population.make()) }
    #expect(population.living == 0)
    withExtendedLifetime(token) {}
  }

  @Test func `a result is given by default and by failure`() throws {
    let errors = Journal()
    let answer = Method("answer:", ((AnyObject) -> Int32).self)
    let other = Method("other:", ((AnyObject) -> Int32).self)
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { errors.note($0.description) }
    let proxy = try DynamicProxy(configuration: configuration) {
      $0.optional(answer, default: 7, onFailure: 9)
      $0.optional(other, result: .callAll(pick: .last))
    }
    let object = Bystander()
    #expect(try proxy.send(answer, object) == 7)
    let error = #expect(throws: ForwardingError.self) { try proxy.send(other, object) }
    #expect(error?.code == .noResponder)
    let strict = Method("answer:", ((Dog) -> Int32).self)
    let token = try proxy.subscribe { $0.on(strict) { _ in 1 } }
    #expect(try proxy.send(answer, object) == 9)
    #expect(
      errors.take().joined().contains(
        "parameter 1 of \"answer:\" must be an object of class Dog, got one of class Bystander"))
    withExtendedLifetime(token) {}
  }

  @Test func `results are collected with their authors`() throws {
    let score = Method("score:", ((Int32) -> Int32).self)
    let proxy = try DynamicProxy { $0.optional(score) }
    let owners = [Bystander(), Bystander()]
    for (index, owner) in owners.enumerated() {
      try proxy.subscribe(owner) { $0.on(score) { _, number in number + Int32(index) } }
    }
    let answers = try proxy.collect(score, 10)
    #expect(answers.map(\.value) == [10, 11])
    #expect(answers[1].author === owners[1])
  }

  @Test func `a function pointer and a resolved method are found by key`() throws {
    let add = Method("add:", ((Int32) -> Int32).self)
    let proxy = try DynamicProxy { $0.required(add) }
    let token = try proxy.subscribe { $0.on(add) { $0 + 1 } }
    let pointer = try proxy.functionPointer(for: add)
    let function: @convention(c) (Int32) -> Int32 = unsafe pointer.unsafeCast()
    #expect(function(41) == 42)
    let method = try proxy.functionPointer(for: add, context: .first)
    let whole: @convention(c) (UnsafeRawPointer?, Int32) -> Int32 = unsafe method.unsafeCast()
    #expect(whole(nil, 1) == 2)
    #expect(try proxy.method(for: add).selector == "add:")
    withExtendedLifetime((token, pointer, method)) {}
  }

  @Test func `a class's table is written with keys`() throws {
    let proxy = try DynamicProxy { $0.required(Keyed.ping) }
    let keyed = Keyed()
    try proxy.subscribe(keyed)
    try proxy.send(Keyed.ping, 3)
    #expect(keyed.sum.value == 3)
    try Keyed.functionTable.validate(for: proxy.protocols[0])
  }

  private final class Keyed: DynamicProxy.Subscriber {
    static let ping = Method("ping:", ((Int) -> Void).self)
    static let functionTable = FunctionTable(for: Keyed.self) {
      $0.on(ping) { keyed, number in keyed.sum.update { $0 += number } }
    }
    let sum = Box(0)
  }

  @Test func `padding at the end of a struct is not used for the next argument`() throws {
    let key = Method("padded:then:", ((Padded, Int32, Padded) -> Int64).self)
    #expect(key.passing == .frame)
    let proxy = try DynamicProxy { $0.optional(key) }
    let token = try proxy.subscribe {
      $0.on(key) { first, number, second in first.long + Int64(number) + Int64(second.short) }
    }
    let sum = try proxy.send(key, Padded(long: 1, short: 2), 30, Padded(long: 400, short: 5000))
    #expect(sum == 5031)
    // A table may say that the method has the arguments at other places.
    let packed = Method("pack:", ((fixture_packed, Int32) -> Int32).self)
    let other = try DynamicProxy { $0.optional(packed) }
    let handler = try other.subscribe { $0.on(packed) { $0.length + $1 } }
    #expect(try other.send(packed, fixture_packed(kind: 1, length: 7), 5) == 12)
    withExtendedLifetime((token, handler)) {}
  }

  // MARK: Keys and strings

  @Test(
    "a key meets a table that is written with an encoding",
    arguments: [
      ("visit:status:kind:", "i@:*^{timespec=qq}i"), ("visit:status:kind:", "i^v*^vi"),
      ("visit:status:kind:", "l@r*^{timespec}l"),
    ])
  func meeting(selector: String, encoding: String) throws {
    let table = try ProtocolTable("Visitor") { $0.required(selector, encoding) }
    let proxy = try DynamicProxy(adopting: table)
    let seen = Box<[Int32]>([])
    let typed = try proxy.subscribe {
      unsafe $0.on(Visitor.visit) { _, _, kind in
        seen.update { $0.append(kind) }
        return kind
      }
    }
    #expect(try unsafe "x".withCString { try unsafe proxy.send(Visitor.visit, $0, nil, 4) } == 4)
    #expect(try unsafe "x".withCString { try unsafe proxy.send(Visitor.visit, $0, nil, 5) } == 5)
    #expect(seen.value == [4, 5])
    withExtendedLifetime(typed) {}
  }

  @Test func `strings meet a table that is written with keys`() throws {
    let proxy = try visitors()
    let journal = Journal()
    let token = try proxy.subscribe {
      $0.on("finished:") { (count: Int64) in journal.note("string \(count)") }
      unsafe $0.on(Visitor.visit) { _, _, _ in 0 }
    }
    try proxy.send("finished:", Int64(1))
    try proxy.send(Visitor.finished, 2)
    #expect(journal.take() == ["string 1", "string 2"])
    withExtendedLifetime(token) {}
  }

  @Test func `two tables of one proxy meet by equivalence`() throws {
    let keyed = try ProtocolTable("Keyed") { unsafe $0.optional(Visitor.visit) }
    let spelled = try ProtocolTable("Spelled") {
      $0.required("visit:status:kind:", "i@*^{timespec=qq}i")
    }
    _ = try DynamicProxy(adopting: keyed, spelled)
    _ = try DynamicProxy(adopting: spelled, keyed)
    let other = try ProtocolTable("Other") { $0.required("visit:status:kind:", "i@*^{tm=}i") }
    let error = #expect(throws: ForwardingError.self) { try DynamicProxy(adopting: keyed, other) }
    #expect(error?.code == .conflict)
    #expect(error?.description.contains("{timespec}") == true)
    #expect(error?.description.contains("{tm=}") == true)
  }

  @Test func `a C function fits a key`() throws {
    let add = Method("add:", ((Int32) -> Int32).self)
    let proxy = try DynamicProxy { $0.required(add) }
    let function: @convention(c) (UnsafeRawPointer?, Int32) -> Int32 = { _, number in number + 1 }
    let table = FunctionTable(for: Bystander.self) { unsafe $0.function(add, calling: function) }
    let owner = Bystander()
    try proxy.subscribe(owner, table: table)
    #expect(try proxy.send(add, 1) == 2)
    let wrong: @convention(c) (Int32) -> Int32 = { $0 }
    let refused = FunctionTable(for: Bystander.self) { unsafe $0.function(add, calling: wrong) }
    let error = #expect(throws: ForwardingError.self) {
      try refused.validate(for: proxy.protocols[0])
    }
    #expect(error?.code == .signatureMismatch)
    #expect(error?.description.contains("expected 2 parameters, got 1") == true)
    let none = FunctionTable(for: Bystander.self) { unsafe $0.function(add, calling: 1 as Int) }
    #expect(
      throws: ForwardingError.self, performing: { try none.validate(for: proxy.protocols[0]) })
  }

  @Test func `a C subscriber meets a key by signature`() throws {
    let add = Method("add:", ((Int32) -> Int32).self)
    let proxy = try DynamicProxy { $0.required(add) }
    let function: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { _, number in
      number + 1
    }
    func subscribe(_ encoding: String) -> fwd_status {
      unsafe "add:".withCString { selector in
        unsafe encoding.withCString { encoding in
          // SAFETY: all functions are of one kind until they are called.
          let method = unsafe fwd_method(
            selector: selector, encoding: encoding,
            function: unsafeBitCast(function, to: (@convention(c) () -> Void).self))
          return unsafe withUnsafePointer(to: method) {
            unsafe fwd_proxy_subscribe(proxy.unsafeHandle, nil, $0, 1, nil, nil, nil, nil)
          }
        }
      }
    }
    #expect(subscribe("i^vd") == FWD_SIGNATURE_MISMATCH)
    #expect(subscribe("i^vi") == FWD_OK)
    #expect(try proxy.send(add, 1) == 2)
  }

  // MARK: Errors

  @Test func `a key with a type that has no encoding is an error of the table`() {
    let key = Method("log:at:", ((Int32, [Int32]) -> Void).self)
    let error = #expect(throws: ForwardingError.self) {
      try DynamicProxy("Logging") { $0.optional(key) }
    }
    #expect(error?.code == .noEncoding && error?.table == "Logging" && error?.selector == "log:at:")
    #expect(
      error?.description.hasPrefix(
        "protocol \"Logging\": parameter 2 of the method key \"log:at:\" is Array<Int32>"
      )
        == true)
  }

  @Test func `two keys of one selector and different types are an error of the table`() {
    let error = #expect(throws: ForwardingError.self) {
      try DynamicProxy("Moving") {
        $0.optional(Method("move:by:", ((Int32, Double) -> Void).self))
        $0.optional(Method("move:by:", ((Int32, Float) -> Void).self))
      }
    }
    #expect(error?.code == .duplicate && error?.selector == "move:by:")
    #expect(
      error?.description
        == "protocol \"Moving\" declares \"move:by:\" twice, as \"v@id\" and as \"v@if\", which differ in parameter 2: 'd' (Double) and 'f' (Float)"
    )
    let same = #expect(throws: ForwardingError.self) {
      try DynamicProxy("Moving") {
        $0.optional("finished:", "v@q")
        $0.optional(Visitor.finished)
      }
    }
    #expect(same?.description == "protocol \"Moving\" declares \"finished:\" twice")
    let results = #expect(throws: ForwardingError.self) {
      try DynamicProxy("Moving") {
        $0.optional("finished:", "i@q")
        $0.optional(Visitor.finished)
      }
    }
    #expect(results?.description.contains("the result: 'i' (Int32) and 'v' (void)") == true)
    let counts = #expect(throws: ForwardingError.self) {
      try DynamicProxy("Moving") {
        $0.optional("finished:", "v@qq")
        $0.optional(Visitor.finished)
      }
    }
    #expect(counts?.description.hasSuffix("which differ in the number of parameters") == true)
    for (encoding, difference) in [
      ("v@:q", "the selector: only one of them has it"),
      ("v^vq", "the receiver: '^v' (pointer to void) and '@' (object)"),
      ("v@:d", "parameter 1: 'd' (Double) and 'q' (Int64)"),
    ] {
      let hidden = #expect(throws: ForwardingError.self) {
        try DynamicProxy("Moving") {
          $0.optional("finished:", encoding)
          $0.optional(Visitor.finished)
        }
      }
      #expect(hidden?.description.hasSuffix("which differ in \(difference)") == true)
    }
  }

  @Test func `the errors of a proxy without a name name its methods`() throws {
    func declaring(_ count: Int) throws -> DynamicProxy {
      try DynamicProxy { builder in
        for index in 0..<count { builder.optional("method\(index)", "v@") }
      }
    }
    func message(_ count: Int) throws -> String? {
      let proxy = try declaring(count)
      return #expect(throws: ForwardingError.self) { try proxy.send("other:", Int32(1)) }?
        .description
    }
    let start = "no protocol of the proxy declares \"other:\"; it declares "
    #expect(try message(2) == start + "\"method0\", \"method1\"")
    #expect(
      try message(6)
        == start + "\"method0\", \"method1\", \"method2\", \"method3\" and 2 more")
    let twice = #expect(throws: ForwardingError.self) {
      try DynamicProxy {
        $0.optional("a", "v@")
        $0.optional("a", "v@")
      }
    }
    #expect(twice?.description == "the proxy declares \"a\" twice")
    let misfit = #expect(throws: ForwardingError.self) {
      try DynamicProxy { $0.optional("a", "i@", result: .any) }
    }
    #expect(
      misfit?.description
        == "the result of \"a\" must be 'B' (Bool) for the policy \"any\", got 'i' (Int32)")
    let malformed = #expect(throws: ForwardingError.self) {
      try DynamicProxy { $0.optional("a", "v@y") }
    }
    #expect(malformed?.description.hasPrefix("\"a\": ") == true && malformed?.offset == 2)
  }

  @Test func `a key that no protocol declares is an error with near names`() throws {
    let proxy = try visitors()
    let unknown = Method("finishes:", ((Int64) -> Void).self)
    func check(_ body: () throws -> Void) {
      let error = #expect(throws: ForwardingError.self) { try body() }
      #expect(error?.code == .unknownSelector && error?.selector == "finishes:")
      #expect(
        error?.description
          == "no protocol of the proxy declares \"finishes:\"; it adopts \"Visitor\"; did you mean \"finished:\"?"
      )
    }
    check { try proxy.send(unknown, 1) }
    check { _ = try proxy.collect(unknown, 1) }
    check { _ = try proxy.functionPointer(for: unknown) }
    check { _ = try proxy.method(for: unknown) }
    check { _ = try proxy.before(unknown) { _ in } }
    check { _ = try proxy.after(unknown) { _ in } }
    check { _ = try proxy.instead(unknown) { _ in } }
    check { _ = try proxy.around(unknown.selector) { _, proceed in try proceed() } }
    check { _ = try proxy.signal(for: unknown) }
    check { _ = try proxy.signal(for: unknown) { $0 } }
    check { _ = try proxy.signal(for: unknown, of: Int.self) { _, _ in } }
    check { _ = try proxy.feed(unknown) { _ in } }
    #expect(!proxy.responds(to: unknown))
  }

  @Test func `an unknown key is ignored where the configuration says so`() throws {
    let proxy = try visitors { $0.unknownSelectors = .ignore }
    #expect(try proxy.send(Method("gone", (() -> Int32).self)) == 0)
    #expect(try proxy.send(Method("gone", (() -> AnyObject?).self)) == nil)
    try proxy.send(Method("gone", (() -> Void).self))
  }

  @Test func `a key of other types is an error that names the parameter`() throws {
    let proxy = try visitors()
    let double = Method("finished:", ((Double) -> Void).self)
    let expected =
      "the method key \"finished:\" of type (Double) -> () does not fit \"v@q\": parameter 1 of \"finished:\" is 'q' (Int64), got Double"
    func check(_ expected: String, _ body: () throws -> Void) {
      let error = #expect(throws: ForwardingError.self) { try body() }
      #expect(error?.code == .signatureMismatch && error?.selector == "finished:")
      #expect(error?.description == expected)
    }
    check(expected) { try proxy.send(double, 1) }
    check(expected) { _ = try proxy.collect(double, 1) }
    check(expected) { _ = try proxy.functionPointer(for: double) }
    check(expected) { _ = try proxy.method(for: double) }
    check(expected) { _ = try proxy.before(double) { _ in } }
    check(expected) { _ = try proxy.after(double) { _ in } }
    check(expected) { _ = try proxy.instead(double) { _ in } }
    check(expected) { _ = try proxy.signal(for: double) }
    check(expected) { _ = try proxy.signal(for: double) { $0 } }
    check(expected) { _ = try proxy.feed(double) { _ in } }
    #expect(!proxy.responds(to: double))
    check(
      "the closure for \"finished:\" does not fit \"v@q\": parameter 1 of \"finished:\" is 'q' (Int64), got Double"
    ) {
      _ = try proxy.subscribe {
        unsafe $0.on(Visitor.visit) { _, _, _ in 0 }
        $0.on(double) { _ in }
      }
    }
    let fewer = Method("finished:", (() -> Void).self)
    check(
      "the method key \"finished:\" of type () -> () does not fit \"v@q\": \"finished:\" takes 1 argument (v@q), got 0"
    ) { _ = try proxy.before(fewer) {} }
    let result = Method("finished:", ((Int64) -> Int32).self)
    check(
      "the method key \"finished:\" of type (Int64) -> Int32 does not fit \"v@q\": the result of \"finished:\" is 'v' (void), got Int32"
    ) { _ = try proxy.send(result, 1) }
  }

  @Test func `null for a pointer that is not optional is not delivered`() throws {
    let errors = Journal()
    let proxy = try visitors { $0.onError = { errors.note($0.description) } }
    let token = try proxy.subscribe { unsafe $0.on(Visitor.visit) { _, _, _ in 1 } }
    let pointer = try unsafe proxy.functionPointer(for: Visitor.visit)
    let visit: @convention(c) (UnsafePointer<CChar>?, UnsafePointer<timespec>?, Int32) -> Int32 =
      unsafe pointer.unsafeCast()
    #expect(visit(nil, nil, 1) == 0)
    #expect(
      errors.take().joined().contains(
        "parameter 1 of \"visit:status:kind:\" is null, expected UnsafePointer<Int8>"))
    withExtendedLifetime((token, pointer)) {}
  }

  @Test func `a raw value without a case is not delivered`() throws {
    let errors = Journal()
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { errors.note($0.description) }
    let proxy = try DynamicProxy(configuration: configuration) { $0.optional(Kinds.color) }
    let token = try proxy.subscribe { $0.on(Kinds.color) { $0 } }
    let error = #expect(throws: ForwardingError.self) {
      try proxy.send(Method("color:", ((Int32) -> Int32).self), 7)
    }
    #expect(error?.code == .valueNotRepresentable && error?.argumentIndex == 1)
    #expect(
      errors.take().joined().contains(
        "parameter 1 of \"color:\" has raw value 7, which is no Color: expected the raw value of a case"
      )
    )
    withExtendedLifetime(token) {}
  }

  @Test(arguments: [ClosureConvention.packs, .loads])
  func `a Bool of 2 is an error of the delivery`(_ convention: ClosureConvention) throws {
    let errors = Journal()
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { errors.note($0.description) }
    try ClosureConvention.$chosen.withValue(convention) {
      let proxy = try DynamicProxy(configuration: configuration) { $0.optional(Kinds.bool) }
      let token = try proxy.subscribe { $0.on(Kinds.bool) { $0 } }
      let pointer = try proxy.functionPointer(for: Kinds.bool)
      let call: @convention(c) (UInt8) -> Bool = unsafe unsafeBitCast(
        pointer.unsafePointer, to: (@convention(c) (UInt8) -> Bool).self)
      #expect(call(1) && !call(0))
      #expect(errors.take().isEmpty)
      #expect(!call(2))
      #expect(
        errors.take().joined().contains(
          "parameter 1 of \"bool:\" has the byte 2, which is no Bool: expected 0 or 1"))
      withExtendedLifetime((token, pointer)) {}
    }
  }

  @Test func `a Bool of 2 as a result is an error of the sender`() throws {
    let errors = Journal()
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { errors.note($0.description) }
    let proxy = try DynamicProxy(configuration: configuration) { $0.optional(Kinds.bool) }
    let twoForTrue: @convention(c) (UnsafeRawPointer?, Bool) -> UInt8 = { $1 ? 2 : 0 }
    let expected = "the result of \"bool:\" has the byte 2, which is no Bool: expected 0 or 1"
    let owner = Bystander()
    let table = FunctionTable(for: Bystander.self) {
      unsafe $0.function(Kinds.bool, calling: twoForTrue)
    }
    try proxy.subscribe(owner, table: table)
    #expect(try proxy.send(Kinds.bool, false) == false)
    for _ in 0..<2 {
      let error = #expect(throws: ForwardingError.self) { try proxy.send(Kinds.bool, true) }
      #expect(error?.code == .valueNotRepresentable)
      #expect(error?.description == expected)
    }
    let token = try proxy.subscribe { $0.on(Kinds.bool) { $0 } }
    #expect(try proxy.collect(Kinds.bool, false).map(\.value) == [false, false])
    #expect(errors.take().isEmpty)
    #expect(try proxy.collect(Kinds.bool, true).map(\.value) == [true])
    #expect(errors.take() == [expected])
    token.cancel()
    withExtendedLifetime(owner) {}
  }

  @Test func `a null result of a type that is not optional is an error of the sender`() throws {
    let proxy = try DynamicProxy { $0.optional("maybe:", "@@@") }
    let token = try proxy.subscribe { $0.on(Kinds.maybe) { $0 } }
    let strict = Method("maybe:", ((AnyObject?) -> AnyObject).self)
    let error = #expect(throws: ForwardingError.self) { try proxy.send(strict, nil) }
    #expect(error?.code == .nullPointer)
    #expect(error?.description == "the result of \"maybe:\" is null, expected AnyObject")
    let again = #expect(throws: ForwardingError.self) { try proxy.send(strict, nil) }
    #expect(again == error)
    let dogs = Method("maybe:", ((AnyObject?) -> Dog?).self)
    let other = #expect(throws: ForwardingError.self) { try proxy.send(dogs, Bystander()) }
    #expect(other?.code == .typeMismatch)
    #expect(try proxy.send(dogs, nil) == nil)
    withExtendedLifetime(token) {}
  }

  @Test func `keys of several types are sent on several threads`() throws {
    let proxy = try DynamicProxy { $0.optional("touch:", "i@^v") }
    let count = Box(0)
    let token = try proxy.subscribe {
      unsafe $0.on("touch:") { (_: UnsafeRawPointer?) -> Int32 in
        count.update { $0 += 1 }
        return 1
      }
    }
    let sum = Box(0)
    onThreads(4) { number in
      for _ in 0..<50 {
        // Both keys are made anew, and each drives the other out.
        let constant = unsafe Method("touch:", ((UnsafeRawPointer?) -> Int32).self)
        let mutable = unsafe Method("touch:", ((UnsafeMutableRawPointer?) -> Int32).self)
        let first = unsafe try? proxy.send(constant, nil)
        let second = unsafe try? proxy.send(mutable, nil)
        sum.update { $0 += Int((first ?? 0) + (second ?? 0)) }
      }
    }
    #expect(count.value == 400 && sum.value == 400)
    withExtendedLifetime(token) {}
  }

  // MARK: Speed

  @Test func `a key is found at different indices of different proxies`() throws {
    let ping = Method("ping:", ((Int32) -> Void).self)
    let pong = Method("pong:", ((Int32) -> Void).self)
    let first = try DynamicProxy {
      $0.optional(ping)
      $0.optional(pong)
    }
    let second = try DynamicProxy {
      $0.optional(pong)
      $0.optional(ping)
    }
    let third = try DynamicProxy(
      adopting: ProtocolTable("Third") {
        $0.optional("other", "v@")
        $0.optional("another", "v@")
        $0.optional("ping:", "v@:i")
      })
    let journal = Journal()
    var tokens: [DynamicProxy.Token] = []
    for (index, proxy) in [first, second, third].enumerated() {
      let token = try proxy.subscribe { $0.on(ping) { journal.note("\(index): \($0)") } }
      tokens.append(token)
    }
    for number in Int32(0)..<3 {
      try first.send(ping, number)
      try third.send(ping, number)
      try second.send(ping, number)
      try first.send(pong, number)
      #expect(journal.take() == ["0: \(number)", "2: \(number)", "1: \(number)"])
    }
    let error = #expect(throws: ForwardingError.self) { try third.send(pong, 1) }
    #expect(error?.code == .unknownSelector)
    withExtendedLifetime(tokens) {}
  }

  @Test func `a key that has declared a method is known to fit it`() throws {
    let proxy = try visitors()
    let method = try proxy.method(for: Visitor.finished.selector)
    #expect(unsafe proxy.core.verifiedKeys.holds(Visitor.finished.token, method.entry))
    let raw = unsafe Method(
      "visit:status:kind:", ((UnsafeRawPointer, UnsafeRawPointer?, Int32) -> Int32).self)
    let visit = try unsafe proxy.method(for: raw)
    #expect(unsafe proxy.core.verifiedKeys.holds(raw.token, visit.entry))
    #expect(unsafe proxy.core.verifiedKeys.holds(Visitor.visit.token, visit.entry))
    let other = unsafe Method(
      "visit:status:kind:", ((UnsafePointer<CChar>, UnsafeRawPointer?, Int32) -> Int32).self)
    _ = try unsafe proxy.method(for: other)
    #expect(unsafe !proxy.core.verifiedKeys.holds(Visitor.visit.token, visit.entry))
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import CTestFixtures
import Testing

@testable import Forwarding

@Suite struct FunctionTableTests {
  private enum Kind: Int32, Sendable {
    case file = 1
    case directory = 2
  }
  private struct Flags: OptionSet, Sendable { let rawValue: UInt16 }
  private enum Letter: UInt8, Sendable { case a = 97 }
  private class Animal: @unchecked Sendable { let name = "animal" }
  private final class Dog: Animal, @unchecked Sendable {}

  // MARK: Types

  /// Sends `arguments` to a closure and compares what comes back with them.
  private func roundTrip<Value>(
    _ encoding: String, _ values: [Value], _ isEqual: (Value, Value) -> Bool
  ) throws {
    let table = try ProtocolTable("Same") { $0.required("same:", "\(encoding)@:\(encoding)") }
    let proxy = try DynamicProxy(adopting: table)
    let owner = Bystander()
    try proxy.subscribe(owner) { $0.on("same:") { (_: Bystander, value: Value) -> Value in value } }
    for value in values {
      let back: Value = try proxy.send("same:", value)
      #expect(isEqual(back, value), "\(Value.self) as \(encoding)")
    }
    withExtendedLifetime(owner) {}
  }

  private func roundTrip<Value: Equatable>(
    _ encoding: String, _ values: Value...
  ) throws {
    try roundTrip(encoding, values, ==)
  }

  @Test func `closures take and give numbers`() throws {
    try roundTrip("c", Int8.min, -1, 0, .max)
    try roundTrip("C", UInt8.min, .max)
    try roundTrip("s", Int16.min, -1, .max)
    try roundTrip("S", UInt16.min, .max)
    try roundTrip("i", Int32.min, -1, .max)
    try roundTrip("l", Int32.min, .max)
    try roundTrip("I", UInt32.min, .max)
    try roundTrip("q", Int64.min, -1, .max)
    try roundTrip("Q", UInt64.min, .max)
    try roundTrip("q", Int.min, .max)
    try roundTrip("t", Int128.min, -1, .max)
    try roundTrip("T", UInt128.max)
    try roundTrip("f", -0.5 as Float, .infinity, .leastNonzeroMagnitude)
    try roundTrip("d", -0.5, .infinity, .pi)
    try roundTrip("B", true, false)
    #if arch(x86_64)
      try roundTrip("D", Float80.pi, -1)
    #endif
  }

  @Test func `closures take and give raw values`() throws {
    try roundTrip("i", Kind.file, .directory)
    try roundTrip("S", Flags(rawValue: 0xFFFF), [])
    try roundTrip("C", Letter.a)
  }

  @Test func `closures take and give pointers, null where it is allowed`() throws {
    let address = unsafe UnsafeMutableRawPointer(bitPattern: 4096)!
    try unsafe roundTrip("^v", [Optional(address), nil]) { unsafe $0 == $1 }
    try unsafe roundTrip("^v", [address]) { unsafe $0 == $1 }
    try unsafe roundTrip("^{stat=}", [UnsafeRawPointer(address)]) { unsafe $0 == $1 }
    try unsafe roundTrip(
      "^{fixture_point=dd}", [address.assumingMemoryBound(to: fixture_point.self)]
    ) {
      unsafe $0 == $1
    }
    try unsafe roundTrip("^i", [UnsafePointer<Int32>(bitPattern: 64), nil]) { unsafe $0 == $1 }
    try unsafe roundTrip("*", [UnsafePointer<CChar>(bitPattern: 64), nil]) { unsafe $0 == $1 }
    try unsafe roundTrip("^{S=}", [OpaquePointer(address), nil]) { unsafe $0 == $1 }
    try unsafe roundTrip("^^v", [UnsafeMutablePointer<UnsafeMutableRawPointer?>(bitPattern: 64)]) {
      unsafe $0 == $1
    }
    typealias Callback = @convention(c) (Int32) -> Int32
    try roundTrip("^?", [{ $0 + 1 } as Callback, nil] as [Callback?]) {
      unsafe unsafeBitCast($0, to: Int.self) == unsafeBitCast($1, to: Int.self)
    }
  }

  @Test func `closures take and give objects, classes and selectors`() throws {
    let dog = Dog()
    try roundTrip("@", [dog]) { $0 === $1 }
    try roundTrip("@", [dog, nil] as [Dog?]) { $0 === $1 }
    try roundTrip("@", [dog] as [Animal]) { $0 === $1 }
    try roundTrip("@", [dog] as [AnyObject]) { $0 === $1 }
    try roundTrip("@\"Dog\"", [dog]) { $0 === $1 }
    try roundTrip("#", [Dog.self as AnyClass, Animal.self]) { $0 == $1 }
    try roundTrip(":", MethodSelector("a:b:"), "c")
    try roundTrip(":", MethodSelector?.none, MethodSelector("d"))
  }

  @Test func `closures take and give C structs that state their encoding`() throws {
    try roundTrip("{fixture_point=dd}", [fixture_point(x: 1, y: -2)], sameFields)
    try roundTrip(
      "{fixture_mixed=idc}", [fixture_mixed(number: 1, fraction: 2, last: -3)], sameFields)
    try roundTrip("{fixture_large=qqqd}", [fixture_large(a: 1, b: 2, c: 3, d: 4)], sameFields)
    // Names may be left out on one side.
    try roundTrip("{?=dd}", [fixture_point(x: 1, y: -2)], sameFields)
  }

  private func sameFields<Value>(_ left: Value, _ right: Value) -> Bool {
    "\(left)" == "\(right)"
  }

  // MARK: Arity

  /// ((a - b) * c - d) * e - ..., which tells the order.
  private static func alternate(_ values: [Int64]) -> Int64 {
    var result = values.first ?? 0
    for (index, value) in values.enumerated().dropFirst() {
      result = index.isMultiple(of: 2) ? result * value : result - value
    }
    return result
  }

  @Test func `closures take 0 to 12 arguments`() throws {
    let table = try ProtocolTable("Arities") {
      for count in 0...12 {
        $0.optional(
          String(repeating: "a:", count: count) + "n", "q@:" + String(repeating: "q", count: count))
      }
    }
    let proxy = try DynamicProxy(adopting: table)
    typealias N = Int64
    func selector(_ count: Int) -> MethodSelector {
      MethodSelector(stringLiteral: String(repeating: "a:", count: count) + "n")
    }
    let token = try proxy.subscribe { t in
      t.on(Method(selector(0))) { () -> N in Self.alternate([]) }
      t.on(Method(selector(1))) { (a: N) -> N in Self.alternate([a]) }
      t.on(Method(selector(2))) { (a: N, b: N) -> N in Self.alternate([a, b]) }
      t.on(Method(selector(3))) { (a: N, b: N, c: N) -> N in Self.alternate([a, b, c]) }
      t.on(Method(selector(4))) { (a: N, b: N, c: N, d: N) -> N in Self.alternate([a, b, c, d]) }
      t.on(Method(selector(5))) { (a: N, b: N, c: N, d: N, e: N) -> N in
        Self.alternate([a, b, c, d, e])
      }
      t.on(Method(selector(6))) { (a: N, b: N, c: N, d: N, e: N, f: N) -> N in
        Self.alternate([a, b, c, d, e, f])
      }
      t.on(Method(selector(7))) { (a: N, b: N, c: N, d: N, e: N, f: N, g: N) -> N in
        Self.alternate([a, b, c, d, e, f, g])
      }
      t.on(Method(selector(8))) { (a: N, b: N, c: N, d: N, e: N, f: N, g: N, h: N) -> N in
        Self.alternate([a, b, c, d, e, f, g, h])
      }
      t.on(Method(selector(9))) { (a: N, b: N, c: N, d: N, e: N, f: N, g: N, h: N, i: N) -> N in
        Self.alternate([a, b, c, d, e, f, g, h, i])
      }
      t.on(Method(selector(10))) {
        (a: N, b: N, c: N, d: N, e: N, f: N, g: N, h: N, i: N, j: N) -> N in
        Self.alternate([a, b, c, d, e, f, g, h, i, j])
      }
      t.on(Method(selector(11))) {
        (a: N, b: N, c: N, d: N, e: N, f: N, g: N, h: N, i: N, j: N, k: N) -> N in
        Self.alternate([a, b, c, d, e, f, g, h, i, j, k])
      }
      t.on(Method(selector(12))) {
        (a: N, b: N, c: N, d: N, e: N, f: N, g: N, h: N, i: N, j: N, k: N, l: N) -> N in
        Self.alternate([a, b, c, d, e, f, g, h, i, j, k, l])
      }
    }
    for count in 0...12 {
      // The same by a frame: 9, 2, 3, 4, ... as long as it has arguments.
      let values = (0..<count).map { N($0 == 0 ? 9 : $0 + 1) }
      var result: N = -1
      try unsafe values.withUnsafeBytes { frame in
        try unsafe withUnsafeMutableBytes(of: &result) { room in
          try unsafe proxy.method(for: selector(count)).forward(
            frame: frame, result: room)
        }
      }
      #expect(result == Self.alternate(values), "\(count) arguments")
    }
    let n = selector(12)
    let sent: N = try proxy.send(
      Method(n), N(9), N(2), N(3), N(4), N(5), N(6), N(7), N(8), N(9), N(10), N(11), N(12))
    #expect(sent == Self.alternate([9, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]))
    withExtendedLifetime(token) {}
  }

  @Test func `many arguments of mixed kinds go to registers and the stack alike`() throws {
    let table = try ProtocolTable("Mixed") {
      $0.required("mix", "d@:cdSfqdiBCd{fixture_point=dd}d")
    }
    let proxy = try DynamicProxy(adopting: table)
    let token = try proxy.subscribe {
      $0.on("mix") {
        (
          a: Int8, b: Double, c: UInt16, d: Float, e: Int64, f: Double, g: Int32, h: Bool, i: UInt8,
          j: Double, k: fixture_point, l: Double
        ) -> Double in
        let first = Double(a) + b + Double(c) + Double(d) + Double(e) + f
        return first + Double(g) + (h ? 1000 : 0) + Double(i) + j + k.x + k.y + l
      }
    }
    let sum: Double = try proxy.send(
      "mix", Int8(-1), 0.5, UInt16(60000), Float(0.25), Int64(1 << 40), 0.125, Int32(-7), true,
      UInt8(255), 2.0, fixture_point(x: 100, y: 200), 4.0)
    let integers: Double = -1 + 60000 + Double(1 << 40) - 7 + 1000 + 255
    #expect(sum == integers + 0.5 + 0.25 + 0.125 + 2 + 300 + 4)
    withExtendedLifetime(token) {}
  }

  // MARK: Wrong types

  struct Misfit: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let encoding: String
    let words: [String]
    let build: @Sendable (inout FunctionTable.Builder<Void>) -> Void

    init(
      _ name: String, _ encoding: String, _ words: String...,
      build: @escaping @Sendable (inout FunctionTable.Builder<Void>) -> Void
    ) {
      testDescription = "\(name) for \(encoding)"
      self.encoding = encoding
      self.words = words
      self.build = build
    }
  }

  static let misfits: [Misfit] = [
    Misfit("Int32", "v@:q", "'q' (Int64)", "got Int32") { $0.on("m") { (_: Int32) in } },
    Misfit("Int64", "v@:i", "'i' (Int32)", "got Int64") { $0.on("m") { (_: Int64) in } },
    Misfit("UInt32", "v@:i", "'i' (Int32)", "got UInt32") { $0.on("m") { (_: UInt32) in } },
    Misfit("Float", "v@:d", "'d' (Double)", "got Float") { $0.on("m") { (_: Float) in } },
    Misfit("Bool", "v@:c", "'c' (Int8)", "got Bool") { $0.on("m") { (_: Bool) in } },
    Misfit("String", "v@:^v", "'^v'", "got String", "a String stands for a C string") {
      $0.on("m") { (_: String) in }
    },
    Misfit("Optional<Int32>", "v@:i", "got Optional<Int32>") { $0.on("m") { (_: Int32?) in } },
    Misfit("a pointer to doubles", "v@:^i", "'^i'", "got UnsafePointer<Double>") {
      unsafe $0.on("m") { (_: UnsafePointer<Double>) in }
    },
    Misfit("an object", "v@:^v", "'^v'", "got Listener") { $0.on("m") { (_: Listener) in } },
    Misfit("a struct of another name", "v@:{other=dd}", "{other=dd}", "{fixture_point=dd}") {
      $0.on("m") { (_: fixture_point) in }
    },
    Misfit("a struct of another shape", "v@:{fixture_point=ff}", "{fixture_point=ff}") {
      $0.on("m") { (_: fixture_point) in }
    },
    Misfit("a struct without an encoding", "v@:{S=i}", "does not conform to TypeEncodable") {
      $0.on("m") { (_: Range<Int32>) in }
    },
    Misfit("a Swift closure", "v@:^?", "@convention(c)") {
      $0.on("m") { (_: @escaping () -> Void) in }
    },
    Misfit("an enum of another raw type", "v@:q", "whose raw value is Int32") {
      $0.on("m") { (_: Kind) in }
    },
    Misfit("one too many", "v@:i", "1 argument (v@:i)", "got 2") {
      $0.on("m") { (_: Int32, _: Int32) in }
    },
    Misfit("no result", "i@:", "the result of \"m\" is 'i' (Int32)") { $0.on("m") {} },
    Misfit("another result", "d@:", "'d' (Double)", "got Int32") {
      $0.on("m") { () -> Int32 in 0 }
    },
    Misfit("a C function of other types", "i@:d", "\"i@:i\"", "\"i@:d\"") {
      unsafe $0.function("m", "i@:i", calling: UnsafeRawPointer(bitPattern: 16))
    },
    Misfit("a C function without the selector", "i@:d", "\"i@d\"", "\"i@:d\"") {
      unsafe $0.function("m", "i@d", calling: UnsafeRawPointer(bitPattern: 16))
    },
    Misfit("a C function of another result", "v@:", "\"i@:\"", "\"v@:\"") {
      unsafe $0.function("m", "i@:", calling: UnsafeRawPointer(bitPattern: 16))
    },
  ]

  @Test("functions of other types are refused, both shown", arguments: misfits)
  func misfit(_ row: Misfit) throws {
    let table = try ProtocolTable("Misfits") { $0.optional("m", row.encoding) }
    var builder = FunctionTable.Builder<Void>()
    row.build(&builder)
    let functions = FunctionTable(methods: builder.methods, fault: builder.fault)
    let error = #expect(throws: ForwardingError.self) { try functions.validate(for: table) }
    #expect(error?.code == .signatureMismatch)
    #expect(error?.selector == "m")
    for word in row.words {
      #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
    }
    // The proxy says the same.
    let proxy = try DynamicProxy(adopting: table)
    let refused = #expect(throws: ForwardingError.self) { _ = try proxy.subscribe(row.build) }
    #expect(refused?.code == .signatureMismatch)
    #expect(refused?.description == error?.description)
    #expect(proxy.count == 0)
  }

  // MARK: Validation

  private static let visiting = ProtocolTable.table("Visiting") {
    $0.required("visit:", "v@:i")
    $0.optional("finish", "v@:")
  }

  @Test func `validates for a protocol what a proxy would ask`() throws {
    let whole = FunctionTable(for: Bystander.self) {
      $0.on("visit:") { (_: Bystander, _: Int32) in }
      $0.on("finish") { (_: Bystander) in }
      $0.on("other:", { (_: Bystander, _: Int32) in })
    }
    try whole.validate(for: Self.visiting)
    #expect(Set(whole.methods.keys) == ["visit:", "finish", "other:"])
    let lacking = FunctionTable(for: Bystander.self) { $0.on("finish") { (_: Bystander) in } }
    let missing = #expect(throws: ForwardingError.self) { try lacking.validate(for: Self.visiting) }
    #expect(missing?.code == .missingMethod)
    #expect(missing?.selector == "visit:" && missing?.table == "Visiting")
    let child = try ProtocolTable("Child", inheriting: [Self.visiting]) { _ in }
    #expect(throws: ForwardingError.self) { try lacking.validate(for: child) }
    #expect(FunctionTable(for: Bystander.self) { _ in }.methods.isEmpty)
  }

  @Test func `the first mistake in a table is kept and told`() throws {
    let table = FunctionTable(for: Bystander.self) {
      $0.on("visit:") { (_: Bystander, _: Int32) in }
      unsafe $0.function("finish", "v@:", calling: UnsafeRawPointer?.none)
      unsafe $0.function("", "v@:", calling: UnsafeRawPointer(bitPattern: 8))
      $0.on("visit:") { (_: Bystander, _: Int32) in }
    }
    let error = #expect(throws: ForwardingError.self) { try table.validate(for: Self.visiting) }
    #expect(error?.code == .nullPointer)
    #expect(error?.selector == "finish")
    let twice = FunctionTable(for: Bystander.self) {
      $0.on("visit:") { (_: Bystander, _: Int32) in }
      $0.on("visit:") { (_: Bystander, _: Int32) in }
    }
    let duplicate = #expect(throws: ForwardingError.self) { try twice.validate(for: Self.visiting) }
    #expect(duplicate?.code == .duplicate)
    #expect(duplicate?.description == #"the function table implements "visit:" twice"#)
    let malformed = FunctionTable(for: Bystander.self) {
      unsafe $0.function("visit:", "v@:{", calling: UnsafeRawPointer(bitPattern: 16))
    }
    let encoding = #expect(throws: ForwardingError.self) {
      try malformed.validate(for: Self.visiting)
    }
    #expect(encoding?.code == .malformed)
    #expect(encoding?.encoding == "v@:{" && encoding?.offset == 4)
  }

  // MARK: C functions

  @Test func `C functions get the receiver, the selector and the arguments`() throws {
    let table = try ProtocolTable("Methods") {
      $0.optional("scale:by:", "d@:id")
      $0.optional("add:", "v^vi")
    }
    let proxy = try DynamicProxy(adopting: table)
    let owner = Bystander()
    let scale:
      @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer, Int32, Double) -> Double =
        unsafe fixture_method
    try proxy.subscribe(owner) { unsafe $0.function("scale:by:", "d@:id", calling: scale) }
    #expect(try proxy.send("scale:by:", Int32(3), 1.5) == 4.5)
    let seen = Box<[Bool]>([])
    let identity = ObjectIdentifier(owner)
    typealias Check = @convention(c) (UnsafeRawPointer, OpaquePointer, Int32, Double) -> Double
    let check: Check = { receiver, selector, number, factor in
      // SAFETY: what the proxy passes as the receiver is the owner.
      let object = unsafe Unmanaged<Bystander>.fromOpaque(receiver).takeUnretainedValue()
      let name = unsafe String(cString: fwd_selector_name(selector))
      return ObjectIdentifier(object) == lastOwner.value && name == "scale:by:" ? 1 : 0
    }
    lastOwner.value = identity
    try proxy.subscribe(owner) { unsafe $0.function("scale:by:", "d@:id", calling: check) }
    let answers = try proxy.collect("scale:by:", as: Double.self, Int32(2), 0.5)
    #expect(answers.map(\.value) == [1, 1])
    withExtendedLifetime((owner, seen)) {}
  }

  @Test func `a function's encoding may be another spelling of the protocol's`() throws {
    let table = try ProtocolTable("Spelled") { $0.required("m:", "v@:^{stat=iq}*") }
    for encoding in ["Vv32@0:8^v16r*24", "v@:^{stat=}^c", "v@:^{stat}*", "v#:^v^v"] {
      let functions = FunctionTable(for: Bystander.self) {
        unsafe $0.function("m:", encoding, calling: UnsafeRawPointer(bitPattern: 16))
      }
      #expect(throws: Never.self, "\(encoding)") { try functions.validate(for: table) }
    }
    for encoding in ["v@:^{other=}*", "v@:^i*", "v@:^{stat=iq}", "v@:^{stat=iq}^i"] {
      let functions = FunctionTable(for: Bystander.self) {
        unsafe $0.function("m:", encoding, calling: UnsafeRawPointer(bitPattern: 16))
      }
      #expect(throws: ForwardingError.self, "\(encoding)") { try functions.validate(for: table) }
    }
  }

  // MARK: Arrays of C structs

  @Test func `a table is made from an array of C structs`() throws {
    let table = try ProtocolTable("Array") {
      $0.required("scale:by:", "d@:id")
      $0.optional("other", "v@:")
    }
    let method:
      @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer, Int32, Double) -> Double =
        unsafe fixture_method
    let proxy = try DynamicProxy(adopting: table)
    let owner = Bystander()
    try unsafe "scale:by:".withCString { selector in
      try unsafe "d@:id".withCString { encoding in
        // SAFETY: all functions are of one kind until they are called.
        let function = unsafe unsafeBitCast(method, to: (@convention(c) () -> Void).self)
        let methods = unsafe [
          fwd_method(selector: selector, encoding: encoding, function: function)
        ]
        let functions = unsafe FunctionTable(unsafeMethods: methods, count: 1)
        try functions.validate(for: table)
        try proxy.subscribe(owner, table: functions)
      }
    }
    // The strings are gone.
    #expect(try proxy.send("scale:by:", Int32(5), 2.0) == 10.0)
    withExtendedLifetime(owner) {}
  }

  @Test func `an array with holes is a fault of the table`() throws {
    let table = try ProtocolTable("Array") { $0.optional("m", "v@:") }
    func fault(_ functions: FunctionTable) -> ForwardingError? {
      #expect(throws: ForwardingError.self) { try functions.validate(for: table) }
    }
    #expect(fault(unsafe FunctionTable(unsafeMethods: nil, count: 2))?.code == .nullPointer)
    try unsafe FunctionTable(unsafeMethods: nil, count: 0).validate(for: table)
    unsafe "m".withCString { text in
      let function: @convention(c) () -> Void = {}
      for hole in 0..<3 {
        let methods = unsafe [
          fwd_method(
            selector: hole == 0 ? nil : text, encoding: hole == 1 ? nil : text,
            function: hole == 2 ? nil : function)
        ]
        let error = fault(unsafe FunctionTable(unsafeMethods: methods, count: 1))
        #expect(error?.code == .nullPointer)
        #expect(error?.description.contains("method 0") == true)
      }
      let methods = unsafe [fwd_method(selector: text, encoding: text, function: function)]
      #expect(fault(unsafe FunctionTable(unsafeMethods: methods, count: 1))?.code == .malformed)
    }
  }

  @Test func `a protocol is made from an array of C structs`() throws {
    try unsafe "visit:".withCString { selector in
      try unsafe "v@:i".withCString { encoding in
        let requirements = unsafe [
          fwd_requirement(selector: selector, encoding: encoding, required: true)
        ]
        let table = try unsafe ProtocolTable(
          "FromC", unsafeRequirements: requirements, count: 1)
        #expect(table.requirements.map(\.selector) == ["visit:"])
        #expect(table.requirements.first?.isRequired == true)
        let holes = unsafe [
          fwd_requirement(selector: selector, encoding: encoding, required: true),
          fwd_requirement(selector: nil, encoding: encoding, required: false),
        ]
        let error = #expect(throws: ForwardingError.self) {
          _ = try unsafe ProtocolTable("FromC", unsafeRequirements: holes, count: 2)
        }
        #expect(error?.code == .nullPointer)
        #expect(error?.description.contains("requirement 1") == true)
      }
    }
    let none = try unsafe ProtocolTable("FromC", unsafeRequirements: nil, count: 0)
    #expect(none.requirements.isEmpty)
    let null = #expect(throws: ForwardingError.self) {
      _ = try unsafe ProtocolTable("FromC", unsafeRequirements: nil, count: 1)
    }
    #expect(null?.code == .nullPointer)
  }
}

/// What a C function, which captures nothing, is to compare with.
private let lastOwner = Box<ObjectIdentifier?>(nil)

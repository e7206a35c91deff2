// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

@Suite struct ResultPolicyTests {
  // MARK: Numbers

  struct Scoring: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let policy: ResultPolicy
    /// What the subscribers answer, in order.
    let answers: [Int32]
    /// How many of them are called.
    let called: Int
    let result: Int32

    init(
      _ name: String, _ policy: ResultPolicy, _ answers: [Int32], called: Int, _ result: Int32
    ) {
      testDescription = "\(name) of \(answers)"
      self.policy = policy
      self.answers = answers
      self.called = called
      self.result = result
    }
  }

  private static let sum = ResultPolicy.reduce(Int32(100)) { $0 &+ $1 }
  private static let list = ResultPolicy.reduce(Int32(0)) { $0 * 10 + $1 }
  private static let capped = ResultPolicy.reduce(Int32(0), +, until: { $0 >= 5 })
  /// The first veto counts, and all are asked.
  private static let veto = ResultPolicy.reduce(Int32(0)) { $0 != 0 ? $0 : $1 }
  private static let above5 = ResultPolicy.until { (value: Int32) in value > 5 }

  static let scorings: [Scoring] = [
    Scoring("standard", .standard, [3, 4, 5], called: 1, 3),
    Scoring("standard", .standard, [0, 4], called: 1, 0),
    Scoring("first", .first, [3, 4, 5], called: 1, 3),
    Scoring("all, first", .callAll(pick: .first), [3, 4, 5], called: 3, 3),
    Scoring("all, first", .callAll(pick: .first), [0, 4], called: 2, 0),
    Scoring("all, last", .callAll(pick: .last), [3, 4, 5], called: 3, 5),
    Scoring("all, last", .callAll(pick: .last), [3], called: 1, 3),
    Scoring("until nonzero", .untilNonzero, [0, 0, 7, 8], called: 3, 7),
    Scoring("until nonzero", .untilNonzero, [256, 1], called: 1, 256),
    Scoring("until nonzero", .untilNonzero, [0, 0], called: 2, 0),
    Scoring("until", above5, [1, 9, 3], called: 2, 9),
    Scoring("until", above5, [6, 9], called: 1, 6),
    Scoring("until", above5, [1, 2, 3], called: 3, 3),
    Scoring("sum", sum, [1, 2, 3], called: 3, 106),
    Scoring("sum", sum, [7], called: 1, 107),
    Scoring("sum until", capped, [1, 2, 3, 4], called: 3, 6),
    Scoring("sum until", capped, [9, 2], called: 1, 9),
    Scoring("sum until", capped, [1, 1], called: 2, 2),
    Scoring("veto of all", veto, [0, 7, 8, 0], called: 4, 7),
    Scoring("in order", list, [1, 2, 3], called: 3, 123),
  ]

  @Test("calls whom it says, and gives what it says", arguments: scorings, [false, true])
  func policy(_ row: Scoring, isOverride: Bool) throws {
    let journal = Journal()
    let table = try ProtocolTable("Scores") {
      $0.optional("score:", "i@:i", result: isOverride ? .standard : row.policy)
    }
    var configuration = DynamicProxy.Configuration()
    configuration.unknownFunctions = .ignore
    if isOverride { configuration.results["score:"] = row.policy }
    let proxy = try DynamicProxy(adopting: table, configuration: configuration)
    let listeners = row.answers.enumerated().map {
      Listener("\($0.offset):", journal, score: $0.element)
    }
    defer { withExtendedLifetime(listeners) {} }
    for listener in listeners {
      // Those who do not respond do not count.
      try proxy.subscribe(Bystander()) { _ in }
      try proxy.subscribe(listener)
    }
    #expect(try proxy.send("score:", Int32(5)) == row.result)
    #expect(journal.take() == (0..<row.called).map { "\($0):5" })
    // Twice gives the same: no state is left.
    #expect(try proxy.send("score:", Int32(6)) == row.result)
    _ = journal.take()
    // Not wanting the result does not change who is called.
    try proxy.send("score:", Int32(7))
    #expect(journal.take() == (0..<row.called).map { "\($0):7" })
  }

  // MARK: Bool

  struct Quantifier: Sendable, CustomTestStringConvertible {
    let isAny: Bool
    let answers: [Bool]
    let called: Int
    let result: Bool
    init(_ isAny: Bool, _ answers: [Bool], _ called: Int, _ result: Bool) {
      (self.isAny, self.answers, self.called, self.result) = (isAny, answers, called, result)
    }
    var testDescription: String { "\(isAny ? "any" : "all") of \(answers)" }
  }

  static let quantifiers = [
    Quantifier(true, [], 0, false), Quantifier(true, [true], 1, true),
    Quantifier(true, [false], 1, false), Quantifier(true, [false, true, true], 2, true),
    Quantifier(true, [false, false], 2, false),
    Quantifier(false, [], 0, true), Quantifier(false, [true], 1, true),
    Quantifier(false, [false], 1, false), Quantifier(false, [true, false, true], 2, false),
    Quantifier(false, [true, true], 2, true),
  ]

  @Test("any and all stop as soon as they know", arguments: quantifiers)
  func quantifier(_ row: Quantifier) throws {
    let proxy = try DynamicProxy(
      adopting: try ProtocolTable("Asking") {
        $0.optional("ask", "B@:", result: row.isAny ? .any : .all)
      })
    let called = Box(0)
    let tokens = try row.answers.map { answer in
      try proxy.subscribe {
        $0.on("ask") { () -> Bool in
          called.update { $0 += 1 }
          return answer
        }
      }
    }
    #expect(try proxy.send("ask") == row.result)
    #expect(called.value == row.called)
    withExtendedLifetime(tokens) {}
  }

  @Test func `a declared default goes before the empty any and all`() throws {
    let proxy = try DynamicProxy(
      adopting: try ProtocolTable("Asking") {
        $0.optional("any", "B@:", result: .any, default: true)
        $0.optional("all", "B@:", result: .all, default: false)
      })
    #expect(try proxy.send("any") == true)
    #expect(try proxy.send("all") == false)
  }

  // MARK: void

  @Test(
    "who is called of a void method",
    arguments: [
      ("standard", 4), ("first", 1), ("all first", 4), ("all last", 4), ("until handled", 2),
    ])
  func void(name: String, called: Int) throws {
    let policies: [String: ResultPolicy] = [
      "standard": .standard, "first": .first, "all first": .callAll(pick: .first),
      "all last": .callAll(pick: .last), "until handled": .untilHandled,
    ]
    let table = try ProtocolTable("Events") {
      $0.optional("event", "v@:", result: policies[name] ?? .standard)
    }
    let proxy = try DynamicProxy(adopting: table)
    let journal = Journal()
    let tokens = try (0..<4).map { index in
      try proxy.subscribe {
        $0.on("event") {
          journal.note("\(index)")
          if index == 1 { DynamicProxy.markHandled() }
        }
      }
    }
    for _ in 0..<2 {
      try proxy.send("event")
      #expect(journal.take() == (0..<called).map { "\($0)" })
    }
    withExtendedLifetime(tokens) {}
  }

  @Test func `marking as handled outside a fan-out does nothing`() throws {
    DynamicProxy.markHandled()
    let proxy = try DynamicProxy(
      adopting: try ProtocolTable("Events") {
        $0.optional("event", "v@:", result: .untilHandled)
      })
    let called = Box(0)
    let tokens = try (0..<3).map { _ in
      try proxy.subscribe { $0.on("event") { called.update { $0 += 1 } } }
    }
    DynamicProxy.markHandled()
    try proxy.send("event")
    #expect(called.value == 3)
    withExtendedLifetime(tokens) {}
  }

  // MARK: Nobody responds

  struct Nobody: Sendable, CustomTestStringConvertible {
    let rule: DynamicProxy.Configuration.NoResponder
    let selector: MethodSelector
    /// Nil for an error.
    let result: Int32?
    let reports: Int
    init(
      _ rule: DynamicProxy.Configuration.NoResponder, _ selector: MethodSelector, _ result: Int32?,
      reports: Int = 0
    ) {
      (self.rule, self.selector, self.result, self.reports) = (rule, selector, result, reports)
    }
    var testDescription: String { "\(rule) \(selector)" }
  }

  static let nobodies = [
    Nobody(.standard, "void", 0), Nobody(.standard, "plain", nil), Nobody(.standard, "given", 5),
    Nobody(.standard, "sum", 8), Nobody(.standard, "until", nil), Nobody(.standard, "both", 6),
    Nobody(.standard, "any", 0), Nobody(.standard, "all", 1),
    Nobody(.ignore, "void", 0), Nobody(.ignore, "plain", 0), Nobody(.ignore, "given", 5),
    Nobody(.ignore, "sum", 8), Nobody(.ignore, "until", 0), Nobody(.ignore, "any", 0),
    Nobody(.ignore, "all", 1),
    Nobody(.fail, "void", nil), Nobody(.fail, "plain", nil), Nobody(.fail, "given", 5),
    Nobody(.fail, "sum", 8),
    Nobody(.report, "void", 0, reports: 1), Nobody(.report, "plain", 0, reports: 1),
    Nobody(.report, "given", 5), Nobody(.report, "all", 1, reports: 1),
  ]

  @Test("with nobody to call there is a default, a zero or an error", arguments: nobodies)
  func nobody(_ row: Nobody) throws {
    let table = try ProtocolTable("Nobody") {
      $0.required("void", "v@:")
      $0.required("plain", "i@:")
      $0.optional("given", "i@:", default: Int32(5))
      $0.optional("sum", "i@:", result: .reduce(Int32(8), +))
      $0.optional("both", "i@:", result: .reduce(Int32(8), +), default: Int32(6))
      $0.optional("until", "i@:", result: .until { (value: Int32) in value > 0 })
      $0.optional("any", "B@:", result: .any)
      $0.optional("all", "B@:", result: .all)
    }
    let errors = Box<[ForwardingError]>([])
    var configuration = DynamicProxy.Configuration()
    configuration.noResponder = row.rule
    configuration.conformance = .lenient
    configuration.unknownFunctions = .ignore
    configuration.onError = { error in errors.update { $0.append(error) } }
    let proxy = try DynamicProxy(adopting: table, configuration: configuration)
    // A subscriber that does not implement the method does not count.
    let owner = Bystander()
    try proxy.subscribe(owner) { _ in }
    let result: () throws -> Int32 = {
      switch row.selector.name {
      case "void":
        try proxy.send(Method(row.selector))
        return 0
      case "any", "all": return try proxy.send(Method(row.selector)) ? 1 : 0
      default: return try proxy.send(Method(row.selector))
      }
    }
    if let expected = row.result {
      #expect(try result() == expected)
    } else {
      let error = #expect(throws: ForwardingError.self) { try result() }
      #expect(error?.code == .noResponder)
      #expect(error?.selector == row.selector.name)
      #expect(error?.description.contains("\"\(row.selector)\"") == true)
    }
    #expect(errors.value.map(\.code) == Array(repeating: .noResponder, count: row.reports))
    withExtendedLifetime(owner) {}
  }

  @Test func `an untouched result buffer after an error`() throws {
    let proxy = try DynamicProxy.pinging()
    var (number, result): (Int32, Int32) = (1, 77)
    unsafe withUnsafeBytes(of: &number) { frame in
      unsafe withUnsafeMutableBytes(of: &result) { room in
        let error = #expect(throws: ForwardingError.self) {
          try unsafe proxy.method(for: "score:").forward(
            frame: frame, result: room)
        }
        #expect(error?.code == .noResponder)
      }
    }
    #expect(result == 77)
  }

  @Test func `minus zero is zero until nonzero`() throws {
    func result<Number: BinaryFloatingPoint & Sendable>(
      _: Number.Type, _ encoding: String
    ) throws -> Number {
      let proxy = try DynamicProxy {
        $0.optional("rate", encoding, result: .untilNonzero)
      }
      let numbers: [Number] = [-0.0, 0, -2, 5]
      let tokens = try numbers.map { number in
        try proxy.subscribe { $0.on("rate") { () -> Number in number } }
      }
      defer { withExtendedLifetime(tokens) {} }
      return try proxy.send("rate")
    }
    #expect(try result(Double.self, "d@") == -2)
    #expect(try result(Float.self, "f@") == -2)
    #if arch(x86_64)
      #expect(try result(Float80.self, "D@") == -2)
    #endif
  }

  // MARK: Fitting

  struct Misfit: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let policy: ResultPolicy
    let encoding: String
    init(_ name: String, _ policy: ResultPolicy, _ encoding: String) {
      testDescription = "\(name) for \(encoding)"
      self.policy = policy
      self.encoding = encoding
    }
  }

  static let misfits = [
    Misfit("any", .any, "i@:"), Misfit("any", .any, "v@:"), Misfit("any", .any, "c@:"),
    Misfit("all", .all, "C@:"), Misfit("all", .all, "@@:"),
    Misfit("until nonzero", .untilNonzero, "v@:"),
    // Its padding is not part of its value.
    Misfit("until nonzero of a struct", .untilNonzero, "{?=cd}@:"),
    Misfit("until handled", .untilHandled, "i@:"), Misfit("until handled", .untilHandled, "B@:"),
    Misfit("until", .until { (_: Double) in true }, "i@:"),
    Misfit("until", .until { (_: Int32) in true }, "v@:"),
    Misfit("until", .until { (_: Int32) in true }, "q@:"),
    Misfit("until", .until { (_: String) in true }, "*@:"),
    Misfit("reduce", .reduce(Int64(0), +), "i@:"), Misfit("reduce", .reduce(0.0, +), "f@:"),
    Misfit("reduce", .reduce("", +), "*@:"), Misfit("reduce", .reduce(Int32(0), +), "v@:"),
  ]

  @Test("a policy that does not fit is refused", arguments: misfits)
  func misfit(_ row: Misfit) throws {
    let error = #expect(throws: ForwardingError.self) {
      _ = try ProtocolTable("Misfit") { $0.optional("m", row.encoding, result: row.policy) }
    }
    #expect(error?.code == .policyMismatch)
    #expect(error?.table == "Misfit" && error?.selector == "m")
    #expect(error?.description.contains("the result of \"m\"") == true)
    let table = try ProtocolTable("Fit") { $0.optional("m", row.encoding) }
    var configuration = DynamicProxy.Configuration()
    configuration.results["m"] = row.policy
    let late = #expect(throws: ForwardingError.self) {
      _ = try DynamicProxy(adopting: table, configuration: configuration)
    }
    #expect(late?.code == .policyMismatch)
  }

  // MARK: Enums

  private enum Verdict: Int32, Sendable {
    case go = 0
    case stop = 1
  }

  @Test func `policies see raw values as their cases, and others as failures`() throws {
    let table = try ProtocolTable("Verdicts") {
      $0.optional("until", "i@:", result: .until { (verdict: Verdict) in verdict == .stop })
      $0.optional("last", "i@:", result: .reduce(Verdict.go) { _, new in new })
    }
    let errors = Journal()
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { errors.note($0.description) }
    let proxy = try DynamicProxy(adopting: table, configuration: configuration)
    let called = Box(0)
    let tokens = try [0, 7, 1, 0].map { (answer: Int32) in
      try proxy.subscribe {
        $0.on("until") { () -> Int32 in
          called.update { $0 += 1 }
          return answer
        }
        $0.on("last") { () -> Int32 in answer == 1 ? 9 : answer }
      }
    }
    #expect(try proxy.send("until") == Verdict.stop)
    #expect(called.value == 3)
    let ofUntil = errors.take()
    #expect(ofUntil.count == 1 && ofUntil[0].contains("\"until\""))
    #expect(
      ofUntil[0].contains("has raw value 7, which is no Verdict: expected the raw value of a case"))
    #expect(try proxy.send("last") == Verdict.go)
    let ofLast = errors.take()
    #expect(
      ofLast.count == 2
        && ofLast[0].contains(
          "has raw value 7, which is no Verdict: expected the raw value of a case")
    )
    withExtendedLifetime(tokens) {}
  }

  /// A C function that votes with 2 for true.
  @Test func `a vote that is no Bool is a failed delivery`() throws {
    let two: @convention(c) (UnsafeRawPointer?) -> UInt8 = { _ in 2 }
    let policies: [(String, ResultPolicy)] = [
      ("reduce", .reduce(true) { $0 && $1 }), ("until", .until { (votes: Bool) in !votes }),
    ]
    for (name, policy) in policies {
      let mayClose = Method(try MethodSelector(validating: name), (() -> Bool).self)
      for failureResult in [false, nil] as [Bool?] {
        let errors = Journal()
        var configuration = DynamicProxy.Configuration()
        configuration.onError = { errors.note($0.description) }
        let proxy = try DynamicProxy(configuration: configuration) {
          if let failureResult {
            $0.required(mayClose, result: policy, onFailure: failureResult)
          } else {
            $0.required(mayClose, result: policy)
          }
        }
        let owner = Bystander()
        let table = FunctionTable(for: Bystander.self) {
          unsafe $0.function(mayClose, calling: two)
        }
        try proxy.subscribe(owner, table: table)
        if let failureResult {
          #expect(try proxy.send(mayClose) == failureResult)
        } else if name == "reduce" {
          // As without a responder.
          #expect(try proxy.send(mayClose))
        } else {
          #expect(throws: ForwardingError.self) { try proxy.send(mayClose) }
        }
        // The votes of others count.
        let token = try proxy.subscribe { $0.on(mayClose) { true } }
        #expect(try proxy.send(mayClose) == (failureResult == nil))
        // The function's result takes the place of the vote.
        let function = try proxy.functionPointer(for: mayClose, onFailure: false)
        let asks = unsafe function.unsafeCast(to: (@convention(c) () -> Bool).self)
        #expect(!asks())
        withExtendedLifetime(function) {}
        let reported = errors.take()
        #expect(reported.count >= 2)
        #expect(
          reported.allSatisfy { $0.contains("has the byte 2, which is no Bool: expected 0 or 1") })
        #expect(reported.allSatisfy { $0.contains("\"\(name)\"") })
        withExtendedLifetime((token, owner)) {}
      }
    }
  }

  @Test func `a result of another class is a failed delivery, and is released`() throws {
    let population = Population()
    let initial = Bystander()
    for (policy, given) in [
      (.until { (_: Bystander) in true }, nil), (.reduce(initial) { _, new in new }, initial),
    ] as [(ResultPolicy, Bystander?)] {
      let errors = Journal()
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { errors.note($0.description) }
      let proxy = try DynamicProxy(configuration: configuration) {
        $0.optional("make", "@@:", result: policy)
      }
      let tokens = try (0..<4).map { _ in
        try proxy.subscribe { $0.on("make") { () -> Population.Tracked? in population.make() } }
      }
      if let given {
        let object: AnyObject? = try proxy.send("make")
        #expect(object === given)
      } else {
        let error = #expect(throws: ForwardingError.self) {
          let _: AnyObject? = try proxy.send("make")
        }
        #expect(error?.code == .typeMismatch && error?.argumentIndex == nil)
      }
      let reported = errors.take()
      #expect(reported.count == 4)
      #expect(
        reported.allSatisfy {
          $0.contains("must be an object of class Bystander, got one of class Tracked")
        })
      #expect(population.living == 0)
      withExtendedLifetime(tokens) {}
    }
  }

  // MARK: Sizes

  /// Forwards results of one size by all policies, from closures and C functions.
  private func check<Row: TypeEncodable & Sendable>(_ type: Row.Type) throws {
    let size = MemoryLayout<Row>.size
    let encoding = "\(Row.typeEncoding)@:i"
    let policies: [(ResultPolicy, expected: Int32)] = [
      (.standard, 1), (.first, 1), (.callAll(pick: .first), 1), (.callAll(pick: .last), 3),
      (.until { (row: Row) in bytes(of: row)[0] != 0 }, 1),
      (.until { (row: Row) in bytes(of: row)[0] >= 12 }, 2),
      (.reduce(countingRow(Row.self, from: 9)) { _, new in new }, 3),
    ]
    for (policy, index) in policies {
      let table = try ProtocolTable("Rows") {
        $0.optional("row:", encoding, result: policy)
        $0.optional("none:", encoding, default: countingRow(Row.self, from: 200))
      }
      let proxy = try DynamicProxy(adopting: table)
      // The second is a C function, which adds nothing to what it is given.
      let first = try proxy.subscribe {
        $0.on("row:") { (start: Int32) -> Row in countingRow(Row.self, from: UInt8(start + 1)) }
      }
      let second = try proxy.subscribe {
        unsafe $0.function("row:", encoding, calling: fixture_row_method(size))
      }
      let third = try proxy.subscribe {
        $0.on("row:") { (start: Int32) -> Row in countingRow(Row.self, from: UInt8(start + 3)) }
      }
      let start: Int32 = 12
      let given = countingRow(Row.self, from: UInt8(start + (index == 2 ? 1 : index)))
      let expected = bytes(of: given)
      let row: Row = try proxy.send("row:", start)
      #expect(bytes(of: row) == expected, "\(size)")
      let answers = try proxy.collect("row:", as: Row.self, start)
      #expect(answers.map { bytes(of: $0.value)[0] } == [13, 12, 15])
      #expect(
        answers.allSatisfy {
          bytes(of: $0.value).last == bytes(of: $0.value)[0] + UInt8(size - 1)
        })
      let none: Row = try proxy.send("none:", start)
      #expect(bytes(of: none) == bytes(of: countingRow(Row.self, from: 200)))
      // Exactly the result's bytes are written.
      let written = try unsafe resultBytes(size) { room in
        try unsafe withUnsafeBytes(of: start) {
          try unsafe proxy.method(for: "row:").forward(frame: $0, result: room)
        }
      }
      #expect(written == expected)
      withExtendedLifetime((first, second, third)) {}
    }
  }

  @Test func `results of 1 to 100 bytes come as they were given`() throws {
    try check(fixture_row_1.self)
    try check(fixture_row_2.self)
    try check(fixture_row_4.self)
    try check(fixture_row_8.self)
    try check(fixture_row_16.self)
    try check(fixture_row_24.self)
    try check(fixture_row_64.self)
    try check(fixture_row_100.self)
  }

  // MARK: Objects

  struct Objects: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let policy: ResultPolicy
    /// The subscriber whose object is given, of four; the second gives null.
    let given: Int?
    init(_ name: String, _ policy: ResultPolicy, _ given: Int?) {
      testDescription = name
      self.policy = policy
      self.given = given
    }
  }

  static let objects = [
    Objects("standard", .standard, 0), Objects("first", .first, 0),
    Objects("all, first", .callAll(pick: .first), 0),
    Objects("all, last", .callAll(pick: .last), 3),
    Objects("until nonzero", .untilNonzero, 0),
    Objects("until nil", .until { (object: Population.Tracked?) in object == nil }, nil),
    Objects("until never", .until { (_: Population.Tracked?) in false }, 3),
    Objects("reduce to the last", .reduce(Population.Tracked?.none) { $1 ?? $0 }, 3),
    Objects("reduce to the first", .reduce(Population.Tracked?.none) { $0 ?? $1 }, 0),
    Objects("reduce to nil", .reduce(Population.Tracked?.none) { _, _ in nil }, nil),
  ]

  @Test("objects are neither leaked nor released too often", arguments: objects)
  func lifetimes(_ row: Objects) throws {
    let population = Population()
    let table = try ProtocolTable("Makers") { $0.optional("make", "@@:", result: row.policy) }
    let proxy = try DynamicProxy(adopting: table)
    let made = Box<[ObjectIdentifier?]>([])
    let tokens = try (0..<4).map { index in
      try proxy.subscribe {
        $0.on("make") { () -> Population.Tracked? in
          let object = index == 1 ? nil : population.make()
          let identifier = object.map { ObjectIdentifier($0) }
          made.update { $0.append(identifier) }
          return object
        }
      }
    }
    do {
      let object: Population.Tracked? = try proxy.send("make")
      #expect(object.map { ObjectIdentifier($0) } == row.given.flatMap { made.value[$0] })
      #expect(population.living == (row.given == nil ? 0 : 1))
    }
    #expect(population.living == 0)
    // The result is not wanted.
    try proxy.send("make")
    #expect(population.living == 0)
    // As bytes: the reference is the caller's.
    var word: UnsafeMutableRawPointer?
    try unsafe withUnsafeMutableBytes(of: &word) { room in
      try unsafe proxy.method(for: "make").forward(
        frame: UnsafeRawBufferPointer(start: nil, count: 0), result: room)
    }
    #expect(population.living == (row.given == nil ? 0 : 1))
    if let object = unsafe word { unsafe Unmanaged<AnyObject>.fromOpaque(object).release() }
    #expect(population.living == 0)
    // Collected.
    #expect(try proxy.collect("make", as: AnyObject?.self).count == 4)
    #expect(population.living == 0)
    // As something else than it is.
    if row.given != nil {
      #expect(throws: ForwardingError.self) { let _: Bystander? = try proxy.send("make") }
    }
    #expect(population.living == 0)
    withExtendedLifetime(tokens) {}
  }

  @Test func `default objects are given again and again`() throws {
    let population = Population()
    do {
      let object = population.make()
      let table = try ProtocolTable("Makers") {
        $0.optional("make", "@@:", default: object)
        $0.optional("fold", "@@:", result: .reduce(object) { old, _ in old })
        $0.optional("none", "@@:", default: Population.Tracked?.none)
      }
      let proxy = try DynamicProxy(adopting: table)
      for _ in 0..<10 {
        #expect(try proxy.send("make") === object)
        #expect(try proxy.send("fold") === object)
        let none: Population.Tracked? = try proxy.send("none")
        #expect(none == nil)
        try proxy.send("make")
      }
      let token = try proxy.subscribe {
        $0.on("fold") { () -> Population.Tracked? in population.make() }
      }
      for _ in 0..<10 { #expect(try proxy.send("fold") === object) }
      #expect(population.living == 1)
      withExtendedLifetime(token) {}
    }
    #expect(population.living == 0)
  }

  @Test func `a subscriber that answers null where an object is expected is an error`() throws {
    let proxy = try DynamicProxy(
      adopting: try ProtocolTable("Makers") { $0.optional("make", "@@:") })
    let token = try proxy.subscribe { $0.on("make") { () -> AnyObject? in nil } }
    let error = #expect(throws: ForwardingError.self) { let _: AnyObject = try proxy.send("make") }
    #expect(error?.code == .nullPointer)
    withExtendedLifetime(token) {}
  }
}

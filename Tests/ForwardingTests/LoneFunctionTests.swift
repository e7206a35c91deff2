// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Synchronization
import Testing

@testable import Forwarding

/// Results of a C function that is the only subscriber's. The fan-out calls it directly.
@Suite struct LoneFunctionTests {
  enum Hold: CaseIterable { case weak, strong, token }

  final class Owner: Sendable {
    let base: Int64
    init(_ base: Int64) { self.base = base }
  }

  /// Subscribes C functions of types that fit their encodings, and returns what keeps the
  /// subscription.
  private static func subscribe<Function>(
    _ proxy: DynamicProxy, _ hold: Hold, _ selector: String, _ encoding: String,
    _ function: Function
  ) throws -> AnyObject {
    if hold == .token {
      return try proxy.subscribe { unsafe $0.function(selector, encoding, calling: function) }
    }
    let owner = Owner(1000)
    try proxy.subscribe(owner, lifetime: hold == .weak ? .weak : .strong) {
      unsafe $0.function(selector, encoding, calling: function)
    }
    return owner
  }

  // MARK: Sizes and policies

  private func check<Row: TypeEncodable & Sendable>(_: Row.Type, _ hold: Hold) throws {
    let size = MemoryLayout<Row>.size
    let encoding = "\(Row.typeEncoding)@:i"
    let initial = countingRow(Row.self, from: 200)
    let policies: [(ResultPolicy, combines: Bool)] = [
      (.standard, false), (.first, false), (.callAll(pick: .first), false),
      (.callAll(pick: .last), false), (.until { (_: Row) in true }, false),
      (.until { (_: Row) in false }, false), (.reduce(initial) { (_: Row, new: Row) in new }, true),
    ]
    for (policy, combines) in policies {
      let proxy = try DynamicProxy(
        adopting: .table("Rows") { $0.optional("row:", encoding, result: policy) })
      var owner: AnyObject? = try unsafe Self.subscribe(
        proxy, hold, "row:", encoding, fixture_row_method(size))
      let expected = (0..<size).map { UInt8(truncatingIfNeeded: 12 + $0) }
      let sent: Row = try proxy.send("row:", Int32(12))
      #expect(bytes(of: sent) == expected, "\(size) bytes, \(policy)")

      // By a frame and by pointers.
      let method = try proxy.method(for: "row:")
      var start: Int32 = 12
      for usesPointers in [false, true] {
        let written = try unsafe resultBytes(size) { room in
          try unsafe withUnsafeMutableBytes(of: &start) { start in
            guard usesPointers else {
              return try unsafe method.forward(frame: UnsafeRawBufferPointer(start), result: room)
            }
            var pointer = start.baseAddress!
            try unsafe withUnsafePointer(to: &pointer) {
              try unsafe method.forward(
                arguments: UnsafeBufferPointer(start: $0, count: 1), result: room)
            }
          }
        }
        #expect(written == expected)
      }

      // Nobody is called when it is gone.
      owner = nil
      if hold == .strong { proxy.unsubscribeAll() }
      withExtendedLifetime(owner) {}
      let later = Result { try proxy.send("row:", Int32(12)) as Row }
      switch later {
      case .success(let row): #expect(combines && bytes(of: row) == bytes(of: initial))
      case .failure(let error):
        #expect(!combines && (error as? ForwardingError)?.code == .noResponder)
      }
    }
  }

  @Test("a result of 1 to 100 bytes comes as it was given", arguments: Hold.allCases)
  func sizes(_ hold: Hold) throws {
    try check(fixture_row_1.self, hold)
    try check(fixture_row_4.self, hold)
    try check(fixture_row_8.self, hold)
    try check(fixture_row_16.self, hold)
    try check(fixture_row_24.self, hold)
    try check(fixture_row_64.self, hold)
    try check(fixture_row_100.self, hold)
  }

  // MARK: The arguments

  private typealias Six =
    @convention(c) (
      UnsafeMutableRawPointer, Int64, Double, Int64, Double, Int64, Int64
    ) -> Double
  private typealias Ten =
    @convention(c) (
      UnsafeMutableRawPointer, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64
    ) -> Int64

  @Test("it gets its receiver and all arguments", arguments: [Hold.weak, .strong])
  func arguments(_ hold: Hold) throws {
    let six: Six = { receiver, a, b, c, d, e, f in
      let owner = unsafe Unmanaged<Owner>.fromOpaque(receiver).takeUnretainedValue()
      return Double(owner.base) + Double(a) + b + Double(c) + d + Double(e) + Double(f)
    }
    // Four of these stand on the stack.
    let ten: Ten = { receiver, a, b, c, d, e, f, g, h, i, j in
      let owner = unsafe Unmanaged<Owner>.fromOpaque(receiver).takeUnretainedValue()
      return owner.base + a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j
    }
    let sums = try DynamicProxy(adopting: .table("Sums") { $0.required("six", "d@qdqdqq") })
    let first = try unsafe Self.subscribe(sums, hold, "six", "d@qdqdqq", six)
    let (one, two): (Int64, Int64) = (1, 2)
    #expect(try sums.send("six", one, 0.5, two, 0.25, one, two) == 1006.75)

    let encoding = "q@qqqqqqqqqq"
    let weighted = try DynamicProxy(
      adopting: .table("Weighted") { $0.required("ten", encoding, result: .callAll(pick: .last)) })
    let second = try unsafe Self.subscribe(weighted, hold, "ten", encoding, ten)
    let sum: Int64 = try weighted.send("ten", one, one, one, one, one, one, one, one, one, two)
    #expect(sum == 1065)
    withExtendedLifetime((first, second)) {}
  }

  // MARK: Objects

  private static let living = Atomic(0)

  final class Thing: Sendable {
    init() { LoneFunctionTests.living.add(1, ordering: .relaxed) }
    deinit { LoneFunctionTests.living.subtract(1, ordering: .relaxed) }
  }

  @Test func `an object that it returns is the caller's, or released if nobody wants it`() throws {
    let make: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { _ in
      unsafe Unmanaged.passRetained(Thing()).toOpaque()
    }
    let proxy = try DynamicProxy(adopting: .table("Things") { $0.required("make", "@@") })
    let token = try unsafe Self.subscribe(proxy, .token, "make", "@@", make)
    do {
      let thing: Thing = try proxy.send("make")
      #expect(Self.living.load(ordering: .relaxed) == 1)
      withExtendedLifetime(thing) {}
    }
    #expect(Self.living.load(ordering: .relaxed) == 0)
    try proxy.send(Method("make", (() -> Void).self))
    #expect(Self.living.load(ordering: .relaxed) == 0)
    withExtendedLifetime(token) {}
  }
}

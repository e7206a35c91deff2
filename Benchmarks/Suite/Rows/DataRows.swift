// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import CFwdMeasure
internal import Forwarding
internal import ForwardingTesting
internal import ForwardingWire
public import FwdBenchDriver
internal import Testing

/// Invocations as bytes beside messages of Protocol Buffers, and the calls of a spy.
/// Each has an `Int64`, a `Double` and a short string.
public enum DataRows {
  /// The group's name.
  public static let name = "data"

  private static let recorded = "wire: a call encoded, as recording does"
  private static let encoded = "wire: an invocation encoded"
  private static let decoded = "wire: a record decoded"
  private static let spied = "spy: a call by key"
  private static let sent = "proxy: the same call, one weak closure"
  private static let called = "Swift: the same call of an object behind a protocol"

  /// The way of swift-protobuf, which another program has.
  public static let protobufEncoded = "swift-protobuf: a message serialized"
  /// The way of swift-protobuf, which another program has.
  public static let protobufDecoded = "swift-protobuf: a message parsed"

  /// What is sent.
  public static let number: Int64 = 258
  /// What is sent.
  public static let price = 101.5
  /// What is sent.
  public static let symbol = "ACME"

  /// The rows and goals.
  ///
  /// - Parameter peers: what other libraries do.
  public static func group(peers: @escaping () -> [Row] = { [] }) -> RowGroup {
    RowGroup(
      name: name, comparisons: [Comparison(title: "/ protobuf", way: protobufEncoded)],
      rows: { rows + peers() }, goals: { goals })
  }

  private static var goals: [Goal] {
    func ratio(
      _ way: String, _ base: String, _ limit: Double, _ unit: String, measuredBy: String? = nil
    ) -> Bound {
      Bound(
        quantity: .ratio(of: Row.name(way, nil), to: Row.name(base, nil)), limit: limit, unit: unit,
        measuredBy: measuredBy)
    }
    return [
      Goal(
        group: name, title: "a call encoded",
        bounds: [
          ratio(recorded, protobufEncoded, 0.25, "swift-protobuf", measuredBy: "scripts/bench")
        ]),
      Goal(
        group: name, title: "a record decoded",
        bounds: [
          ratio(decoded, protobufDecoded, 0.25, "swift-protobuf", measuredBy: "scripts/bench")
        ]),
      Goal(
        group: name, title: "a spy's call, with a string that is copied",
        bounds: [ratio(spied, sent, 10, "a send to one closure")]),
      Goal(
        group: name, title: "allocations of a spy's call",
        bounds: [Bound(quantity: .allocations(of: Row.name(spied, nil)), limit: 1, unit: "")]),
    ]
  }

  // MARK: - Records

  private static let tick = Method("tick:price:symbol:", ((Int64, Double, String) -> Void).self)

  private static func tickProxy() throws -> DynamicProxy { try DynamicProxy { $0.required(tick) } }

  /// The size of a record of the call, as the page "Wire form" has it: a header, a frame
  /// of three words, and the string in a word.
  private static let recordSize = 40 + 24 + 8

  private static func invocation(for proxy: DynamicProxy) throws -> Invocation {
    let method = try proxy.method(for: tick)
    let invocation = try Invocation(method.selector, tick.signature)
    try invocation.setArgument(number, at: 1)
    try invocation.setArgument(price, at: 2)
    try invocation.setArgument(symbol, at: 3)
    return invocation
  }

  private static var rows: [Row] {
    let kept = Kept {
      let proxy = try tickProxy()
      return (schema: try WireSchema(of: proxy), invocation: try invocation(for: proxy))
    }
    let records = Kept {
      let (schema, invocation) = try kept.get()
      let encoder = WireEncoder(schema)
      var bytes = schema.bytes
      for _ in 0..<1024 { try encoder.encode(invocation, into: &bytes) }
      return bytes
    }
    return [
      row(recorded) { iterations in
        let (schema, invocation) = try kept.get()
        let encoder = WireEncoder(schema)
        let lengths = Lengths()
        var start = bench_sample()
        var failure: (any Error)?
        let first = invocation.signature.firstArgumentIndex
        unsafe invocation.unsafeWithArgumentPointers { arguments in
          let arguments = unsafe arguments + first
          start = bench_start()
          do {
            for _ in 0..<iterations {
              // SAFETY: the pointers are to the arguments of the schema's only method.
              try unsafe encoder.encode(0, arguments) { lengths.sum += $0.byteCount }
            }
          } catch { failure = error }
        }
        let sample = bench_finish(start, UInt64(lengths.sum), UInt64(iterations * recordSize))
        if let failure { throw failure }
        return sample
      },
      row(encoded) { iterations in
        let (schema, invocation) = try kept.get()
        let encoder = WireEncoder(schema)
        var bytes: [UInt8] = []
        var sum = 0
        let start = bench_start()
        for _ in 0..<iterations {
          bytes.removeAll(keepingCapacity: true)
          try encoder.encode(invocation, into: &bytes)
          sum += bytes.count
        }
        return bench_finish(start, UInt64(sum), UInt64(iterations * recordSize))
      },
      row(decoded) { iterations in
        let schema = try kept.get().schema
        let bytes = try records.get()
        var left = iterations
        var sum: UInt64 = 0
        let start = bench_start()
        while left > 0 {
          var decoder = WireDecoder(bytes, schema: schema)
          while left > 0, let record = try decoder.next() {
            sum &+= record.sequence
            left -= 1
          }
        }
        let (rounds, rest) = iterations.quotientAndRemainder(dividingBy: 1024)
        return bench_finish(start, sum, UInt64(rounds * 1024 * 1025 / 2 + rest * (rest + 1) / 2))
      },
    ] + calls
  }

  private final class Lengths {
    var sum = 0
  }

  // MARK: - Spies

  /// A spy keeps its calls, so a row has a new one for each so many calls.
  private static let callsOfSpy = 1024

  private protocol Ticking {
    func tick(_ number: Int64, _ price: Double, _ symbol: String)
  }

  private final class Listener: Ticking, @unchecked Sendable {
    // Sendable: one thread uses it.
    var sum: Int64 = 0
    @inline(never)
    func tick(_ number: Int64, _ price: Double, _ symbol: String) {
      sum &+= number &+ Int64(symbol.utf8.count)
    }
  }

  private static var calls: [Row] {
    [
      row(spied) { iterations in
        var total = bench_sample()
        var left = iterations
        while left > 0 {
          let spy = try Spy { $0.required(tick) }
          let count = min(left, callsOfSpy)
          let start = bench_start()
          for _ in 0..<count { try spy.proxy.send(tick, number, price, symbol) }
          let sample = bench_finish(start, 0, 0)
          let seen = spy.calls(of: tick).reduce(0) { $0 + $1.0 + Int64($1.2.utf8.count) }
          total.add(sample, sum: seen, expected: Int64(count) * (number + Int64(symbol.utf8.count)))
          left -= count
        }
        return total
      },
      row(sent) { iterations in
        let proxy = try tickProxy()
        let listener = Listener()
        try proxy.subscribe(listener) { $0.on(tick) { $0.tick($1, $2, $3) } }
        let start = bench_start()
        for _ in 0..<iterations { try proxy.send(tick, number, price, symbol) }
        return finish(start, listener, iterations)
      },
      row(called) { iterations in
        let listener = Listener()
        let ticking: any Ticking = listener
        let start = bench_start()
        for _ in 0..<iterations { ticking.tick(number, price, symbol) }
        return finish(start, listener, iterations)
      },
    ]
  }

  private static func finish(
    _ start: bench_sample, _ listener: Listener, _ iterations: Int
  ) -> bench_sample {
    let expected = Int64(iterations) * (number + Int64(symbol.utf8.count))
    return bench_finish(start, UInt64(listener.sum), UInt64(expected))
  }

  /// A row that does something a number of times.
  public static func row(
    _ way: String, _ body: @escaping (Int) throws -> bench_sample
  ) -> Row {
    Row(group: name, way: way) { iterations in orWrong { Sample(try body(iterations)) } }
  }
}

extension bench_sample {
  fileprivate mutating func add(_ other: bench_sample, sum: Int64, expected: Int64) {
    nanoseconds += other.nanoseconds
    allocations = other.allocations == .max ? .max : allocations + other.allocations
    locks = other.locks == .max ? .max : locks + other.locks
    self.sum += UInt64(sum)
    expected_sum += UInt64(expected)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import CFwdMeasure
internal import Forwarding
public import FwdBenchDriver

/// Swift closures beside C functions that do the same: subscribers of one proxy
/// each, called by resolved method.
public enum ClosureRows {
  /// The group's name.
  public static let name = "closure"

  /// The rows and goals.
  ///
  /// - Parameter peers: rows of other libraries, for a number of subscribers.
  public static func group(peers: @escaping (Int) -> [Row] = { _ in [] }) -> RowGroup {
    RowGroup(
      name: name,
      comparisons: [Comparison(title: "/ C function", way: way("C function", .two, .weak))],
      rows: { [1, 64].flatMap { Scene($0).rows + peers($0) } },
      goals: { goals })
  }

  // MARK: - Methods

  /// Methods that differ in what they take and give.
  fileprivate enum Shape: String, CaseIterable {
    case one = "1 argument"
    case two = "2 arguments"
    case four = "4 arguments"
    case eight = "8 arguments"
    case onStack = "8 arguments on the stack"
    case result = "a result"
  }

  fileprivate enum Key {
    static let one = Method("one:", ((Int64) -> Void).self)
    static let two = Method("two::", ((Int64, Double) -> Void).self)
    static let four = Method("four::::", ((Int64, Double, Int64, Double) -> Void).self)
    static let eight = Method(
      "eight::::::::",
      ((Int64, Double, Int64, Double, Int64, Double, Int64, Double) -> Void).self)
    static let onStack = Method(
      "thirteen:::::::::::::",
      ((
        Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64
      ) -> Void).self)
    static let result = Method("result::", ((Int64, Double) -> Int64).self)
  }

  /// Closures without objects, each subscribed by itself.
  fileprivate static let withTokens = "closure with a token, \(Shape.two.rawValue)"

  fileprivate static func way(
    _ what: String, _ shape: Shape, _ lifetime: DynamicProxy.Lifetime
  ) -> String {
    "\(what), \(shape.rawValue)" + (lifetime == .strong ? ", strong" : "")
  }

  // MARK: - Goals

  private static var goals: [Goal] {
    let registers: [Shape] = [.one, .two, .four, .eight]
    return [
      Goal(
        group: name, title: "closure, weak",
        bounds: registers.map { ratio(.weak, $0, to: $0, 1.2) }),
      Goal(
        group: name, title: "closure, strong",
        bounds: registers.map { shape in
          Bound(
            quantity: .difference(
              of: Row.name(way("closure", shape, .strong), 64),
              from: Row.name(way("C function", shape, .strong), 64)),
            limit: 4, unit: "ns more than a C function", detail: shape.rawValue)
        } + [
          Bound(
            quantity: .time(of: Row.name(way("closure", .two, .strong), 64)), limit: 6.5,
            unit: "ns", detail: "2 arguments")
        ]),
      Goal(
        group: name, title: "closure with a token",
        bounds: [besideStrongClosure(size: 1), besideStrongClosure(size: 64)]),
      Goal(
        group: name, title: "closure with more to do / C function without",
        bounds: [ratio(.weak, .result, to: .two, 1.4), ratio(.weak, .onStack, to: .two, 1.4)]),
      Goal(
        group: name, title: "closure at N = 1",
        bounds: [ratio(.weak, .two, to: .two, 1.25, size: 1)]),
      Goal(
        group: name, title: "closure, weak, beside sigslot's tracked slot",
        bounds: [besideSigslot(0.85, size: 1), besideSigslot(1, size: 64)]),
    ]
  }

  private static func besideStrongClosure(size: Int) -> Bound {
    Bound(
      quantity: .ratio(
        of: Row.name(withTokens, size), to: Row.name(way("closure", .two, .strong), size)),
      limit: 1.1, unit: "a closure of an object that is held strongly", detail: "N = \(size)")
  }

  private static func besideSigslot(_ limit: Double, size: Int) -> Bound {
    Bound(
      quantity: .ratio(
        of: Row.name(way("closure", .two, .weak), size),
        to: Row.name(Way.sigslotLambda, size)),
      limit: limit, unit: "sigslot", detail: "N = \(size)", measuredBy: "scripts/bench")
  }

  private static func ratio(
    _ lifetime: DynamicProxy.Lifetime, _ shape: Shape, to base: Shape, _ limit: Double,
    size: Int = 64
  ) -> Bound {
    Bound(
      quantity: .ratio(
        of: Row.name(way("closure", shape, lifetime), size),
        to: Row.name(way("C function", base, lifetime), size)),
      limit: limit, unit: "a C function, \(base.rawValue)", detail: shape.rawValue)
  }
}

// MARK: - Subscribers

private final class Sink: Sendable {}
private typealias Receiver = UnsafeMutableRawPointer?

extension FunctionTable {
  fileprivate static let closures = FunctionTable(for: Sink.self) {
    $0.on(ClosureRows.Key.one) { _, a in bench_closures_add(2 * a) }
    $0.on(ClosureRows.Key.two) { _, a, b in bench_closures_add(a + Int64(b)) }
    $0.on(ClosureRows.Key.four) { _, a, _, _, d in bench_closures_add(a + Int64(d)) }
    $0.on(ClosureRows.Key.eight) { _, a, _, _, _, _, _, _, h in bench_closures_add(a + Int64(h)) }
    $0.on(ClosureRows.Key.onStack) { _, a, _, _, _, _, _, _, _, _, _, _, _, m in
      bench_closures_add(a + m)
    }
    $0.on(ClosureRows.Key.result) { _, a, b in
      bench_closures_add(a + Int64(b))
      return a
    }
  }

  fileprivate static let functions = FunctionTable(for: Sink.self) {
    unsafe $0.function(
      ClosureRows.Key.one,
      calling: bench_closures_one
        as @convention(c) (Receiver, Int64) -> Void)
    unsafe $0.function(
      ClosureRows.Key.two,
      calling: bench_closures_two
        as @convention(c) (Receiver, Int64, Double) -> Void)
    unsafe $0.function(
      ClosureRows.Key.four,
      calling: bench_closures_four
        as @convention(c) (Receiver, Int64, Double, Int64, Double) -> Void)
    unsafe $0.function(
      ClosureRows.Key.eight,
      calling: bench_closures_eight
        as @convention(c) (Receiver, Int64, Double, Int64, Double, Int64, Double, Int64, Double) ->
        Void)
    unsafe $0.function(
      ClosureRows.Key.onStack,
      calling: bench_closures_thirteen
        as @convention(c) (
          Receiver, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64,
          Int64, Int64
        ) -> Void)
    unsafe $0.function(
      ClosureRows.Key.result,
      calling: bench_closures_result
        as @convention(c) (Receiver, Int64, Double) -> Int64)
  }
}

/// The subscribers of one size.
private final class Scene {
  private let size: Int
  private lazy var sinks = (0..<size).map { _ in Sink() }
  private var tokens: [DynamicProxy.Token] = []

  init(_ size: Int) { self.size = size }

  var rows: [Row] {
    [DynamicProxy.Lifetime.weak, .strong].flatMap { lifetime in
      let functions = Kept { try self.proxy(.functions, lifetime) }
      let closures = Kept { try self.proxy(.closures, lifetime) }
      return ClosureRows.Shape.allCases.flatMap { shape in
        [
          row(ClosureRows.way("C function", shape, lifetime), shape, functions),
          row(ClosureRows.way("closure", shape, lifetime), shape, closures),
        ]
      }
    } + [row(ClosureRows.withTokens, .two, Kept { try self.proxyWithTokens() })]
  }

  private func proxy(
    _ table: FunctionTable, _ lifetime: DynamicProxy.Lifetime
  ) throws -> DynamicProxy {
    let proxy = try DynamicProxy {
      $0.required(ClosureRows.Key.one)
      $0.required(ClosureRows.Key.two)
      $0.required(ClosureRows.Key.four)
      $0.required(ClosureRows.Key.eight)
      $0.required(ClosureRows.Key.onStack)
      $0.required(ClosureRows.Key.result, result: .callAll(pick: .last))
    }
    for sink in sinks { try proxy.subscribe(sink, table: table, lifetime: lifetime) }
    return proxy
  }

  private func proxyWithTokens() throws -> DynamicProxy {
    let proxy = try DynamicProxy { $0.required(ClosureRows.Key.two) }
    tokens = try (0..<size).map { _ in
      try proxy.subscribe {
        $0.on(ClosureRows.Key.two) { a, b in bench_closures_add(a + Int64(b)) }
      }
    }
    return proxy
  }

  /// A row that forwards 3 as the first argument and 4 as the last.
  private func row(
    _ way: String, _ shape: ClosureRows.Shape, _ proxy: Kept<DynamicProxy>
  ) -> Row {
    let size = size
    return Row(group: ClosureRows.name, way: way, size: size, deliveries: size) { iterations in
      orWrong {
        let method = try proxy.get().method(for: shape.selector)
        let frame = unsafe shape.frame()
        let before = bench_closures_sum()
        let start = bench_start()
        var answers: Int64 = 0
        var answer: Int64 = 0
        try unsafe withUnsafeMutableBytes(of: &answer) { room in
          for _ in 0..<iterations {
            // SAFETY: the frame and the room are those of the method.
            if shape == .result {
              try unsafe method.forward(frame: UnsafeRawBufferPointer(frame), result: room)
              unsafe answers += room.load(as: Int64.self)
            } else {
              try unsafe method.forward(frame: UnsafeRawBufferPointer(frame))
            }
          }
        }
        let sample = bench_finish(start, 0, 0)
        unsafe frame.deallocate()
        let each: Int64 = shape == .one ? 6 : 7
        return Sample(
          sample,
          isRight: bench_closures_sum() - before == each * Int64(iterations * size)
            && answers == (shape == .result ? 3 * Int64(iterations) : 0))
      }
    }
  }
}

extension ClosureRows.Shape {
  fileprivate var selector: MethodSelector {
    switch self {
    case .one: ClosureRows.Key.one.selector
    case .two: ClosureRows.Key.two.selector
    case .four: ClosureRows.Key.four.selector
    case .eight: ClosureRows.Key.eight.selector
    case .onStack: ClosureRows.Key.onStack.selector
    case .result: ClosureRows.Key.result.selector
    }
  }

  /// The arguments. The caller deallocates them.
  fileprivate func frame() -> UnsafeMutableRawBufferPointer {
    let count =
      switch self {
      case .one: 1
      case .two, .result: 2
      case .four: 4
      case .eight: 8
      case .onStack: 13
      }
    let frame = UnsafeMutableRawBufferPointer.allocate(byteCount: 8 * count, alignment: 8)
    unsafe frame.initializeMemory(as: UInt8.self, repeating: 0)
    if self == .onStack {
      unsafe frame.storeBytes(of: 4, toByteOffset: 8 * (count - 1), as: Int64.self)
    } else {
      unsafe frame.storeBytes(of: 4, toByteOffset: 8 * (count - 1), as: Double.self)
    }
    unsafe frame.storeBytes(of: 3, as: Int64.self)
    return unsafe frame
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import ForwardingMacros
  import Synchronization

  /// An argument that is a class.
  class Download: @unchecked Sendable {
    let name: String
    init(_ name: String = "download") { self.name = name }
  }

  final class SpecialDownload: Download, @unchecked Sendable {}

  struct Failure: Error, Equatable {
    let code: Int
    init(_ code: Int) { self.code = code }
  }

  /// The example of the documentation.
  @Forwarded
  protocol DownloadDelegate: AnyObject {
    func download(_ download: Download, didReceive bytes: Int64, of total: Int64?)
    func download(_ download: Download, shouldContinueAfter error: any Error) -> Bool
    @Optional func downloadDidFinish(_ download: Download, at path: String) throws
  }

  /// Who lacks the optional method.
  class Listener: DownloadDelegate {
    private(set) var log: [String] = []
    var answer = true

    func download(_ download: Download, didReceive bytes: Int64, of total: Int64?) {
      log.append("\(download.name) \(bytes)/\(total.map(String.init) ?? "?")")
    }

    func download(_ download: Download, shouldContinueAfter error: any Error) -> Bool {
      log.append("\(error)")
      return answer
    }
  }

  /// Who has all, and is generic.
  final class FullListener<Value>: DownloadDelegate {
    private(set) var log: [String] = []
    var failure: Failure?

    func download(_ download: Download, didReceive bytes: Int64, of total: Int64?) {
      log.append("\(Value.self) \(bytes)")
    }

    func download(_ download: Download, shouldContinueAfter error: any Error) -> Bool { false }

    func downloadDidFinish(_ download: Download, at path: String) throws {
      log.append("finished at \(path)")
      if let failure { throw failure }
    }
  }

  /// Counts its living objects.
  final class Tracked: Sendable {
    /// How many live, of those that a test makes between two of its lines:
    /// tests run side by side.
    final class Ledger: Sendable {
      private let living = Atomic(0)
      var count: Int { living.load(ordering: .relaxed) }
      func add(_ change: Int) { living.add(change, ordering: .relaxed) }
    }

    @TaskLocal private static var ledger: Ledger?
    private let ledger = Tracked.ledger
    let value: Int

    init(_ value: Int = 0) {
      self.value = value
      ledger?.add(1)
    }

    deinit { ledger?.add(-1) }

    /// How many of those that `body` makes live behind it.
    static func left(by body: () throws -> Void) rethrows -> Int {
      let ledger = Ledger()
      try $ledger.withValue(ledger) { try body() }
      return ledger.count
    }

    /// How many of those that `body` makes live behind it.
    static func left(
      isolation: isolated (any Actor)? = #isolation, by body: () async throws -> Void
    ) async rethrows -> Int {
      let ledger = Ledger()
      try await $ledger.withValue(ledger) { try await body() }
      return ledger.count
    }
  }

  enum Shape: Equatable {
    case point
    case circle(radius: Double)
    case named(String)
  }

  struct Pair<Left, Right> {
    var left: Left
    var right: Right
  }

  /// Arguments and results of all kinds.
  @Forwarded
  protocol Kinds: AnyObject {
    // Registers, of both kinds, and more than there are.
    func five(_ a: Int8, _ b: UInt16, c: Bool, d: Int32, _ e: UInt64)
    func six(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int)
    func doubles(
      _ a: Double, _ b: Double, _ c: Double, _ d: Double, _ e: Double, _ f: Double, _ g: Double,
      _ h: Float, _ i: Double)
    func mixed(_ a: Int, x: Double, _ b: Int, y: Float, _ pointer: UnsafeRawPointer?)
    func none()
    // Types that C has not.
    func text(_ text: String, _ list: [Tracked], shape: Shape)
    func tuple(_ tuple: (Tracked, Int), _ any: Any, existential: any CustomStringConvertible)
    func closure(_ body: @escaping (Int) -> Int, other: (@Sendable () -> Void)?)
    func pair(_ pair: Pair<String, Tracked>, in dictionary: [String: Int])
    func pointer(_ pointer: UnsafePointer<Int32>, _ text: UnsafePointer<CChar>?)
    func objects(_ object: AnyObject, _ maybe: Download?)
    @DefaultResult(0) func `default`(`in` label: Row) -> Row
    // Results.
    @DefaultResult("nobody") func name(of row: Int) -> String
    func object(_ row: Int) -> Tracked?
    func list(_ row: Int) throws -> [Tracked]
    @DefaultResult(7) func number() -> Int32
    @DefaultResult(Shape.point) func shape(_ row: Int) throws -> Shape
    func made() throws -> Tracked
    func maybe(_ row: Int) -> Int?
    @Optional @discardableResult func optional(_ row: Int) -> Tracked?
  }

  /// A number by another name is encoded as the number.
  typealias Row = Int32

  final class Recorder: Kinds {
    private(set) var log: [String] = []
    var failure: Failure?
    var row = 1

    func five(_ a: Int8, _ b: UInt16, c: Bool, d: Int32, _ e: UInt64) {
      log.append("\(a) \(b) \(c) \(d) \(e)")
    }
    func six(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int) {
      log.append("\([a, b, c, d, e, f])")
    }
    func doubles(
      _ a: Double, _ b: Double, _ c: Double, _ d: Double, _ e: Double, _ f: Double, _ g: Double,
      _ h: Float, _ i: Double
    ) { log.append("\([a, b, c, d, e, f, g, Double(h), i])") }
    func mixed(_ a: Int, x: Double, _ b: Int, y: Float, _ pointer: UnsafeRawPointer?) {
      log.append("\(a) \(x) \(b) \(y) \(UInt(bitPattern: pointer))")
    }
    func none() { log.append("none") }
    func text(_ text: String, _ list: [Tracked], shape: Shape) {
      log.append("\(text) \(list.map(\.value)) \(shape)")
    }
    func tuple(_ tuple: (Tracked, Int), _ any: Any, existential: any CustomStringConvertible) {
      log.append("\(tuple.0.value) \(tuple.1) \(any) \(existential)")
    }
    func closure(_ body: @escaping (Int) -> Int, other: (@Sendable () -> Void)?) {
      log.append("\(body(20))")
      other?()
    }
    func pair(_ pair: Pair<String, Tracked>, in dictionary: [String: Int]) {
      log.append("\(pair.left) \(pair.right.value) \(dictionary)")
    }
    func pointer(_ pointer: UnsafePointer<Int32>, _ text: UnsafePointer<CChar>?) {
      log.append(
        "\(unsafe pointer.pointee) \(unsafe text.map { unsafe String(cString: $0) } ?? "")")
    }
    func objects(_ object: AnyObject, _ maybe: Download?) {
      log.append("\(object is Tracked) \(maybe?.name ?? "nil")")
    }
    func `default`(`in` label: Row) -> Row { label + 1 }
    func name(of row: Int) -> String { "row \(row) of \(self.row), a text that is not small" }
    func object(_ row: Int) -> Tracked? { row < 0 ? nil : Tracked(row) }
    func list(_ row: Int) throws -> [Tracked] {
      if let failure { throw failure }
      return (0..<row).map { Tracked($0) }
    }
    func number() -> Int32 { Int32(row) }
    func shape(_ row: Int) throws -> Shape {
      if let failure { throw failure }
      return .named("a shape with a name that is not small")
    }
    func made() throws -> Tracked {
      if let failure { throw failure }
      return Tracked(row)
    }
    func maybe(_ row: Int) -> Int? { row < 0 ? nil : row }
    func optional(_ row: Int) -> Tracked? { Tracked(row) }
  }

  /// A protocol of another module's kind: public, for any thread, in a type.
  public enum Space {
    @Forwarded
    public protocol Observer: AnyObject, Sendable {
      func moved(_ x: Double, _ isFirst: Bool)
      @Optional func label(_ text: String) -> String?
    }
  }

  final class Counter: Space.Observer {
    let count = Atomic(0)
    func moved(_ x: Double, _ isFirst: Bool) { count.add(1, ordering: .relaxed) }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Synchronization

  // MARK: A class of one's own, with members of all kinds

  @Forwarded
  protocol CopierDelegate: AnyObject {
    func copier(_ copier: Copier, didCopy bytes: Int, named name: String?)
    func copier(_ copier: Copier, shouldContinueAfter error: any Error) -> Bool
    @Optional func copierDidFinish(_ times: (Double, Int32), note: [String])
  }

  struct CopyError: Error, Equatable {
    let code: Int
  }

  class Device {
    var isOpen = false
    func label() -> String { "device" }
  }

  @ForwardingClass("delegate", for: (any CopierDelegate).self)
  class Copier: Device {
    enum State: Equatable {
      case idle
      case copying(Int)
    }

    weak var delegate: (any CopierDelegate)?
    let name: String
    private(set) var state: State = .idle
    var speed, weight: Double
    @NotForwarded var untyped = 3
    var observed: Int = 0 {
      didSet { changes += 1 }
    }
    private var changes = 0
    var changeCount: Int { changes }
    var checked: Int {
      get throws { if observed < 0 { throw CopyError(code: observed) } else { observed } }
    }
    private var cells = [1, 2, 3]

    init(_ name: String) {
      self.name = name
      speed = 1
      weight = 2
    }

    func copy(_ bytes: Int, named name: String? = "none") {
      state = .copying(bytes)
      delegate?.copier(self, didCopy: bytes, named: name)
    }
    func ask(_ error: any Error) -> Bool {
      delegate?.copier(self, shouldContinueAfter: error) ?? true
    }
    func finish() { delegate?.copierDidFinish((1.5, 2), note: ["done"]) }

    @discardableResult
    func attempt(_ code: Int, `in` place: String) throws(CopyError) -> String {
      if code != 0 { throw CopyError(code: code) }
      return place
    }
    func later(_ count: Int) async throws -> [Int] {
      if count < 0 { throw CopyError(code: count) }
      return Array(0..<count)
    }
    func double(_ value: inout Int, by factor: Int = 2) { value *= factor }
    func map<Value>(_ values: [Int], _ body: (Int) throws -> Value) rethrows -> [Value] {
      try values.map(body)
    }
    func tuple<each Value>(_ values: repeat each Value) -> (repeat each Value) {
      (repeat each values)
    }
    func largest<Values: Sequence>(of values: Values) -> Values.Element?
    where Values.Element: Comparable { values.max() }
    func lazily(_ isWanted: Bool, _ value: @autoclosure () -> Int) -> Int { isWanted ? value() : 0 }
    func kept(_ body: @escaping () -> Int) -> () -> Int { body }
    func itself() -> Self { self }
    func states() -> [State] { [state] }
    func read(_ pointer: UnsafePointer<Int32>) -> Int32 { unsafe pointer.pointee }
    @NotForwarded func sum(_ values: Int...) -> Int { values.reduce(0, +) }
    subscript(index: Int) -> Int {
      get { cells[index] }
      set { cells[index] = newValue }
    }
    subscript(named name: String, at index: Int = 0) -> String { "\(name)\(cells[index])" }

    #if Macros
      func conditional() -> Int { 1 }
    #else
      func conditional() -> String { "" }
    #endif

    static func make() -> Copier { Copier("made") }
    private func hidden() {}
  }

  extension Copier {
    var elsewhere: Int {
      get { observed }
      set { observed = newValue }
    }
  }

  final class CopierListener: CopierDelegate {
    let name: String
    private(set) var log: [String] = []
    var answer = true
    init(_ name: String = "") { self.name = name }
    func take() -> [String] {
      defer { log = [] }
      return log
    }
    func copier(_ copier: Copier, didCopy bytes: Int, named name: String?) {
      log.append("\(copier.name) \(bytes) \(name ?? "nil")")
    }
    func copier(_ copier: Copier, shouldContinueAfter error: any Error) -> Bool {
      log.append("\(error)")
      return answer
    }
  }

  final class FinishingListener: CopierDelegate {
    private(set) var log: [String] = []
    func copier(_ copier: Copier, didCopy bytes: Int, named name: String?) {}
    func copier(_ copier: Copier, shouldContinueAfter error: any Error) -> Bool { false }
    func copierDidFinish(_ times: (Double, Int32), note: [String]) {
      log.append("\(times.0) \(times.1) \(note)")
    }
  }

  // MARK: A class of others, by a protocol

  @Forwarded
  protocol LegacyDelegate: AnyObject {
    func ran(_ count: Int)
  }

  class Legacy {
    weak var delegate: (any LegacyDelegate)?
    var count = 0
    func run(_ times: Int) async -> Int {
      delegate?.ran(times)
      count += times
      return count
    }
    func runNow(_ times: Int) { delegate?.ran(times) }
  }

  @ForwardingClass(
    \Legacy.delegate, for: LegacyDelegate.self, options: DelegateSlotOptions(original: .ignore))
  protocol LegacyInterface: AnyObject {
    var count: Int { get set }
    var delegate: (any LegacyDelegate)? { get set }
    func run(_ times: Int) async -> Int
    func runNow(_ times: Int)
  }

  final class LegacyListener: LegacyDelegate {
    private(set) var counts: [Int] = []
    func ran(_ count: Int) { counts.append(count) }
  }

  // MARK: A slot of one's own, and a class that tells

  @ForwardingClass("delegate", for: (any LegacyDelegate).self)
  final class Slotted {
    @DelegateSlot(LegacyDelegateProxy()) var delegate: (any LegacyDelegate)?
    func run(_ count: Int) { delegate?.ran(count) }
  }

  @ForwardingClass(for: (any LegacyDelegate).self)
  final class Telling: Legacy, DelegateSlotOwner {
    override var delegate: (any LegacyDelegate)? {
      didSet { delegateSlotDidChange() }
    }
    @NotForwarded var delegateSlot: (any LegacyDelegate)? {
      get { delegate }
      set { delegate = newValue }
    }
    @NotForwarded func makeDelegateProxy() -> LegacyDelegateProxy { LegacyDelegateProxy() }
  }

  // MARK: Services that are shared

  @ForwardingClass("delegate", for: (any LegacyDelegate).self, shared: "Panel.main")
  @MainActor public final class Panel {
    static let main = Panel()
    weak var delegate: (any LegacyDelegate)?
    func press(_ count: Int) { delegate?.ran(count) }
  }

  @Forwarded
  protocol SensorDelegate: AnyObject, Sendable {
    func sensed(_ value: Int)
  }

  @ForwardingClass("delegate", for: (any SensorDelegate).self, shared: "Sensor()")
  final class Sensor: Sendable {
    private let content = Mutex<(any SensorDelegate)?>(nil)
    var delegate: (any SensorDelegate)? {
      get { content.withLock { $0 } }
      set { content.withLock { $0 = newValue } }
    }
    func fire(_ value: Int) { delegate?.sensed(value) }
  }

  final class SensorListener: SensorDelegate {
    private let total = Atomic(0)
    var sum: Int { total.load(ordering: .relaxed) }
    func sensed(_ value: Int) { total.add(value, ordering: .relaxed) }
  }
#endif

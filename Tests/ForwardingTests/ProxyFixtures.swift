// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

@testable import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What happened, in order, from any thread.
final class Journal: Sendable {
  private let lines = Lock<[String]>([])

  func note(_ line: String) {
    lines.withLock { $0.append(line) }
  }

  /// Gives what was noted since the last time.
  func take() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}

/// A value that is set on one thread and read on another.
final class Box<Value: Sendable>: Sendable {
  private let state: Lock<Value>

  init(_ value: Value) { state = Lock(value) }

  var value: Value {
    get { state.withLock { $0 } }
    set {
      // What the old value ends with may come back here.
      let old = state.withLock { state in
        let old = state
        state = newValue
        return old
      }
      withExtendedLifetime(old) {}
    }
  }

  func update<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
    state.withLock { body(&$0) }
  }
}

/// Counts how many of its objects live: what a closure captures, for example.
final class Population: Sendable {
  private let count = Box(0)
  private let notes = Box<[Int32]>([])

  var living: Int { count.value }

  /// Gives the numbers that objects have noted since the last time.
  func takeNotes() -> [Int32] {
    notes.update { notes in
      defer { notes = [] }
      return notes
    }
  }

  func make() -> Tracked { Tracked(self) }

  final class Tracked: Sendable {
    private let population: Population

    fileprivate init(_ population: Population) {
      self.population = population
      population.count.update { $0 += 1 }
    }

    deinit { population.count.update { $0 -= 1 } }

    func note(_ number: Int32) { population.notes.update { $0.append(number) } }
  }
}

/// Notes each call with its name, then does what the test asks for.
final class Listener: DynamicProxy.Subscriber {
  let name: String
  let journal: Journal
  /// Runs in each call, behind the note.
  let action = Box<(@Sendable (Listener) -> Void)?>(nil)
  let onDeath = Box<(@Sendable () -> Void)?>(nil)
  /// What `score:` answers.
  let score: Int32

  init(
    _ name: String, _ journal: Journal, score: Int32 = 0,
    action: (@Sendable (Listener) -> Void)? = nil
  ) {
    self.name = name
    self.journal = journal
    self.score = score
    self.action.value = action
  }

  deinit { onDeath.value?() }

  static let functionTable = FunctionTable(for: Listener.self) {
    $0.on("ping:") { (self: Listener, number: Int32) in
      self.journal.note("\(self.name)\(number)")
      self.action.value?(self)
    }
    $0.on("score:") { (self: Listener, number: Int32) -> Int32 in
      self.journal.note("\(self.name)\(number)")
      self.action.value?(self)
      return self.score
    }
  }
}

/// A class without any function.
final class Bystander: Sendable {}

extension ProtocolTable {
  /// What `Listener` implements.
  static let pinging = table("Pinging") {
    $0.required("ping:", "v@:i")
    $0.optional("score:", "i@:i")
    $0.optional("finish", "v@:")
  }

  /// A table of whose declarations the test is sure.
  static func table(
    _ name: String, inheriting parents: [ProtocolTable] = [], _ build: (inout Builder) -> Void
  ) -> ProtocolTable {
    do {
      return try ProtocolTable(name, inheriting: parents, build)
    } catch {
      fatalError("\(error)")
    }
  }
}

extension DynamicProxy {
  /// A proxy for `ProtocolTable.pinging`.
  static func pinging(
    _ configure: (inout Configuration) -> Void = { _ in }
  ) throws -> DynamicProxy {
    var configuration = Configuration()
    configure(&configuration)
    return try DynamicProxy(adopting: .pinging, configuration: configuration)
  }

  func ping(_ number: Int32 = 1) throws {
    try send("ping:", number)
  }

  /// Calls a closure before or after each invocation of a method, with a copy of
  /// the invocation, as interceptors in C get it.
  func observe(
    _ selector: MethodSelector, isAfter: Bool = false,
    _ body: @escaping @Sendable (Invocation) -> Void
  ) throws -> DynamicProxy.Token {
    try intercept(selector, isAfter ? .after : .before) { _ in .observer(body) }
  }
}

/// Runs `body` on as many new threads at a time, with the number of each, and
/// waits for them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  final class Start: Sendable {
    let number: Int
    let body: @Sendable (Int) -> Void
    init(_ number: Int, _ body: @escaping @Sendable (Int) -> Void) {
      self.number = number
      self.body = body
    }
  }
  #if canImport(Darwin)
    var threads: [pthread_t?] = unsafe Array(repeating: nil, count: count)
  #else
    var threads = Array(repeating: pthread_t(), count: count)
  #endif
  for number in 0..<count {
    // SAFETY: the new thread takes over the reference to what it starts with.
    let start = unsafe Unmanaged.passRetained(Start(number, body)).toOpaque()
    let status = unsafe pthread_create(
      &threads[number], nil,
      { argument in
        #if canImport(Darwin)
          let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        #else
          let start = unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
        #endif
        start.body(start.number)
        return nil
      }, start)
    precondition(status == 0, "no thread")
  }
  for thread in threads {
    #if canImport(Darwin)
      unsafe pthread_join(thread!, nil)
    #else
      pthread_join(thread, nil)
    #endif
  }
}

extension FunctionTable {
  /// Checks what a proxy of one protocol checks when the table is subscribed.
  func validate(for table: ProtocolTable) throws(ForwardingError) {
    let joined = try JoinedTable(
      self, DynamicProxy(adopting: table).core.plan, conformingTo: [table])
    try joined.checkConformance(.all)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdMeasure
internal import CPeers
internal import Forwarding
internal import FwdBenchDriver
internal import FwdBenchRows

/// SQLite's update hook: by hand, and a function pointer of a proxy. A statement
/// updates all rows of a table, and calls the hook for each.
enum HookRows {
  private static let updated = unsafe Method(
    "updated:database:table:row:",
    ((Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int64) -> Void).self)
  private static let rowCount = 256

  static var rows: [Row] {
    let hooks: [(way: String, make: () throws -> any Hook)] = [
      (HookGoals.byHand, { HandWritten() }),
      (HookGoals.function, { try Forwarded(functions: 1) }),
      (HookGoals.closure, { try Forwarded(closures: 1) }),
      (HookGoals.tokenClosure, { try Forwarded(closures: 1, haveTokens: true) }),
      (HookGoals.three, { try Forwarded(closures: 2, functions: 1) }),
      (
        HookGoals.threeWithTokens,
        { try Forwarded(closures: 2, functions: 1, haveTokens: true) }
      ),
      (HookGoals.threeInBatch, { try Forwarded(closures: 2, functions: 1, isInBatch: true) }),
    ]
    let withoutSQLite = hooks.map { way, make in alone(HookGoals.alone(way), Kept(make)) }
    guard peer_sqlite_is_installed() else { return withoutSQLite }
    return [inSQLite("SQLite: no hook", Kept { NoHook() })]
      + hooks.map { way, make in inSQLite(HookGoals.inSQLite(way), Kept(make)) }
      + withoutSQLite
  }

  private static func inSQLite(_ way: String, _ hook: Kept<any Hook>) -> Row {
    let database = Kept { try Database(rowCount, hook.get()) }
    return row(way, hook) { iterations in
      let database = try database.get()
      try hook.get().whileCalled { try database.update(iterations) }
    }
  }

  private static func alone(_ way: String, _ hook: Kept<any Hook>) -> Row {
    row(way, hook) { iterations in
      let hook = try hook.get()
      guard let function = unsafe hook.function else { throw EmissionFailure() }
      try hook.whileCalled { unsafe peer_call_hook(function, hook.context, rowCount, iterations) }
    }
  }

  /// A row of one call of the hook.
  private static func row(
    _ way: String, _ hook: Kept<any Hook>, _ call: @escaping (Int) throws -> Void
  ) -> Row {
    Row(group: HookGoals.name, way: way, deliveries: rowCount) { iterations in
      orWrong {
        let hook = try hook.get()
        let before = hook.sum
        let start = bench_start()
        try call(iterations)
        let sample = bench_finish(start, 0, 0)
        let each = Int64(rowCount * (rowCount + 1) / 2) * Int64(hook.subscriberCount)
        return Sample(sample, isRight: hook.sum - before == each * Int64(iterations))
      }
    }
  }

  // MARK: - Hooks

  /// What SQLite calls. Its subscribers add up the identifiers of the rows.
  private protocol Hook: AnyObject {
    var function: peer_update_hook? { get }
    var context: UnsafeMutableRawPointer? { get }
    var subscriberCount: Int { get }
    var sum: Int64 { get }
    /// Runs a closure that has the hook called.
    func whileCalled(_ body: () throws -> Void) throws
  }

  private final class NoHook: Hook {
    func whileCalled(_ body: () throws -> Void) throws { try body() }
    var function: peer_update_hook? { nil }
    var context: UnsafeMutableRawPointer? { nil }
    let subscriberCount = 0
    let sum: Int64 = 0
  }

  @safe private final class HandWritten: Hook {
    private let total = UnsafeMutablePointer<Int64>.allocate(capacity: 1)

    init() { unsafe total.initialize(to: 0) }
    deinit { unsafe total.deallocate() }

    var function: peer_update_hook? { unsafe peer_hook }
    var context: UnsafeMutableRawPointer? { unsafe UnsafeMutableRawPointer(total) }
    let subscriberCount = 1
    var sum: Int64 { unsafe total.pointee }
    func whileCalled(_ body: () throws -> Void) throws { try body() }
  }

  @safe private final class Forwarded: Hook {
    private let proxy: DynamicProxy
    private let isInBatch: Bool
    private let pointer: FunctionPointer
    private let watches: [Watch]
    private let functions: [Observer]
    private var tokens: [DynamicProxy.Token] = []

    /// - Parameter haveTokens: whether the closures belong to tokens and the functions'
    ///   objects to the proxy; otherwise they belong to objects that it holds weakly.
    init(
      closures: Int = 0, functions: Int = 0, haveTokens: Bool = false, isInBatch: Bool = false
    ) throws {
      let updates = try ProtocolTable("Updates") { unsafe $0.required(updated) }
      proxy = try DynamicProxy(adopting: updates)
      self.isInBatch = isInBatch
      watches = (0..<closures).map { _ in Watch() }
      self.functions = (0..<functions).map { _ in Observer() }
      for watch in watches {
        if haveTokens {
          tokens.append(
            try proxy.subscribe {
              unsafe $0.on(HookRows.updated) { _, _, _, row in watch.sum += row }
            })
        } else {
          try proxy.subscribe(watch)
        }
      }
      for observer in self.functions {
        try proxy.subscribe(observer, lifetime: haveTokens ? .strong : .weak)
      }
      pointer = try unsafe proxy.functionPointer(for: updated, context: .first)
      // SAFETY: the pointer lives as long as the hook, which is never removed.
      unsafe function = unsafe pointer.unsafeCast()
    }

    let function: peer_update_hook?
    var context: UnsafeMutableRawPointer? { nil }
    var subscriberCount: Int { watches.count + functions.count }
    var sum: Int64 {
      watches.reduce(functions.isEmpty ? 0 : peer_observed_sum()) { $0 + $1.sum }
    }

    func whileCalled(_ body: () throws -> Void) throws {
      if isInBatch { try proxy.withBatch(body) } else { try body() }
    }
  }

  // MARK: - Subscribers

  /// Subscribes a closure.
  // Sendable: only one thread delivers.
  private final class Watch: DynamicProxy.Subscriber, @unchecked Sendable {
    fileprivate(set) var sum: Int64 = 0

    static let functionTable = FunctionTable(for: Watch.self) {
      unsafe $0.on(HookRows.updated) { watch, _, _, _, row in watch.sum += row }
    }
  }

  /// Subscribes a C function.
  private final class Observer: DynamicProxy.Subscriber {
    static let functionTable = FunctionTable(for: Observer.self) {
      // SAFETY: the function has the types of the key.
      unsafe $0.function(
        HookRows.updated,
        calling: peer_observe_update
          as @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int64
          ) -> Void)
    }
  }

  // MARK: - SQLite

  @safe private final class Database {
    private let handle: OpaquePointer
    /// Alive as long as the database calls it.
    private let hook: any Hook

    init(_ rowCount: Int, _ hook: any Hook) throws {
      guard let handle = unsafe peer_sqlite_open(rowCount) else { throw EmissionFailure() }
      unsafe self.handle = handle
      self.hook = hook
      unsafe peer_sqlite_set_hook(handle, hook.function, hook.context)
    }

    func update(_ iterations: Int) throws {
      guard unsafe peer_sqlite_update(handle, iterations) else { throw EmissionFailure() }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Benchmark
  import CFwdMeasure
  import CSQLite
  import ExampleSupport
  import Forwarding
  import FwdBenchDriver
  import SharedSQLite
  import Synchronization

  /// A load of a million rows into a table of SQLite in one transaction, with and without hooks. Each round inserts a part, so
  /// that the ways are compared within milliseconds. Only the last part commits, so the medians do not include the commit.
  enum LoadRows {
    private static let name = "load"
    private static let rowCount = 1_000_000
    /// Divides `rowCount`, or the last part would not commit.
    private static let partSize = 25_000

    /// How the rows come in.
    private enum Load: String, CaseIterable {
      case statements = "a statement for each row"
      case query = "INSERT … SELECT"
    }

    private static func without(_ load: Load) -> String { "\(load.rawValue): without hooks" }
    private static func byHand(_ load: Load) -> String {
      "\(load.rawValue): six hooks by hand, which call the observers"
    }
    private static func hooked(_ load: Load, traces: Bool = true) -> String {
      "\(load.rawValue): six hooks of a proxy, three observers of each row"
        + (traces ? "" : ", none of statements")
    }
    private static func batched(_ load: Load, traces: Bool = true) -> String {
      "\(hooked(load, traces: traces)), in a batch"
    }

    static var group: RowGroup {
      RowGroup(
        name: name,
        comparisons: Load.allCases.map { Comparison(title: "/ \($0.rawValue)", way: without($0)) },
        rows: {
          Load.allCases.flatMap { load in
            [
              row(without(load), load) { _, _ in nil },
              row(byHand(load), load) { HooksByHand($0, $1) },
              row(hooked(load), load) { try share($0, $1, traces: true) },
              row(hooked(load, traces: false), load) { try share($0, $1, traces: false) },
              row(batched(load), load, inBatch: true) { try share($0, $1, traces: true) },
              row(batched(load, traces: false), load, inBatch: true) {
                try share($0, $1, traces: false)
              },
            ]
          }
        },
        goals: {
          [
            Goal(
              group: name, title: "a load of 1,000,000 rows with hooks, by parts",
              bounds: Load.allCases.flatMap { load in
                [true, false].flatMap { traces in
                  [true, false].map { inBatch in
                    let way = inBatch ? batched(load, traces: traces) : hooked(load, traces: traces)
                    return Bound(
                      quantity: .ratio(of: way, to: without(load)), limit: 1.25,
                      unit: "without hooks",
                      detail: load.rawValue
                        + (traces ? ", each hook observed" : ", statements not observed")
                        + (inBatch ? ", in a batch" : ""))
                  }
                }
              })
          ]
        })
    }

    private static func share(
      _ connection: SQLiteConnection, _ observers: Observers, traces: Bool
    ) throws -> SQLiteHooks {
      let hooks = try SQLiteHooks(connection)
      for counter in observers.counters { try hooks.add(counter) }
      try hooks.proxy.subscribe(observers.counterInC)
      for validator in observers.validators { try hooks.add(validator) }
      try hooks.add(observers.guardian)
      if traces { try hooks.add(observers.statements) }
      return hooks
    }

    /// Three observers of each row and of each commit, and one of each other hook.
    fileprivate final class Observers {
      let counters = [RowCounter(), RowCounter()]
      let counterInC = CounterInC()
      let validators = [Validator(), Validator(), Validator()]
      let guardian = Guard()
      let statements = StatementCounter()

      /// The rows that each counter has seen.
      var rows: [Int] {
        counters.map { $0.inserted.load(ordering: .relaxed) }
          + [counterInC.changed.load(ordering: .relaxed)]
      }
    }

    /// A row of one load. `hook` returns an object that keeps the connection's hooks, or nil without any.
    private static func row(
      _ way: String, _ load: Load, inBatch: Bool = false,
      _ hook: @escaping (SQLiteConnection, Observers) throws -> AnyObject?
    ) -> Row {
      var table: Table?
      return Row(group: name, way: way, deliveries: partSize, isInEachRound: true) {
        iterations in
        var total = bench_start()
        total.nanoseconds = 0
        var isRight = true
        for _ in 0..<iterations {
          guard let loaded = table ?? (try? Table(load, hook)) else {
            return Sample(total, isRight: false)
          }
          let sample =
            inBatch
            ? try? (loaded.hooks as? SQLiteHooks)?.proxy.withBatch { loaded.loadPart() }
            : loaded.loadPart()
          guard let sample else { return Sample(total, isRight: false) }
          total.nanoseconds += sample.nanoseconds
          isRight = isRight && loaded.isRight
          table = loaded.count < rowCount ? loaded : nil
        }
        return Sample(total, isRight: isRight)
      }
    }

    /// A table that is loaded part by part, in one transaction.
    private final class Table {
      private let load: Load
      private let connection = SQLiteConnection()
      private let observers = Observers()
      let hooks: AnyObject?
      private var insert: OpaquePointer?
      private(set) var count = 0

      init(_ load: Load, _ hook: (SQLiteConnection, Observers) throws -> AnyObject?) throws {
        self.load = load
        hooks = try hook(connection, observers)
        connection.run("CREATE TABLE points (x INTEGER, y INTEGER); BEGIN")
        sqlite3_prepare_v2(connection.handle, "INSERT INTO points VALUES (?, ?)", -1, &insert, nil)
      }

      deinit { sqlite3_finalize(insert) }

      /// Loads the next part; the last one commits.
      func loadPart() -> bench_sample {
        let (first, last) = (count + 1, count + partSize)
        let start = bench_start()
        switch load {
        case .statements:
          for row in Int64(first)...Int64(last) {
            sqlite3_bind_int64(insert, 1, row)
            sqlite3_bind_int64(insert, 2, row * 2)
            sqlite3_step(insert)
            sqlite3_reset(insert)
          }
        case .query:
          connection.run(
            """
            INSERT INTO points WITH RECURSIVE n(i) AS (VALUES(\(first)) UNION ALL SELECT i + 1 FROM n WHERE i < \(last))
              SELECT i, i * 2 FROM n
            """)
        }
        if last == rowCount { connection.run("COMMIT") }
        let sample = bench_finish(start, 0, 0)
        count = last
        return sample
      }

      /// Whether all observers have seen each row, and the table has it.
      var isRight: Bool {
        let seen = hooks == nil ? 0 : count
        return observers.rows.allSatisfy { $0 == seen }
          && connection.text("SELECT max(rowid) FROM points") == "\(count)"
          && (count < rowCount || sqlite3_get_autocommit(connection.handle) != 0)
      }
    }
  }

  /// Counts rows by a function that takes no reference, as one in C would.
  private final class CounterInC: DynamicProxy.Subscriber {
    let changed = Atomic(0)

    static let function:
      @convention(c) (
        UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int64
      ) -> Void = { context, _, _, _, _ in
        // The proxy keeps the subscriber alive during the delivery.
        Unmanaged<CounterInC>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.changed.addOne() }
      }

    static let functionTable = FunctionTable(for: CounterInC.self) {
      $0.function(SQLiteKey.updated, calling: function)
    }
  }

  /// Six hooks that know their observers.
  private final class HooksByHand {
    private let connection: SQLiteConnection
    private let observers: LoadRows.Observers

    init(_ connection: SQLiteConnection, _ observers: LoadRows.Observers) {
      self.connection = connection
      self.observers = observers
      let context = Unmanaged.passUnretained(self).toOpaque()
      sqlite3_update_hook(
        connection.handle,
        { context, operation, database, table, row in
          let observers = HooksByHand.of(context).observers
          for counter in observers.counters { counter.changed(operation, row) }
          let counterInC = Unmanaged.passUnretained(observers.counterInC).toOpaque()
          CounterInC.function(counterInC, operation, database, table, row)
        }, context)
      sqlite3_commit_hook(
        connection.handle,
        { context in
          var refused: Int32 = 0
          for validator in HooksByHand.of(context).observers.validators {
            validator.askedCount.addOne()
            if validator.refuses.load(ordering: .relaxed) { refused = 1 }
          }
          return refused
        }, context)
      sqlite3_rollback_hook(
        connection.handle,
        { context in
          for validator in HooksByHand.of(context).observers.validators {
            validator.rollbackCount.addOne()
          }
        }, context)
      sqlite3_set_authorizer(
        connection.handle,
        { context, _, first, _, _, _ in
          HooksByHand.of(context).observers.guardian.actions.addOne()
          return first.map { String(cString: $0) } == "secrets" ? SQLITE_DENY : SQLITE_OK
        }, context)
      sqlite3_progress_handler(
        connection.handle, 10_000,
        { context in
          HooksByHand.of(context).observers.guardian.steps.addOne()
          return 0
        }, context)
      sqlite3_trace_v2(
        connection.handle, UInt32(SQLITE_TRACE_STMT),
        { _, context, _, _ in
          HooksByHand.of(context).observers.statements.count.addOne()
          return 0
        }, context)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> HooksByHand {
      Unmanaged.fromOpaque(context!).takeUnretainedValue()
    }
  }
#endif

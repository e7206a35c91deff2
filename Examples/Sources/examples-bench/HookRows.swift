// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Benchmark
  import CExampleBench
  import CFwdMeasure
  import ExampleSupport
  import Forwarding
  import FwdBenchDriver
  import SharedSQLite

  /// SQLite's update hook, called in a tight loop: a C function by hand, and functions of proxies.
  enum HookRows {
    private static let name = "hook"
    private static let byHand = "hook: a C function by hand"
    private static let multiplexer = "hook: three C functions, called by hand"
    private static let functions = "hook: a proxy with three C functions"
    private static let strong = "hook: a proxy with two closures, held strongly, and a C function"
    private static let weak = "hook: a proxy with two weak closures and a C function"
    private static let batched = "hook: a proxy with two weak closures and a C function, in a batch"
    private static let rowCount = 256

    static var group: RowGroup {
      RowGroup(
        name: name,
        comparisons: [
          Comparison(title: "/ one by hand", way: byHand),
          Comparison(title: "/ three by hand", way: multiplexer),
        ],
        rows: {
          [
            row(byHand) { Hook(hook: example_add_row, context: $0, sums: { [$0[0]] }) },
            row(multiplexer) { numbers in
              let multiplexer = UnsafeMutablePointer<example_multiplexer>.allocate(capacity: 1)
              multiplexer.initialize(to: example_multiplexer())
              multiplexer.pointee.count = 3
              multiplexer.pointee.observers.0 = example_observer(
                function: example_add_row, context: numbers)
              multiplexer.pointee.observers.1 = example_observer(
                function: example_add_row, context: numbers + 1)
              multiplexer.pointee.observers.2 = example_observer(
                function: example_add_row, context: numbers + 2)
              return Hook(
                hook: example_multiplex, context: multiplexer, sums: { [$0[0], $0[1], $0[2]] })
            },
            row(functions) { _ in
              let shared = example_share(3)!
              return Hook(
                hook: shared.pointee.hook, context: nil,
                sums: { _ in
                  let sums = shared.pointee.sums
                  return [sums.0, sums.1, sums.2]
                })
            },
            row(strong) { _ in try closures(.strong) },
            row(weak) { _ in try closures(.weak) },
            row(batched) { _ in try closures(.weak, inBatch: true) },
          ]
        },
        goals: {
          [
            Goal(
              group: name, title: "SQLite's update hook in a tight loop, three observers",
              // The fair counterpart calls three observers too. One C function does a third of the work.
              bounds: [(multiplexer, "three called by hand"), (byHand, "one C function")].flatMap {
                base, unit in
                [
                  (batched, "two weak closures and a C function, in a batch", 15),
                  (strong, "two closures, held strongly, and a C function", 15),
                  (weak, "two weak closures and a C function", 15),
                  (functions, "three C functions", 6),
                ]
                .map { way, detail, limit in
                  Bound(
                    quantity: .ratio(of: way, to: base), limit: limit, unit: unit, detail: detail,
                    isAim: base == byHand)
                }
              })
          ]
        })
    }

    /// A C function, its context, and the sums that it changes.
    private struct Hook {
      let hook: example_hook
      let context: UnsafeMutableRawPointer?
      /// The proxy in whose batch the calls run; nil for calls without a batch.
      var batch: DynamicProxy? = nil
      let sums: (UnsafeMutablePointer<Int64>) -> [Int64]

      func callRows(_ count: Int, _ iterations: Int) {
        example_call_hook(hook, context, count, iterations)
      }
    }

    private static func row(
      _ way: String, _ make: @escaping (UnsafeMutablePointer<Int64>) throws -> Hook
    ) -> Row {
      let numbers = UnsafeMutablePointer<Int64>.allocate(capacity: 3)
      numbers.initialize(repeating: 0, count: 3)
      var made: Hook?
      return Row(group: name, way: way, deliveries: rowCount) { iterations in
        guard let hook = made ?? (try? make(numbers)) else {
          return Sample(bench_start(), isRight: false)
        }
        made = hook
        let before = hook.sums(numbers)
        let start = bench_start()
        if let proxy = hook.batch {
          try? proxy.withBatch { hook.callRows(rowCount, iterations) }
        } else {
          hook.callRows(rowCount, iterations)
        }
        let sample = bench_finish(start, 0, 0)
        let each = Int64(rowCount * (rowCount + 1) / 2 * iterations)
        return Sample(
          sample, isRight: zip(hook.sums(numbers), before).allSatisfy { $0 - $1 == each })
      }
    }

    // MARK: - Proxies

    /// Adds up the rows. Only one thread delivers.
    private final class Watch: DynamicProxy.Subscriber, @unchecked Sendable {
      private(set) var sum: Int64 = 0

      static let functionTable = FunctionTable(for: Watch.self) {
        $0.on(SQLiteKey.updated) { watch, _, _, _, row in watch.sum += row }
      }
    }

    /// Subscribes a C function.
    private final class Observer: DynamicProxy.Subscriber {
      static let functionTable = FunctionTable(for: Observer.self) {
        $0.function(
          SQLiteKey.updated,
          calling: example_observe
            as @convention(c) (
              UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int64
            ) -> Void)
      }
    }

    private static func closures(
      _ lifetime: DynamicProxy.Lifetime, inBatch: Bool = false
    ) throws -> Hook {
      let proxy = try DynamicProxy("Updates") { $0.optional(SQLiteKey.updated) }
      let watches = [Watch(), Watch()]
      let observer = Observer()
      for watch in watches { try proxy.subscribe(watch, lifetime: lifetime) }
      try proxy.subscribe(observer, lifetime: lifetime)
      let pointer = try proxy.functionPointer(for: SQLiteKey.updated, context: .first, owner: proxy)
      // The closure keeps all of them, and the row keeps the closure.
      return Hook(
        hook: pointer.unsafeCast(), context: nil, batch: inBatch ? proxy : nil,
        sums: { [proxy, observer] _ in
          withExtendedLifetime((proxy, observer)) {
            [watches[0].sum, watches[1].sum, example_observed_sum()]
          }
        })
    }
  }
#endif

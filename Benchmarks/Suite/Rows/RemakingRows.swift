// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import CFwdMeasure
internal import Forwarding
internal import FwdBenchDriver

/// Proxies that are made and ended. Their protocol has one method, as a signal
/// has one message, and is made once for all of them.
enum RemakingRows {
  private static let notify = Method("notify:scale:", ((Int64, Double) -> Void).self)

  private final class Listener: DynamicProxy.Subscriber {
    static let functionTable = FunctionTable(for: Listener.self) {
      $0.on(RemakingRows.notify) { _, count, scale in bench_closures_add(count + Int64(scale)) }
    }
  }

  static var rows: [Row] {
    let notifying = Kept { try ProtocolTable("Notifying") { $0.required(notify) } }
    return [row(Way.remaking, notifying, nil), row(Way.remakingWithOne, notifying, Listener())]
  }

  private static func row(
    _ way: String, _ notifying: Kept<ProtocolTable>, _ listener: Listener?
  ) -> Row {
    Row(
      group: FanOutRows.name, way: way, size: 1,
      run: { iterations in
        orWrong {
          let notifying = try notifying.get()
          let start = bench_start()
          for _ in 0..<iterations { try remake(notifying, listener) { _ in } }
          return Sample(bench_finish(start, 0, 0))
        }
      },
      verify: { iterations in
        orWrong {
          let notifying = try notifying.get()
          let before = bench_closures_sum()
          for _ in 0..<iterations {
            try remake(notifying, listener) { try $0.send(notify, 3, 4) }
          }
          let expected = listener == nil ? 0 : 7 * Int64(iterations)
          return Sample(bench_sample(), isRight: bench_closures_sum() - before == expected)
        }
      })
  }

  @inline(__always)
  private static func remake(
    _ notifying: ProtocolTable, _ listener: Listener?, _ use: (DynamicProxy) throws -> Void
  ) throws {
    let proxy = try DynamicProxy(adopting: notifying)
    if let listener { try proxy.subscribe(listener) }
    try use(proxy)
  }
}

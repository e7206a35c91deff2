// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdMeasure
internal import FwdBenchDriver
internal import FwdBenchRows

/// The suite, with what other libraries do beside it, in one interleaved run.
@main struct FwdBenchPeers {
  static func main() {
    startThread()
    Benchmark.main(
      "fwd-bench-peers",
      [
        CallRows.group,
        FanOutRows.group(peers: { stage in SignalRows.rows(stage) + CombineRows.rows(stage) }),
        ClosureRows.group(peers: SignalRows.closures),
        DeliveryRows.group(peers: { [CombineRows.delivery] }),
        DataRows.group(peers: { ProtobufRows.rows }),
        HookGoals.group(rows: { HookRows.rows }),
      ],
      help: MissingLibraries.help, missing: MissingLibraries.notes)
  }

  /// Makes the process one with threads. Until it starts the first, the C and C++
  /// libraries skip atomic operations, and the cost of a row would depend on
  /// whether a row with threads ran before it.
  private nonisolated static func startThread() {
    _ = unsafe bench_on_threads(2, { _, _ in 0 }, nil, 0)
  }
}

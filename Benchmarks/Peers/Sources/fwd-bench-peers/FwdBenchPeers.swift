// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import FwdBenchDriver
internal import FwdBenchRows

/// The suite, with what other libraries do beside it, in one interleaved run.
@main struct FwdBenchPeers {
  static func main() {
    Benchmark.main(
      "fwd-bench-peers",
      [
        CallRows.group,
        FanOutRows.group(peers: { stage in SignalRows.rows(stage) + CombineRows.rows(stage) }),
      ])
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import FwdBenchDriver
internal import FwdBenchRows

/// Measures what this package does beside what else could be done.
@main struct FwdBench {
  static func main() {
    var groups = [
      CallRows.group, FanOutRows.group(), ClosureRows.group(), SignalRows.group,
      DeliveryRows.group(), DataRows.group(), HookGoals.group(),
    ]
    #if Journal
      groups.append(JournalRows.group)
    #endif
    Benchmark.main("fwd-bench", groups)
  }
}

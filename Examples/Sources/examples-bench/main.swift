// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// What sharing a C callback costs, and how long `fwd encode` takes for a header. scripts/examples --bench runs it.

#if Benchmark
  import FwdBenchDriver

  Benchmark.main(
    "examples-bench", [HookRows.group, LoadRows.group, ExpatRows.group, EncodeRows.group],
    help: "  The environment variable FWD_TOOL is the path of fwd, built for release.",
    missing: EncodeRows.missing)
#else
  print("built without the trait Benchmark")
#endif

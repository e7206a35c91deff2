// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Fuzzes the decoders of ForwardingWire, those that forward and those that show:
// fwd-fuzz-wire [--count N] [--seed N]

import ForwardingWire
import WireFuzz

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The number behind an option.
func number(_ option: String) -> UInt64? {
  guard let index = CommandLine.arguments.firstIndex(of: option) else { return nil }
  guard index + 1 < CommandLine.arguments.count,
    let number = UInt64(CommandLine.arguments[index + 1])
  else { fatalError("expected a number behind \(option)") }
  return number
}

let seed = number("--seed") ?? UInt64.random(in: 0 ... .max)
print("seed \(seed)")
// A crash would lose the line.
fflush(nil)
var fuzzer = WireFuzzer(seed: seed)
try fuzzer.run(count: Int(number("--count") ?? 1_000_000))
let counts = fuzzer.counts
print("\(counts.records) records, \(counts.accepted) accepted; streams refused:")
for (code, count) in counts.refused.sorted(by: { $0.value > $1.value }) {
  print("  \(code.rawValue): \(count)")
}
print("\(counts.shown) shown, \(counts.shownByForged) by forged schemas; streams refused:")
for (code, count) in counts.notShown.sorted(by: { $0.value > $1.value }) {
  print("  \(code.rawValue): \(count)")
}

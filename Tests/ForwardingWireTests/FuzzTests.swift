// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ForwardingWire
import Testing
import WireFuzz

@Suite struct FuzzTests {
  @Test func `Hostile records are refused, or forwarded with everything they point to`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var fuzzer = WireFuzzer(seed: seed)
    #expect(throws: Never.self, "seed \(seed)") { try fuzzer.run(count: 10_000) }
    // The mutations reach the checks behind the checksum.
    let counts = fuzzer.counts
    #expect(counts.accepted > 500, "seed \(seed)")
    for code in [.truncated, .checksumMismatch, .malformed] as [WireError.Code] {
      #expect(counts.refused[code, default: 0] > 0, "seed \(seed), \(code)")
    }
    #expect(counts.shown > 500 && counts.shownByForged > 20, "seed \(seed)")
    #expect(counts.notShown[.unknownSchema, default: 0] > 0, "seed \(seed)")
    // Stated layouts are compared, and records of methods that fit precede those that do not.
    #expect(counts.refusedStated[.schemaMismatch, default: 0] > 0, "seed \(seed)")
    #expect(counts.acceptedBeforeMisfits > 0, "seed \(seed)")
  }
}

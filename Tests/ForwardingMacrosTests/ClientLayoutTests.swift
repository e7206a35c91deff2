// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import Forwarding
  import Testing

  /// The core's public structs as a client sees them. This target, like clients, does
  /// not see the C part's internal types.
  @Suite struct ClientLayoutTests {
    @Test func `a resolved method has the size that the core gives it`() throws {
      #expect(MemoryLayout<ResolvedMethod>.size == 2 * MemoryLayout<UInt>.size)
      let table = try ProtocolTable("Adder") { $0.required("add:", "i@:i") }
      let proxy = try DynamicProxy(adopting: table)
      let methods = try [proxy.method(for: "add:"), proxy.method(for: "add:")]
      #expect(methods.allSatisfy { $0.selector == "add:" && $0.signature.frameSize == 4 })
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct CallPlanTests {
  /// Each move as "argument:from-to>place", then "=from-to>place" for the
  /// result.
  private func text(_ encoding: String) throws -> String? {
    guard let plan = CallPlan(of: try MethodSignature(encoding)) else { return nil }
    func text(_ bytes: Range<Int>) -> String { "\(bytes.lowerBound)-\(bytes.upperBound - 1)" }
    let moves = plan.moves.map { move in
      let source = move.argument.map { "\($0):\(text(move.bytes))" } ?? "&"
      return source + (move.isAddressOfCopy ? ">&" : ">") + "\(move.place)"
    }
    return (moves + plan.result.map { "=\(text($0.bytes))>\($0.place)" }).joined(separator: " ")
  }

  #if arch(x86_64)
    @Test(
      "follows the System V rules",
      arguments: [
        ("v", ""),
        ("v@:", "0:0-7>rdi 1:0-7>rsi"),
        ("qqd", "0:0-7>rdi 1:0-7>xmm0 =0-7>rax"),
        ("fcsif", "0:0-0>rdi 1:0-1>rsi 2:0-3>rdx 3:0-3>xmm0 =0-3>xmm0"),
        // The seventh integer and the ninth double.
        (
          "vqqqqqqcd",
          "0:0-7>rdi 1:0-7>rsi 2:0-7>rdx 3:0-7>rcx 4:0-7>r8 5:0-7>r9 6:0-0>stack +0 7:0-7>xmm0"
        ),
        (
          "vddddddddfi",
          "0:0-7>xmm0 1:0-7>xmm1 2:0-7>xmm2 3:0-7>xmm3 4:0-7>xmm4 5:0-7>xmm5 6:0-7>xmm6 7:0-7>xmm7"
            + " 8:0-3>stack +0 9:0-3>rdi"
        ),
        // By eightbytes: the classes of all members, and of each half.
        ("v{P=dd}", "0:0-7>xmm0 0:8-15>xmm1"),
        ("v{M=di}q", "0:0-7>xmm0 0:8-15>rdi 1:0-7>rsi"),
        ("v{F=fff}", "0:0-7>xmm0 0:8-11>xmm1"),
        ("v(U=dq)", "0:0-7>rdi"),
        ("v{S=ccc}", "0:0-2>rdi"),
        // Over 16 bytes: memory. What follows still gets a register.
        ("v{V=ddd}i", "0:0-23>stack +0 1:0-3>rdi"),
        // A struct goes to registers as a whole or not at all.
        (
          "vqqqqq{P=qq}q",
          "0:0-7>rdi 1:0-7>rsi 2:0-7>rdx 3:0-7>rcx 4:0-7>r8 5:0-15>stack +0 6:0-7>r9"
        ),
        // Alignment on the stack.
        ("v{V=[20c]}D", "0:0-19>stack +0 1:0-15>stack +32"),
        ("vt", "0:0-7>rdi 0:8-15>rsi"),
        ("vjdjf", "0:0-7>xmm0 0:8-15>xmm1 1:0-7>xmm2"),
        ("v{E=}i", "1:0-3>rdi"),
        // Results.
        ("B", "=0-0>rax"),
        ("{P=dd}", "=0-7>xmm0 =8-15>xmm1"),
        ("{P=qi}", "=0-7>rax =8-15>rdx"),
        ("{M=qf}", "=0-7>rax =8-15>xmm0"),
        ("{M=dc}", "=0-7>xmm0 =8-15>rax"),
        ("t", "=0-7>rax =8-15>rdx"),
        ("D", "=0-9>st0"),
        ("{L=D}", "=0-9>st0"),
        ("jD", "=0-9>st0 =16-25>st1"),
        ("{E=}", ""),
        ("{V=ddd}@:", "&>rdi 0:0-7>rsi 1:0-7>rdx =0-23>memory"),
      ])
    func systemV(encoding: String, expected: String) throws {
      #expect(try text(encoding) == expected)
    }

    @Test func `counts the stack words`() throws {
      #expect(CallPlan(of: try MethodSignature("v@:i"))?.stackSize == 0)
      #expect(CallPlan(of: try MethodSignature("v{V=[20c]}"))?.stackSize == 24)
      #expect(CallPlan(of: try MethodSignature("v{V=[20c]}D"))?.stackSize == 48)
    }

    @Test func `describes itself as a table`() throws {
      #expect(
        try MethodSignature("d@:{Vector=ddd}i").callPlan == """
          argument 0  bytes 0-7   rdi       object, the receiver
          argument 1  bytes 0-7   rsi       selector
          argument 2  bytes 0-23  stack +0  struct Vector
          argument 3  bytes 0-3   rdx       Int32
          result      bytes 0-7   xmm0      Double

          arguments on the stack: 24 bytes
          """)
      #expect(
        try MethodSignature("{Vector=ddd}").callPlan == """
          result  address     rdi     where the function writes its result
          result  bytes 0-23  memory  struct Vector
          """)
      #expect(
        try MethodSignature("v").callPlan == "nothing is passed, and nothing comes back")
    }

    @Test func `names the fields in a register`() throws {
      #expect(
        try MethodSignature(#"{R="p"{P="x"d}"n"i}q{M="a"f"b"f"n"c}{S=cc}"#).callPlan == """
          argument 0  bytes 0-7   rdi   Int64
          argument 1  bytes 0-7   xmm0  a: Float, b: Float
          argument 1  bytes 8-11  rsi   n: Int8
          argument 2  bytes 0-1   rdx   Int8, Int8
          result      bytes 0-7   xmm0  p.x: Double
          result      bytes 8-15  rax   n: Int32
          """)
    }
  #endif

  @Test(
    "covers what carries value",
    arguments: ["v@:id", "{V=ddd}@:{P=dd}{Q=cq}", "vqqqqqqqqqqddddddddddd", "i^v{S=[100c]}jdt"])
  func covers(encoding: String) throws {
    let signature = try MethodSignature(encoding)
    guard let plan = CallPlan(of: signature) else { return }
    for argument in signature.arguments {
      let moved = plan.moves.filter { $0.argument == argument.index }.flatMap(\.bytes)
      #expect(moved == Array(0..<argument.layout.size))
    }
    #expect(plan.result.flatMap(\.bytes) == Array(0..<signature.resultLayout.size))
    let places = plan.moves.map(\.place)
    #expect(Set(places).count == places.count)
    for move in plan.moves {
      guard case .stack(let offset) = move.place else { continue }
      #expect(offset + (move.isAddressOfCopy ? 8 : move.bytes.count) <= plan.stackSize)
    }
  }

  @Test func `is the same for the same meaning`() throws {
    let plan = CallPlan(of: try MethodSignature("v@:i"))
    #expect(CallPlan(of: try MethodSignature("v24@0:8i16")) == plan)
    let other = CallPlan(of: try MethodSignature("v@:f"))
    #expect(plan == nil || plan != other)
  }
}

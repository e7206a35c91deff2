// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import Testing

@Suite("fwd inspect") struct InspectCommandTests {
  /// The cells of the line that begins with some text, without the blanks.
  private func cells(_ output: String, _ start: String) -> [String]? {
    output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .first { $0.hasPrefix(start) }
      .map { line in
        let rest = line.dropFirst(start.count).components(separatedBy: "  ")
        return [start + rest[0]]
          + rest.dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
      }
  }

  @Test func `explains a method signature`() throws {
    let run = try ToolRun.fwd("inspect", "i@:*^{stat=}i^{FTW=ii}")
    #expect(run.status == 0)
    #expect(run.errorText == "")
    #expect(run.output.hasPrefix("method signature i@:*^{stat=}i^{FTW=ii}\n"))
    #expect(cells(run.output, "result") == ["result", "i", "Int32", "4", "4"])
    #expect(cells(run.output, "0") == ["0", "@", "object, the receiver", "8", "8"])
    #expect(cells(run.output, "1") == ["1", ":", "selector", "8", "8"])
    #expect(cells(run.output, "2") == ["2", "*", "C string", "8", "8", "0"])
    #expect(cells(run.output, "3") == ["3", "^{stat=}", "pointer to struct stat", "8", "8", "8"])
    #expect(cells(run.output, "4") == ["4", "i", "Int32", "4", "4", "16"])
    #expect(cells(run.output, "5") == ["5", "^{FTW=ii}", "pointer to struct FTW", "8", "8", "24"])
    #expect(
      run.output.contains(
        "argument frame: 32 bytes aligned to 8, without the receiver and the selector"))
  }

  @Test func `draws the fields of structs as a tree`() throws {
    let run = try ToolRun.fwd(
      "inspect", #"v^v{Outer="a"c"inner"{Inner="x"s"y"d}"list"[3{P=ii}]"u"(U=cq)}"#)
    #expect(run.status == 0)
    let output = run.output
    #expect(cells(output, "1")?.suffix(3) == ["56", "8", "0"])
    #expect(cells(output, "├─ c") == ["├─ c", "a: Int8", "1", "1", "+0"])
    #expect(cells(output, "├─ {Inner")?.dropFirst() == ["inner: struct Inner", "16", "8", "+8"])
    #expect(cells(output, "│  ├─ s") == ["│  ├─ s", "x: Int16", "2", "2", "+0"])
    #expect(cells(output, "│  └─ d") == ["│  └─ d", "y: Double", "8", "8", "+8"])
    #expect(
      cells(output, "├─ [3{P=ii}]") == [
        "├─ [3{P=ii}]", "list: array of 3 struct P", "24", "4", "+24",
      ])
    #expect(cells(output, "│  └─ {P=ii}") == ["│  └─ {P=ii}", "each: struct P", "8", "4"])
    #expect(cells(output, "│     └─ i") == ["│     └─ i", "Int32", "4", "4", "+4"])
    #expect(cells(output, "└─ (U=cq)")?.dropFirst() == ["u: union U", "8", "8", "+48"])
  }

  @Test func `gives the canonical spelling where it is another`() throws {
    let run = try ToolRun.fwd("inspect", "v24@0:8i16")
    #expect(run.output.hasPrefix("method signature v24@0:8i16\ncanonical spelling: v@:i\n"))
    #expect(!(try ToolRun.fwd("inspect", "v@:i").output.contains("canonical")))
  }

  @Test func `takes one type for a type, unless told otherwise`() throws {
    #expect(try ToolRun.fwd("inspect", "{Point=dd}").output.hasPrefix("type {Point=dd}\n"))
    #expect(try ToolRun.fwd("inspect", "i").output.hasPrefix("type i\n"))
    #expect(try ToolRun.fwd("inspect", "--method", "i").output.hasPrefix("method signature i\n"))
    #expect(try ToolRun.fwd("inspect", "v@:").output.hasPrefix("method signature v@:\n"))
    let both = try ToolRun.fwd("inspect", "--type", "v@:")
    #expect(both.status == 65)
    #expect(try ToolRun.fwd("inspect", "--type", "--method", "i").status == 64)
  }

  @Test func `explains a type whose size cannot be known`() throws {
    let run = try ToolRun.fwd("inspect", "{Flags=b3b5}")
    #expect(run.status == 0)
    #expect(cells(run.output, "{Flags")?.suffix(2) == ["?", "?"])
    #expect(run.output.contains("^"))
  }

  @Test(arguments: [
    ("{Point=d", 8), ("v@:{Point=d", 11), ("!", 0), ("v@:i!", 4), ("[3", 2), ("^", 1),
    ("{a=i}}", 5),
  ])
  func `puts a caret under the byte that is wrong`(encoding: String, offset: Int) throws {
    let run = try ToolRun.fwd("inspect", encoding)
    #expect(run.status == 65)
    #expect(run.output == "")
    let lines = run.errorText.split(separator: "\n", omittingEmptySubsequences: false)
    try #require(lines.count == 4)
    #expect(lines[0].hasPrefix("fwd: "))
    #expect(lines[0].hasSuffix(" at offset \(offset)"))
    #expect(lines[1] == encoding)
    #expect(lines[2] == String(repeating: " ", count: offset) + "^")
  }

  @Test func `says what a signature cannot express`() throws {
    let run = try ToolRun.fwd("inspect", "v@:b3")
    #expect(run.status == 65)
    #expect(run.errorText.hasPrefix("fwd: method signature"))
    #expect(run.errorText.contains("at offset 3"))
  }

  #if arch(x86_64) && !os(Windows)
    @Test func `draws a call plan`() throws {
      let run = try ToolRun.fwd(
        "inspect", "--plan", #"{Box="a"{P="x"d"y"d}"n"q}@:i{M="a"f"b"f"n"c}{Big=[24c]}d"#)
      #expect(run.status == 0)
      #expect(run.errorText == "")
      #expect(
        run.output == #"""
          call plan {Box="a"{P="x"d"y"d}"n"q}@:i{M="a"f"b"f"n"c}{Big=[24c]}d

            result      address     rdi       where the function writes its result
            argument 0  bytes 0-7   rsi       object, the receiver
            argument 1  bytes 0-7   rdx       selector
            argument 2  bytes 0-3   rcx       Int32
            argument 3  bytes 0-7   xmm0      a: Float, b: Float
            argument 3  bytes 8-11  r8        n: Int8
            argument 4  bytes 0-23  stack +0  struct Big
            argument 5  bytes 0-7   xmm1      Double
            result      bytes 0-23  memory    struct Box

            arguments on the stack: 24 bytes

          """#)
      let pair = try ToolRun.fwd("inspect", "--plan", #"{R="p"{P="x"d}"n"i}q"#).output
      #expect(pair.contains("  result      bytes 0-7   xmm0  p.x: Double\n"))
      #expect(pair.contains("  result      bytes 8-15  rax   n: Int32\n"))
    }

    @Test func `draws what the documentation shows`() throws {
      let page = try String(
        contentsOf: URL(filePath: #filePath).appending(
          path: "../../../../Sources/Forwarding/Documentation.docc/CallPlans.md"
        ).standardized, encoding: .utf8)
      let command = "$ fwd inspect --plan '"
      let start = try #require(page.range(of: command)).upperBound
      let end = try #require(page[start...].firstIndex(of: "'"))
      let run = try ToolRun.fwd("inspect", "--plan", String(page[start..<end]))
      #expect(page[end...].hasPrefix("'\n" + run.output + "```"))
    }
  #endif

  @Test func `reads what has a plan as a method signature`() throws {
    let nothing = try ToolRun.fwd("inspect", "--plan", "v")
    #expect(nothing.output == "call plan v\n\n  nothing is passed, and nothing comes back\n")
    #expect(try ToolRun.fwd("inspect", "--plan", "--method", "i").status == 0)
    #expect(try ToolRun.fwd("inspect", "--plan", "--type", "i").status == 64)
    let wrong = try ToolRun.fwd("inspect", "--plan", "v@:{P=d")
    #expect(wrong.status == 65)
    #expect(wrong.errorText.contains("at offset 7"))
  }

  @Test func `says that libffi is forced`() throws {
    let run = try ToolRun.fwd("inspect", "--plan", "v@:i", environment: ["FWD_CALL": "libffi"])
    #expect(run.status == 0)
    #expect(run.output.hasSuffix("calls go through libffi all the same\n"))
  }

  @Test func `takes an empty text for wrong`() throws {
    for arguments in [[""], ["--method", ""]] {
      let run =
        try arguments.count == 1
        ? ToolRun.fwd("inspect", arguments[0]) : ToolRun.fwd("inspect", arguments[0], arguments[1])
      #expect(run.status == 65)
      #expect(run.errorText.hasPrefix("fwd: "))
      #expect(run.errorText.contains("offset 0"))
    }
  }

  @Test func `survives text that no compiler writes`() throws {
    let deep = String(repeating: "{a=", count: 5000)
    for encoding in [
      deep, deep + "i" + String(repeating: "}", count: 5000),
      String(repeating: "^", count: 100_000) + "i",
      "[99999999999999999999i]", "{a\u{1B}[31m=i}", "\u{1B}[31m", "[1000000000{a=[1000000000i]}]",
      "ü", "v@:ü",
      "{=}", "[0i]", "{ü=i}",
    ] {
      let run = try ToolRun.fwd("inspect", encoding)
      #expect(!run.wasSignaled)
      #expect([0, 65].contains(run.status))
      #expect(!(run.output + run.errorText).contains("\u{1B}"))
      #expect((run.status == 0) == run.errorText.isEmpty)
    }
  }
}

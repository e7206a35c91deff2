// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingJournal
import ForwardingWire
import Foundation
import Testing

@Suite("fwd journal") struct JournalCommandTests {
  /// A journal of calls, with a pause of 100 ms before the last one.
  private struct Sample {
    let tree: TemporaryTree
    var path: String { tree.path + "/calls.journal" }

    init(_ count: Int = 4) throws {
      tree = try TemporaryTree()
      let tick = Method("tick:symbol:", ((Double, String?) -> Void).self)
      let done = Method("done:", ((Int64) -> Void).self)
      let proxy = try DynamicProxy {
        $0.optional(tick)
        $0.optional(done)
      }
      let journal = try Journal(tree.path + "/calls.journal")
      let token = try journal.record(proxy, WireSchema(of: proxy), producer: 7)
      for number in 1..<max(count, 1) {
        try proxy.send(tick, Double(number) + 0.5, number == 2 ? "a\u{1B}\"\u{202E}b" : "ACME")
      }
      if count > 0 {
        usleep(100_000)
        try proxy.send(done, 4)
      }
      token.cancel()
      try journal.close()
    }
  }

  private func times(_ sample: Sample) throws -> [Int64] {
    var entries = try Journal(reading: sample.path).entries()
    var times: [Int64] = []
    while let entry = try entries.next() { times.append(entry.record.time) }
    return times
  }

  @Test func `show lists position, time, method and arguments, safe for a terminal`() throws {
    let sample = try Sample()
    let run = try ToolRun.fwd("journal", "show", sample.path)
    #expect(run.status == 0 && run.errorText == "")
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 4)
    let time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/
    #expect(lines.allSatisfy { $0.contains(time) })
    #expect(lines[0].hasPrefix("1  ") && lines[0].hasSuffix("  tick:symbol: 1.5, \"ACME\""))
    #expect(lines[1].hasSuffix(#"  tick:symbol: 2.5, "a\u001b\"\u{202e}b""#))
    #expect(lines[3].hasPrefix("4  ") && lines[3].hasSuffix("  done: 4"))
    // The first time, as the system's date writes it.
    let seconds = try times(sample)[0] / 1_000_000_000
    let date = try ToolRun.shell("date -u -d @\(seconds) +%Y-%m-%dT%H:%M:%S")
    #expect(lines[0].contains(date.output.dropLast()))
  }

  @Test func `filters choose calls`() throws {
    let sample = try Sample()
    func positions(_ arguments: String...) throws -> [String] {
      let quoted = arguments.map { "'\($0)'" }.joined(separator: " ")
      let run = try ToolRun.shell("\"$FWD\" journal show '\(sample.path)' \(quoted)")
      #expect(run.status == 0, "\(run.errorText)")
      return run.output.split(separator: "\n").compactMap {
        $0.split(separator: " ").first.map(String.init)
      }
    }
    #expect(try positions("--method", "done:") == ["4"])
    #expect(try positions("--method", "done:", "--method", "tick:symbol:").count == 4)
    #expect(try positions("--method", "none") == [])
    #expect(try positions("--producer", "7").count == 4)
    #expect(try positions("--producer", "8") == [])
    #expect(try positions("--producer", "8", "--producer", "7", "--method", "done:") == ["4"])
    #expect(try positions("--from", "2", "--to", "3") == ["2", "3"])
    #expect(try positions("--from", "2", "--limit", "1") == ["2"])
    let times = try times(sample)
    #expect(try positions("--since", "\(times[3])") == ["4"])
    #expect(try positions("--until", "\(times[3])") == ["1", "2", "3"])
    #expect(try positions("--since", "2001-01-01").count == 4)
    #expect(try positions("--until", "2001-01-01T12:30:00.5Z") == [])
    #expect(try positions("--since", "2001-01-01 00:00", "--until", "2201-12-31T23:59").count == 4)
  }

  @Test func `a method without calls is answered with those that have some`() throws {
    let sample = try Sample()
    let run = try ToolRun.fwd("journal", "show", sample.path, "--method", "tick")
    #expect(run.status == 0 && run.output == "")
    #expect(
      run.errorText
        == "fwd: \(sample.path): no calls of \"tick\"; there are some of \"done:\", \"tick:symbol:\"\n"
    )
    let late = try ToolRun.fwd("journal", "show", sample.path, "--method", "done:", "--to", "1")
    #expect(late.errorText == "fwd: \(sample.path): no calls\n")
  }

  @Test func `export writes JSON lines`() throws {
    let sample = try Sample()
    let run = try ToolRun.fwd("journal", "export", sample.path, "--from", "2")
    #expect(run.status == 0 && run.errorText == "")
    let times = try times(sample)
    for (index, line) in run.output.split(separator: "\n").enumerated() {
      let object = try #require(
        JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      #expect(object["position"] as? Int == index + 2)
      #expect(object["time"] as? Int64 == times[index + 1])
      #expect(object["producer"] as? Int == 7)
      let arguments = try #require(object["arguments"] as? [Any])
      if index == 0 { #expect(arguments[1] as? String == "a\u{1B}\"\u{202E}b") }
      if index == 2 { #expect(arguments[0] as? Int == 4) }
    }
    #expect(run.output.split(separator: "\n").count == 3)
  }

  @Test func `replay prints calls at their pace`() throws {
    let sample = try Sample()
    let start = ContinuousClock.now
    let run = try ToolRun.fwd("journal", "replay", sample.path)
    #expect(ContinuousClock.now - start > .milliseconds(80))
    #expect(run.status == 0 && run.errorText == "")
    #expect(run.output == (try ToolRun.fwd("journal", "show", sample.path).output))
    let json = try ToolRun.fwd("journal", "replay", sample.path, "--pace", "1000", "--json")
    #expect(json.output == (try ToolRun.fwd("journal", "export", sample.path).output))
    let two = try ToolRun.fwd("journal", "replay", sample.path, "--pace", "inf", "--limit", "2")
    #expect(two.status == 0 && two.output.split(separator: "\n").count == 2)
  }

  @Test func `a replay of so many calls does not wait for the next one`() throws {
    let sample = try Sample()
    // The first call of a replay is due at once. At this pace the next one comes 1,000 s later.
    let run = try ToolRun.fwd(
      "journal", "replay", sample.path, "--from", "3", "--limit", "1", "--pace", "0.0001"
    ) { running in
      running.wait { false }
      if running.process.isRunning { running.process.terminate() }
    }
    #expect(run.status == 0 && run.output.split(separator: "\n").count == 1)
    #expect(run.output.hasPrefix("3  "))
  }

  @Test func `Control-C ends a replay`() throws {
    let sample = try Sample()
    let run = try ToolRun.fwd("journal", "replay", sample.path, "--pace", "0.0001") { running in
      // The tool prints each call when it is due. It does not wait for the next one.
      try running.waitForLine()
      kill(running.process.processIdentifier, SIGINT)
    }
    #expect(run.wasSignaled && run.status == SIGINT)
    #expect(run.output.hasPrefix("1  "))
  }

  @Test func `a reader that stops early is no failure`() throws {
    let sample = try Sample(20_000)
    for command in ["show", "export", "replay --pace inf"] {
      let run = try ToolRun.shell("\"$FWD\" journal \(command) '\(sample.path)' | head -n 1")
      #expect(run.status == 0 && run.errorText == "", "\(command)")
      #expect(run.output.split(separator: "\n").count == 1)
    }
  }

  @Test func `an empty journal has no calls`() throws {
    let sample = try Sample(0)
    let show = try ToolRun.fwd("journal", "show", sample.path)
    #expect(show.status == 0 && show.output == "")
    #expect(show.errorText == "fwd: \(sample.path): no calls\n")
    for command in ["export", "replay"] {
      let run = try ToolRun.fwd("journal", command, sample.path)
      #expect(run.status == 0 && run.output == "" && run.errorText == "")
    }
  }

  @Test(arguments: ["show", "export", "replay"])
  func `what is no journal is refused`(_ command: String) throws {
    let tree = try TemporaryTree()
    let missing = try ToolRun.fwd("journal", command, tree.path + "/missing")
    #expect(missing.status == 66 && missing.output == "")
    #expect(missing.errorText.hasPrefix("fwd: \(tree.path)/missing: the file cannot be opened"))
    #expect(missing.errorText.contains("No such file or directory"))
    try tree.makeFile("zeroes", size: 5000)
    let other = try ToolRun.fwd("journal", command, tree.path + "/zeroes")
    #expect(other.status == 65 && other.output == "")
    #expect(other.errorText.contains("not a journal"))
    try tree.makeFile("empty")
    #expect(try ToolRun.fwd("journal", command, tree.path + "/empty").status == 65)
    #expect(try ToolRun.fwd("journal", command, tree.path).status == 66)
    #expect(try ToolRun.fwd("journal", command, "").status == 66)
    #expect(try !FileManager.default.contentsOfDirectory(atPath: tree.path).contains("missing"))
  }

  @Test func `a damaged call is named behind the calls before it`() throws {
    let sample = try Sample(2000)
    var bytes = try Data(contentsOf: URL(filePath: sample.path))
    // The text of some call in the second half of the file. Where SQLite puts a call there depends on
    // how many calls were stored at a time.
    let half = bytes.count / 2
    let place = try #require(bytes.range(of: Data("ACME".utf8), in: half..<bytes.count))
    bytes[place.lowerBound] ^= 1
    try bytes.write(to: URL(filePath: sample.path))
    let run = try ToolRun.fwd("journal", "export", sample.path)
    #expect(run.status == 65)
    let count = run.output.split(separator: "\n").count
    #expect(count > 0 && count < 2000)
    #expect(run.errorText.contains("position \(count + 1): the record is damaged"))
  }

  @Test func `wrong usage is explained`() throws {
    for (arguments, word) in [
      (["--from", "5", "--to", "4"], "--to 4"), (["--limit", "0"], "--limit"),
      (["--producer", "a"], "--producer"), (["--producer", "4294967296"], "--producer"),
      (["--since", "yesterday"], "yesterday"), (["--since", "2026-02-30"], "2026-02-30"),
      (["--since", "2026-01-02", "--until", "2026-01-01"], "--until"),
      (["--until=-9223372036854775808"], "--until"),
      (["--since", "2262-04-11T23:47:16.9"], "2262-04-11"),
    ] {
      let run = try ToolRun.shell(
        "\"$FWD\" journal show file " + arguments.map { "'\($0)'" }.joined(separator: " "))
      #expect(run.status == 64 && run.errorText.contains(word), "\(arguments)")
    }
    let pace = try ToolRun.fwd("journal", "replay", "file", "--pace", "0")
    #expect(pace.status == 64 && pace.errorText.contains("--pace"))
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import Testing

@Suite("fwd") struct CommandLineTests {
  @Test func `tells its version`() throws {
    let run = try ToolRun.fwd("--version")
    #expect(run.status == 0)
    #expect(run.output == "0.1.0\n")
  }

  @Test func `helps`() throws {
    for arguments in ["--help", "walk --help", "inspect --help", "help walk", ""] {
      let run = try ToolRun.shell("\"$FWD\" \(arguments)")
      #expect(run.status == 0)
      #expect(run.output.contains("USAGE: fwd"))
      #expect(run.errorText == "")
    }
    #expect(try ToolRun.fwd("--help").output.contains("inspect"))
    #expect(try ToolRun.fwd("walk", "--help").output.contains("--max-files"))
  }

  @Test(arguments: [
    "fly", "walk --flat", "walk . .", "walk --top 0", "walk --top many", "walk --max-files -1",
    "walk --max-files", "walk --only nobody", "walk --only ''", "walk --only largest,",
    "walk --leave largest",
    "walk --leave largest@0", "walk --leave largest@x", "walk --leave nobody@3",
    "walk --leave totals@3",
    "walk --only histogram --leave largest@3", "inspect", "inspect i i",
    "encode --name Expat 'int f(int)'", "encode --json --import CExpat 'int f(int)'",
  ])
  func `wrong usage is status 64 and a hint`(arguments: String) throws {
    let run = try ToolRun.shell("\"$FWD\" \(arguments)")
    #expect(run.status == 64)
    #expect(run.output == "")
    #expect(run.errorText.hasPrefix("Error: "))
    #expect(run.errorText.contains("fwd"))
  }

  @Test func `an unknown command is answered with those that there are`() throws {
    let run = try ToolRun.fwd("wlak")
    #expect(run.status == 64)
    #expect(
      run.errorText.contains(
        "There is no command \"wlak\"; did you mean \"walk\"? "
          + "The commands are walk, inspect, encode, call, journal, help."))
    #expect(try ToolRun.fwd("q").errorText.contains("no command \"q\". The commands are walk,"))
  }
}

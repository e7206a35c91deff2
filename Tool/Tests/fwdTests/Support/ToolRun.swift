// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation

/// One run of a program, ended.
struct ToolRun {
  let status: Int32
  /// Whether a signal ended it; `status` is its number then.
  let wasSignaled: Bool
  let outputData: Data
  let errorText: String

  var output: String { String(decoding: outputData, as: UTF8.self) }

  /// The built tool, which stands beside the tests.
  static let tool: URL = {
    #if os(macOS)
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? .main
      return bundle.bundleURL.deletingLastPathComponent().appending(path: "fwd")
    #else
      return URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "fwd")
    #endif
  }()

  /// The flags by which `swiftc` finds the modules that the tests were built with.
  static let moduleFlags: String = {
    let modules = tool.deletingLastPathComponent().appending(path: "Modules").path
    let shims = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../../CShims").standardized.path
    return "-I '\(modules)' -I '\(shims)/include' -I '\(shims)/internal'"
  }()

  /// A program that has been started and may have ended.
  struct Running {
    let process: Process
    fileprivate let directory: TemporaryTree

    /// Waits until the program has written a line to its standard output or has ended, or for 5
    /// minutes.
    func waitForLine() throws {
      let newline = UInt8(ascii: "\n")
      try wait { try directory.contents("output").contains(newline) }
    }

    /// Waits until a condition holds or the program has ended, or for 5 minutes. A machine under
    /// load may take a minute to start a program.
    func wait(for condition: () throws -> Bool) rethrows {
      let end = ContinuousClock.now + .seconds(300)
      while process.isRunning, ContinuousClock.now < end, try !condition() { usleep(200) }
    }
  }

  /// Runs `fwd` and waits for its end.
  static func fwd(
    _ arguments: String..., environment: [String: String] = [:],
    whileRunning body: (Running) throws -> Void = { _ in }
  ) throws -> ToolRun {
    try fwd(arguments, environment: environment, whileRunning: body)
  }

  /// Does the same with an array of arguments.
  static func fwd(
    _ arguments: [String], environment: [String: String] = [:],
    whileRunning body: (Running) throws -> Void = { _ in }
  ) throws -> ToolRun {
    try run(tool, arguments, environment: environment, whileRunning: body)
  }

  /// Runs a shell command, for what needs one; `$FWD` is the tool.
  static func shell(_ command: String) throws -> ToolRun {
    try run(
      URL(filePath: "/bin/sh"), ["-c", command],
      environment: ["FWD": tool.path(percentEncoded: false)])
  }

  private static func run(
    _ program: URL, _ arguments: [String], environment: [String: String],
    whileRunning body: (Running) throws -> Void = { _ in }
  ) throws -> ToolRun {
    // Files instead of pipes: nobody has to read while the program runs.
    let directory = try TemporaryTree()
    let output = try directory.openFile("output")
    let error = try directory.openFile("error")
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment
      .filter { !["COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"].contains($0.key) }
      .merging(["LC_ALL": "C.UTF-8"]) { $1 }
      .merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = error
    try process.run()
    try body(Running(process: process, directory: directory))
    process.waitUntilExit()
    return ToolRun(
      status: process.terminationStatus, wasSignaled: process.terminationReason == .uncaughtSignal,
      outputData: try directory.contents("output"),
      errorText: String(decoding: try directory.contents("error"), as: UTF8.self))
  }
}

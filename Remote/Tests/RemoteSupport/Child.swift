// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation

/// A process of this program with other arguments.
public final class Child {
  private let arguments: [String]
  private let capturesOutput: Bool
  private var process = Process()
  private var pipe = Pipe()
  /// Set in the environment of a child.
  private static let mark = "REMOTE_CHILD"

  /// Ends this process when its parent has been killed. Does nothing if it is no child.
  public static func endWithParent() {
    guard ProcessInfo.processInfo.environment[mark] != nil else { return }
    let parent = getppid()
    Thread {
      while getppid() == parent { sleep(1) }
      exit(1)
    }.start()
  }

  /// - Parameter capturesOutput: whether `output` has what the process prints. Otherwise it is
  ///   printed.
  public init(_ arguments: [String], capturesOutput: Bool = false) {
    self.arguments = arguments
    self.capturesOutput = capturesOutput
  }

  /// Starts the process, again if it has ended.
  public func start() throws {
    process = Process()
    pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment
    process.environment?[Self.mark] = "1"
    if capturesOutput { process.standardOutput = pipe }
    try process.run()
  }

  public var isRunning: Bool { process.isRunning }

  /// Whether the process has ended by itself with an error.
  public var hasFailed: Bool {
    !process.isRunning
      && (process.terminationReason == .uncaughtSignal || process.terminationStatus != 0)
  }

  /// Ends the process as `kill -9` does, and waits for its end.
  public func kill() {
    guard process.isRunning else { return }
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits until the process ends by itself.
  public func wait() { process.waitUntilExit() }

  /// What the process has printed since its last start.
  public var output: String {
    String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
  }
}

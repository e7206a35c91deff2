// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import Testing

/// Deliveries in a process with one thread, by the program in Tests/Support/OneThread. The tests'
/// own process has several.
@Suite struct OneThreadTests {
  @Test func `counts references in a process with one thread, and after it has started another`()
    throws
  {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(component: "fwd-one-thread")
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let text = String(decoding: printed, as: UTF8.self)
    #expect(process.terminationStatus == 0, "\(text)")
    #expect(text.hasSuffix(" passed, 0 failed\n"), "\(text)")
  }
}

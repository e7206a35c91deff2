// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  import ForwardingJournal
  import Foundation
  import Testing

  @Suite struct FullDiskTests {
    @Test(arguments: [(1, 0), (3, 0), (1, 100), (3, 100)])
    func
      `A file that cannot grow ends the recording with an error, and keeps what was acknowledged`(
        _ threads: Int, _ calls: Int
      ) throws
    {
      let folder = try Folder()
      let recorder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(component: "fwd-journal-recorder")
      let process = Process()
      process.executableURL = URL(filePath: "/bin/sh")
      // No file may have more than 512 KiB. Without the trap, the signal would end the process.
      process.arguments = [
        "-c", "trap '' XFSZ; ulimit -f 1024; exec \"$0\" \"$@\"", recorder.path, folder.path,
        "\(threads)", "\(calls)",
      ]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      try? output.fileHandleForWriting.close()
      let printed = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      #expect(process.terminationStatus == 3)
      let lines = String(decoding: printed, as: UTF8.self).split(separator: "\n")
      let error = try #require(lines.first { $0.hasPrefix("error: ") })
      #expect(error.contains(folder.path) && error.contains("not recorded"))
      #expect(error.contains("cannot be written"))
      let numbers = Set(try Journal(reading: folder.path).numbers().map(\.number))
      let acknowledged = Set(lines.compactMap { Int64($0) })
      #expect(!acknowledged.isEmpty && acknowledged.isSubset(of: numbers))
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  import ForwardingJournal
  import Foundation
  import Testing

  @Suite struct KillTests {
    /// The program beside the test's own.
    private var recorder: URL {
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(component: "fwd-journal-recorder")
    }

    /// Has a process record, kills it after a while, and returns what it has printed: the
    /// numbers that were durable.
    private func killed(_ path: String, threads: Int, calls: Int, after: Int) throws -> [Int64] {
      let process = Process()
      process.executableURL = recorder
      process.arguments = [path, "\(threads)", "\(calls)"]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      // Until it records.
      var printed = output.fileHandleForReading.availableData
      usleep(UInt32(after))
      kill(process.processIdentifier, SIGKILL)
      try? output.fileHandleForWriting.close()
      printed += try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      // The last line may be cut.
      return String(decoding: printed, as: UTF8.self).split(separator: "\n").dropLast()
        .compactMap { Int64($0) }
    }

    @Test(arguments: [(1, 0), (3, 0), (1, 50), (3, 200)])
    func `A kill loses nothing that was acknowledged, and keeps the order`(
      _ threads: Int, _ calls: Int
    ) throws {
      for round in 0..<5 {
        let folder = try Folder()
        // The second kill comes while the file that survived the first one is recorded.
        let first = try killed(
          folder.path, threads: threads, calls: calls, after: Int.random(in: 0..<20_000))
        let before = try Journal(reading: folder.path).numbers()
        let second = try killed(
          folder.path, threads: threads, calls: calls, after: Int.random(in: 0..<20_000))
        let all = try Journal(reading: folder.path).numbers()
        #expect(all.map(\.position) == Array(1...all.count), "round \(round)")
        #expect(all.prefix(before.count).elementsEqual(before, by: ==))
        for (acknowledged, found) in [
          (first, before.map(\.number)), (second, all.dropFirst(before.count).map(\.number)),
        ] {
          #expect(!found.isEmpty)
          #expect(Set(acknowledged).isSubset(of: Set(found)))
          // Each thread's numbers are there from 0 on, without a gap or a double.
          var next = [Int64](repeating: 0, count: threads)
          for number in found {
            #expect(number & 0xFFFF_FFFF == next[Int(number >> 32)])
            next[Int(number >> 32)] += 1
          }
        }
      }
    }

    @Test func `A process that lives keeps another one from recording, and a killed one does not`()
      throws
    {
      let folder = try Folder()
      let process = Process()
      process.executableURL = recorder
      process.arguments = [folder.path, "1", "0"]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      _ = output.fileHandleForReading.availableData
      #expect(journalError { _ = try Journal(folder.path) }?.code == .inUse)
      // Reading goes on meanwhile.
      #expect(try Journal(reading: folder.path).lastPosition > 0)
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      _ = try Journal(folder.path)
    }
  }
#endif

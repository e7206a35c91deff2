// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  import Forwarding
  import ForwardingJournal
  import Foundation
  import Testing

  @Suite struct FullDiskTests {
    /// What restricts the room for a file.
    enum Bound: CaseIterable {
      /// The process may not write larger files.
      case limit
      /// The file system is full, which needs the permission to mount one.
      case fileSystem
    }

    /// Those that this process may set.
    private static let bounds: [Bound] = {
      guard let folder = try? Folder(), mountSmall(folder) else { return [.limit] }
      unmount(folder)
      return Bound.allCases
    }()

    /// Mounts a file system of 1 MiB.
    private static func mountSmall(_ folder: Folder) -> Bool {
      status("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder.directory) == 0
    }

    private static func unmount(_ folder: Folder) {
      _ = status("umount", "-l", folder.directory)
    }

    @Test(arguments: bounds)
    func `A journal that cannot be written says so everywhere, and goes on when there is room`(
      _ bound: Bound
    ) throws {
      let folder = try Folder()
      var limit = ""
      switch bound {
      case .limit: limit = Self.fileLimit
      case .fileSystem: try #require(Self.mountSmall(folder))
      }
      defer {
        if bound == .fileSystem { Self.unmount(folder) }
      }
      let lines = try Self.record(limit, exitStatus: 0, folder.path)
      let durable = try #require(lines.first?.split(separator: " ").last.flatMap { Int64($0) })
      #expect(durable > 0)
      #expect(
        lines.dropFirst() == [
          "first flush notWritten", "delivered 10", "reported 10", "flush notWritten",
          "append notWritten", "close notWritten",
        ])

      if bound == .fileSystem {
        try #require(Self.status("mount", "-o", "remount,size=16m", folder.directory) == 0)
      }
      let proxy = try Log.proxy()
      let journal = try Journal(folder.path)
      let kept = try journal.numbers().map(\.number)
      #expect(kept.count >= durable && kept == Array(0..<Int64(kept.count)))
      let recording = try journal.record(proxy, Log.schema(proxy))
      for number in 0..<1000 { try proxy.send(Log.number, Int64(number)) }
      try journal.append([], marks: ["mark": 1])
      recording.cancel()
      try journal.close()
      let all = try Journal(reading: folder.path).numbers()
      #expect(all.map(\.number) == kept + Array(0..<1000))
      #expect(all.map(\.position) == Array(1...all.count))
    }

    /// A command by which no file may have more than 512 KiB. Without the trap, the signal would end the process.
    private static let fileLimit = "trap '' XFSZ; ulimit -f 1024; "

    /// Runs the recorder behind a command of the shell.
    ///
    /// - Returns: the lines that it prints.
    private static func record(
      _ command: String, exitStatus: Int32, _ arguments: String...
    ) throws -> [Substring] {
      let process = Process()
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", command + "exec \"$0\" \"$@\"", recorder] + arguments
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      try? output.fileHandleForWriting.close()
      let printed = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      #expect(process.terminationStatus == exitStatus)
      return String(decoding: printed, as: UTF8.self).split(separator: "\n")
    }

    private static var recorder: String {
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(component: "fwd-journal-recorder").path
    }

    /// The exit status of a program; nil if it cannot be started.
    private static func status(_ arguments: String...) -> Int32? {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = arguments
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { return nil }
      process.waitUntilExit()
      return process.terminationStatus
    }

    @Test(arguments: [(1, 0), (3, 0), (1, 100), (3, 100)])
    func
      `A file that cannot grow ends the recording with an error, and keeps what was acknowledged`(
        _ threads: Int, _ calls: Int
      ) throws
    {
      let folder = try Folder()
      let lines = try Self.record(
        Self.fileLimit, exitStatus: 3, folder.path, "\(threads)", "\(calls)")
      let error = try #require(lines.first { $0.hasPrefix("error: ") })
      #expect(error.contains(folder.path) && error.contains("not recorded"))
      #expect(error.contains("cannot be written"))
      let numbers = Set(try Journal(reading: folder.path).numbers().map(\.number))
      let acknowledged = Set(lines.compactMap { Int64($0) })
      #expect(!acknowledged.isEmpty && acknowledged.isSubset(of: numbers))
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Benchmark
  import CFwdMeasure
  import ExampleSupport
  import Foundation
  import FwdBenchDriver

  /// `fwd encode` of a header, beside clang, which only checks its syntax. The time is the CPU time of the process.
  enum EncodeRows {
    private static let name = "encode"
    private static let headers = [
      "sqlite3.h", "uv.h", "curl/curl.h", "expat.h", "stdlib.h", "ftw.h",
    ]
    private static let tool = ProcessInfo.processInfo.environment["FWD_TOOL"]
    private static let clang = find("clang")

    /// The headers that clang finds.
    private static let found: [String] = {
      guard tool != nil, let clang else { return [] }
      return headers.filter { run([clang, "-fsyntax-only", "-xc", source($0)]) != nil }
    }()

    static var missing: [String] {
      if tool == nil { return ["FWD_TOOL is not set: the rows of fwd encode are left out"] }
      return headers.filter { !found.contains($0) }.map {
        "\($0) is missing: its rows are left out"
      }
    }

    static var group: RowGroup {
      RowGroup(
        name: name,
        rows: {
          guard let tool, let clang else { return [] }
          return found.flatMap { header in
            [
              row(checked(header), [clang, "-fsyntax-only", "-xc", source(header)]),
              row(encoded(header), [tool, "encode", "--header", header]),
            ]
          }
        },
        goals: {
          [
            Goal(
              group: name, title: "fwd encode, more than clang -fsyntax-only",
              bounds: headers.map { header in
                Bound(
                  quantity: .difference(of: encoded(header), from: checked(header)),
                  limit: 100_000_000, unit: "ns", detail: header)
              })
          ]
        })
    }

    private static func checked(_ header: String) -> String { "clang -fsyntax-only: \(header)" }
    private static func encoded(_ header: String) -> String { "fwd encode: \(header)" }

    private static func row(_ way: String, _ command: [String]) -> Row {
      let once = { (iterations: Int) in
        var total = bench_start()
        total.nanoseconds = 0
        var isRight = true
        for _ in 0..<iterations {
          if let spent = run(command) { total.nanoseconds += spent } else { isRight = false }
        }
        return Sample(total, isRight: isRight)
      }
      return Row(group: name, way: way, run: once, verify: { _ in once(1) })
    }

    // MARK: - Processes

    /// A C file that includes a header.
    private static func source(_ header: String) -> String {
      let path = "\(directory.path)/\(header.replacing("/", with: "_")).c"
      if !FileManager.default.fileExists(atPath: path) {
        try? "#include <\(header)>\n".write(toFile: path, atomically: true, encoding: .utf8)
      }
      return path
    }

    private static nonisolated(unsafe) let directory = try! TemporaryDirectory()

    private static func find(_ program: String) -> String? {
      (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    /// Runs a program without its output. Gives its CPU time in nanoseconds, or nil if it fails.
    private static func run(_ command: [String]) -> UInt64? {
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
      var arguments = command.map { strdup($0) } + [nil]
      defer { for argument in arguments { free(argument) } }
      var process: pid_t = 0
      guard posix_spawn(&process, command[0], &actions, nil, &arguments, environ) == 0 else {
        return nil
      }
      var status: Int32 = 0
      var usage = rusage()
      guard wait4(process, &status, 0, &usage) == process, status == 0 else { return nil }
      let microseconds =
        (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000 + usage.ru_utime.tv_usec
        + usage.ru_stime.tv_usec
      return UInt64(microseconds) * 1000
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros && os(Linux)
  import Foundation
  import Testing

  /// A diagnostic of the compiler.
  private struct Diagnostic: CustomStringConvertible {
    let file: String
    let line: Int
    let description: String

    /// Reads `file:line:column: error: message`; nil for other lines.
    init?(_ text: Substring) {
      let parts = text.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
      guard parts.count == 4, let line = Int(parts[1]),
        parts[3].hasPrefix(" error:") || parts[3].hasPrefix(" warning:")
      else { return nil }
      file = String(parts[0])
      self.line = line
      description = String(text)
    }
  }

  /// Compiles the files in Fixtures with the plugin that stands beside this program.
  @Suite struct CompiledFixtureTests {
    /// The directory of the built products.
    private static let products = URL(
      fileURLWithPath: "/proc/self/exe"
    ).resolvingSymlinksInPath().deletingLastPathComponent()
    private static let package = fixtures.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()

    private func compile(
      _ file: String, _ options: [String] = []
    ) throws -> (status: Int32, diagnostics: [Diagnostic]) {
      let plugin = Self.products.appendingPathComponent("ForwardingMacrosPlugin-tool").path
      let maps = ["CShims/include", "CShims/internal", "CLibFFI"].flatMap {
        ["-Xcc", "-fmodule-map-file=\(Self.package.path)/\($0)/module.modulemap"]
      }
      let compiler = Process()
      compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      compiler.arguments =
        [
          "swiftc", "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-module-name", "Fixture",
          "-diagnostic-style", "llvm", "-I", Self.products.appendingPathComponent("Modules").path,
          "-load-plugin-executable", "\(plugin)#ForwardingMacrosPlugin",
          "-Xcc", "-I\(Self.package.path)/CShims/include",
        ] + maps + options + [fixtures.appendingPathComponent(file).path]
      let output = Pipe()
      compiler.standardError = output
      compiler.standardOutput = output
      try compiler.run()
      let text = String(
        decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      compiler.waitUntilExit()
      let diagnostics = text.split(separator: "\n").compactMap { Diagnostic($0) }
      if compiler.terminationStatus != 0 && diagnostics.isEmpty {
        Issue.record("swiftc failed without a diagnostic: \(text.prefix(2000))")
      }
      return (compiler.terminationStatus, diagnostics)
    }

    @Test(arguments: [
      ["-swift-version", "6", "-strict-memory-safety"],
      [
        "-swift-version", "6", "-strict-memory-safety", "-enable-upcoming-feature",
        "ExistentialAny", "-enable-upcoming-feature", "MemberImportVisibility",
        "-enable-upcoming-feature", "NonisolatedNonsendingByDefault",
        "-enable-upcoming-feature", "InferIsolatedConformances",
      ],
      ["-swift-version", "6", "-O", "-wmo"],
      ["-swift-version", "5", "-strict-concurrency=complete"],
    ]) func `expanded code has no warning`(_ options: [String]) throws {
      let (status, diagnostics) = try compile("Clean.swift", options + ["-warnings-as-errors"])
      #expect(diagnostics.isEmpty)
      #expect(status == 0)
    }

    @Test(arguments: ["Faults.swift", "Races.swift"])
    func `what the macro cannot see is found at the user's line`(_ file: String) throws {
      let source = try String(
        contentsOf: fixtures.appendingPathComponent(file), encoding: .utf8)
      var expected: [Int: (kind: String, message: String)] = [:]
      for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false)
        .enumerated()
      {
        for kind in ["error", "warning"] {
          guard let mark = line.range(of: "// \(kind): ") else { continue }
          expected[index + 1] = (" \(kind): ", String(line[mark.upperBound...]))
        }
      }
      #expect(expected.count >= 8)
      let (_, diagnostics) = try compile(file, ["-swift-version", "6"])
      for (line, (kind, message)) in expected {
        #expect(
          diagnostics.contains {
            $0.line == line && $0.description.contains(kind) && $0.description.contains(message)
          }, "line \(line): \(message)")
      }
      for diagnostic in diagnostics
      where !diagnostic.file.hasSuffix("/" + file) || expected[diagnostic.line] == nil {
        Issue.record("not at a line of the user's that has a fault: \(diagnostic)")
      }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import Foundation
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  /// The directory of files that tests read.
  let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures")

  /// An expected expansion, from Fixtures/Expansions.
  func expansion(_ name: String) -> String {
    let file = fixtures.appendingPathComponent("Expansions/\(name).txt")
    return (try? String(contentsOf: file, encoding: .utf8)) ?? "there is no \(file.path)"
  }

  /// Expects the expansion of a source, its diagnostics, and the source after fix-its.
  func expectExpansion(
    _ source: String, by macros: [String: MacroSpec], to expanded: String,
    diagnostics: [DiagnosticSpec] = [], applying fixIts: [String]? = nil,
    giving fixed: String? = nil, _ location: Testing.SourceLocation
  ) {
    assertMacroExpansion(
      source, expandedSource: expanded, diagnostics: diagnostics, macroSpecs: macros,
      applyFixIts: fixIts, fixedSource: fixed, indentationWidth: .spaces(2),
      failureHandler: { failure in
        Issue.record(Comment(rawValue: failure.message), sourceLocation: location)
      })
  }
#endif

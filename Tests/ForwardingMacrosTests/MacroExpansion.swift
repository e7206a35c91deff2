// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  /// Expects what macros make of a source, and say about it, and what comes of
  /// their fix-its.
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

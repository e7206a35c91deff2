// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder
  internal import SwiftSyntaxMacros

  /// A line of the user's source file.
  ///
  /// Generated members begin with the directive of the line that they were made
  /// from. The compiler then reports an error in a member on the user's own line
  /// rather than inside the expansion. For that reason each generated member is
  /// one line of text, and the macros turn the formatter off, which would break it
  /// up.
  internal struct SourceLine: Equatable {
    /// The path as a string literal.
    private let file: String
    private let number: Int

    /// The line of a node; nil if the compiler does not know it.
    internal init?(of node: some SyntaxProtocol, in context: some MacroExpansionContext) {
      guard
        let location = context.location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath),
        let number = Int(location.line.trimmedDescription)
      else { return nil }
      file = location.file.trimmedDescription
      self.number = number
    }

    /// The directive for text that begins some lines further down. Line numbers begin
    /// with 1, so text of the first lines of a file is reported a little too low.
    fileprivate func directive(before distance: Int) -> String {
      "#sourceLocation(file: \(file), line: \(max(1, number - distance)))"
    }
  }

  extension SourceLine? {
    /// The directive with a line break, or nothing.
    internal var directive: String { map { $0.directive(before: 0) + "\n" } ?? "" }

    /// The directive as a declaration of its own, before one that has a line of
    /// documentation. The compiler puts an empty line between two declarations of an
    /// expansion.
    internal var declaration: DeclSyntax? { map { "\(raw: $0.directive(before: 2))" } }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  // A conformer writes nothing to leave out an optional method. The protocol has a
  // second requirement of the same name, whose result is an associated type. If a
  // conformer has the method, the method is the witness of both requirements, and
  // the associated type is inferred to be the method's result. If not, extensions
  // provide both witnesses, and the second one's result is `_ForwardedMissing`.
  // The second requirement is disfavored, so that calls never resolve to it.

  /// Writes the declarations of an optional method.
  internal struct OptionalWriter {
    private let method: Method
    private let source: ForwardedDeclaration
    private let marks: String

    internal init(_ method: Method, _ source: ForwardedDeclaration) {
      self.method = method
      self.source = source
      marks = source.availability.text + (source.isNonisolated ? "nonisolated " : "")
    }

    private func signature(_ result: String?) -> String {
      let arrow = result.map { " -> \($0)" } ?? ""
      return "func \(method.name)(\(method.parameterList(in: .protocol)))\(method.effects)\(arrow)"
    }

    /// The members that the protocol needs.
    internal var requirements: [DeclSyntax] {
      [
        """
        /// Tells whether a conformer has `\(raw: method.fullName)`.
        associatedtype \(raw: method.marker) = ForwardingMacros._ForwardedMissing
        """,
        """
        @_disfavoredOverload \(raw: method.marks.withoutDiscardableResult.text)\(raw: signature(method.marker))
        """,
      ]
    }

    /// The witnesses for conformers that leave the method out.
    internal func extensions(of type: some TypeSyntaxProtocol) throws -> [ExtensionDeclSyntax] {
      let name = type.trimmed
      let body: String
      if let value = method.defaultResult(in: .protocol, of: source.proxy(beside: type)) {
        body = "{ \(value) }"
      } else if method.result == nil {
        body = "{}"
      } else {
        body = "{ throw ForwardingMacros._ForwardedMissing.error(\"\(method.selector)\") }"
      }
      return [
        try ExtensionDeclSyntax(
          """
          \(raw: marks)extension \(name) {
            /// The method of conformers that leave it out. A proxy does not call it.
          \(raw: method.line.directive)  \(raw: method.marks.text)\(raw: source.access)\(raw: signature(method.result(in: .protocol))) \(raw: body)
          }
          """),
        try ExtensionDeclSyntax(
          """
          \(raw: marks)extension \(name) where \(raw: method.marker) == ForwardingMacros._ForwardedMissing {
          \(raw: method.line.directive)  @_disfavoredOverload \(raw: method.marks.withoutDiscardableResult.text)\(raw: source.access)\(raw: signature("ForwardingMacros._ForwardedMissing")) { ForwardingMacros._ForwardedMissing() }
          }
          """),
      ]
    }
  }
#endif

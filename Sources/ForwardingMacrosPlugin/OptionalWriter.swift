// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  // How a method is optional with nothing written on those who leave it out: a
  // second requirement of the same name gives an associated type instead of the
  // result. A conformer that has the method has it as a witness for both, so the
  // type is inferred to be its result. For one that has it not, extensions have
  // both, and the second gives `ForwardedMissing`. Nobody means the second where
  // the first would do: it is disfavored.

  /// Writes what an optional method needs.
  internal struct OptionalWriter {
    private let method: Method
    private let access: String
    private let isolation: String

    internal init(_ method: Method, _ declaration: ForwardedDeclaration) {
      self.method = method
      access = declaration.access
      isolation = declaration.isNonisolated ? "nonisolated " : ""
    }

    private func signature(_ result: String?) -> String {
      let arrow = result.map { " -> \($0)" } ?? ""
      return "func \(method.name)(\(method.parameterList(in: .protocol)))\(method.effects)\(arrow)"
    }

    /// What stands in the protocol besides.
    internal var requirements: [DeclSyntax] {
      [
        """
        /// Tells whether a conformer has `\(raw: method.fullName)`.
        associatedtype \(raw: method.marker.asIdentifier) = ForwardingMacros.ForwardedMissing
        """,
        """
        @_disfavoredOverload \(raw: method.isolation)\(raw: signature(method.marker.asIdentifier))
        """,
      ]
    }

    /// The implementations of those who leave the method out.
    internal func extensions(of type: some TypeSyntaxProtocol) throws -> [ExtensionDeclSyntax] {
      let proxy = type.trimmedDescription.bare + "Proxy"
      let body: String
      if let value = method.defaultResult(in: .protocol, of: proxy) {
        body = "{\n    \(value)\n  }"
      } else if method.result == nil {
        body = "{}"
      } else {
        body = "{\n    throw ForwardingMacros.ForwardedMissing.error(\"\(method.selector)\")\n  }"
      }
      let name = type.trimmedDescription
      return [
        try ExtensionDeclSyntax(
          """
          \(raw: isolation)extension \(raw: name) {
            /// What a conformer does that leaves the method out; a proxy does not
            /// call it.
            \(raw: method.attributes)\(raw: access)\(raw: signature(method.result(in: .protocol))) \(raw: body)
          }
          """),
        try ExtensionDeclSyntax(
          """
          \(raw: isolation)extension \(raw: name) where \(raw: method.marker.asIdentifier) == ForwardingMacros.ForwardedMissing {
            @_disfavoredOverload \(raw: method.isolation)\(raw: access)\(raw: signature("ForwardingMacros.ForwardedMissing")) {
              ForwardingMacros.ForwardedMissing()
            }
          }
          """),
      ]
    }
  }
#endif

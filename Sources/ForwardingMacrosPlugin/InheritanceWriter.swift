// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  // The macro of a protocol does not see what another one declares that it
  // inherits from. So each protocol brings the methods of all proxies that
  // conform to it, in an extension; that of its own proxy has them in the class.

  /// Writes what the proxies of protocols that inherit from this one need.
  internal struct InheritanceWriter {
    private let source: ForwardedDeclaration

    internal init(_ source: ForwardedDeclaration) { self.source = source }

    /// The extension.
    internal func declaration(of type: some TypeSyntaxProtocol) throws -> ExtensionDeclSyntax {
      let proxy = type.trimmedDescription.bare + "Proxy"
      let calls = CallWriter(source, in: .protocol, of: proxy).members
      return try ExtensionDeclSyntax(
        """
        \(raw: source.isNonisolated ? "nonisolated " : "")extension \(raw: type.trimmedDescription) where Self: ForwardingMacros.ForwardedBase {
        \(raw: (calls + asking(proxy)).joined(separator: "\n\n"))
        }
        """)
    }

    private func asking(_ proxy: String) -> [String] {
      if source.methods.isEmpty { return [] }
      let isolation = source.actor == nil ? "" : "nonisolated "
      return [
        """
          /// Whether a call of the method would reach someone.
          @_disfavoredOverload \(isolation)\(source.access)func responds(to requirement: \(proxy).Requirement) -> Bool {
            _forwarding.responds(to: requirement.rawValue, of: \(proxy)._protocol)
          }
        """,
        """
          /// The name that untyped callers and subscribers know a method by.
          @_disfavoredOverload \(isolation)\(source.access)static func selector(
            for requirement: \(proxy).Requirement
          ) -> ForwardingMacros.MethodSelector {
            \(proxy)._protocol.selector(requirement.rawValue)
          }
        """,
      ]
    }
  }
#endif

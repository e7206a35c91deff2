// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  // The macro of a protocol does not see the requirements that the protocol
  // inherits. So each protocol has an extension with the methods for the
  // proxies of all protocols that inherit from it. The class of its own proxy
  // has the methods itself.

  /// Writes the extension that proxies of inheriting protocols use.
  internal struct InheritanceWriter {
    private let source: ForwardedDeclaration

    internal init(_ source: ForwardedDeclaration) { self.source = source }

    /// The extension.
    internal func declaration(of type: some TypeSyntaxProtocol) throws -> ExtensionDeclSyntax {
      let name = type.trimmedDescription
      let proxy = name.bare + "Proxy"
      let calls = CallWriter(source, in: .protocol, of: proxy).members
      return try ExtensionDeclSyntax(
        """
        \(raw: source.availability)\(raw: source.isNonisolated ? "nonisolated " : "")extension \(raw: name) where Self: ForwardingMacros.ForwardedBase {
        \(raw: (calls + requirements(proxy) + [family(name, proxy)]).joined(separator: "\n\n"))
        }
        """)
    }

    private var isolation: String { source.actor == nil ? "" : "nonisolated " }

    private func requirements(_ proxy: String) -> [String] {
      if source.methods.isEmpty { return [] }
      return [
        """
          /// Whether a call of the method would reach a listener.
          @_disfavoredOverload \(isolation)\(source.access)func responds(to requirement: \(proxy).Requirement) -> Swift.Bool { _forwarding.responds(to: requirement.rawValue, of: \(proxy)._protocol) }
        """,
        """
          /// The name of a method for untyped callers and subscribers.
          @_disfavoredOverload \(isolation)\(source.access)static func selector(for requirement: \(proxy).Requirement) -> ForwardingMacros.MethodSelector { \(proxy)._protocol.selector(requirement.rawValue) }
        """,
      ]
    }

    /// The overload by which the proxy of an inheriting protocol finds this
    /// protocol. The type checker chooses the overload, so a type alias of the
    /// protocol works, too.
    private func family(_ name: String, _ proxy: String) -> String {
      """
        \(isolation)\(source.access)static func _family(of _: (any \(name)).Type) -> ForwardingMacros.ForwardedProtocol<any \(name), any \(name).Type> { \(proxy)._protocol }
      """
    }
  }
#endif

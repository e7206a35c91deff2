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
      let proxy = source.proxy(beside: type)
      let members =
        CallWriter(source, in: .protocol, of: proxy).members + queries(proxy)
        + [family(of: type, proxy)] + sendability(of: type) + confinement(of: type)
      return try ExtensionDeclSyntax(
        """
        \(raw: source.availability.text)\(raw: source.isNonisolated ? "nonisolated " : "")extension \(type.trimmed) where Self: ForwardingMacros._ForwardedBase {
        \(raw: members.joined(separator: "\n"))
        }
        """)
    }

    private var head: String { source.nonisolated + source.access }

    /// The functions of `ForwardedProxy` that take a requirement of the proxy's own protocol.
    private func queries(_ proxy: String) -> [String] {
      if source.members.isEmpty { return [] }
      let parameter = "for requirement: \(proxy).Requirement"
      return [
        "  /** Whether a call of the method would reach a listener. */ @_disfavoredOverload \(source.access)"
          + "func responds(to requirement: \(proxy).Requirement) -> Swift.Bool "
          + "{ _forwarding.responds(to: requirement.rawValue, of: \(proxy)._protocol) }",
        "  /** The name of a method for untyped callers and subscribers. */ @_disfavoredOverload \(head)"
          + "static func selector(\(parameter)) -> ForwardingMacros.MethodSelector "
          + "{ \(proxy)._protocol.selector(requirement.rawValue) }",
      ]
    }

    /// The overload that accepts the protocol as a parent with `sendable: true`.
    private func sendability(of type: some TypeSyntaxProtocol) -> [String] {
      if !source.isSendable { return [] }
      return ["  \(head)static func _sendable(of _: (any \(type.trimmedDescription)).Type) {}"]
    }

    /// The overload that tells the actor of the protocol to an inheriting protocol, and that
    /// listeners are `Sendable` to one with any actor.
    private func confinement(of type: some TypeSyntaxProtocol) -> [String] {
      let name = type.trimmedDescription
      if source.isShared {
        return [
          "  \(head)static func _confined<Home>(_: (any \(name)).Type, to _: Home.Type) {}"
        ]
      }
      guard let actor = source.actor else { return [] }
      return [
        "  \(head)static func _confined(_: (any \(name)).Type, to _: \(actor.name).Type) {}"
      ]
    }

    /// The overload by which the proxy of an inheriting protocol finds this
    /// protocol. The type checker chooses the overload, so a type alias of the
    /// protocol works, too.
    private func family(of type: some TypeSyntaxProtocol, _ proxy: String) -> String {
      let name = type.trimmedDescription
      return "  \(head)static func _family(of _: (any \(name)).Type) -> "
        + "ForwardingMacros._ForwardedProtocol<any \(name)> { \(proxy)._protocol }"
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  /// Writes the class of the typed proxy.
  internal struct ProxyWriter {
    private let source: ForwardedDeclaration
    private let library = "ForwardingMacros."

    internal init(_ source: ForwardedDeclaration) { self.source = source }

    private var access: String { source.access }
    private var proxy: String { source.name.bare + "Proxy" }

    /// The class. Errors in its second line are reported at the protocol's name.
    internal var declaration: DeclSyntax {
      """
      /// A typed proxy of `\(raw: source.name)`: forwards each call to its listeners. Made by `@Forwarded`.
      \(raw: source.availability)\(raw: isolation)\(raw: access)final class \(raw: proxy): \(raw: source.name), \(raw: library)ForwardedProxy {
        \(raw: access)typealias Listener = any \(raw: source.name)
        \(raw: access)typealias Conformer = any \(raw: source.name).Type

      \(raw: requirements)

        \(raw: nonisolated)\(raw: access)let _forwarding: \(raw: library)ForwardedCore

        /// Makes a proxy without listeners.
        \(raw: nonisolated)\(raw: access)init() { _forwarding = \(raw: library)ForwardedCore(\(raw: proxy)._protocol) }

        /// Makes a proxy without listeners.
        ///
        /// - Throws: `ForwardingError` if a policy of the configuration does not fit its method.
        \(raw: nonisolated)\(raw: access)init(configuration: \(raw: library)DynamicProxy.Configuration) throws(\(raw: library)ForwardingError) { _forwarding = try \(raw: library)ForwardedCore(\(raw: proxy)._protocol, configuration) }

      \(raw: members.joined(separator: "\n\n"))
      }
      """
    }

    private var isolation: String {
      source.actor.map { $0 + " " } ?? (source.isNonisolated ? "nonisolated " : "")
    }

    /// For the members of a class with an actor that any thread may use.
    private var nonisolated: String { source.actor == nil ? "" : "nonisolated " }

    private var members: [String] {
      let table = TableWriter(source, of: proxy)
      let thunks = ThunkWriter(source, of: proxy)
      return untyped + CallWriter(source, in: .proxy, of: proxy).members + table.members
        + source.methods.enumerated().flatMap { thunks.thunks($0, $1) }
        + source.methods.compactMap { $0.hiddenDefault(access, of: proxy) }
    }

    /// A class with a global actor is `Sendable`, but its untyped proxy must
    /// forward only on that actor.
    private var untyped: [String] {
      if source.actor == nil { return [] }
      return [
        """
          /// The untyped proxy, for untyped subscribers and callers in C. The caller promises to forward on the actor.
          @unsafe \(access)var proxy: \(library)DynamicProxy { unsafe _forwarding.untyped }
        """
      ]
    }

    // MARK: The methods as cases

    private var requirements: String {
      if source.methods.isEmpty {
        // Swift has no enum with a raw type and no case.
        return """
            /// The methods of `\(source.name)`, which inherits all that it has.
            \(access)enum Requirement: Swift.RawRepresentable, Swift.CaseIterable, Swift.Hashable, Swift.Sendable {
              \(access)init?(rawValue: Swift.Int) { return nil }
              \(access)var rawValue: Swift.Int { switch self {} }
            }
          """
      }
      return """
          /// The methods of `\(source.name)`.
          \(access)enum Requirement: Swift.Int, Swift.CaseIterable, Swift.Sendable {
        \(source.methods.map(requirement).joined(separator: "\n"))
          }
        """
    }

    private func requirement(_ method: Method) -> String {
      let untyped =
        method.isAsync ? "which C cannot call" : "to untyped callers `\(method.selector)`"
      return """
            /// `\(method.fullName)`, \(untyped).
            case \(method.caseName.asIdentifier)
        """
    }
  }
#endif

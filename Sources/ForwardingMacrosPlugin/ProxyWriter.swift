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

    /// The class.
    internal var declaration: DeclSyntax {
      """
      /// A typed proxy of `\(raw: source.name)`, which forwards what it is called for to
      /// its listeners. Made by `@Forwarded`.
      \(raw: isolation)\(raw: access)final class \(raw: proxy): \(raw: source.name), \(raw: library)ForwardedProxy {
        \(raw: access)typealias Listener = any \(raw: source.name)
        \(raw: access)typealias Conformer = any \(raw: source.name).Type

      \(raw: requirements)

        \(raw: nonisolated)\(raw: access)let _forwarding: \(raw: library)ForwardedCore

        /// Makes a proxy without listeners.
        \(raw: nonisolated)\(raw: access)init() {
          _forwarding = \(raw: library)ForwardedCore(\(raw: proxy)._protocol)
        }

        /// Makes a proxy without listeners.
        ///
        /// - Throws: `TableError` if a policy of the configuration does not fit its
        ///   method.
        \(raw: nonisolated)\(raw: access)init(
          configuration: \(raw: library)DynamicProxy.Configuration
        ) throws(\(raw: library)TableError) {
          _forwarding = try \(raw: library)ForwardedCore(\(raw: proxy)._protocol, configuration)
        }

      \(raw: members.joined(separator: "\n\n"))
      }
      """
    }

    private var isolation: String {
      source.actor.map { $0 + " " } ?? (source.isNonisolated ? "nonisolated " : "")
    }

    /// What may be used anywhere of a class with an actor says so.
    private var nonisolated: String { source.actor == nil ? "" : "nonisolated " }

    private var members: [String] {
      let table = TableWriter(source, of: proxy)
      let thunks = ThunkWriter(source, of: proxy)
      return untyped + CallWriter(source, in: .proxy, of: proxy).members + [table.declaration]
        + source.methods.enumerated().flatMap { thunks.thunks($0, $1) } + table.implemented
        + source.methods.compactMap { $0.hiddenDefault(access, of: proxy) }
    }

    /// A class with an actor is `Sendable`, but what is behind it may only be
    /// used on the actor.
    private var untyped: [String] {
      if source.actor == nil { return [] }
      return [
        """
          /// The proxy behind this one, for untyped subscribers, and callers in C.
          /// Whoever forwards through it promises to do so on the actor.
          @unsafe \(access)var proxy: \(library)DynamicProxy { unsafe _forwarding.untyped }
        """
      ]
    }

    // MARK: The methods as cases

    private var requirements: String {
      let head = """
          /// The methods of `\(source.name)`.
          \(access)enum Requirement: Swift.Int, Swift.CaseIterable, Swift.Sendable {
        """
      if source.methods.isEmpty {
        // There is no enum with a raw type and no case.
        return """
            /// The methods of `\(source.name)`: none but those that it inherits.
            \(access)enum Requirement: Swift.RawRepresentable, Swift.CaseIterable, Swift.Hashable, Swift.Sendable {
              \(access)init?(rawValue: Swift.Int) { return nil }
              \(access)var rawValue: Swift.Int { switch self {} }
            }
          """
      }
      return "\(head)\n\(source.methods.map(requirement).joined(separator: "\n"))\n  }"
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  // Whatever is the same for all protocols is in `ForwardedProxy` and in the folder
  // Runtime of the library. The macro writes what depends on the protocol's types, and
  // the functions of a proxy of a global actor that must be isolated.

  /// Writes the class of the typed proxy.
  internal struct ProxyWriter {
    private let source: ForwardedDeclaration
    private let library = "ForwardingMacros."

    internal init(_ source: ForwardedDeclaration) { self.source = source }

    private var access: String { source.access }
    private var nonisolated: String { source.nonisolated }

    /// The class. Errors in its second line are reported at the protocol's name.
    internal var declaration: DeclSyntax {
      """
      /// A typed proxy of `\(source.name)`: forwards each call to its listeners. Made by `@Forwarded`.
      \(raw: source.availability.text)\(raw: isolation)\(raw: access)final class \(raw: source.proxy): \(source.name), \(raw: conformances) {
      \(raw: members.joined(separator: "\n"))
      }
      """
    }

    private var isolation: String {
      source.actor.map { [$0].text } ?? (source.isNonisolated ? "nonisolated " : "")
    }

    private var members: [String] {
      let core = library + "_ForwardedCore"
      let family = "\(library)_ForwardedProtocol<any \(source.name)>"
      return listeners + [
        requirements,
        "  \(nonisolated)\(access)let _forwarding: \(core)",
        "  \(nonisolated)\(access)init(_forwarding: \(core)) { self._forwarding = _forwarding }",
      ] + confined + CallWriter(source, in: .proxy, of: source.proxy).members + [
        "  \(nonisolated)\(access)static let _protocol = \(family)(\(source.proxy).self)",
        DeclarationWriter(source).function,
      ] + KeyWriter(source).members + source.methods.compactMap { $0.hiddenDefault(source) }
    }

    /// On a global actor, only the description of the protocol can be used elsewhere.
    private var conformances: String {
      guard let actor = source.actor else {
        return library + "ForwardedProxy" + (source.isSendable ? ", \(library)DeliveringProxy" : "")
      }
      return "\(library)_ForwardedDescription, \([actor].text)\(library)SlotProxy, "
        + "\([actor].text)\(library)ForwardedProxy"
    }

    /// The types of listeners: of those that are called directly, and of all.
    private var listeners: [String] {
      let conformer = "any \(source.name)"
      if !source.isSendable { return ["  \(access)typealias Listener = \(conformer)"] }
      return [
        "  \(access)typealias Listener = \(conformer) & Swift.Sendable",
        "  \(access)typealias DeliveredListener = \(conformer)",
        "  \(access)static func _conformer(_ listener: Listener) -> \(conformer) { listener }",
      ]
    }

    /// The members of a class with a global actor. The class is `Sendable`, but its
    /// untyped proxy must forward only on that actor, and its listeners must stay there.
    /// An isolated function has the compiler keep its arguments on the actor, which the
    /// same function of `ForwardedProxy` does not.
    private var confined: [String] {
      if source.actor == nil { return [] }
      let proxy = library + "DynamicProxy"
      let lifetime = "lifetime: \(proxy).Lifetime = .weak"
      return [
        """
          /// The untyped proxy, for untyped subscribers and callers in C. The caller promises to forward on the actor.
          @unsafe \(access)var proxy: \(proxy) { unsafe _forwarding.untyped }
          /// Subscribes a listener, by default behind all others.
          @discardableResult \(access)func subscribe(_ listener: Listener, at position: \(proxy).Position = .last, \(lifetime), times: Swift.Int? = nil) throws(\(library)ForwardingError) -> \(proxy).Subscription { try unsafe _subscribe(listener, at: position, lifetime: lifetime, times: times) }
          /// Sets the object that gets calls which no listener handles.
          \(access)func setForwardTarget(_ listener: Listener, for scope: \(proxy).ForwardScope = .unhandled, \(lifetime)) throws(\(library)ForwardingError) { try unsafe _setForwardTarget(listener, for: scope, lifetime: lifetime) }
          /// The object that gets calls which no listener handles.
          \(access)var forwardTarget: Swift.AnyObject? { unsafe _forwardTarget }
          // Releases the listeners that the proxy keeps alive.
          isolated deinit {}
        """
      ]
    }

    // MARK: The methods as cases

    private var requirements: String {
      if source.members.isEmpty {
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
        \(source.members.map(cases).joined(separator: "\n"))
          }
        """
    }

    /// The cases of a method, or of a property.
    private func cases(_ member: ForwardedDeclaration.Member) -> String {
      let methods = member.methods
      let selectors = methods.map { "`\($0.selector)`" }.joined(separator: " and ")
      let untyped = methods[0].isAsync ? "which C cannot call" : "to untyped callers \(selectors)"
      return """
            /// `\(methods[0].fullName)`, \(untyped).
            case \(methods.map(\.caseName.asIdentifier).joined(separator: ", "))
        """
    }
  }
#endif

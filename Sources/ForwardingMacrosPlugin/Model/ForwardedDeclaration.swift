// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax

  /// A protocol with `@Forwarded`, as the writers see it. Types, attributes and
  /// default values are nodes of the user's source.
  internal struct ForwardedDeclaration {
    /// A protocol that this one inherits from.
    internal struct Parent {
      let type: TypeSyntax
      let line: SourceLine?
    }

    /// A method or a property.
    internal struct Member {
      let name: TokenSyntax
      let line: SourceLine?
      /// One method, or the getter and the setter of a property.
      var methods: [Method]
    }

    internal let name: TokenSyntax
    /// The access modifier, with a space; empty if there is none.
    internal let access: String
    /// The attribute of a global actor, such as `@MainActor`, or nil.
    internal let actor: AttributeSyntax?
    /// `@available(…)`.
    internal let availability: [AttributeSyntax]
    /// Whether the protocol is marked `nonisolated`, in a module whose default is
    /// an actor.
    internal let isNonisolated: Bool
    /// Whether the proxy is `Sendable` although the protocol is not: `sendable: true`.
    internal let isSendable: Bool
    /// Whether the protocol inherits from `Sendable` itself, so that all listeners are.
    internal let isShared: Bool
    /// The inherited protocols, which have `@Forwarded` too.
    internal let parents: [Parent]
    internal let members: [Member]
    /// The line of the protocol's name.
    internal let line: SourceLine?

    /// The methods in the order of their indices.
    internal var methods: [Method] { members.flatMap(\.methods) }
    internal var optionals: [Method] { methods.filter(\.isOptional) }
    /// The name of the proxy's class.
    internal var proxy: String { name.bareName + "Proxy" }
    /// The name of the proxy's class outside of the type that the protocol is in.
    internal func proxy(beside type: some TypeSyntaxProtocol) -> String {
      guard let type = type.as(MemberTypeSyntax.self) else { return proxy }
      return "\(type.baseType.trimmed).\(proxy)"
    }
    /// For members of a class with an actor that any thread may use.
    internal var nonisolated: String { actor == nil ? "" : "nonisolated " }
  }
#endif

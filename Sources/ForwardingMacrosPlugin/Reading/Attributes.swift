// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax

  extension AttributeListSyntax {
    /// The attribute with a name.
    internal func first(named name: String) -> AttributeSyntax? {
      for case .attribute(let attribute) in self
      where attribute.name == name { return attribute }
      return nil
    }

    /// The attribute of a global actor, such as `@MainActor`; nil if there is
    /// none.
    ///
    /// A macro sees names only, so it cannot know whether `@Name` is a global actor
    /// or another macro. All macros of this module use one rule: the name of a
    /// global actor ends in `Actor`.
    internal var globalActor: AttributeSyntax? {
      for case .attribute(let attribute) in self where attribute.arguments == nil {
        let type = attribute.attributeName
        let name = type.as(IdentifierTypeSyntax.self)?.name ?? type.as(MemberTypeSyntax.self)?.name
        if name?.bareName.hasSuffix("Actor") == true { return attribute.trimmed }
      }
      return nil
    }

    /// The attributes that restrict the use of a declaration. The declarations
    /// generated from it have them, too.
    internal var availability: [AttributeSyntax] {
      compactMap { $0.as(AttributeSyntax.self) }.filter { $0.name == "available" }
    }

    /// The argument of `@DefaultResult`.
    internal var declaredDefault: ExprSyntax? { first(named: "DefaultResult")?.argument }
  }

  extension AttributeSyntax {
    /// The name as it is written.
    internal var name: String { attributeName.trimmedDescription }

    /// The first argument.
    internal var argument: ExprSyntax? {
      guard case .argumentList(let list) = arguments else { return nil }
      return list.first?.expression.trimmed
    }

    /// Whether it is `@available(…, unavailable)`.
    internal var isUnavailable: Bool {
      guard case .availability(let list) = arguments else { return false }
      return list.contains { $0.argument.as(TokenSyntax.self)?.tokenKind == .keyword(.unavailable) }
    }
  }
#endif

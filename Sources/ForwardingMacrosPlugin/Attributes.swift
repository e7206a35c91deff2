// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax

  extension AttributeListSyntax {
    /// The attribute with a name.
    internal func first(named name: String) -> AttributeSyntax? {
      for case .attribute(let attribute) in self
      where attribute.attributeName.trimmedDescription == name { return attribute }
      return nil
    }

    /// The attribute of a global actor, such as `@MainActor`; nil if there is
    /// none.
    ///
    /// A macro sees names only, so it cannot know whether `@Name` is a global actor
    /// or another macro. All macros of this module use one rule: the name of a
    /// global actor ends in `Actor`.
    internal var globalActor: String? {
      for case .attribute(let attribute) in self where attribute.arguments == nil {
        let name = attribute.attributeName.trimmedDescription
        if name.bare.hasSuffix("Actor") { return "@" + name }
      }
      return nil
    }

    /// The attributes that restrict the use of a declaration, with a space
    /// after each. The declarations generated from it have them, too.
    internal var availability: String {
      reduce(into: "") { text, element in
        if let attribute = element.as(AttributeSyntax.self),
          attribute.attributeName.trimmedDescription == "available"
        {
          text += attribute.trimmedDescription + " "
        }
      }
    }
  }

  extension AttributeSyntax {
    /// The source text of the first argument.
    internal var argument: String? {
      guard case .argumentList(let list) = arguments else { return nil }
      return list.first?.expression.trimmedDescription
    }

    /// Whether it is `@available(…, unavailable)`.
    internal var isUnavailable: Bool {
      guard case .availability(let list) = arguments else { return false }
      return list.contains { $0.argument.trimmedDescription == "unavailable" }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax

  extension ForwardedDeclaration {
    /// What stands before a method and before that of the proxy too.
    internal struct Marks {
      /// With a space behind each.
      var text = ""
      /// `@MainActor` or the like.
      var actor: String?
    }

    /// What `@Forwarded` reads, and what says nothing about where a method runs.
    private static let otherAttributes: Set<String> = [
      "Optional", "DefaultResult", "ReplyOnce", "Errors", "discardableResult", "available",
      "preconcurrency", "concurrent", "objc", "inlinable", "usableFromInline", "backDeployed",
      "warn_unqualified_access", "Forwarded", "unsafe", "safe", "_documentation",
      "_disfavoredOverload",
    ]

    /// The global actor of a declaration: the attribute that is nothing else.
    internal static func actor(_ attributes: AttributeListSyntax) -> String? {
      for case .attribute(let attribute) in attributes {
        let name = attribute.attributeName.trimmedDescription
        if otherAttributes.contains(name) || attribute.arguments != nil { continue }
        return "@" + name
      }
      return nil
    }

    /// Reads what stands before a method or property.
    internal static func readMarks(
      _ attributes: AttributeListSyntax, _ modifiers: DeclModifierListSyntax, _ what: String,
      _ faults: inout Faults
    ) -> Marks {
      var marks = Marks(actor: actor(attributes))
      for name in ["discardableResult", "available", "concurrent", "unsafe"] {
        if let attribute = attributes.first(named: name) {
          marks.text += attribute.trimmedDescription + " "
        }
      }
      if let actor = marks.actor { marks.text += actor + " " }
      for modifier in modifiers {
        switch modifier.name.tokenKind {
        case .keyword(.nonisolated): marks.text += modifier.trimmedDescription + " "
        case .keyword(.static), .keyword(.class):
          faults.add(
            "static", at: modifier,
            "'@Forwarded' forwards no 'static' \(what): listeners are objects, not types")
        default:
          faults.add(
            "modifier", at: modifier, "'@Forwarded' forwards no '\(modifier.name.text)' \(what)")
        }
      }
      return marks
    }

    /// `@ReplyOnce` is for methods.
    internal static func checkReply(_ attributes: AttributeListSyntax, _ faults: inout Faults) {
      if let attribute = attributes.first(named: "ReplyOnce") {
        faults.add("reply", at: attribute, "'@ReplyOnce' is for methods that take a closure")
      }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax

  extension ForwardedDeclaration {
    /// Reads the attributes and modifiers of a method or property.
    internal static func readMarks(
      _ attributes: AttributeListSyntax, _ modifiers: DeclModifierListSyntax, _ kind: String,
      _ faults: inout Faults
    ) -> Marks {
      var marks = Marks(availability: attributes.availability, actor: attributes.globalActor)
      marks.attributes = ["discardableResult", "concurrent", "unsafe"].compactMap {
        attributes.first(named: $0)
      }
      for case .attribute(let attribute) in attributes where attribute.isUnavailable {
        faults.add(
          "unavailable", at: attribute,
          "'@Forwarded' cannot forward an unavailable requirement, since nobody may call it; remove "
            + "the requirement")
      }
      for modifier in modifiers {
        switch modifier.name.tokenKind {
        case .keyword(.nonisolated): marks.isolation.append(modifier)
        case .keyword(.static), .keyword(.class):
          faults.add(
            "static", at: modifier,
            "'@Forwarded' does not forward 'static' \(kind), since listeners are objects and not "
              + "types; make it an instance member")
        default:
          faults.add(
            "modifier", at: modifier,
            "'@Forwarded' does not forward '\(modifier.name.text)' \(kind); remove the modifier")
        }
      }
      return marks
    }

    /// Refuses `@ReplyOnce` at a property.
    internal static func checkReply(_ attributes: AttributeListSyntax, _ faults: inout Faults) {
      if let attribute = attributes.first(named: "ReplyOnce") {
        faults.add(
          "reply", at: attribute,
          "'@ReplyOnce' is for methods that take an escaping closure, not for properties; remove it"
        )
      }
    }
  }
#endif

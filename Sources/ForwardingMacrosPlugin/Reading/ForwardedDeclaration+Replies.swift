// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax

  extension ForwardedDeclaration {
    /// Reads `@ReplyOnce`.
    internal static func readReply(
      _ function: FunctionDeclSyntax, _ method: inout Method, _ faults: inout Faults
    ) {
      guard let attribute = function.attributes.first(named: "ReplyOnce") else { return }
      var hasReply = false
      for (index, parameter) in function.signature.parameterClause.parameters.enumerated()
      where method.parameters.indices.contains(index) {
        method.parameters[index].reply = reply(parameter.type)
        if method.parameters[index].reply != nil { hasReply = true }
      }
      if !hasReply {
        faults.add(
          "reply", at: attribute,
          "'@ReplyOnce' expects a parameter that is an '@escaping' closure without a result, and "
            + "'\(function.name.bareName)' has none; remove it")
      }
      method.defaultReply = attribute.argument
    }

    /// How a closure is wrapped; nil for other types, for closures with a
    /// result, and for closures that are isolated to an actor.
    private static func reply(
      _ type: TypeSyntax, isOptional: Bool = false, isSendable: Bool = false
    ) -> Method.Reply? {
      if let type = type.as(AttributedTypeSyntax.self) {
        let names = type.attributes.map { $0.as(AttributeSyntax.self)?.name ?? "" }
        guard type.specifiers.isEmpty, names.allSatisfy({ ["escaping", "Sendable"].contains($0) })
        else { return nil }
        return reply(
          type.baseType, isOptional: isOptional,
          isSendable: isSendable || names.contains("Sendable"))
      }
      if let type = type.as(OptionalTypeSyntax.self), !isOptional {
        return reply(type.wrappedType, isOptional: true, isSendable: isSendable)
      }
      let inner = type.withoutParentheses
      if inner != type { return reply(inner, isOptional: isOptional, isSendable: isSendable) }
      guard let type = type.as(FunctionTypeSyntax.self), type.effectSpecifiers == nil,
        type.returnClause.type.isVoid
      else { return nil }
      return Method.Reply(isOptional: isOptional, isSendable: isSendable)
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax

  // The types and expressions of the user must have the same meaning in
  // generated code as in the protocol. In the proxy's class, nested types hide
  // other types with the same names. In an extension, which is at file scope,
  // the types around a nested protocol are not visible. In both cases generated
  // code uses a type alias, which the macro adds to the protocol.

  /// The scope of generated code.
  internal enum Scope {
    /// The proxy's class, beside the protocol.
    case proxy
    /// The protocol, or an extension of it at file scope.
    case `protocol`
  }

  /// The protocol of a method.
  internal struct Home {
    /// Without backticks.
    var name = ""
    /// Whether the protocol is inside another type.
    var isNested = false

    /// An alias for a type of the user that has the name of a nested type of
    /// the proxy.
    func alias(_ name: String) -> String { "_\(self.name)\(name)" }
  }

  // MARK: - Types

  extension Method {
    /// The type of a parameter.
    internal func type(_ index: Int, in scope: Scope) -> String {
      scoped(parameters[index].type, "Argument\(index)", scope)
    }

    /// The type of the result; nil for none.
    internal func result(in scope: Scope) -> String? {
      result.map { scoped($0, "Result", scope) }
    }

    private func scoped(_ type: TypeSyntax, _ name: String, _ scope: Scope) -> String {
      let isHidden =
        scope == .proxy
        ? type.mentions(ForwardedDeclaration.ownNames.contains)
        : home.isNested && type.mentions { $0 != "Swift" }
      return isHidden ? "_\(home.name)_\(caseName)\(name)" : type.trimmedDescription
    }

    /// `label _0: Type, …`
    internal func parameterList(in scope: Scope) -> String {
      parameters.enumerated().map { index, parameter in
        "\(parameter.label) _\(index): \(parameter.passing.rawValue)\(type(index, in: scope))"
      }.joined(separator: ", ")
    }

    /// The aliases that the protocol needs: names and types.
    internal var aliases: [(name: String, type: String)] {
      var found: [(name: String, type: String)] = []
      for scope in [Scope.proxy, .protocol] {
        for (index, parameter) in parameters.enumerated() {
          found.append((type(index, in: scope), parameter.type.trimmedDescription))
        }
        if let result, let alias = self.result(in: scope) {
          found.append((alias, result.trimmedDescription))
        }
      }
      for name in ForwardedDeclaration.ownNames.sorted()
      where declaredDefault?.mentions({ $0 == name }) == true {
        found.append((home.alias(name), name))
      }
      return found.filter { $0.name != $0.type }
    }
  }

  // MARK: - Defaults

  extension Method {
    /// The result if no listener responds; nil if the method has to throw.
    internal func defaultResult(in scope: Scope, of proxy: String) -> String? {
      guard let result else { return nil }
      guard let declaredDefault else {
        if isThrowing { return nil }
        if result.isOptional { return "nil" }
        let type = self.result(in: scope) ?? ""
        return "ForwardingMacros._ForwardedMarshal.zero(of: (\(type)).self)"
      }
      if scope == .protocol {
        return isDefaultHidden ? "\(proxy)._\(caseName)Default" : declaredDefault.trimmedDescription
      }
      return declaredDefault.trimmed.tokens(viewMode: .sourceAccurate).map { token in
        guard let name = token.identifierOfNoMember, ForwardedDeclaration.ownNames.contains(name)
        else { return token.description }
        return token.with(\.tokenKind, .identifier(home.alias(name))).description
      }.joined()
    }

    /// Whether the expression has another meaning in an extension.
    private var isDefaultHidden: Bool {
      home.isNested && declaredDefault?.mentions { $0 != "Swift" } == true
    }

    /// The default as a member of the class, which an extension uses.
    internal func hiddenDefault(_ source: ForwardedDeclaration) -> String? {
      guard isDefaultHidden, let type = result(in: .proxy),
        let value = defaultResult(in: .proxy, of: source.proxy)
      else { return nil }
      let isolation = actor.map { [$0].text } ?? ""
      return
        "\(line.directive)  \(isolation)\(source.access)static var _\(caseName)Default: \(type) "
        + "{ \(value) }"
    }
  }

  // MARK: - Names

  extension SyntaxProtocol {
    /// Whether one of the identifiers is such a name. Identifiers behind a
    /// period are not counted.
    fileprivate func mentions(_ isMeant: (String) -> Bool) -> Bool {
      tokens(viewMode: .sourceAccurate).contains { token in
        token.identifierOfNoMember.map(isMeant) ?? false
      }
    }
  }

  extension TokenSyntax {
    /// The name, unless a period stands before it.
    fileprivate var identifierOfNoMember: String? {
      guard case .identifier = tokenKind,
        previousToken(viewMode: .sourceAccurate)?.tokenKind != .period
      else { return nil }
      return bareName
    }
  }
#endif

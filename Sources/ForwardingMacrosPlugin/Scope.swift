// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  // What the user wrote is meant where the protocol stands. In the class of the
  // proxy the names of its own types stand before those; and in an extension, which
  // is at file scope, the names in a type around the protocol are not seen. There
  // an alias is used, which stands in the protocol.

  /// Where code is written.
  internal enum Scope {
    /// In the proxy's class, beside the protocol.
    case proxy
    /// In the protocol, or an extension of it at file scope.
    case `protocol`
  }

  /// The protocol of a method.
  internal struct Home {
    var name = ""
    /// Whether it stands in another type.
    var isNested = false

    /// An alias for a type of the user's of the same name as one of the class.
    func alias(_ name: String) -> String { "_\(self.name.bare)\(name)" }
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

    private func scoped(_ text: String, _ name: String, _ scope: Scope) -> String {
      let isHidden =
        scope == .proxy ? text.namesProxyTypes : home.isNested && text.namesUnknownTypes
      return isHidden ? "_\(home.name.bare)_\(caseName)\(name)" : text
    }

    /// `label _0: Type, …`
    internal func parameterList(in scope: Scope) -> String {
      parameters.enumerated().map { index, parameter in
        "\(parameter.label) _\(index): \(parameter.prefix)\(type(index, in: scope))"
      }.joined(separator: ", ")
    }

    /// The aliases that stand in the protocol: names and types.
    internal var aliases: [(name: String, type: String)] {
      var found: [(name: String, type: String)] = []
      for scope in [Scope.proxy, .protocol] {
        for index in parameters.indices {
          found.append((type(index, in: scope), parameters[index].type))
        }
        if let result, let alias = self.result(in: scope) { found.append((alias, result)) }
      }
      for name in ForwardedDeclaration.ownNames.sorted()
      where defaultResult?.names({ $0 == name }) == true {
        found.append((home.alias(name), name))
      }
      return found.filter { $0.name != $0.type }
    }
  }

  // MARK: - Defaults

  extension Method {
    /// What the proxy gives if nobody responds; nil if it has to throw.
    internal func defaultResult(in scope: Scope, of proxy: String) -> String? {
      guard let defaultResult else { return nil }
      if scope == .protocol {
        return isDefaultHidden ? "\(proxy)._\(caseName)Default" : defaultResult
      }
      return ForwardedDeclaration.ownNames.reduce(defaultResult) {
        $0.replacing(identifier: $1, by: home.alias($1))
      }
    }

    /// Whether an extension cannot have the expression.
    private var isDefaultHidden: Bool {
      home.isNested && declaredDefault?.namesUnknownTypes == true
    }

    /// The default as a member of the class, for an extension.
    internal func hiddenDefault(_ access: String, of proxy: String) -> String? {
      guard isDefaultHidden, let type = result(in: .proxy),
        let value = defaultResult(in: .proxy, of: proxy)
      else { return nil }
      let isolation = actor.map { $0 + " " } ?? ""
      return "  \(isolation)\(access)static var _\(caseName)Default: \(type) { \(value) }"
    }
  }

  // MARK: - Names in text

  extension String {
    /// Whether one of the identifiers is a type of the proxy's class.
    fileprivate var namesProxyTypes: Bool { names(ForwardedDeclaration.ownNames.contains) }

    /// Whether one of the identifiers may be a type that stands around the
    /// protocol.
    fileprivate var namesUnknownTypes: Bool {
      names { name in
        name.first.map { $0.isLetter || $0 == "_" } == true && !String.known.contains(name)
      }
    }

    private static let known: Set<String> = Method.numbers.union([
      "Any", "AnyObject", "Bool", "MainActor", "Sendable", "Swift", "Void", "any", "async",
      "false", "nil", "throws", "true",
    ])

    /// Whether one of the identifiers is meant. A member of something else is not.
    fileprivate func names(_ isMeant: (String) -> Bool) -> Bool {
      words.contains { !$0.isMember && isMeant(String(self[$0.range])) }
    }

    fileprivate func replacing(identifier: String, by other: String) -> String {
      var text = self
      for word in words.reversed() where !word.isMember && self[word.range] == identifier {
        text.replaceSubrange(word.range, with: other)
      }
      return text
    }

    /// Where identifiers stand, and whether there is a dot before them.
    private var words: [(range: Range<Index>, isMember: Bool)] {
      var found: [(range: Range<Index>, isMember: Bool)] = []
      var start: Index?
      var isMember = false
      for index in indices + [endIndex] {
        let character = index == endIndex ? " " : self[index]
        if character.isLetter || character.isNumber || character == "_" {
          if start == nil { start = index }
          continue
        }
        if let begin = start {
          found.append((begin..<index, isMember))
          start = nil
          isMember = false
        }
        if !character.isWhitespace { isMember = character == "." }
      }
      return found
    }
  }
#endif

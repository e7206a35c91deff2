// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax

  /// Writes the methods that callers use. They are in the proxy's class, and in
  /// an extension of the protocol for the proxies of protocols that inherit
  /// from it.
  internal struct CallWriter {
    private let source: ForwardedDeclaration
    private let scope: Scope
    /// The class of the protocol's proxy, as it is called in the scope.
    private let proxy: String

    internal init(_ source: ForwardedDeclaration, in scope: Scope, of proxy: String) {
      self.source = source
      self.scope = scope
      self.proxy = proxy
    }

    /// All methods and properties, each a line behind the directive of its line.
    internal var members: [String] {
      source.members.map { member in
        let method = member.methods[0]
        return member.line.directive
          + (method.kind == .function ? function(method) : property(method, member.methods))
      }
    }

    private func function(_ method: Method) -> String {
      let arrow = method.result(in: scope).map { " -> \($0)" } ?? ""
      return "  \(method.marks.text)\(source.access)func \(method.name)"
        + "(\(method.parameterList(in: scope)))\(method.effects)\(arrow) { \(body(method)) }"
    }

    private func property(_ getter: Method, _ accessors: [Method]) -> String {
      let bodies = accessors.map { accessor in
        accessor.kind == .setter
          ? "set(_0) { \(body(accessor)) }" : "get\(accessor.effects) { \(body(accessor)) }"
      }
      let type = getter.result(in: scope) ?? "Swift.Void"
      return "  \(getter.marks.text)\(source.access)var \(getter.name): \(type) "
        + "{ \(bodies.joined(separator: " ")) }"
    }

    // MARK: Bodies

    /// The index of a method among the methods of the proxy.
    private func number(_ method: Method) -> String {
      scope == .proxy
        ? "\(method.index)" : "_forwarding.base(of: \(proxy)._protocol) + \(method.index)"
    }

    private func body(_ method: Method) -> String {
      let text = method.isAsync ? waiting(method) : forwarding(method)
      let statements = replies(method) + (method.isAsync ? [] : passings(method))
      if statements.isEmpty { return text }
      let result = method.result != nil && !method.isAsync ? "return " : ""
      return (statements + [result + text]).joined(separator: "; ")
    }

    /// Wraps the closures that `@ReplyOnce` lets through once.
    private func replies(_ method: Method) -> [String] {
      var lines: [String] = []
      for (index, parameter) in method.parameters.enumerated() {
        guard let reply = parameter.reply else { continue }
        if lines.isEmpty, let value = method.defaultReply {
          let arguments = value.is(TupleExprSyntax.self) ? "\(value)" : "(\(value))"
          lines.append("_reply.otherwise { _\(index)\(reply.isOptional ? "?" : "")\(arguments) }")
        }
        let once = "_reply.\(reply.isSendable ? "sendableOnce" : "once")"
        let wrapped = reply.isOptional ? "_\(index).map { \(once)($0) }" : "\(once)(_\(index))"
        lines.append("let _\(index) = \(wrapped)")
      }
      return lines.isEmpty ? [] : ["let _reply = _forwarding.reply(\(number(method)))"] + lines
    }

    /// Lets the type checker choose how each argument is passed, by its type.
    /// The macro knows only the type's name, and the user may have a type with
    /// the name of a standard one.
    private func passings(_ method: Method) -> [String] {
      method.parameters.indices.filter { !method.parameters[$0].isInout }.map { index in
        "let _p\(index) = unsafe _M.passing((\(method.type(index, in: scope))).self)"
      }
    }

    private func forwarding(_ method: Method) -> String {
      let frame = method.parameters.indices.map { "_\($0)" }.joined(separator: ", ")
      let verb = (method.result == nil ? "send" : "ask") + (method.isThrowing ? "Throwing" : "")
      let result = method.result(in: scope).map { ", as: (\($0)).self" } ?? ""
      let marks = method.isThrowing ? "try unsafe" : "unsafe"
      var text = "\(marks) _forwarding.\(verb)(\(number(method)), (\(frame))\(result))"
      for (index, parameter) in method.parameters.enumerated().reversed() {
        let pass =
          parameter.isInout
          ? "_M.passInout(&_\(index), as: (\(method.type(index, in: scope))).self)"
          : "_p\(index).pass(_\(index))"
        text = "\(marks) \(pass) { _\(index) in \(text) }"
      }
      if method.result == nil { return text }
      if let value = method.defaultResult(in: scope, of: proxy) {
        return "\(text) ?? (\(value))"
      }
      return "try _forwarding.answer(\(number(method)), \(text))"
    }

    /// The body of an `async` method, which calls one listener after the other.
    private func waiting(_ method: Method) -> String {
      let names = method.parameters.enumerated().map { $1.isInout ? "&_\($0)" : "_\($0)" }
      let marks = method.isThrowing ? "try await unsafe" : "await unsafe"
      let call = "\(marks) _M.same(\(method.call(on: "_listener", names)))"
      let listeners =
        "var _listeners = _forwarding.listeners(\(method.index), of: \(proxy)._protocol); "
      guard method.result == nil else {
        let none = "Swift.Optional<\(method.result(in: scope) ?? "")>.none"
        let otherwise =
          method.defaultResult(in: scope, of: proxy)
          ?? "try _forwarding.answer(\(number(method)), \(none))"
        return listeners
          + "if let _listener = _listeners.next() { return \(call) }; return \(otherwise)"
      }
      if method.isThrowing {
        return listeners + "while let _listener = _listeners.next() "
          + "{ do { \(call) } catch { try _listeners.fail(error, by: _listener) } }; "
          + "try _listeners.finishThrowing()"
      }
      return listeners
        + "while let _listener = _listeners.next() { \(call) }; _listeners.finish()"
    }
  }

  extension Method {
    /// A call of the method, or the use of the property.
    internal func call(on listener: String, _ arguments: [String]) -> String {
      if kind == .getter { return "\(listener).\(name)" }
      let labelled = zip(parameters, arguments).map {
        $0.isUnlabelled ? $1 : "\($0.label.bareName.asLabel): \($1)"
      }
      return "\(listener).\(name)(\(labelled.joined(separator: ", ")))"
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// Writes the methods that callers use. They are in the proxy's class, and in
  /// an extension of the protocol for the proxies of protocols that inherit
  /// from it.
  internal struct CallWriter {
    private let source: ForwardedDeclaration
    private let scope: Scope
    /// The class of the protocol's proxy.
    private let proxy: String
    private let marshal = "ForwardingMacros.ForwardedMarshal"

    internal init(_ source: ForwardedDeclaration, in scope: Scope, of proxy: String) {
      self.source = source
      self.scope = scope
      self.proxy = proxy
    }

    /// All methods and properties, each a line.
    internal var members: [String] {
      source.methods.enumerated().compactMap { index, method in
        switch method.kind {
        case .function: method.line.directive + function(index, method)
        case .getter: method.line.directive + property(index, method)
        case .setter: nil  // The line of the property has the setter, too.
        }
      }
    }

    private func function(_ index: Int, _ method: Method) -> String {
      let arrow = method.result(in: scope).map { " -> \($0)" } ?? ""
      return "  \(method.attributes)\(source.access)func \(method.name)"
        + "(\(method.parameterList(in: scope)))\(method.effects)\(arrow) { \(body(index, method)) }"
    }

    private func property(_ index: Int, _ method: Method) -> String {
      var setter = ""
      if index + 1 < source.methods.count, source.methods[index + 1].kind == .setter {
        setter = " set(_0) { \(body(index + 1, source.methods[index + 1])) }"
      }
      return "  \(method.attributes)\(source.access)var \(method.name): "
        + "\(method.result(in: scope) ?? "Swift.Void") "
        + "{ get\(method.effects) { \(body(index, method)) }\(setter) }"
    }

    // MARK: Bodies

    /// The index of a method among the methods of the proxy.
    private func number(_ index: Int) -> String {
      scope == .proxy ? "\(index)" : "_forwarding.base(of: \(proxy)._protocol) + \(index)"
    }

    private func body(_ index: Int, _ method: Method) -> String {
      let text = method.isAsync ? waiting(index, method) : forwarding(index, method)
      let statements = replies(index, method) + (method.isAsync ? [] : passings(method))
      if statements.isEmpty { return text }
      let result = method.result != nil && !method.isAsync ? "return " : ""
      return (statements + [result + text]).joined(separator: "; ")
    }

    /// Wraps the closures that `@ReplyOnce` lets through once.
    private func replies(_ index: Int, _ method: Method) -> [String] {
      var lines: [String] = []
      for (index, parameter) in method.parameters.enumerated() {
        guard let reply = parameter.reply else { continue }
        if lines.isEmpty, let value = method.defaultReply {
          lines.append("_reply.otherwise { _\(index)\(reply.isOptional ? "?" : "")\(value) }")
        }
        let once = "_reply.\(reply.isSendable ? "sendableOnce" : "once")"
        let wrapped = reply.isOptional ? "_\(index).map { \(once)($0) }" : "\(once)(_\(index))"
        lines.append("let _\(index) = \(wrapped)")
      }
      return lines.isEmpty ? [] : ["let _reply = _forwarding.reply(\(number(index)))"] + lines
    }

    /// Lets the type checker choose how each argument is passed, by its type.
    /// The macro knows only the type's name, and the user may have a type with
    /// the name of a standard one.
    private func passings(_ method: Method) -> [String] {
      method.parameters.indices.filter { !method.parameters[$0].isInout }.map { index in
        "let _p\(index) = unsafe \(marshal).passing((\(method.type(index, in: scope))).self)"
      }
    }

    private func forwarding(_ index: Int, _ method: Method) -> String {
      let frame = method.parameters.indices.map { "_\($0)" }.joined(separator: ", ")
      let result = method.result(in: scope) ?? ""
      let call: String
      switch (method.result != nil, method.isThrowing) {
      case (false, false): call = "send(\(number(index)), (\(frame)))"
      case (false, true): call = "sendThrowing(\(number(index)), (\(frame)))"
      case (true, false): call = "ask(\(number(index)), (\(frame)), as: (\(result)).self)"
      case (true, true): call = "askThrowing(\(number(index)), (\(frame)), as: (\(result)).self)"
      }
      let marks = method.isThrowing ? "try unsafe" : "unsafe"
      var text = "\(marks) _forwarding.\(call)"
      for (index, parameter) in method.parameters.enumerated().reversed() {
        let pass =
          parameter.isInout
          ? "\(marshal).passInout(&_\(index), as: (\(method.type(index, in: scope))).self)"
          : "_p\(index).pass(_\(index))"
        text = "\(marks) \(pass) { _\(index) in \(text) }"
      }
      if method.result == nil { return text }
      if let value = method.defaultResult(in: scope, of: proxy) { return "\(text) ?? (\(value))" }
      return "try _forwarding.answer(\(number(index)), \(text))"
    }

    /// The body of an `async` method, which calls one listener after the other.
    private func waiting(_ index: Int, _ method: Method) -> String {
      let names = method.parameters.enumerated().map { $1.isInout ? "&_\($0)" : "_\($0)" }
      let marks = method.isThrowing ? "try await unsafe" : "await unsafe"
      let call = "\(marks) \(marshal).same(\(method.call(on: "_listener", names)))"
      let listeners = "var _listeners = _forwarding.listeners(\(index), of: \(proxy)._protocol); "
      guard method.result == nil else {
        let none = "Swift.Optional<\(method.result(in: scope) ?? "")>.none"
        let otherwise =
          method.defaultResult(in: scope, of: proxy)
          ?? "try _forwarding.answer(\(number(index)), \(none))"
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
        $0.label == "_" ? $1 : "\($0.label.asLabel): \($1)"
      }
      return "\(listener).\(name)(\(labelled.joined(separator: ", ")))"
    }
  }
#endif

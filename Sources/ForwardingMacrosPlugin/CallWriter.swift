// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// Writes the methods by which a proxy forwards: in its class, and in an
  /// extension of the protocol for the proxies of those that inherit from it.
  internal struct CallWriter {
    private let source: ForwardedDeclaration
    private let scope: Scope
    /// The class of the protocol's proxy.
    private let proxy: String
    private let library = "ForwardingMacros."

    internal init(_ source: ForwardedDeclaration, in scope: Scope, of proxy: String) {
      self.source = source
      self.scope = scope
      self.proxy = proxy
    }

    /// All methods and properties.
    internal var members: [String] {
      source.methods.enumerated().compactMap { index, method in
        switch method.kind {
        case .function: function(index, method)
        case .getter: property(index, method)
        case .setter: nil  // It stands with its getter.
        }
      }
    }

    private func function(_ index: Int, _ method: Method) -> String {
      let arrow = method.result(in: scope).map { " -> \($0)" } ?? ""
      return """
          \(method.attributes)\(source.access)func \(method.name)(\(method.parameterList(in: scope)))\
        \(method.effects)\(arrow) {
            \(body(index, method))
          }
        """
    }

    private func property(_ index: Int, _ method: Method) -> String {
      var setter = ""
      if index + 1 < source.methods.count, source.methods[index + 1].kind == .setter {
        setter = """

              set(_0) {
                \(body(index + 1, source.methods[index + 1]))
              }
          """
      }
      return """
          \(method.attributes)\(source.access)var \(method.name): \(method.result(in: scope) ?? "Void") {
            get\(method.effects) {
              \(body(index, method))
            }\(setter)
          }
        """
    }

    // MARK: Bodies

    /// Where a method stands among those of the proxy.
    private func place(_ index: Int) -> String {
      scope == .proxy ? "\(index)" : "_forwarding.base(of: \(proxy)._protocol) + \(index)"
    }

    private func body(_ index: Int, _ method: Method) -> String {
      let text = method.isAsync ? waiting(index, method) : forwarding(index, method)
      let replies = replies(index, method)
      if replies.isEmpty { return text }
      let result = method.result != nil && !method.isAsync ? "return " : ""
      return (replies + [result + text]).joined(separator: "\n    ")
    }

    /// Wraps the closures that may be called once.
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
      return lines.isEmpty ? [] : ["let _reply = _forwarding.reply(\(place(index)))"] + lines
    }

    private func forwarding(_ index: Int, _ method: Method) -> String {
      // A type of the user's of such a name is none that C has: that must not
      // compile.
      let frame = method.parameters.enumerated().map { index, parameter in
        parameter.isScalar ? "_\(index) as Swift.\(parameter.type)" : "_\(index)"
      }.joined(separator: ", ")
      let result = method.result(in: scope) ?? ""
      let call: String
      switch (method.result != nil, method.isThrowing) {
      case (false, false): call = "send(\(place(index)), (\(frame)))"
      case (false, true): call = "sendThrowing(\(place(index)), (\(frame)))"
      case (true, false): call = "ask(\(place(index)), (\(frame)), as: (\(result)).self)"
      case (true, true): call = "askThrowing(\(place(index)), (\(frame)), as: (\(result)).self)"
      }
      let marks = method.isThrowing ? "try unsafe" : "unsafe"
      // What is no scalar is passed by what `ForwardedSlot` makes of it.
      var text = "\(marks) _forwarding.\(call)"
      for (index, parameter) in method.parameters.enumerated().reversed()
      where !parameter.isScalar {
        let type = "(\(method.type(index, in: scope))).self"
        let pass =
          parameter.isInout
          ? "passInout(&_\(index), as: \(type))" : "pass(_\(index), as: \(type))"
        text = "\(marks) \(library)ForwardedSlot.\(pass) { _\(index) in \(text) }"
      }
      if method.result == nil { return text }
      if let value = method.defaultResult(in: scope, of: proxy) { return "\(text) ?? (\(value))" }
      return "try _forwarding.answer(\(place(index)), \(text))"
    }

    /// The body of an `async` method, which waits for one listener after the
    /// other.
    private func waiting(_ index: Int, _ method: Method) -> String {
      let names = method.parameters.enumerated().map { $1.isInout ? "&_\($0)" : "_\($0)" }
      let marks = method.isThrowing ? "try await unsafe" : "await unsafe"
      let call = "\(marks) \(library)ForwardedSlot.same(\(method.call(on: "_listener", names)))"
      let listeners =
        "var _listeners = _forwarding.listeners(\(index), of: \(proxy)._protocol)\n    "
      guard method.result == nil else {
        let otherwise =
          method.defaultResult(in: scope, of: proxy)
          ?? "try _forwarding.answer(\(place(index)), Swift.Optional<\(method.result(in: scope) ?? "")>.none)"
        return listeners + """
          if let _listener = _listeners.next() { return \(call) }
              return \(otherwise)
          """
      }
      if method.isThrowing {
        return listeners + """
          while let _listener = _listeners.next() {
                do { \(call) } catch { try _listeners.fail(error, by: _listener) }
              }
              try _listeners.finishThrowing()
          """
      }
      return listeners + """
        while let _listener = _listeners.next() { \(call) }
            _listeners.finish()
        """
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

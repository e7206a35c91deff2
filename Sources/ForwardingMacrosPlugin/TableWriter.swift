// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// Writes what the library is told of a protocol.
  internal struct TableWriter {
    private let source: ForwardedDeclaration
    private let proxy: String
    private let library = "ForwardingMacros."

    internal init(_ source: ForwardedDeclaration, of proxy: String) {
      self.source = source
      self.proxy = proxy
    }

    private var family: String {
      "\(library)ForwardedProtocol<any \(source.name), any \(source.name).Type>"
    }

    /// The protocol as a member of the proxy's class.
    internal var declaration: String {
      """
        \(source.access)\(source.actor == nil ? "" : "nonisolated ")static let _protocol: \(family) = \(family)(
          [
      \(source.methods.enumerated().map(entry).joined(separator: ",\n"))
          ]\(parents)\(optionals)
        )
      """
    }

    // MARK: Methods

    private func entry(_ index: Int, _ method: Method) -> String {
      var arguments = [(method.isAsync ? "async: " : "") + "\"\(method.selector)\""]
      if !method.isAsync {
        let encodings = method.parameters.enumerated().map { index, parameter in
          "\(library)ForwardedSlot.\(parameter.isInout ? "inoutEncoding" : "encoding")"
            + "(of: (\(method.type(index, in: .proxy))).self)"
        }
        arguments.append("[\(encodings.joined(separator: ", "))]")
        if !method.hasFunction { arguments += result(method) }
      }
      if method.isOptional {
        let place = source.optionals.firstIndex { $0.selector == method.selector } ?? 0
        arguments.append("optional: \(place)")
      }
      if method.hasFunction && !method.words.isEmpty { arguments.append("words: \(method.words)") }
      if !method.isAsync {
        arguments.append(packed(index, method))
        if method.hasFunction { arguments.append(function(index, method)) }
      }
      return
        "      \(method.isAsync ? "" : "unsafe ")\(library)ForwardedMethod(\n        \(arguments.joined(separator: ",\n        "))\n      )"
    }

    private func result(_ method: Method) -> [String] {
      var result = "of: (\(method.result(in: .proxy) ?? "Void")).self"
      if method.isDefaultInTable, let value = method.defaultResult(in: .proxy, of: proxy) {
        result += ", default: \(value)"
      }
      let own = "\(library)ForwardedSlot.result(\(result))"
      return method.isThrowing ? [own, "throws: true"] : [own]
    }

    private func packed(_ index: Int, _ method: Method) -> String {
      // An error here is that of a module where all is isolated that does not say.
      let hint =
        method.actor == nil && !source.isNonisolated
        ? "  // of an actor by default: say '@MainActor' or 'nonisolated' at the protocol" : ""
      let closure = """
        { context, receiver, arguments, result, failure in
                unsafe \(proxy)._deliver\(index)(\(hint)
                  \(family).conformer(receiver, context), receiver, arguments, result, failure)
              }
        """
      guard let actor = method.actor else { return closure }
      return
        "\(library)ForwardedMethod.packed(\(closure) as @convention(c) \(actor) (UInt, UInt, UInt, UInt, UInt) -> UInt32)"
    }

    private func function(_ index: Int, _ method: Method) -> String {
      let names = method.parameters.indices.map { "_\($0)" }
      let types = method.functionTypes
      return """
        function: { \((["receiver"] + names + ["context"]).joined(separator: ", ")) in
                unsafe \(proxy)._send\(index)(
                  \((["\(family).conformer(receiver, context)", "receiver"] + names).joined(separator: ", ")))
              } as @convention(c) \(method.actor ?? "@Sendable") (\((["UInt"] + types + ["UInt"]).joined(separator: ", "))) -> Void
        """
    }

    // MARK: Parents

    private var parents: String {
      if source.parents.isEmpty { return "" }
      // An error here says that the protocol it names has no `@Forwarded`.
      let list = source.parents.map {
        "\(library)ForwardedParent(\($0)Proxy._protocol) { (listener: any \(source.name)) in listener as any \($0) }"
      }
      return """
        ,
            parents: [  // protocols with '@Forwarded' themselves, or they have no proxy
              \(list.joined(separator: ",\n      "))
            ]
        """
    }

    // MARK: Optional methods

    private var optionals: String {
      source.optionals.isEmpty ? "" : ",\n    optionals: { listener in _implemented(listener) }"
    }

    /// Which optional methods a listener has, as a member of the proxy's class.
    internal var implemented: [String] {
      if source.optionals.isEmpty { return [] }
      let markers = source.optionals.map {
        "_Conforming.\($0.marker.asIdentifier).self != \(library)ForwardedMissing.self"
      }
      return [
        """
          \(source.actor == nil ? "" : "nonisolated ")private static func _implemented<_Conforming: \(source.name)>(_: _Conforming) -> [Bool] {
            [\(markers.joined(separator: ", "))]
          }
        """
      ]
    }
  }
#endif

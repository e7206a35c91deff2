// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// Writes the description of a protocol that the library reads.
  internal struct TableWriter {
    private let source: ForwardedDeclaration
    private let proxy: String
    private let library = "ForwardingMacros."
    private let marshal = "ForwardingMacros.ForwardedMarshal"

    internal init(_ source: ForwardedDeclaration, of proxy: String) {
      self.source = source
      self.proxy = proxy
    }

    private var family: String {
      "\(library)ForwardedProtocol<any \(source.name), any \(source.name).Type>"
    }

    /// For members of a class with an actor that any thread may use.
    private var nonisolated: String { source.actor == nil ? "" : "nonisolated " }

    /// The members of the proxy's class.
    internal var members: [String] {
      [description, methods] + source.methods.enumerated().map(method)
        + source.methods.enumerated().flatMap(checks)
        + source.parents.enumerated().map(parent) + implemented
    }

    private var description: String {
      var arguments = ["\(proxy).self"]
      if !source.parents.isEmpty {
        let parents = source.parents.indices.map { "_parent\($0)" }.joined(separator: ", ")
        arguments.append("parents: [\(parents)]")
      }
      if !source.optionals.isEmpty {
        arguments.append("optionals: { listener in _implemented(listener) }")
      }
      return "  \(nonisolated)\(source.access)static let _protocol: \(family) = "
        + "\(family)(\(arguments.joined(separator: ", ")))"
    }

    /// The list of all methods. It is marked deprecated, since deprecated code
    /// may use deprecated methods without a warning. The library calls it as a
    /// requirement of `ForwardedProxy`, so nothing warns of this call.
    private var methods: String {
      let isDeprecated = source.methods.contains { !$0.availability.isEmpty }
      let list = source.methods.indices.map { "_method\($0)" }.joined(separator: ", ")
      return "  \(isDeprecated ? "@available(*, deprecated) " : "")\(nonisolated)\(source.access)"
        + "static func _methods() -> [\(library)ForwardedMethod] { [\(list)] }"
    }

    // MARK: Methods

    private func method(_ index: Int, _ method: Method) -> String {
      var arguments = [(method.isAsync ? "async: " : "") + "\"\(method.selector)\""]
      if !method.isAsync {
        let encodings = method.parameters.enumerated().map { index, parameter in
          "\(marshal).\(parameter.isInout ? "inoutArgument" : "argument")"
            + "((\(method.type(index, in: .proxy))).self)"
        }
        arguments.append("[\(encodings.joined(separator: ", "))]")
        if !method.hasFunction { arguments += result(method) }
      }
      if method.isOptional {
        let position = source.optionals.firstIndex { $0.selector == method.selector } ?? 0
        arguments.append("optional: \(position)")
      }
      if method.hasFunction && !method.parameters.isEmpty {
        let registers = method.parameters.map { $0.register.map { "(\($0.type)).self" } ?? "nil" }
        arguments.append("registers: [\(registers.joined(separator: ", "))]")
      }
      if !method.isAsync {
        arguments.append(packed(index, method))
        if method.hasFunction { arguments.append(function(index, method)) }
      }
      return "\(method.line.directive)  \(method.availability)\(nonisolated)private static var "
        + "_method\(index): \(library)ForwardedMethod { \(method.isAsync ? "" : "unsafe ")"
        + "\(library)ForwardedMethod(\(arguments.joined(separator: ", "))) }"
    }

    /// Checks the types of parameters that are on separate lines, so that the
    /// compiler reports an error at the parameter's line.
    private func checks(_ index: Int, _ method: Method) -> [String] {
      method.parameters.enumerated().compactMap { number, parameter in
        guard !parameter.isInout, let line = parameter.line, line != method.line else { return nil }
        return Optional(line).directive
          + "  \(method.availability)\(nonisolated)private static var _check\(index)_\(number): Swift.String "
          + "{ unsafe \(marshal).same("
          + "\(marshal).argument((\(method.type(number, in: .proxy))).self)) }"
      }
    }

    private func result(_ method: Method) -> [String] {
      var result = "(\(method.result(in: .proxy) ?? "Swift.Void")).self"
      if method.isDefaultInTable, let value = method.defaultResult(in: .proxy, of: proxy) {
        result += ", default: \(value)"
      }
      let own = "\(marshal).result(\(result))"
      return method.isThrowing ? [own, "throws: true"] : [own]
    }

    /// The class of a delivery's receiver.
    private var conformer: String { "\(family).conformer(receiver, context)" }

    private func packed(_ index: Int, _ method: Method) -> String {
      // The hint is for modules whose default is an actor: the error is reported at
      // this line.
      let hint =
        method.actor == nil && !source.isNonisolated
        ? " /* if this is isolated to an actor: mark the protocol '@MainActor', with a global actor "
          + "whose name ends in 'Actor', or 'nonisolated' */ " : ""
      let closure =
        "{ context, receiver, arguments, result, failure in unsafe \(proxy)._deliver\(index)(\(hint)"
        + "\(conformer), receiver, arguments, result, failure) }"
      guard let actor = method.actor else { return closure }
      return "\(library)ForwardedMethod.packed(\(closure) as @convention(c) \(actor) "
        + "(Swift.UInt, Swift.UInt, Swift.UInt, Swift.UInt, Swift.UInt) -> Swift.UInt32)"
    }

    private func function(_ index: Int, _ method: Method) -> String {
      let names = method.parameters.indices.map { "_\($0)" }
      let types = ["Swift.UInt"] + method.parameters.map(\.cType) + ["Swift.UInt"]
      return "function: { \((["receiver"] + names + ["context"]).joined(separator: ", ")) in "
        + "unsafe \(proxy)._send\(index)"
        + "(\(([conformer, "receiver"] + names).joined(separator: ", "))) } "
        + "as @convention(c) \(method.actor ?? "@Sendable") "
        + "(\(types.joined(separator: ", "))) -> Swift.Void"
    }

    // MARK: Parents

    private func parent(_ index: Int, _ parent: ForwardedDeclaration.Parent) -> String {
      "\(parent.line.directive)  \(nonisolated)private static var _parent\(index): "
        + "\(library)ForwardedParent<any \(source.name)> { \(library)ForwardedParent("
        + "\(proxy)._family(of: (any \(parent.name)).self)) "
        + "{ (listener: any \(source.name)) in listener as any \(parent.name) } }"
    }

    // MARK: Optional methods

    /// Tells which optional methods a listener has.
    private var implemented: [String] {
      if source.optionals.isEmpty { return [] }
      let markers = source.optionals.map {
        "_Conforming.\($0.marker.asIdentifier).self != \(library)ForwardedMissing.self"
      }
      return [
        "  \(nonisolated)private static func _implemented<_Conforming: \(source.name)>"
          + "(_: _Conforming) -> [Swift.Bool] { [\(markers.joined(separator: ", "))] }"
      ]
    }
  }

  extension Method.Parameter {
    /// The type of the C function's parameter: that of the argument, or a word.
    internal var cType: String { register?.cType ?? "Swift.UInt" }
  }
#endif

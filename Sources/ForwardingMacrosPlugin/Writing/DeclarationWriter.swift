// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax

  /// Writes the function that declares a protocol's methods to the library: their
  /// types, and the functions that deliver a call to a listener.
  internal struct DeclarationWriter {
    private let source: ForwardedDeclaration
    private var proxy: String { source.proxy }

    internal init(_ source: ForwardedDeclaration) { self.source = source }

    /// The function. It is marked deprecated if it uses a requirement that may be,
    /// since deprecated code may use deprecated methods without a warning. The
    /// library calls it as a requirement of `ForwardedProxy`, so nothing warns of this
    /// call.
    internal var function: String {
      let isDeprecated = source.methods.contains { !$0.marks.availability.isEmpty }
      let statements = source.members.map(declare) + source.parents.map(inherit) + optionals
      return "  \(isDeprecated ? "@available(*, deprecated) " : "")\(source.nonisolated)"
        + "\(source.access)static func _declare("
        + "in _methods: inout ForwardingMacros._ForwardedDeclarations<any \(source.name)>) {\n"
        + statements.joined(separator: "\n") + " }"
    }

    // MARK: Methods

    /// The statements of a method, or of a property: in one line, so that the
    /// compiler reports errors at the line of the requirement.
    private func declare(_ member: ForwardedDeclaration.Member) -> String {
      member.methods.flatMap(checks).joined() + member.line.directive + "    " + hint(member)
        + member.methods.compactMap(sendability).joined()
        + member.methods.map(declare).joined(separator: "; ")
    }

    /// For modules whose default is an actor: the compiler reports at this line that
    /// the method is isolated.
    private func hint(_ member: ForwardedDeclaration.Member) -> String {
      if member.methods[0].actor != nil || source.isNonisolated { return "" }
      return
        "/* if this is isolated to an actor: mark the protocol '@MainActor', with a global actor "
        + "whose name ends in 'Actor', or 'nonisolated' */ "
    }

    private func declare(_ method: Method) -> String {
      let optional = method.isOptional ? ", optional: true" : ""
      if method.isAsync { return "_methods.add(async: \"\(method.selector)\"\(optional))" }
      let parameters = method.parameters.enumerated().map { index, parameter in
        let type = "(\(method.type(index, in: .proxy))).self"
        if parameter.isInout { return "_M.inoutArgument(\(type))" }
        let register = parameter.register.flatMap {
          method.hasFunction ? ", in: (\($0.type)).self" : nil
        }
        return "_M.argument(\(type)\(register ?? ""))"
      }
      let result = method.hasFunction ? "" : ", \(result(method))"
      let function = method.hasFunction ? ", function: \(cFunction(method))" : ""
      // Two statements: in one, an error in the functions would hide that of a type.
      return "unsafe _methods.add(\"\(method.selector)\", [\(parameters.joined(separator: ", "))]"
        + "\(result)\(optional)); unsafe _methods.deliver(\(packed(method))\(function))"
    }

    /// Checks the types of parameters that are on separate lines, so that the
    /// compiler reports an error at the parameter's line.
    private func checks(_ method: Method) -> [String] {
      method.parameters.enumerated().compactMap { index, parameter in
        guard !parameter.isInout, let line = parameter.line, line != method.line else { return nil }
        return Optional(line).directive
          + "    _ = unsafe _M.same(_M.argument((\(method.type(index, in: .proxy))).self))\n"
      }
    }

    /// Checks that arguments may be delivered later, of a method that may be.
    private func sendability(_ method: Method) -> String? {
      if !source.isSendable || method.isAsync || method.isThrowing || method.parameters.isEmpty
        || method.parameters.contains(where: \.isInout)
      {
        return nil
      }
      let types = method.parameters.indices.map { "(\(method.type($0, in: .proxy))).self" }
      return "unsafe _M.sendable(\(types.joined(separator: ", "))); "
    }

    private func result(_ method: Method) -> String {
      var result = "(\(method.result(in: .proxy) ?? "Swift.Void")).self"
      if method.isDefaultInTable, let value = method.defaultResult(in: .proxy, of: proxy) {
        result += ", default: \(value)"
      }
      return "_M.result(\(result))" + (method.isThrowing ? ", throws: true" : "")
    }

    // MARK: Deliveries

    /// The function that gets the arguments behind pointers.
    private func packed(_ method: Method) -> String {
      let values = method.parameters.enumerated().filter { !isLent($1) }.map { index, parameter in
        // The type is written: inferring some types is a warning.
        let type = "(\(method.type(index, in: .proxy)))"
        return parameter.isInout
          ? "let _\(index) = try unsafe arguments.takeInout(\(index + 1), as: \(type).self); "
          : "let _\(index): \(type) = try unsafe arguments.take(\(index + 1), as: \(type).self); "
      }
      var statements = answer(method)
      for index in method.parameters.indices.reversed() where isLent(method.parameters[index]) {
        let type = "(\(method.type(index, in: .proxy))).self"
        statements = lending("arguments.lend(\(index + 1), as: \(type))", index, statements)
      }
      let extra =
        method.isThrowing
        ? ", throws: "
          + (method.result(in: .proxy).map { "_M.extraArguments(of: (\($0)).self)" } ?? "0")
        : ""
      let isUnused = method.parameters.isEmpty && method.result == nil && !method.isThrowing
      let closure =
        "{ unsafe _M.deliver(\(proxy).self, \(method.index), \(method.parameters.count)\(extra), "
        + "$0, $1, $2, $3, $4) { listener, \(isUnused ? "_" : "arguments")\(throwsMismatch(method)) in "
        + "\(values.joined())\(statements) } }"
      guard let actor = method.actor else { return closure }
      return "_M.packed(\(closure) as @convention(c) \(actor) "
        + "(Swift.UInt, Swift.UInt, Swift.UInt, Swift.UInt, Swift.UInt) -> Swift.UInt32)"
    }

    /// Calls the method and returns its result or its error.
    private func answer(_ method: Method) -> String {
      let names = method.parameters.enumerated().map { $1.isInout ? "&_\($0).pointee" : "_\($0)" }
      let call = "\(method.isThrowing ? "try " : "")\(method.call(on: "listener", names))"
      let answer =
        method.result(in: .proxy).map { "unsafe arguments.give(\(call), as: (\($0)).self)" }
        ?? statement(method, names)
      if !method.isThrowing { return answer }
      let author = method.result == nil ? ", by: listener" : ""
      return "do { \(answer) } catch { unsafe arguments.fail(error\(author)) }"
    }

    /// Whether the argument may be an object or a value in memory. Such an
    /// argument is lent to the listener without retaining it.
    private func isLent(_ parameter: Method.Parameter) -> Bool {
      parameter.register == nil && !parameter.isInout
    }

    /// The function that gets the arguments in registers.
    private func cFunction(_ method: Method) -> String {
      let lent = method.parameters.indices.filter {
        method.parameters[$0].register?.acceptsAnyByte != true
      }
      let arguments = method.parameters.enumerated().map { index, parameter in
        if parameter.isInout { return "&_\(index).pointee" }
        if lent.contains(index) { return "_\(index)" }
        return "_M.register(_\(index), as: (\(method.type(index, in: .proxy))).self)"
      }
      var statements = statement(method, arguments)
      for index in lent.reversed() {
        let lend = method.parameters[index].isInout ? "lendInout" : "lend"
        let type = method.type(index, in: .proxy)
        statements = lending(
          "_M.\(lend)(_\(index), as: (\(type)).self, \(index + 1))", index, statements)
      }
      let names = ["receiver"] + method.parameters.indices.map { "_\($0)" } + ["context"]
      let types = ["Swift.UInt"] + method.parameters.map(\.cType) + ["Swift.UInt"]
      return "{ \(names.joined(separator: ", ")) in unsafe _M.deliver(\(proxy).self, "
        + "\(method.index), context, receiver) { listener\(lent.isEmpty ? "" : Self.mismatch) in "
        + "\(statements) } } as @convention(c) \(method.actor?.description ?? "@Sendable") "
        + "(\(types.joined(separator: ", "))) -> Swift.Void"
    }

    /// A call whose arguments have their names; `listener.name = …` for setters.
    private func statement(_ method: Method, _ arguments: [String]) -> String {
      if method.kind == .setter {
        return "unsafe listener.\(method.name) = _M.same(\(arguments[0]))"
      }
      let effect = method.isThrowing ? "try " : ""
      return "unsafe _M.done(\(effect)\(method.call(on: "listener", arguments)))"
    }

    /// Statements for which one argument has been given its name.
    private func lending(_ lend: String, _ index: Int, _ statements: String) -> String {
      "try unsafe \(lend) { _\(index)\(Self.mismatch) in \(statements) }"
    }

    private static let mismatch = " throws(_M.Mismatch)"

    private func throwsMismatch(_ method: Method) -> String {
      method.parameters.isEmpty ? "" : Self.mismatch
    }

    // MARK: Parents and optional methods

    private func inherit(_ parent: ForwardedDeclaration.Parent) -> String {
      "\(parent.line.directive)    "
        + (source.isSendable ? "_sendable(of: (any \(parent.type)).self); " : "")
        + confinement(parent)
        + "_methods.inherit(_family(of: (any \(parent.type)).self)) "
        + "{ $0 as any \(parent.type) }"
    }

    /// Checks that the methods of a parent are called on the protocol's actor, too.
    private func confinement(_ parent: ForwardedDeclaration.Parent) -> String {
      guard let actor = source.actor, !source.isShared else { return "" }
      return "_confined((any \(parent.type)).self, to: \(actor.name).self); "
    }

    /// Tells which optional methods a listener has.
    private var optionals: [String] {
      if source.optionals.isEmpty { return [] }
      let markers = source.optionals.map {
        "_Conforming.\($0.marker).self != ForwardingMacros._ForwardedMissing.self"
      }
      return [
        "    @Sendable func _present<_Conforming: \(source.name)>(_: _Conforming) -> [Swift.Bool] "
          + "{ [\(markers.joined(separator: ", "))] }; _methods.findOptionals { _present($0) }"
      ]
    }
  }

  extension Method.Parameter {
    /// The type of the C function's parameter: that of the argument, or a word.
    fileprivate var cType: String { register?.cType ?? "Swift.UInt" }
  }
#endif

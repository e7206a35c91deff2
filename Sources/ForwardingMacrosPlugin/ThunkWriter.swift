// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// Writes the functions that deliver a call to a listener.
  internal struct ThunkWriter {
    private let source: ForwardedDeclaration
    private let proxy: String
    private let library = "ForwardingMacros."
    private let marshal = "ForwardingMacros.ForwardedMarshal"

    internal init(_ source: ForwardedDeclaration, of proxy: String) {
      self.source = source
      self.proxy = proxy
    }

    /// The functions for one method.
    internal func thunks(_ index: Int, _ method: Method) -> [String] {
      if method.isAsync { return [] }
      let packed = packed(index, method)
      return method.hasFunction ? [packed, function(index, method)] : [packed]
    }

    /// The attributes of a thunk. If the class has a global actor, they include
    /// the actor.
    private func head(_ method: Method) -> String {
      let isolation = method.actor.map { $0 + " " } ?? (source.actor == nil ? "" : "nonisolated ")
      return "\(method.line.directive)  \(method.availability)@inline(__always) @unsafe "
        + "\(isolation)private static func "
    }

    /// The receiver of a delivery as an object of its class.
    private func withListener(_ statements: String) -> String {
      "{ unsafe \(marshal).with(receiver, as: _Conforming.self) { listener in \(statements) } }"
    }

    /// A call whose arguments have their names; `listener.name = …` for setters.
    private func call(_ method: Method, _ arguments: [String]) -> String {
      let effect = method.isThrowing ? "try " : ""
      if method.kind == .setter {
        return "unsafe listener.\(method.name) = \(marshal).same(\(arguments[0]))"
      }
      return "unsafe \(marshal).done(\(effect)\(method.call(on: "listener", arguments)))"
    }

    /// Statements for which one argument has been given its name.
    private func lending(_ lend: String, _ index: Int, _ statements: String) -> String {
      "try unsafe \(marshal).\(lend) "
        + "{ _\(index) throws(\(library)ForwardedMismatch) in \(statements) }"
    }

    // MARK: Arguments in registers

    /// The body of a C function of the method's own types.
    private func function(_ index: Int, _ method: Method) -> String {
      let parameters = method.parameters.enumerated().map { ", _ _\($0): \($1.cType)" }
      return head(method) + "_send\(index)<_Conforming: \(source.name)>"
        + "(_: _Conforming.Type, _ receiver: Swift.UInt\(parameters.joined())) "
        + withListener(registers(index, method))
    }

    private func registers(_ index: Int, _ method: Method) -> String {
      let arguments = method.parameters.enumerated().map { index, parameter in
        if parameter.isInout { return "&_\(index).pointee" }
        if parameter.register == nil { return "_\(index)" }
        return "\(marshal).register(_\(index), as: (\(method.type(index, in: .proxy))).self)"
      }
      var text = call(method, arguments)
      let words = method.parameters.indices.filter { method.parameters[$0].register == nil }
      if words.isEmpty { return text }
      for index in words.reversed() {
        let lend = method.parameters[index].isInout ? "lendInout" : "lend"
        let type = method.type(index, in: .proxy)
        text = lending("\(lend)(_\(index), as: (\(type)).self, \(index + 1))", index, text)
      }
      return "do throws(\(library)ForwardedMismatch) { \(text) } "
        + "catch { unsafe \(proxy)._protocol.report(error, \(index)) }"
    }

    // MARK: Arguments behind pointers

    private func packed(_ index: Int, _ method: Method) -> String {
      head(method) + "_deliver\(index)<_Conforming: \(source.name)>"
        + "(_: _Conforming.Type, _ receiver: Swift.UInt, _ arguments: Swift.UInt, "
        + "_ result: Swift.UInt, _ failure: Swift.UInt) -> Swift.UInt32 "
        + withListener(delivery(index, method))
    }

    private func delivery(_ index: Int, _ method: Method) -> String {
      var answer = answer(method)
      answer = method.parameters.indices.filter { isLent(method.parameters[$0]) }.reversed()
        .reduce(answer) { statements, index in
          let type = "(\(method.type(index, in: .proxy))).self"
          return lending("lend(arguments, \(index + 1), as: \(type))", index, statements)
        }
      if method.isThrowing {
        answer = "if unsafe arguments.hasFailed { return 0 }; " + answer
      }
      let arguments =
        "let arguments = unsafe \(library)ForwardedArguments(arguments\(errorIndex(method))); "
      // A method without parameters has no argument of a wrong type.
      if method.parameters.isEmpty {
        let isBare = method.result == nil && !method.isThrowing
        return (isBare ? "" : arguments) + "\(answer); return 0"
      }
      return "do throws(\(library)ForwardedMismatch) "
        + "{ \(arguments)\(values(method).joined())\(answer); return 0 } "
        + "catch { return unsafe \(proxy)._protocol.report(error, failure, \(index)) }"
    }

    /// Reads the arguments that are not lent.
    private func values(_ method: Method) -> [String] {
      method.parameters.enumerated().filter { !isLent($1) }.map { index, parameter in
        // The type is written: inferring some types is a warning.
        let type = "(\(method.type(index, in: .proxy)))"
        return "let _\(index)\(parameter.isInout ? "" : ": \(type)") = "
          + "try unsafe \(marshal).\(parameter.isInout ? "takeInout" : "take")("
          + "arguments, \(index + 1), as: \(type).self); "
      }
    }

    /// Calls the method and returns its result or its error.
    private func answer(_ method: Method) -> String {
      let names = method.parameters.enumerated().map { $1.isInout ? "&_\($0).pointee" : "_\($0)" }
      let given = "\(method.isThrowing ? "try " : "")\(method.call(on: "listener", names))"
      let answer =
        method.result(in: .proxy).map {
          "unsafe \(marshal).give(\(given), as: (\($0)).self, result, arguments, "
            + "\(method.parameters.count + 1))"
        } ?? call(method, names)
      if !method.isThrowing { return answer }
      // The pointer for the result comes after the arguments, if the result needs
      // one, and the pointer for the error comes last.
      let failure = method.result == nil ? "error, result, by: listener" : "error"
      return "do { \(answer) } catch { unsafe arguments.fail(\(failure)) }"
    }

    /// Whether the argument may be an object or a value in memory. Such an
    /// argument is lent to the listener without retaining it.
    private func isLent(_ parameter: Method.Parameter) -> Bool {
      parameter.register == nil && !parameter.isInout
    }

    private func errorIndex(_ method: Method) -> String {
      guard method.isThrowing else { return "" }
      let first = method.parameters.count + 1
      guard let result = method.result(in: .proxy) else { return ", errorAt: \(first)" }
      return ", errorAt: \(first) + \(marshal).extraArguments(of: (\(result)).self)"
    }
  }
#endif

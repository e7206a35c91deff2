// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// Writes the functions by which a listener is reached.
  internal struct ThunkWriter {
    private let source: ForwardedDeclaration
    private let proxy: String
    private let library = "ForwardingMacros."

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

    /// `@MainActor ` and the like, or nothing, which a class with an actor needs.
    private func isolation(_ method: Method) -> String {
      method.actor.map { $0 + " " } ?? (source.actor == nil ? "" : "nonisolated ")
    }

    /// A call with arguments that are there; `listener.name = …` for setters.
    private func call(_ method: Method, _ arguments: [String]) -> String {
      let effect = method.isThrowing ? "try " : ""
      if method.kind == .setter {
        return "unsafe listener.\(method.name) = \(library)ForwardedSlot.same(\(arguments[0]))"
      }
      return
        "unsafe \(library)ForwardedSlot.done(\(effect)\(method.call(on: "listener", arguments)))"
    }

    /// Delivers by a C function.
    private func function(_ index: Int, _ method: Method) -> String {
      let parameters = method.functionTypes.enumerated().map { ", _ _\($0): \($1)" }
      return """
          @inline(__always)
          @unsafe \(isolation(method))private static func _send\(index)<_Conforming: \(source.name)>(
            _: _Conforming.Type, _ receiver: UInt\(parameters.joined())
          ) {
            unsafe \(library)ForwardedSlot.with(receiver, as: _Conforming.self) { listener in
              \(lending(index, method))
            }
          }
        """
    }

    /// The call with what is no scalar lent.
    private func lending(_ index: Int, _ method: Method) -> String {
      let arguments = method.parameters.enumerated().map { index, parameter in
        if parameter.isInout { return "&_\(index).pointee" }
        return parameter.type == "Bool" ? "_\(index) != 0" : "_\(index)"
      }
      var text = call(method, arguments)
      if method.words.isEmpty { return text }
      for index in method.words.reversed() {
        let lend = method.parameters[index].isInout ? "lendInout" : "lend"
        let type = method.type(index, in: .proxy)
        text = lending("\(lend)(_\(index), as: (\(type)).self, \(index + 1))", index, text)
      }
      return """
        do throws(\(library)ForwardedMismatch) {
                \(text)
              } catch {
                unsafe \(proxy)._protocol.report(error, \(index))
              }
        """
    }

    /// Delivers arguments that stand behind pointers.
    private func packed(_ index: Int, _ method: Method) -> String {
      let values = method.parameters.indices.filter { !isLent(method, $0) }.map { index in
        // Some types are not to be inferred without a warning.
        let (parameter, type) = (method.parameters[index], "(\(method.type(index, in: .proxy)))")
        return "\n        let _\(index)\(parameter.isInout ? "" : ": \(type)") = "
          + "try unsafe \(library)ForwardedSlot.\(parameter.isInout ? "takeInout" : "take")("
          + "arguments, \(index + 1), as: \(type).self)"
      }
      let behind = method.parameters.count + 1
      let names = method.parameters.enumerated().map { $1.isInout ? "&_\($0).pointee" : "_\($0)" }
      let given = "\(method.isThrowing ? "try " : "")\(method.call(on: "listener", names))"
      var answer =
        method.result(in: .proxy).map {
          "unsafe \(library)ForwardedSlot.give("
            + "\(given), as: (\($0)).self, result, arguments, \(behind))"
        } ?? call(method, names)
      if method.isThrowing {
        // Behind the arguments stands the place of the result, if it needs one,
        // and last that of the error.
        let failure = method.result == nil ? "error, result, by: listener" : "error"
        answer = "do { \(answer) } catch { unsafe arguments.fail(\(failure)) }"
      }
      answer = lending(answer, method)
      if method.isThrowing {
        answer = "if unsafe arguments.hasFailed { return 0 }\n        " + answer
      }
      let head = """
          @inline(__always)
          @unsafe \(isolation(method))private static func _deliver\(index)<_Conforming: \(source.name)>(
            _: _Conforming.Type, _ receiver: UInt, _ arguments: UInt, _ result: UInt, _ failure: UInt
          ) -> UInt32 {
            unsafe \(library)ForwardedSlot.with(receiver, as: _Conforming.self) { listener in

        """
      let arguments =
        "let arguments = unsafe \(library)ForwardedArguments(arguments\(errorPlace(method)))"
      // Nothing can be wrong with no arguments.
      if method.parameters.isEmpty {
        let isBare = method.result == nil && !method.isThrowing
        return head + """
                \(isBare ? answer : arguments + "\n        " + answer)
                return 0
              }
            }
          """
      }
      return head + """
              do throws(\(library)ForwardedMismatch) {
                \(arguments)\(values.joined())
                \(answer)
                return 0
              } catch {
                return unsafe \(proxy)._protocol.report(error, failure, \(index))
              }
            }
          }
        """
    }

    /// Whether an argument is an object, or stands in memory: then the listener is
    /// lent it, and no reference is counted.
    private func isLent(_ method: Method, _ index: Int) -> Bool {
      !method.parameters[index].isScalar && !method.parameters[index].isInout
    }

    /// Statements in which the arguments that are lent have their names.
    private func lending(_ statements: String, _ method: Method) -> String {
      method.parameters.indices.filter { isLent(method, $0) }.reversed()
        .reduce(statements) { statements, index in
          let type = "(\(method.type(index, in: .proxy))).self"
          return lending("lend(arguments, \(index + 1), as: \(type))", index, statements)
        }
    }

    /// Statements in which one argument that is lent has its name.
    private func lending(_ lend: String, _ index: Int, _ statements: String) -> String {
      "try unsafe \(library)ForwardedSlot.\(lend) "
        + "{ _\(index) throws(\(library)ForwardedMismatch) in \(statements) }"
    }

    private func errorPlace(_ method: Method) -> String {
      guard method.isThrowing else { return "" }
      let first = method.parameters.count + 1
      guard let result = method.result(in: .proxy) else { return ", errorAt: \(first)" }
      return ", errorAt: \(first) + \(library)ForwardedSlot.extraArguments(of: (\(result)).self)"
    }
  }
#endif

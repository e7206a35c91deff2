// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  /// Writes the class of the typed proxy.
  internal struct ProxyWriter {
    private let source: ForwardedDeclaration
    private let library = "ForwardingMacros."

    internal init(_ source: ForwardedDeclaration) { self.source = source }

    private var access: String { source.access }
    private var proxy: String { source.name.bare + "Proxy" }
    private var family: String {
      "\(library)ForwardedProtocol<any \(source.name), any \(source.name).Type>"
    }

    /// The class.
    internal var declaration: DeclSyntax {
      """
      /// A typed proxy of `\(raw: source.name)`, which forwards what it is called for to
      /// its listeners. Made by `@Forwarded`.
      \(raw: access)final class \(raw: proxy): \(raw: source.name), \(raw: library)ForwardedProxy {
        \(raw: access)typealias Listener = any \(raw: source.name)
        \(raw: access)typealias Conformer = any \(raw: source.name).Type

        /// The methods of `\(raw: source.name)`.
        \(raw: access)enum Requirement: Swift.Int, Swift.CaseIterable, Swift.Sendable {
      \(raw: source.methods.map(requirement).joined(separator: "\n"))
        }

        \(raw: access)let _forwarding: \(raw: library)ForwardedCore<any \(raw: source.name), any \(raw: source.name).Type>

        /// Makes a proxy without listeners.
        \(raw: access)init() {
          _forwarding = \(raw: library)ForwardedCore(\(raw: proxy)._protocol)
        }

        /// Makes a proxy without listeners.
        ///
        /// - Throws: `TableError` if a policy of the configuration does not fit its
        ///   method.
        \(raw: access)init(
          configuration: \(raw: library)DynamicProxy.Configuration
        ) throws(\(raw: library)TableError) {
          _forwarding = try \(raw: library)ForwardedCore(\(raw: proxy)._protocol, configuration)
        }

      \(raw: source.methods.enumerated().map(implementation).joined(separator: "\n\n"))

        \(raw: access)static let _protocol: \(raw: family) = \(raw: family)(
          [
      \(raw: source.methods.enumerated().map(entry).joined(separator: ",\n"))
          ]\(raw: optionals)
        )

      \(raw: source.methods.enumerated().map(thunks).joined(separator: "\n\n"))\(raw: implemented)
      }
      """
    }

    // MARK: The methods as cases

    private func requirement(_ method: Method) -> String {
      """
          /// `\(method.fullName)`, to untyped callers `\(method.selector)`.
          case \(method.caseName.asIdentifier)
      """
    }

    // MARK: The methods of the proxy

    private func implementation(_ index: Int, _ method: Method) -> String {
      let parameters = method.parameters.enumerated().map { index, parameter in
        "\(parameter.label) _\(index): \(parameter.writtenType)"
      }
      let arrow = method.result.map { " -> \($0)" } ?? ""
      return """
          \(method.attributes)\(access)func \(method.name)(\(parameters.joined(separator: ", ")))\
        \(method.isThrowing ? " throws" : "")\(arrow) {
            \(body(index, method))
          }
        """
    }

    private func body(_ index: Int, _ method: Method) -> String {
      let frame = method.parameters.indices.map { "_\($0)" }.joined(separator: ", ")
      let call: String
      switch (method.result, method.isThrowing) {
      case (nil, false): call = "send(\(index), (\(frame)))"
      case (nil, true): call = "sendThrowing(\(index), (\(frame)))"
      case (let type?, false): call = "ask(\(index), (\(frame)), as: (\(type)).self)"
      case (let type?, true): call = "askThrowing(\(index), (\(frame)), as: (\(type)).self)"
      }
      let marks = method.isThrowing ? "try unsafe" : "unsafe"
      // What is no scalar is passed by what `ForwardedSlot` makes of it.
      var text = "\(marks) _forwarding.\(call)"
      for (index, parameter) in method.parameters.enumerated().reversed()
      where !parameter.isScalar {
        text =
          "\(marks) \(library)ForwardedSlot.pass(_\(index), as: (\(parameter.type)).self) { _\(index) in \(text) }"
      }
      if method.result == nil { return text }
      if let value = method.defaultResult { return "\(text) ?? (\(value))" }
      return "try _forwarding.answer(\(index), \(text))"
    }

    // MARK: The table

    private func entry(_ index: Int, _ method: Method) -> String {
      var arguments = ["\"\(method.selector)\""]
      let encodings = method.parameters.map {
        "\(library)ForwardedSlot.encoding(of: (\($0.type)).self)"
      }
      arguments.append("[\(encodings.joined(separator: ", "))]")
      if !method.hasFunction {
        var result = "of: (\(method.result ?? "Void")).self"
        if method.isDefaultInTable, let value = method.declaredDefault {
          result += ", default: \(value)"
        }
        arguments.append("\(library)ForwardedSlot.result(\(result))")
        if method.isThrowing { arguments.append("throws: true") }
      }
      if method.isOptional {
        let place = source.optionals.firstIndex { $0.selector == method.selector } ?? 0
        arguments.append("optional: \(place)")
      }
      arguments.append(
        """
        { context, receiver, arguments, result, failure in
                unsafe \(proxy)._deliver\(index)(
                  \(family).conformer(receiver, context), receiver, arguments, result, failure)
              }
        """)
      if method.hasFunction {
        let names = method.parameters.indices.map { "_\($0)" }
        let types = method.parameters.map { $0.type == "Bool" ? "UInt8" : $0.type }
        arguments.append(
          """
          function: { \((["receiver"] + names + ["context"]).joined(separator: ", ")) in
                  unsafe \(proxy)._send\(index)(
                    \((["\(family).conformer(receiver, context)", "receiver"] + names).joined(separator: ", ")))
                } as @convention(c) @Sendable (\((["UInt"] + types + ["UInt"]).joined(separator: ", "))) -> Void
          """)
      }
      return
        "      unsafe \(library)ForwardedMethod(\n        \(arguments.joined(separator: ",\n        "))\n      )"
    }

    private var optionals: String {
      source.optionals.isEmpty ? "" : ",\n    optionals: { listener in _implemented(listener) }"
    }

    private var implemented: String {
      if source.optionals.isEmpty { return "" }
      let markers = source.optionals.map {
        "Conforming.\($0.marker.asIdentifier).self != \(library)ForwardedMissing.self"
      }
      return """


          private static func _implemented<Conforming: \(source.name)>(_: Conforming) -> [Bool] {
            [\(markers.joined(separator: ", "))]
          }
        """
    }

    // MARK: Thunks

    private func call(_ method: Method, _ arguments: [String]) -> String {
      let labelled = zip(method.parameters, arguments).map {
        $0.label == "_" ? $1 : "\($0.label.asLabel): \($1)"
      }
      return "listener.\(method.name)(\(labelled.joined(separator: ", ")))"
    }

    private func thunks(_ index: Int, _ method: Method) -> String {
      method.hasFunction
        ? packed(index, method) + "\n\n" + function(index, method) : packed(index, method)
    }

    /// Delivers by a C function of the method's own types.
    private func function(_ index: Int, _ method: Method) -> String {
      let parameters = method.parameters.enumerated().map {
        ", _ _\($0): \($1.type == "Bool" ? "UInt8" : $1.type)"
      }
      let arguments = method.parameters.enumerated().map {
        $1.type == "Bool" ? "_\($0) != 0" : "_\($0)"
      }
      return """
          @inline(__always)
          @unsafe private static func _send\(index)<Conforming: \(source.name)>(
            _: Conforming.Type, _ receiver: UInt\(parameters.joined())
          ) {
            unsafe \(library)ForwardedSlot.with(receiver, as: Conforming.self) { listener in
              unsafe \(library)ForwardedSlot.done(\(call(method, arguments)))
            }
          }
        """
    }

    /// Delivers arguments that stand behind pointers.
    private func packed(_ index: Int, _ method: Method) -> String {
      let values = method.parameters.enumerated().map { index, parameter in
        "\n        let _\(index) = try unsafe \(library)ForwardedSlot.take("
          + "arguments, \(index + 1), as: (\(parameter.type)).self)"
      }
      let behind = method.parameters.count + 1
      let names = method.parameters.indices.map { "_\($0)" }
      let given =
        "\(method.isThrowing ? "try " : "")\(call(method, names))"
      var answer =
        method.result.map {
          "unsafe \(library)ForwardedSlot.give("
            + "\(given), as: (\($0)).self, result, arguments, \(behind))"
        } ?? "unsafe \(library)ForwardedSlot.done(\(given))"
      if method.isThrowing {
        // Behind the arguments stands the place of the result, if it needs one,
        // and last that of the error.
        answer = """
          if unsafe arguments.hasFailed { return 0 }
                  do {
                    \(answer)
                  } catch {
                    unsafe arguments.fail(error\(method.result == nil ? ", result" : ""))
                  }
          """
      }
      let head = """
          @inline(__always)
          @unsafe private static func _deliver\(index)<Conforming: \(source.name)>(
            _: Conforming.Type, _ receiver: UInt, _ arguments: UInt, _ result: UInt, _ failure: UInt
          ) -> UInt32 {
            unsafe \(library)ForwardedSlot.with(receiver, as: Conforming.self) { listener in

        """
      let arguments =
        "let arguments = unsafe \(library)ForwardedArguments(arguments\(errorPlace(method)))"
      // Nothing can be wrong with no arguments.
      if values.isEmpty {
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

    private func errorPlace(_ method: Method) -> String {
      guard method.isThrowing else { return "" }
      let first = method.parameters.count + 1
      guard let result = method.result else { return ", errorAt: \(first)" }
      return ", errorAt: \(first) + \(library)ForwardedSlot.extraArguments(of: (\(result)).self)"
    }
  }
#endif

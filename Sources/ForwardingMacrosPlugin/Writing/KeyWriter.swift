// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// Writes the method keys of a protocol.
  internal struct KeyWriter {
    private let source: ForwardedDeclaration

    internal init(_ source: ForwardedDeclaration) { self.source = source }

    /// The enum with a key for each method; none if there are no methods.
    internal var members: [String] {
      if source.members.isEmpty { return [] }
      let keys = source.members.map { member in
        member.line.directive + "    " + member.methods.map(key).joined(separator: "; ")
      }
      return [
        """
          /// The method keys of `\(source.name)`, by which the untyped proxy takes its types.
          \(source.nonisolated)\(source.access)enum Keys {
        \(keys.joined(separator: "\n"))
          }
        """
      ]
    }

    private func key(_ method: Method) -> String {
      let name = "\(source.access)static \(keyword(method)) \(method.caseName.asIdentifier)"
      if let reason = method.whyThereIsNoKey {
        let message = "there is no method key for '\(method.fullName)', which \(reason)"
        return "@available(*, unavailable, message: \"\(message)\") \(name): Swift.Never "
          + "{ Swift.fatalError() }"
      }
      let types =
        [method.result(in: .proxy) ?? "Swift.Void"]
        + method.parameters.indices.map { method.type($0, in: .proxy) }
      return "\(name) = unsafe _M.key(\(source.proxy).self, "
        + "\(method.index), \(types.map { "(\($0)).self" }.joined(separator: ", ")))"
    }

    private func keyword(_ method: Method) -> String {
      method.whyThereIsNoKey == nil ? "let" : "var"
    }
  }

  extension Method {
    /// Why a method has no key, as far as the macro sees it; nil if it may have one.
    /// The compiler decides by the type of the result.
    fileprivate var whyThereIsNoKey: String? {
      if isAsync { return "is async" }
      if isThrowing { return "throws" }
      if parameters.contains(where: \.isInout) { return "has an 'inout' parameter" }
      return nil
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Makes the error for a selector that no protocol of the proxy declares. It
  /// names similar selectors and the proxy's protocols.
  ///
  /// - Parameters:
  ///   - name: the selector.
  ///   - others: the number of further functions of a table that are not
  ///     declared either.
  @inline(never) internal func unknown(_ name: String, others: Int = 0) -> ForwardingError {
    let near = nearNames(to: name, among: requirements.lazy.map(\.selector.name))
    func quoted(_ names: [String]) -> [String] { names.map { "\"\($0)\"" } }
    var text = "no protocol of the proxy declares \"\(name)\""
    if others > 0 { text += ", nor \(others) more of the table's functions" }
    if !near.isEmpty { text += "; did you mean \(quoted(near).joined(separator: " or "))?" }
    let adopted = quoted(protocols.map(\.name)).joined(separator: ", ")
    text += protocols.isEmpty ? "; it adopts no protocol" : "; it adopts \(adopted)"
    return ForwardingError(.unknownSelector, selector: name, text)
  }
}

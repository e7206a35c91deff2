// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Makes the error for a selector that no protocol of the proxy declares. It
  /// names similar selectors and the proxy's protocols, or the first methods if
  /// there is neither.
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
    let adopted = quoted(protocols.filter { !$0.isAnonymous }.map(\.name)).joined(separator: ", ")
    if protocols.isEmpty {
      text += "; it adopts no protocol"
    } else if !adopted.isEmpty {
      text += "; it adopts \(adopted)"
    }
    if near.isEmpty && adopted.isEmpty && !requirements.isEmpty {
      let declared = quoted(requirements.prefix(4).map(\.selector.name))
      text += "; it declares \(declared.joined(separator: ", "))"
      if requirements.count > 4 { text += " and \(requirements.count - 4) more" }
    }
    if !near.isEmpty { text += "; did you mean \(quoted(near).joined(separator: " or "))?" }
    return ForwardingError(.unknownSelector, selector: name, text)
  }
}

// MARK: - Handling

extension DynamicProxy {
  /// Handles a send of a selector that no protocol declares, by the configuration.
  ///
  /// - Returns: the invocation with its result; nil if nothing handles it.
  internal func handleUnknown<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, _ arguments: repeat each Argument
  ) throws(ForwardingError) -> Invocation? {
    if configuration.onUnknown == nil { return nil }
    let signature = try key.signature
    let invocation = try Invocation(key.selector, signature)
    var index = signature.firstArgumentIndex
    func add<Value>(_ value: Value) throws(ForwardingError) {
      try invocation.setArgument(value, at: index)
      index += 1
    }
    repeat try add(each arguments)
    _ = try handleUnknown(invocation)
    return invocation
  }

  /// Handles an invocation that no protocol declares, by the configuration.
  ///
  /// - Returns: whether anything handles it.
  internal func handleUnknown(_ invocation: Invocation) throws(ForwardingError) -> Bool {
    guard let handler = configuration.onUnknown else { return false }
    var call = UnknownCall(handler: handler, invocation: invocation)
    let selector = invocation.selector
    // SAFETY: the context is the call, which is there during it.
    let status = unsafe withUnsafeMutablePointer(to: &call) { call in
      unsafe fwd_run_nested(
        selector.handle,
        { context in unsafe context!.assumingMemoryBound(to: UnknownCall.self).pointee.run() },
        call)
    }
    if status != FWD_OK { throw .last(selector) }
    if let failure = call.failure { throw failure }
    if !invocation.hasResult && invocation.signature.resultLayout.size > 0 {
      throw ForwardingError(
        .noResponder, selector: selector.name,
        "the configuration's onUnknown has set no result for \"\(selector)\"")
    }
    return true
  }
}

private struct UnknownCall {
  let handler: @Sendable (Invocation) throws -> Void
  let invocation: Invocation
  var failure: ForwardingError?

  mutating func run() {
    do {
      try handler(invocation)
    } catch let error as ForwardingError {
      failure = error
    } catch {
      let selector = invocation.selector
      failure = ForwardingError(
        .deliveryFailed, selector: selector.name,
        "the configuration's onUnknown has thrown for \"\(selector)\": \(error)")
    }
  }
}

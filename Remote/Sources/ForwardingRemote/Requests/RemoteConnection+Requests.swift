// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding
public import ForwardingWire
internal import Foundation

extension RemoteConnection {
  /// Answers requests with the results of a proxy.
  ///
  /// Requests are forwarded on threads of the client, several at a time if they come from
  /// ``request(_:_:_:_:from:within:)`` in both of its forms.
  ///
  /// - Parameters:
  ///   - service: the name for those who ask: letters, digits, `-` and `_`, at most 64.
  ///   - proxy: gets the calls. The responder keeps it alive.
  ///   - schema: the methods that may be called.
  /// - Throws: `RemoteError` with the codes `invalidArgument`, `permissionDenied`, and those
  ///   of a connection.
  public func respond(
    to service: String, with proxy: DynamicProxy, _ schema: WireSchema
  ) async throws(RemoteError) -> RemoteResponder {
    try checkName(service, "a service's name")
    let core = ResponderCore(service, engine, proxy, schema)
    return try await onThread { () throws(RemoteError) in try RemoteResponder(core) }
  }

  /// Calls a method of a proxy in another process, and returns its result.
  ///
  /// ```swift
  /// let price = try await link.request("prices", schema, quote, 7, from: .one)
  /// ```
  ///
  /// A request that fails may have been carried out: `timedOut` and `disconnected` say
  /// only that there is no answer.
  ///
  /// - Parameters:
  ///   - service: the name with which the other process responds.
  ///   - schema: has the method, with rules for its pointers.
  ///   - key: the method. Its result must be a number, a `Bool`, an enum, or a struct of
  ///     these, or `Void`.
  ///   - arguments: the arguments.
  ///   - responders: which processes are asked.
  ///   - time: the deadline.
  /// - Throws: `RemoteError` with the code `noResponders` if nobody responds to requests of
  ///   this name; `timedOut`; `responderFailed` with the reason if the other proxy has
  ///   thrown, nobody has subscribed to the method, or its schema does not fit;
  ///   `undecodable` if the result has another type there; `invalidArgument` if the
  ///   arguments or the result cannot be carried; `messageTooLarge`; `disconnected`.
  public func request<Output, each Argument>(
    _ service: String, _ schema: WireSchema, _ key: Method<Output, repeat each Argument>,
    _ arguments: repeat each Argument, from responders: RemoteResponder.Choice = .one,
    within time: Duration = .seconds(5)
  ) async throws(RemoteError) -> Output {
    let invocation = try Self.invocation(key, repeat each arguments)
    let (question, form) = try Self.question(service, schema, invocation)
    let replies = try await ask(
      service, question, everyone: responders == .first, within: time, limit: 1)
    guard let reply = replies.first else {
      throw RemoteError(.timedOut, "service \"\(service)\": no answer within \(time)")
    }
    return try form.decode(reply, as: Output.self)
  }

  /// Calls a method of the proxies of all processes that respond, and returns the results
  /// that arrive before the deadline, in the order of arrival. It always waits until then,
  /// since nobody knows how many processes there are.
  ///
  /// - Throws: `RemoteError`, as
  ///   ``request(_:_:_:_:from:within:)``; `timedOut` if there is no answer at all. If one
  ///   responder has failed, the error is that of the first such answer.
  public func requestAll<Output, each Argument>(
    _ service: String, _ schema: WireSchema, _ key: Method<Output, repeat each Argument>,
    _ arguments: repeat each Argument, within time: Duration
  ) async throws(RemoteError) -> [Output] {
    let invocation = try Self.invocation(key, repeat each arguments)
    let (question, form) = try Self.question(service, schema, invocation)
    let replies = try await ask(service, question, everyone: true, within: time, limit: .max)
    var results: [Output] = []
    for reply in replies { results.append(try form.decode(reply, as: Output.self)) }
    return results
  }

  private static func invocation<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, _ arguments: repeat each Argument
  ) throws(RemoteError) -> Invocation {
    do throws(ForwardingError) {
      let invocation = try Invocation(key.selector, key.signature)
      var index = invocation.signature.firstArgumentIndex
      for argument in repeat each arguments {
        try invocation.setArgument(argument, at: index)
        index += 1
      }
      return invocation
    } catch {
      throw RemoteError(.invalidArgument, error.description)
    }
  }

  private static func question(
    _ service: String, _ schema: WireSchema, _ invocation: Invocation
  ) throws(RemoteError) -> ([UInt8], ReplyForm) {
    try checkName(service, "a service's name")
    var question = schema.bytes
    do throws(WireError) {
      try WireEncoder(schema).encode(invocation, into: &question)
    } catch {
      throw RemoteError(.invalidArgument, "service \"\(service)\": \(error)", wireError: error)
    }
    return (question, try ReplyForm(invocation.selector, resultOf: invocation.signature))
  }

  private func ask(
    _ service: String, _ question: [UInt8], everyone: Bool, within time: Duration, limit: Int
  ) async throws(RemoteError) -> [[UInt8]] {
    try await onThread { [requestLink] () throws(RemoteError) in
      var replies: [[UInt8]] = []
      do throws(RemoteError) {
        let shared = try requestLink.current()
        defer { withExtendedLifetime(shared) {} }
        let link = shared.link
        guard question.count <= link.messageLimit else {
          throw RemoteError(
            .messageTooLarge,
            "the request has \(question.count) bytes, and the server takes at most "
              + "\(link.messageLimit)")
        }
        try link.ask("service.\(service)", everyone: everyone, question, within: time) {
          replies.append($0)
          return replies.count < limit
        }
      } catch {
        guard error.code == .timedOut, !replies.isEmpty else {
          throw error.at("service \"\(service)\"")
        }
      }
      return replies
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding
public import ForwardingWire
internal import Foundation

extension RemoteConnection {
  /// Responds to requests with the results of a proxy.
  ///
  /// Requests are forwarded on threads of the client, several at a time if they come from
  /// ``request(_:_:_:_:from:within:)`` in both of its forms.
  ///
  /// - Parameters:
  ///   - service: the name that requests use: letters, digits, `-` and `_`, at most 64.
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
  /// only that there is no response.
  ///
  /// - Parameters:
  ///   - service: the name with which the other process responds.
  ///   - schema: has the method, with rules for its pointers.
  ///   - key: the method. Its result must be a number, a `Bool`, an enum, or a struct of
  ///     these, or `Void`.
  ///   - arguments: the arguments.
  ///   - responders: which processes get the request.
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
    let (request, form) = try Self.encode(service, schema, invocation)
    let isFirst = responders == .first
    let responses = try await responses(service, request, everyone: isFirst, within: time) {
      // Others may have a result.
      isFirst ? (try? form.decode($0, as: Output.self)) != nil : true
    }
    guard let result = try Self.results(in: responses, form, as: Output.self).first else {
      throw RemoteError(.timedOut, "service \"\(service)\": no response within \(time)")
    }
    return result
  }

  /// Calls a method of the proxies of all processes that respond, and returns the results
  /// that arrive before the deadline, in the order of arrival. It always waits until then,
  /// since nobody knows how many processes there are.
  ///
  /// The results are those of the responders that succeed. It throws the error of one that fails only
  /// if there is no result.
  ///
  /// - Throws: `RemoteError`, as
  ///   ``request(_:_:_:_:from:within:)``; `timedOut` if there is no response at all. If all
  ///   responses are failures, the error is that of the first one.
  public func requestAll<Output, each Argument>(
    _ service: String, _ schema: WireSchema, _ key: Method<Output, repeat each Argument>,
    _ arguments: repeat each Argument, within time: Duration
  ) async throws(RemoteError) -> [Output] {
    let invocation = try Self.invocation(key, repeat each arguments)
    let (request, form) = try Self.encode(service, schema, invocation)
    let responses = try await responses(service, request, everyone: true, within: time) { _ in
      false
    }
    return try Self.results(in: responses, form, as: Output.self)
  }

  /// Returns the results among some responses.
  ///
  /// - Throws: the first failure, if there are only failures.
  private static func results<Output>(
    in responses: [[UInt8]], _ form: ResponseForm, as type: Output.Type
  ) throws(RemoteError) -> [Output] {
    var results: [Output] = []
    var failure: RemoteError?
    for response in responses {
      do throws(RemoteError) {
        results.append(try form.decode(response, as: type))
      } catch {
        failure = failure ?? error
      }
    }
    if results.isEmpty, let failure { throw failure }
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

  private static func encode(
    _ service: String, _ schema: WireSchema, _ invocation: Invocation
  ) throws(RemoteError) -> ([UInt8], ResponseForm) {
    try checkName(service, "a service's name")
    var request = schema.bytes
    do throws(WireError) {
      try WireEncoder(schema).encode(invocation, into: &request)
    } catch {
      throw RemoteError(.invalidArgument, "service \"\(service)\": \(error)", wireError: error)
    }
    return (request, try ResponseForm(invocation.selector, resultOf: invocation.signature))
  }

  /// Returns the responses that arrive before the deadline, up to one that is enough.
  private func responses(
    _ service: String, _ request: [UInt8], everyone: Bool, within time: Duration,
    until isEnough: @escaping @Sendable ([UInt8]) -> Bool
  ) async throws(RemoteError) -> [[UInt8]] {
    try await onThread { [requestLink] () throws(RemoteError) in
      var responses: [[UInt8]] = []
      do throws(RemoteError) {
        let shared = try requestLink.current()
        defer { withExtendedLifetime(shared) {} }
        let link = shared.link
        guard request.count <= link.messageLimit else {
          throw RemoteError(
            .messageTooLarge,
            "the request has \(request.count) bytes, and the server takes at most "
              + "\(link.messageLimit)")
        }
        try link.request("service.\(service)", everyone: everyone, request, within: time) {
          responses.append($0)
          return !isEnough($0)
        }
      } catch {
        guard error.code == .timedOut, !responses.isEmpty else {
          throw error.at("service \"\(service)\"")
        }
      }
      return responses
    }
  }
}

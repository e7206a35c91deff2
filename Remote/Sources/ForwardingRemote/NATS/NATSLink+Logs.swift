// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CNATS
internal import Foundation

// A log is a stream with one subject. The names are part of the documented layout.
extension NATSLink {
  private static func stream(_ log: String) -> String { "FWD_\(log)" }
  internal static func subject(_ log: String) -> String { "fwd.log.\(log)" }

  internal func log(_ name: String) throws(RemoteError) -> RemoteLog? {
    let response: StreamResponse
    do throws(RemoteError) {
      response = try apiRequest("STREAM.INFO.\(Self.stream(name))", nil)
    } catch {
      throw error.at("the log \"\(name)\"")
    }
    if response.error?.isCode(JSStreamNotFoundErr) == true { return nil }
    return try response.log(name)
  }

  internal func makeLog(
    _ name: String, replicas: Int, size: Int?
  ) throws(RemoteError) -> RemoteLog {
    if let log = try log(name) { return log }
    let configuration = StreamConfiguration(
      name: Self.stream(name), subjects: [Self.subject(name)], numReplicas: replicas,
      maxBytes: size ?? -1)
    let response: StreamResponse
    do throws(RemoteError) {
      response = try apiRequest("STREAM.CREATE.\(Self.stream(name))", configuration)
    } catch {
      throw error.at("making the log \"\(name)\"")
    }
    // Somebody else made it with other options in the meantime.
    if response.error?.isCode(JSStreamNameExistErr) == true, let log = try log(name) {
      return log
    }
    return try response.log(name)
  }

  internal func message(
    at position: UInt64, of log: String
  ) throws(RemoteError) -> [UInt8]? {
    let response: MessageResponse
    do throws(RemoteError) {
      response = try apiRequest("STREAM.MSG.GET.\(Self.stream(log))", MessageRequest(seq: position))
    } catch {
      throw error.at("message \(position) of the log \"\(log)\"")
    }
    if response.error?.isCode(JSNoMessageFoundErr) == true { return nil }
    if let fault = response.error { throw fault.error("message \(position) of the log \"\(log)\"") }
    return [UInt8](response.message?.data ?? Data())
  }

  // MARK: Requests to JetStream

  /// Makes a request to JetStream's interface, as below, whose repetitions are equal.
  internal func apiRequest<Response: Decodable>(
    _ name: String, _ request: (any Encodable)?
  ) throws(RemoteError) -> Response {
    try apiRequest(name) { () throws(RemoteError) in request }
  }

  /// Makes a request to JetStream's interface, and waits for the response until the time-out. A cluster
  /// without a leader drops requests instead of responding, so a request is repeated. A response to
  /// any of the repetitions counts: a distant server responds to the first one after others have been
  /// sent.
  ///
  /// - Parameter request: makes the request, and is called again for each repetition.
  internal func apiRequest<Response: Decodable>(
    _ name: String, _ request: () throws(RemoteError) -> (any Encodable)?
  ) throws(RemoteError) -> Response {
    var bytes: [UInt8] = []
    do throws(RemoteError) {
      try self.request(
        subject: "$JS.API.\(name)", within: .milliseconds(timeout),
        repeatedEach: Timing.repeatedRequest
      ) { () throws(RemoteError) in
        let request = try request()
        do {
          return try request.map { [UInt8](try NATSJSON.encoder.encode($0)) } ?? []
        } catch {
          throw RemoteError(.invalidArgument, "\(name): \(error)")
        }
      } _: {
        bytes = $0
        return false
      }
    } catch {
      guard error.code == .noResponders else { throw error }
      throw RemoteError(.serverFault, "no server responds: is JetStream enabled?")
    }
    if bytes.isEmpty { throw RemoteError(.serverFault, "\"\(name)\": the response is empty") }
    do {
      return try NATSJSON.decoder.decode(Response.self, from: Data(bytes))
    } catch {
      let text = String(decoding: bytes.prefix(200), as: UTF8.self)
      throw RemoteError(.serverFault, "the server's response is not understood: \(text)")
    }
  }
}

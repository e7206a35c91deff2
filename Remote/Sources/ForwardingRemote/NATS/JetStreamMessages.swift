// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Foundation

// The JSON of JetStream's interface, as far as it is used. Names are those of the protocol,
// which writes them with underscores.

internal enum NATSJSON {
  internal static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return encoder
  }

  internal static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }
}

internal struct StreamConfiguration: Encodable {
  var name: String
  var subjects: [String]
  var numReplicas: Int
  var maxBytes: Int
  var retention = "limits"
  var storage = "file"
  var discard = "old"
  var maxMsgs = -1
  var maxConsumers = -1
  /// Duplicates are refused by position, so the server need not remember identifiers.
  /// 100 ms is the least that it accepts.
  var duplicateWindow = 100_000_000
}

internal struct StreamResponse: Decodable {
  struct State: Decodable {
    var firstSeq: UInt64
    var lastSeq: UInt64
  }
  struct Configuration: Decodable {
    var maxBytes: Int?
  }
  var error: JetStreamFault?
  var state: State?
  var config: Configuration?

  internal func log(_ name: String) throws(RemoteError) -> RemoteLog {
    if let error { throw error.error("the log \"\(name)\"") }
    guard let state else {
      throw RemoteError(.serverFault, "the log \"\(name)\": the server's response has no state")
    }
    // JetStream's numbers are below 2^63, and are added to here.
    guard max(state.firstSeq, state.lastSeq) < UInt64(Int64.max) else {
      throw RemoteError(
        .serverFault,
        "the log \"\(name)\": the server says that it has the messages \(state.firstSeq) to "
          + "\(state.lastSeq), expected numbers below \(Int64.max)")
    }
    // -1 means that there is no limit.
    let size = config?.maxBytes.flatMap { $0 > 0 ? $0 : nil }
    return RemoteLog(first: max(1, state.firstSeq), last: state.lastSeq, size: size)
  }
}

internal struct MessageRequest: Encodable {
  var seq: UInt64
}

internal struct MessageResponse: Decodable {
  struct Message: Decodable {
    var data: Data?
  }
  var error: JetStreamFault?
  var message: Message?
}

internal struct AppendResponse: Decodable {
  var error: JetStreamFault?
  var seq: UInt64?
}

internal struct ConsumerRequest: Encodable {
  struct Configuration: Encodable {
    var deliverSubject: String
    var deliverPolicy = "by_start_sequence"
    var optStartSeq: UInt64
    var ackPolicy = "none"
    var maxDeliver = 1
    var flowControl = true
    /// Nanoseconds.
    var idleHeartbeat: Int64
    var inactiveThreshold: Int64
    var numReplicas = 1
    var memStorage = true
  }
  var streamName: String
  var config: Configuration
}

internal struct ConsumerResponse: Decodable {
  struct Configuration: Decodable {
    var deliverSubject: String?
  }
  var error: JetStreamFault?
  var config: Configuration?
}

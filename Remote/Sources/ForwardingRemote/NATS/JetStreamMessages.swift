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
  var error: JetStreamFault?
  var state: State?
  /// The configuration as the server has it.
  var config: [String: JSONValue]?

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
    return RemoteLog(first: max(1, state.firstSeq), last: state.lastSeq)
  }
}

/// Any value of JSON, to send back what the server has sent.
internal enum JSONValue: Codable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  internal init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  internal func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
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
  var error: JetStreamFault?
  var name: String?
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Foundation

// The JSON of JetStream's interface, as far as it is used. Names are those of the protocol.

internal enum NATSErrorCode {
  static let messageNotFound = 10037
  static let streamNameExists = 10058
  static let streamNotFound = 10059
  static let messageTooLarge = 10054
  static let wrongLastSequence = 10071
}

internal struct NATSFault: Decodable {
  var code: Int
  var err_code: Int?
  var description: String?

  internal func error(_ place: String) -> RemoteError {
    let sentence = "\(place): the server says: \(description ?? "error \(err_code ?? code)")"
    switch err_code {
    case NATSErrorCode.wrongLastSequence: return RemoteError(.conflict, sentence)
    case NATSErrorCode.messageTooLarge: return RemoteError(.messageTooLarge, sentence)
    case NATSErrorCode.streamNotFound: return RemoteError(.logLost, sentence)
    default: return RemoteError(.serverFault, sentence)
    }
  }
}

internal struct StreamConfiguration: Encodable {
  var name: String
  var subjects: [String]
  var num_replicas: Int
  var max_bytes: Int
  var retention = "limits"
  var storage = "file"
  var discard = "old"
  var max_msgs = -1
  var max_consumers = -1
  /// Duplicates are refused by position, so the server need not remember identifiers.
  /// 100 ms is the least that it accepts.
  var duplicate_window = 100_000_000
}

internal struct StreamAnswer: Decodable {
  struct State: Decodable {
    var first_seq: UInt64
    var last_seq: UInt64
  }
  var error: NATSFault?
  var state: State?

  internal func log(_ name: String) throws(RemoteError) -> RemoteLog {
    if let error { throw error.error("the log \"\(name)\"") }
    guard let state else {
      throw RemoteError(.serverFault, "the log \"\(name)\": the server's answer has no state")
    }
    return RemoteLog(first: max(1, state.first_seq), last: state.last_seq)
  }
}

internal struct MessageQuestion: Encodable {
  var seq: UInt64
}

internal struct MessageAnswer: Decodable {
  struct Message: Decodable {
    var data: Data?
  }
  var error: NATSFault?
  var message: Message?
}

internal struct AppendAnswer: Decodable {
  var error: NATSFault?
  var seq: UInt64?
}

internal struct ConsumerQuestion: Encodable {
  struct Configuration: Encodable {
    var deliver_subject: String
    var deliver_policy = "by_start_sequence"
    var opt_start_seq: UInt64
    var ack_policy = "none"
    var max_deliver = 1
    var flow_control = true
    /// Nanoseconds.
    var idle_heartbeat: Int64
    var inactive_threshold: Int64
    var num_replicas = 1
    var mem_storage = true
  }
  var stream_name: String
  var config: Configuration
}

internal struct ConsumerAnswer: Decodable {
  var error: NATSFault?
  var name: String?
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding

/// What can be forwarded, by the selector.
public enum Message: String, CaseIterable, Sendable {
  /// To all, in order.
  case notify = "notify:scale:"
  /// To all, since nobody says that it is handled.
  case notifyUntilHandled = "notifyUntilHandled:scale:"
  /// To the first only.
  case answer = "answer:scale:"
  /// To all; the first answer is given.
  case answerAllFirst = "answerAllFirst:scale:"
  /// To all; the last answer is given.
  case answerAllLast = "answerAllLast:scale:"
  /// To all, since all answers are zero.
  case answerUntilNonzero = "answerUntilNonzero:scale:"
  /// To all, since a closure never holds.
  case answerUntil = "answerUntil:scale:"
  /// To all; a closure adds the answers.
  case answerReduce = "answerReduce:scale:"
  /// To all, since all say false.
  case any = "any:scale:"
  /// To all, since all say true.
  case all = "all:scale:"
  /// To nobody, since nobody implements it.
  case unimplemented = "unimplemented:scale:"
  /// To all, with 24 bytes.
  case large = "large:"
  /// To all, with 16 bytes in two kinds of registers.
  case mixed = "mixed:"

  /// The types.
  public var encoding: String {
    switch self {
    case .notify, .notifyUntilHandled, .unimplemented: "v@qd"
    case .answer, .answerAllFirst, .answerAllLast, .answerUntilNonzero, .answerUntil, .answerReduce:
      "q@qd"
    case .any, .all: "B@qd"
    case .large: "v@{bench_large=qqq}"
    case .mixed: "v@{bench_mixed=dq}"
    }
  }

  /// The name.
  public var selector: MethodSelector { MethodSelector(stringLiteral: rawValue) }

  private var policy: ResultPolicy {
    switch self {
    case .notify, .unimplemented, .answer, .large, .mixed: .standard
    case .notifyUntilHandled: .untilHandled
    case .answerAllFirst: .callAll(pick: .first)
    case .answerAllLast: .callAll(pick: .last)
    case .answerUntilNonzero: .untilNonzero
    case .answerUntil: .until { (answer: Int64) in answer < 0 }
    case .answerReduce: .reduce(0 as Int64) { $0 &+ $1 }
    case .any: .any
    case .all: .all
    }
  }

  /// The protocol of all messages.
  ///
  /// - Throws: `ForwardingError` if there is a mistake in it.
  public static func protocolTable() throws(ForwardingError) -> ProtocolTable {
    try ProtocolTable("Receiver") { table in
      for message in Message.allCases {
        table.optional(message.rawValue, message.encoding, result: message.policy)
      }
    }
  }
}

extension FunctionTable.Builder {
  /// Adds a C function, whose types must be those of the messages.
  @unsafe mutating func add<Function: BitwiseCopyable>(
    _ messages: [Message], _ function: Function
  ) {
    for message in messages {
      unsafe self.function(
        message.rawValue, message.encoding, calling: function)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import CFwdBench
internal import Forwarding
internal import FwdBenchDriver
internal import FwdBenchReceivers

/// Fan-outs of proxies by a resolved method: all that does not depend on how
/// one gets there.
enum ProxyRows {
  static func rows(_ stage: Stage) -> [Row] {
    kinds(stage) + typed(stage) + TypedRows.rows(stage) + InterceptionRows.rows(stage)
      + policies(stage) + batches(stage)
  }

  /// A row of one message by a resolved method.
  static func resolved(
    _ way: String, _ stage: Stage, _ message: Message, deliveries: Int? = nil,
    received: Int? = nil, answer: Int64 = 0,
    by proxy: Kept<DynamicProxy>, to crowd: Kept<any SummedCrowd>
  ) -> Row {
    .fanOut(way, stage.size, crowd, deliveries: deliveries, received: received, answers: answer) {
      let method = try proxy.get().method(for: MethodSelector(validating: message.rawValue))
      let arguments = Arguments(message)
      guard message.encoding.hasPrefix("v") else {
        let result = Result8(message)
        return { iterations in
          var sum: Int64 = 0
          for _ in 0..<iterations {
            // SAFETY: the frame and the room are those of the message.
            try unsafe method.forward(frame: arguments.frame, result: result.bytes)
            sum &+= result.value
          }
          return sum
        }
      }
      return { iterations in
        // SAFETY: the frame is that of the message.
        for _ in 0..<iterations { try unsafe method.forward(frame: arguments.frame) }
        return 0
      }
    }
  }

  // MARK: - Kinds of subscribers and arguments

  private static func kinds(_ stage: Stage) -> [Row] {
    [
      resolved(Way.resolved, stage, .notify, by: stage.weak, to: stage.plain),
      resolved(
        Way.sideTables, stage, .notify, by: stage.withSideTables, to: stage.sideTabled),
      resolved(Way.strong, stage, .notify, by: stage.strong, to: stage.plain),
      resolved(Way.shuffled, stage, .notify, by: stage.shuffled, to: stage.plain),
      resolved(Way.closures, stage, .notify, by: stage.closures, to: stage.plain),
      resolved("proxy: C subscribers", stage, .notify, by: stage.cSubscribers, to: stage.inC),
      resolved("proxy: 24-byte struct", stage, .large, by: stage.weak, to: stage.plain),
      resolved("proxy: {double, int64}", stage, .mixed, by: stage.weak, to: stage.plain),
      pointerArray(stage), forcedLibffi(stage),
      resolved(
        "proxy: emission that nobody implements", stage, .unimplemented, deliveries: 1,
        received: 0, by: stage.weak, to: stage.plain),
    ]
  }

  private static func typed(_ stage: Stage) -> [Row] {
    #if Macros
      let row = Row.fanOut(Way.typedProxy, stage.size, stage.plain) {
        let proxy = try stage.typed.get()
        return { iterations in
          for _ in 0..<iterations {
            let (count, scale) = currentMessage()
            proxy.notify(count, scale)
          }
          return 0
        }
      }
      return [row]
    #else
      return []
    #endif
  }

  private static func pointerArray(_ stage: Stage) -> Row {
    .fanOut("proxy: resolved method, pointer array", stage.size, stage.plain) {
      let method = try stage.weak.get().method(
        for: MethodSelector(validating: Message.notify.rawValue))
      let arguments = Arguments(.notify)
      return { iterations in
        // SAFETY: the pointers are to the message's arguments.
        for _ in 0..<iterations { try unsafe method.forward(arguments: arguments.pointers) }
        return 0
      }
    }
  }

  private static func forcedLibffi(_ stage: Stage) -> Row {
    .fanOut("proxy: resolved method, libffi forced", stage.size, stage.plain) {
      let method = try stage.weak.get().method(
        for: MethodSelector(validating: Message.notify.rawValue))
      let arguments = Arguments(.notify)
      return { iterations in
        fwd_use_libffi(true)
        defer { fwd_use_libffi(false) }
        // SAFETY: the frame is that of the message.
        for _ in 0..<iterations { try unsafe method.forward(frame: arguments.frame) }
        return 0
      }
    }
  }

  // MARK: - Policies

  private static func policies(_ stage: Stage) -> [Row] {
    let count = unsafe bench_current_message().pointee.count
    let total = count * Int64(stage.size)
    let rows: [(String, Message, answer: Int64)] = [
      ("proxy: until handled", .notifyUntilHandled, 0),
      ("proxy: all called, first result", .answerAllFirst, count),
      (Way.resolvedResult, .answerAllLast, count),
      ("proxy: until nonzero", .answerUntilNonzero, 0),
      (Way.until, .answerUntil, count),
      (Way.reduced, .answerReduce, total),
      ("proxy: any Bool", .any, 0),
      ("proxy: all Bools", .all, 1),
    ]
    let policies = rows.map { name, message, answer in
      resolved(name, stage, message, answer: answer, by: stage.weak, to: stage.plain)
    }
    let first = resolved(
      "proxy: result of the first, one delivery", stage, .answer, deliveries: 1, answer: count,
      by: stage.weak, to: stage.plain)
    return [first] + policies + collecting(stage, total)
  }

  private enum Keys {
    static let answer = Method("answer:scale:", ((Int64, Double) -> Int64).self)
  }

  private static func collecting(_ stage: Stage, _ total: Int64) -> [Row] {
    let literal = Row.fanOut(Way.collected, stage.size, stage.plain, answers: total) {
      let proxy = try stage.weak.get()
      return { iterations in
        var sum: Int64 = 0
        for _ in 0..<iterations {
          let (count, scale) = currentMessage()
          let answers = try proxy.collect("answer:scale:", as: Int64.self, count, scale)
          for answer in answers { sum &+= answer.value }
        }
        return sum
      }
    }
    let key = Row.fanOut(Way.collectedByKey, stage.size, stage.plain, answers: total) {
      let proxy = try stage.weak.get()
      return { iterations in
        var sum: Int64 = 0
        for _ in 0..<iterations {
          let (count, scale) = currentMessage()
          for answer in try proxy.collect(Keys.answer, count, scale) { sum &+= answer.value }
        }
        return sum
      }
    }
    return [literal, key]
  }

  // MARK: - Batches

  /// Rows called `Way.batch`: many invocations while the subscribers are held
  /// once. An iteration is one invocation.
  private static func batches(_ stage: Stage) -> [Row] {
    [
      batch(Way.batch, stage, .notify), batch("\(Way.batch), 24-byte struct", stage, .large),
      batch("\(Way.batch) for each invocation", stage, .notify, isForEach: true),
    ]
  }

  /// A row of one batch of many invocations, or of one batch for each invocation.
  private static func batch(
    _ way: String, _ stage: Stage, _ message: Message, isForEach: Bool = false
  ) -> Row {
    .fanOut(way, stage.size, stage.plain) {
      let proxy = try stage.weak.get()
      let method = try proxy.method(for: MethodSelector(validating: message.rawValue))
      let arguments = Arguments(message)
      return { iterations in
        let (batches, invocations) = isForEach ? (iterations, 1) : (1, iterations)
        for _ in 0..<batches {
          try proxy.withBatch {
            // SAFETY: the frame is that of the message.
            for _ in 0..<invocations { try unsafe method.forward(frame: arguments.frame) }
          }
        }
        return 0
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import CFwdBench
internal import Forwarding
internal import FwdBenchDriver
internal import FwdBenchReceivers

/// The ways into a proxy, without a result and with one. With one, all
/// subscribers are called and the last one's is given.
enum EntryRows {
  private static let answering = Message.answerAllLast

  /// As a program declares them.
  private enum Keys {
    static let notify = Method("notify:scale:", ((Int64, Double) -> Void).self)
    static let answerAllLast = Method("answerAllLast:scale:", ((Int64, Double) -> Int64).self)
  }

  static func rows(_ stage: Stage) -> [Row] {
    swift(stage) + withResults(stage) + inC(stage)
  }

  /// A row of the usual proxy. `emit` makes one emission.
  private static func row(
    _ way: String, _ stage: Stage, answer: Int64 = 0,
    _ emissions: @escaping (DynamicProxy) throws -> Emissions
  ) -> Row {
    .fanOut(way, stage.size, stage.plain, answers: answer) { try emissions(stage.weak.get()) }
  }

  // MARK: - Without a result

  private static func swift(_ stage: Stage) -> [Row] {
    let notify = Message.notify.rawValue
    return [
      row(Way.selector, stage) { proxy in
        let selector = try MethodSelector(validating: notify)
        let arguments = Arguments(.notify)
        return { iterations in
          // SAFETY: the frame is that of the message.
          for _ in 0..<iterations {
            try unsafe proxy.method(for: selector).forward(frame: arguments.frame)
          }
          return 0
        }
      },
      row(Way.name, stage) { proxy in
        let arguments = Arguments(.notify)
        return { iterations in
          // SAFETY: the frame is that of the message.
          for _ in 0..<iterations {
            guard let selector = MethodSelector(known: notify) else { continue }
            try unsafe proxy.method(for: selector).forward(frame: arguments.frame)
          }
          return 0
        }
      },
      row(Way.key, stage) { proxy in
        { iterations in
          for _ in 0..<iterations {
            let (count, scale) = currentMessage()
            try proxy.send(Keys.notify, count, scale)
          }
          return 0
        }
      },
      .fanOut(Way.closuresByKey, stage.size, stage.plain) {
        let proxy = try stage.closures.get()
        return { iterations in
          for _ in 0..<iterations {
            let (count, scale) = currentMessage()
            try proxy.send(Keys.notify, count, scale)
          }
          return 0
        }
      },
      row("proxy: send by selector at run time", stage) { proxy in
        let selector = try MethodSelector(validating: notify)
        return { iterations in
          for _ in 0..<iterations {
            let (count, scale) = currentMessage()
            try proxy.send(Method(selector), count, scale)
          }
          return 0
        }
      },
      row(Way.literal, stage) { proxy in
        { iterations in
          for _ in 0..<iterations {
            let (count, scale) = currentMessage()
            try proxy.send("notify:scale:", count, scale)
          }
          return 0
        }
      },
      row(Way.invocation, stage) { proxy in
        let selector = try MethodSelector(validating: notify)
        let signature = try proxy.method(for: selector).signature
        let (count, scale) = currentMessage()
        let invocation = try Invocation(selector, signature)
        try invocation.setArgument(count, at: 1)
        try invocation.setArgument(scale, at: 2)
        return { iterations in
          for _ in 0..<iterations { try proxy.forward(invocation) }
          return 0
        }
      },
      row(Way.functionPointer, stage) { proxy in
        let function = try proxy.functionPointer(for: MethodSelector(validating: notify))
        // SAFETY: the C loop casts it to the message's types again.
        let call = unsafe unsafeBitCast(
          function.unsafePointer, to: (@convention(c) () -> Void).self)
        return { iterations in
          withExtendedLifetime(function) { bench_call_function(call, iterations) }
          return 0
        }
      },
    ]
  }

  // MARK: - With a result

  private static func withResults(_ stage: Stage) -> [Row] {
    let count = unsafe bench_current_message().pointee.count
    return [
      row("\(Way.selector), result", stage, answer: count) { proxy in
        let selector = try MethodSelector(validating: answering.rawValue)
        let arguments = Arguments(answering)
        let result = Result8(answering)
        return { iterations in
          var sum: Int64 = 0
          for _ in 0..<iterations {
            // SAFETY: the frame and the room are those of the message.
            try unsafe proxy.method(for: selector).forward(
              frame: arguments.frame, result: result.bytes)
            sum &+= result.value
          }
          return sum
        }
      },
      row("\(Way.name), result", stage, answer: count) { proxy in
        let arguments = Arguments(answering)
        let result = Result8(answering)
        return { iterations in
          var sum: Int64 = 0
          for _ in 0..<iterations {
            // SAFETY: as above.
            guard let selector = MethodSelector(known: answering.rawValue) else { continue }
            try unsafe proxy.method(for: selector).forward(
              frame: arguments.frame, result: result.bytes)
            sum &+= result.value
          }
          return sum
        }
      },
      row(Way.keyResult, stage, answer: count) { proxy in
        { iterations in
          var sum: Int64 = 0
          for _ in 0..<iterations {
            let (count, scale) = currentMessage()
            sum &+= try proxy.send(Keys.answerAllLast, count, scale)
          }
          return sum
        }
      },
      row("\(Way.literal), result", stage, answer: count) { proxy in
        { iterations in
          var sum: Int64 = 0
          for _ in 0..<iterations {
            let (count, scale) = currentMessage()
            let answer: Int64 = try proxy.send("answerAllLast:scale:", count, scale)
            sum &+= answer
          }
          return sum
        }
      },
      row("\(Way.functionPointer), result", stage, answer: count) { proxy in
        let function = try proxy.functionPointer(
          for: MethodSelector(validating: answering.rawValue))
        // SAFETY: the function has the message's types.
        let call = unsafe function.unsafeCast(
          to: (@convention(c) (Int64, Double) -> Int64).self)
        return { iterations in
          var sum: Int64 = 0
          for _ in 0..<iterations {
            let (count, scale) = currentMessage()
            sum &+= call(count, scale)
          }
          withExtendedLifetime(function) {}
          return sum
        }
      },
    ]
  }

  // MARK: - From C

  private static func inC(_ stage: Stage) -> [Row] {
    let entries: [(entry: bench_entry, way: String)] = [
      (BENCH_ENTRY_FORWARD, Way.fromC),
      (BENCH_ENTRY_ARGUMENTS, "proxy: fwd_forward_arguments"),
      (BENCH_ENTRY_NAMED, "proxy: fwd_forward_named"),
    ]
    return entries.map { entry in
      row(entry.way, stage) { proxy in
        guard let selector = unsafe fwd_selector_register(Message.notify.rawValue) else {
          throw EmissionFailure()
        }
        return { iterations in
          // As a C program that has a reference.
          let handle = unsafe proxy.unsafeHandle
          _ = unsafe fwd_proxy_retain(handle)
          defer { unsafe fwd_proxy_release(handle) }
          let isDone = unsafe bench_emit(handle, entry.entry, selector, iterations)
          guard isDone else { throw EmissionFailure() }
          return 0
        }
      }
    }
  }
}

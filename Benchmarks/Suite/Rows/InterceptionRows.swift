// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import Forwarding
internal import FwdBenchDriver
internal import FwdBenchReceivers
internal import Synchronization

/// Fan-outs by a resolved method that somebody stands before, behind, around or
/// instead of. What the closures see is verified as answers are.
enum InterceptionRows {
  /// Each row has a proxy of its own, so large crowds would take much memory to
  /// show what small ones do: the cost is one of the emission.
  private static let sizeLimit = 512

  static func rows(_ stage: Stage) -> [Row] {
    if stage.size > sizeLimit { return [] }
    return [
      row(Way.before, stage) { proxy, seen in
        try proxy.before(Method(selector)) { (count: Int64, _: Double) in seen.add(count) }
      },
      row(Way.after, stage) { proxy, seen in
        try proxy.after(Method(selector)) { (count: Int64, _: Double) in seen.add(count) }
      },
      row("proxy: around", stage) { proxy, seen in
        try proxy.around(selector) { invocation, proceed in
          try proceed()
          seen.add(in: invocation)
        }
      },
      row(Way.instead, stage, deliveries: 1, received: 0) { proxy, seen in
        try proxy.instead(Method(selector)) { (count: Int64, _: Double) in seen.add(count) }
      },
    ]
  }

  /// That of `Message.notify`.
  private static let selector: MethodSelector = "notify:scale:"

  private static func row(
    _ way: String, _ stage: Stage, deliveries: Int? = nil, received: Int? = nil,
    register: @escaping (DynamicProxy, Seen) throws -> DynamicProxy.Token
  ) -> Row {
    let count = unsafe bench_current_message().pointee.count
    return .fanOut(
      way, stage.size, stage.plain, deliveries: deliveries, received: received,
      answers: count
    ) {
      let proxy = try Stage.proxy(of: stage.crowd.receivers)
      let seen = Seen()
      let token = try register(proxy, seen)
      let method = try proxy.method(for: selector)
      let arguments = Arguments(.notify)
      return { iterations in
        let before = seen.sum
        // SAFETY: the frame is that of the message.
        for _ in 0..<iterations { try unsafe method.forward(frame: arguments.frame) }
        return withExtendedLifetime(token) { seen.sum &- before }
      }
    }
  }
}

/// What an interceptor has seen.
private final class Seen: Sendable {
  private let total = Atomic<Int64>(0)

  var sum: Int64 { total.load(ordering: .relaxed) }

  /// One thread adds, so this need not be one atomic step, which would cost more
  /// than the interceptor.
  func add(_ count: Int64) { total.store(sum &+ count, ordering: .relaxed) }

  func add(in invocation: Invocation) {
    // One that cannot be read is missing in the sum.
    if let count = try? invocation.argument(at: 1, as: Int64.self) { add(count) }
  }
}

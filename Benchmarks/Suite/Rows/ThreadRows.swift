// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import CFwdMeasure
internal import Forwarding
internal import FwdBenchDriver
internal import FwdBenchReceivers

/// Fan-outs on two threads at once, and the same on one.
enum ThreadRows {
  /// How many each thread delivers to in an emission.
  static let size = 64

  /// Emits on a thread.
  private typealias Emitting = (_ thread: Int, _ iterations: Int) throws -> Void

  static var rows: [Row] {
    pair(Way.functionPointerThreads) { functionPointers(2) }
      + pair("two threads, C: the same function pointers") { functionPointers(1) }
      + pair("two threads, proxy: the same subscribers", sameSubscribers)
      + pair(Way.disjointThreads, differentSubscribers)
      + pair(Way.twoProxies, twoProxies)
      + pair("two threads, Swift: different [WeakBox<any P>]") { weakBoxes(2) }
      + pair("two threads, Swift: the same [WeakBox<any P>]") { weakBoxes(1) }
  }

  /// The name of the row on one thread that belongs to one on two.
  static func onOneThread(_ way: String) -> String {
    way.replacing("two threads", with: "one thread", maxReplacements: 1)
  }

  private static func pair(_ way: String, _ make: @escaping () throws -> Emitting) -> [Row] {
    let emitting = Kept(make)
    return [
      row(onOneThread(way), threads: 1, nil, emitting),
      row(way, threads: 2, Row.name(onOneThread(way), size), emitting),
    ]
  }

  private static func row(
    _ way: String, threads: Int, _ onOneThread: String?, _ emitting: Kept<Emitting>
  ) -> Row {
    Row(
      group: FanOutRows.name, way: way, size: size, deliveries: size, threads: threads,
      onOneThread: onOneThread
    ) { iterations in
      orWrong {
        let work = Work(try emitting.get(), iterations)
        let expected = Int64(threads * iterations * size) * Int64(BENCH_MESSAGE_SUM)
        // SAFETY: the work is alive until all threads have ended.
        let sample = withExtendedLifetime(work) {
          unsafe bench_on_threads(
            threads, { context, thread in unsafe Work.run(context, thread) },
            Unmanaged.passUnretained(work).toOpaque(), UInt64(bitPattern: expected))
        }
        return Sample(sample)
      }
    }
  }

  /// What the threads do.
  private final class Work {
    private let emit: Emitting
    private let iterations: Int

    init(_ emit: @escaping Emitting, _ iterations: Int) {
      self.emit = emit
      self.iterations = iterations
    }

    /// Gives what has come out on this thread.
    static func run(_ context: UnsafeMutableRawPointer?, _ thread: Int) -> UInt64 {
      // SAFETY: the context is the work.
      let work = unsafe Unmanaged<Work>.fromOpaque(context!).takeUnretainedValue()
      let before = bench_thread_sum()
      do {
        try work.emit(thread, work.iterations)
      } catch {
        print("error: \(error)")
      }
      return UInt64(bitPattern: bench_thread_sum() &- before)
    }
  }

  // MARK: - Proxies

  private static let messages = ["left:scale:", "right:scale:"]

  /// A proxy, and as many subscribers for each list of messages.
  private final class Stand {
    let proxy: DynamicProxy
    private let crowds: [ThreadedCrowd]

    init(_ lists: [[String]]) throws {
      let table = try ProtocolTable("Threads") { table in
        for message in messages { table.optional(message, "v@qd") }
      }
      proxy = try DynamicProxy(adopting: table)
      crowds = lists.map { _ in ThreadedCrowd(size) }
      for (crowd, messages) in zip(crowds, lists) {
        let table = ThreadedReceiver.functionTable(messages)
        for receiver in crowd.receivers { try proxy.subscribe(receiver, table: table) }
      }
    }

    func method(_ message: String) throws -> ResolvedMethod {
      try proxy.method(for: MethodSelector(validating: message))
    }
  }

  private static func emitting(_ stands: [Stand], _ messages: [String]) throws -> Emitting {
    let methods = try zip(stands, messages).map { try $0.method($1) }
    let threads = methods.map { _ in Arguments(.notify) }
    return { thread, iterations in
      try withExtendedLifetime(stands) {
        let (method, arguments) = (methods[thread], threads[thread])
        // SAFETY: the frame is that of the message.
        for _ in 0..<iterations { try unsafe method.forward(frame: arguments.frame) }
      }
    }
  }

  private static func sameSubscribers() throws -> Emitting {
    let stand = try Stand([messages])
    return try emitting([stand, stand], [messages[0], messages[0]])
  }

  private static func differentSubscribers() throws -> Emitting {
    let stand = try Stand(messages.map { [$0] })
    return try emitting([stand, stand], messages)
  }

  private static func twoProxies() throws -> Emitting {
    try emitting([Stand([messages]), Stand([messages])], [messages[0], messages[0]])
  }

  // MARK: - By hand

  private static func functionPointers(_ count: Int) -> Emitting {
    let lists = unsafe (0..<count).map { _ in unsafe bench_thread_slots_create(size) }
    return { thread, iterations in
      guard let slots = unsafe lists[thread % count] else { throw EmissionFailure() }
      _ = unsafe bench_call_slots(slots, size, BENCH_MESSAGE_NOTIFY, iterations)
    }
  }

  private static func weakBoxes(_ count: Int) -> Emitting {
    let crowds = (0..<count).map { _ in ThreadedCrowd(size) }
    let emitters = crowds.map { Emitter<WeakBoxes>($0.receivers) }
    return { thread, iterations in
      withExtendedLifetime(crowds) { emitters[thread % count].emit(iterations) }
    }
  }
}

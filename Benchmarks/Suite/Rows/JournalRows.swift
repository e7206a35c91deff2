// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import CFwdMeasure
  public import FwdBenchDriver
  internal import Forwarding
  internal import ForwardingJournal
  internal import ForwardingWire
  internal import Foundation

  /// Recording and replaying, beside forwarding without a journal and a file without an index.
  public enum JournalRows {
    private static let plain = "forward"
    private static let buffer = "forward, recorded into a buffer"
    private static let recorded = "forward, recorded into a journal"
    private static let journal = "append to a journal, synced each ms, process"
    private static let raw = "append to a file, synced each ms, process"
    private static let journalWall = "append to a journal, synced each ms, elapsed"
    private static let rawWall = "append to a file, synced each ms, elapsed"
    private static let invocation = "forward one of 20,000 invocations"
    private static let replay = "replay"

    /// The rows and goals.
    public static var group: RowGroup {
      RowGroup(
        name: "journal", comparisons: [Comparison(title: "/ forward", way: plain)],
        startsThreads: true, rows: { rows }, goals: { goals })
    }

    private static var goals: [Goal] {
      func goal(_ title: String, _ way: String, _ base: String, _ limit: Double) -> Goal {
        Goal(
          group: "journal", title: title,
          bounds: [
            Bound(
              quantity: .ratio(of: Row.name(way, nil), to: Row.name(base, nil)), limit: limit,
              unit: base)
          ])
      }
      return [
        goal("a recorded forward, the caller's time", recorded, plain, 2),
        goal("an append, CPU of all threads", journal, raw, 4),
        goal("an append, elapsed time", journalWall, rawWall, 4),
        goal("a replayed call", replay, invocation, 1.5),
      ]
    }

    private static var rows: [Row] {
      [
        row(plain) { try Calls(.none) },
        row(buffer) { try Calls(.buffer) },
        row(recorded) { try Calls(.journal) },
        row(journal, .process) { try Calls(.journal) },
        row(raw, .process) { try Calls(.file) },
        row(journalWall, .elapsed) { try Calls(.journal) },
        row(rawWall, .elapsed) { try Calls(.file) },
        row(invocation) { try Invocations() },
        row(replay, burst: Invocations.count) { try Replay() },
      ]
    }

    private enum Clock {
      /// CPU time of the thread that calls.
      case caller
      /// CPU time of all threads, until everything is durable.
      case process
      /// The time that passes until everything is durable.
      case elapsed
    }

    private static func row(
      _ way: String, _ clock: Clock = .caller, burst: Int = 1000,
      _ make: @escaping () throws -> any JournalLine
    ) -> Row {
      let kept = Kept(make)
      return Row(group: "journal", way: way, deliveries: burst) { iterations in
        orWrong {
          let line = try kept.get()
          let count = iterations * burst
          try line.finish()
          line.sum.value = 0
          var sample: bench_sample
          switch clock {
          case .caller:
            let start = bench_start()
            try line.run(count)
            sample = bench_finish(start, 0, 0)
            try line.finish()
          case .process:
            let start = bench_start_process()
            try line.run(count)
            try line.finish()
            sample = bench_finish_process(start, 0, 0)
          case .elapsed:
            let start = ContinuousClock.now
            try line.run(count)
            try line.finish()
            sample = bench_sample()
            sample.nanoseconds = UInt64((ContinuousClock.now - start) / .nanoseconds(1))
          }
          return Sample(sample, isRight: line.sum.value == Int64(count) * 6)
        }
      }
    }
  }

  /// What does so many calls.
  private protocol JournalLine {
    var sum: Sum { get }
    func run(_ count: Int) throws
    /// Waits until everything is durable.
    func finish() throws
  }

  private final class Sum: @unchecked Sendable {
    // Sendable: one thread forwards.
    var value: Int64 = 0
  }

  /// A proxy with one subscriber, which a C library calls.
  @safe private struct Feed {
    static let tick = unsafe Method(
      "tick:price:text:", ((Int64, Double, UnsafePointer<CChar>?) -> Void).self)
    let proxy: DynamicProxy
    let sum = Sum()
    let call: @convention(c) (Int64, Double, UnsafePointer<CChar>) -> Void
    private let function: FunctionPointer

    init() throws {
      proxy = try DynamicProxy { unsafe $0.optional(Self.tick) }
      try proxy.subscribe(sum) {
        unsafe $0.on(Self.tick) { sum, _, _, text in
          // The letters of the text.
          sum.value += unsafe text.map { Int64(unsafe $0[5]) - 73 } ?? 0
        }
      }
      function = try unsafe proxy.functionPointer(for: Self.tick)
      unsafe call = unsafe function.unsafeCast()
    }

    func run(_ count: Int) {
      for number in 0..<Int64(count) { unsafe call(number, 101.5, text) }
    }

    /// Never freed.
    private var text: UnsafePointer<CChar> { unsafe UnsafePointer(Self.bytes) }
    nonisolated(unsafe) private static let bytes = unsafe strdup("AAPL.O")!
  }

  private final class Calls: JournalLine {
    enum Way { case none, buffer, journal, file }

    private let feed: Feed
    private let folder = try! TemporaryFolder()
    private var journal: Journal?
    private var file: RawFile?
    private var token: DynamicProxy.Token?
    var sum: Sum { feed.sum }

    init(_ way: Way) throws {
      feed = try Feed()
      let schema = try WireSchema(of: feed.proxy)
      switch way {
      case .none: break
      case .buffer:
        let buffer = Buffer()
        token = try feed.proxy.record(with: WireEncoder(schema)) {
          buffer.append($0, limit: 1 << 20)
        }
      case .journal:
        journal = try Journal(folder.path("calls.journal"), durability: .interval(.milliseconds(1)))
        token = try journal?.record(feed.proxy, schema)
      case .file:
        let file = try RawFile(folder.path("calls.raw"))
        self.file = file
        token = try feed.proxy.record(with: WireEncoder(schema)) { file.append($0) }
      }
    }

    func run(_ count: Int) { feed.run(count) }

    func finish() throws {
      try journal?.flush()
      file?.flush()
    }
  }

  /// Forwards as many different `Invocation` objects as a replay forwards records.
  private final class Invocations: JournalLine {
    static let count = 20_000

    private let feed: Feed
    private let invocations: [Invocation]
    private var next = 0
    var sum: Sum { feed.sum }

    init() throws {
      feed = try Feed()
      let signature = try MethodSignature("v@qd*")
      invocations = try (0..<Int64(Self.count)).map { number in
        let invocation = try Invocation("tick:price:text:", signature)
        try invocation.setArgument(number, at: 1)
        try invocation.setArgument(101.5, at: 2)
        try invocation.setArgument("AAPL.O", at: 3)
        return invocation
      }
    }

    func run(_ count: Int) throws {
      for _ in 0..<count {
        try feed.proxy.forward(invocations[next])
        next = next + 1 < Self.count ? next + 1 : 0
      }
    }

    func finish() {}
  }

  private final class Replay: JournalLine {
    private let feed: Feed
    private let folder = try! TemporaryFolder()
    private let journal: Journal
    private let schema: WireSchema
    private static let count = 200_000
    var sum: Sum { feed.sum }

    init() throws {
      feed = try Feed()
      schema = try WireSchema(of: feed.proxy)
      let path = folder.path("calls.journal")
      let recorder = try Journal(path)
      let token = try recorder.record(feed.proxy, schema)
      feed.run(Self.count)
      token.cancel()
      try recorder.close()
      journal = try Journal(reading: path)
    }

    func run(_ count: Int) throws {
      var left = count
      while left > 0 {
        var entries = try journal.entries(
          schema, Journal.Filter(positions: 1...min(left, Self.count)))
        while let entry = try entries.next() { try entry.record.forward(to: feed.proxy) }
        left -= Self.count
      }
    }

    func finish() {}
  }

  // MARK: - Without a journal

  /// Bytes behind a lock.
  private final class Buffer: @unchecked Sendable {
    // Sendable: the lock protects the bytes.
    private let lock = NSLock()
    private var bytes: [UInt8] = []

    func append(_ record: RawSpan, limit: Int = .max) {
      lock.lock()
      if bytes.count > limit { bytes.removeAll(keepingCapacity: true) }
      unsafe record.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
      lock.unlock()
    }

    func swap(_ other: inout [UInt8]) {
      lock.lock()
      Swift.swap(&bytes, &other)
      lock.unlock()
    }
  }

  /// A file to which a thread writes what a buffer has, and syncs it, each millisecond.
  private final class RawFile: Sendable {
    private let descriptor: Int32
    private let buffer = Buffer()
    private let work = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)

    init(_ path: String) throws {
      descriptor = unsafe open(path, O_CREAT | O_WRONLY | O_APPEND, 0o600)
      guard descriptor >= 0 else { throw EmissionFailure() }
      let file = self
      Thread { file.write() }.start()
    }

    func append(_ record: RawSpan) { buffer.append(record) }

    func flush() {
      work.signal()
      done.wait()
    }

    private func write() {
      var bytes: [UInt8] = []
      while true {
        let isFlush = work.wait(timeout: .now() + .milliseconds(1)) == .success
        bytes.removeAll(keepingCapacity: true)
        buffer.swap(&bytes)
        var start = 0
        while start < bytes.count {
          start += unsafe bytes.withUnsafeBytes {
            unsafe Foundation.write(descriptor, $0.baseAddress! + start, $0.count - start)
          }
        }
        if !bytes.isEmpty { fdatasync(descriptor) }
        if isFlush { done.signal() }
      }
    }
  }

  /// A directory that is removed with this object.
  private final class TemporaryFolder {
    private let directory: String

    init() throws {
      directory = NSTemporaryDirectory() + "/fwd-bench-\(UUID())"
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    }

    func path(_ name: String) -> String { directory + "/" + name }

    deinit { try? FileManager.default.removeItem(atPath: directory) }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  import Dispatch
  import Forwarding
  import ForwardingJournal
  import ForwardingWire
  import Foundation

  /// Records numbers until it is killed, and prints each number that is durable.
  ///
  ///     fwd-journal-recorder FILE THREADS CALLS
  ///     fwd-journal-recorder FILE
  ///
  /// Each thread counts from 0, with its own number in the upper bits. If CALLS is 0, the
  /// journal's durability is that of every call; else each thread flushes after so many calls.
  /// When a call cannot be recorded, it prints the error and ends with the status 3.
  ///
  /// The second form records numbers until the file cannot be written, and prints what the journal
  /// does then.
  @main struct JournalRecorder {
    static func main() throws {
      let arguments = CommandLine.arguments
      if arguments.count == 2 { return try recordUntilFull(arguments[1]) }
      guard arguments.count == 4, let threads = Int(arguments[2]), let calls = Int(arguments[3])
      else { throw CocoaError(.keyValueValidation) }
      let number = Method("number:", ((Int64) -> Void).self)
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { error in
        report("error: \(error)")
        // The other threads' errors are the same. `exit` must not be called by two threads at once.
        _exit(3)
      }
      let table = try ProtocolTable("Numbers") { $0.optional(number) }
      let proxy = try DynamicProxy(adopting: table, configuration: configuration)
      let journal = try Journal(
        arguments[1], durability: calls == 0 ? .everyCall : .interval(.milliseconds(1)))
      let recording = try journal.record(proxy, WireSchema(of: proxy))
      DispatchQueue.concurrentPerform(iterations: threads) { thread in
        var next: Int64 = 0
        while true {
          let value = Int64(thread) << 32 | next
          try? proxy.send(number, value)
          next += 1
          if calls == 0 || next % Int64(calls) == 0 {
            if calls != 0 && (try? journal.flush()) == nil { continue }
            report("\(value)")
          }
        }
      }
      withExtendedLifetime(recording) {}
    }

    private static func recordUntilFull(_ path: String) throws {
      let number = Method("number:", ((Int64) -> Void).self)
      let reports = Counter()
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { reports.add($0.code == .deliveryFailed ? 1 : 1 << 32) }
      let table = try ProtocolTable("Numbers") { $0.optional(number) }
      let proxy = try DynamicProxy(adopting: table, configuration: configuration)
      let deliveries = Counter()
      let subscription = try proxy.subscribe { $0.on(number) { _ in deliveries.add(1) } }
      let journal = try Journal(path, durability: .interval(.milliseconds(1)))
      let recording = try journal.record(proxy, WireSchema(of: proxy))
      var (next, durable): (Int64, Int64) = (0, 0)
      func code(_ body: () throws -> Void) -> String {
        do {
          try body()
          return "none"
        } catch {
          return (error as? JournalError)?.code.rawValue ?? "\(error)"
        }
      }
      var failure = "none"
      while failure == "none" {
        for _ in 0..<100 {
          try proxy.send(number, next)
          next += 1
        }
        failure = code { try journal.flush() }
        if failure == "none" { durable = next }
      }
      report("durable \(durable)")
      report("first flush \(failure)")
      // The journal's own thread reports once, perhaps meanwhile.
      let before = (deliveries.value, reports.value)
      for _ in 0..<10 { try proxy.send(number, -1) }
      report("delivered \(deliveries.value - before.0)")
      report("reported \(min(reports.value - before.1, 10))")
      report("flush \(code { try journal.flush() })")
      report("append \(code { try journal.append([], marks: ["mark": 1]) })")
      report("close \(code { try journal.close() })")
      withExtendedLifetime((recording, subscription)) {}
    }

    /// Counts on several threads.
    private final class Counter: @unchecked Sendable {
      // SAFETY: the lock protects the number.
      private let lock = NSLock()
      private var number = 0

      var value: Int { lock.withLock { number } }
      func add(_ more: Int) { lock.withLock { number += more } }
    }

    /// Prints a line with one write, so that lines of several threads do not mix.
    private static func report(_ text: String) {
      let line = Array("\(text)\n".utf8)
      _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
    }
  }
#else
  @main struct JournalRecorder {
    static func main() {}
  }
#endif

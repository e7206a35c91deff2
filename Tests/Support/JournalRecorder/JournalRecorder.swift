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
  ///
  /// Each thread counts from 0, with its own number in the upper bits. If CALLS is 0, the
  /// journal's durability is that of every call; else each thread flushes after so many calls.
  /// When a call cannot be recorded, it prints the error and ends with the status 3.
  @main struct JournalRecorder {
    static func main() throws {
      let arguments = CommandLine.arguments
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

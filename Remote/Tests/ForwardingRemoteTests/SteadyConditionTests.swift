// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingWire
import Foundation
import RemoteSupport
import Synchronization
import Testing

@testable import ForwardingRemote

/// No wait depends on the system's time, which an administrator or a time server may set.
@Suite(.timeLimit(.minutes(15))) struct SteadyConditionTests {
  @Test func `A wait ends when its clock has reached the deadline, and not before`() async throws {
    let offset = Mutex(Duration.zero)
    let start = SuspendingClock.now
    let condition = SteadyCondition { start + offset.withLock { $0 } }
    let deadline = condition.deadline(after: .milliseconds(5))
    let waits = Collected<Bool>()
    let thread = Thread {
      condition.withLock { waits.append(condition.wait(until: deadline)) }
    }
    thread.start()
    // Many times as long, but the clock stands still.
    usleep(100_000)
    #expect(waits.all.isEmpty)
    offset.withLock { $0 = .milliseconds(5) }
    #expect(await eventually { waits.all == [false] })
  }

  @Test func `A deadline that has passed is not waited for`() {
    let condition = SteadyCondition()
    condition.withLock {
      #expect(!condition.wait(until: condition.deadline(after: .zero)))
      #expect(!condition.wait(until: condition.deadline(after: .seconds(-1))))
    }
  }

  @Test(arguments: [Duration.seconds(600), .seconds(Int64.max)])
  func `A broadcast ends a wait`(length: Duration) async throws {
    let condition = SteadyCondition()
    let isWaiting = Mutex(false)
    let isDone = Mutex(false)
    let ends = Collected<Bool>()
    let thread = Thread {
      condition.withLock {
        let end = condition.deadline(after: length)
        isWaiting.withLock { $0 = true }
        while !isDone.withLock({ $0 }) { ends.append(condition.wait(until: end)) }
      }
    }
    thread.start()
    // The thread has set the flag under the lock, so it waits once this thread has the lock.
    #expect(await eventually { isWaiting.withLock { $0 } })
    condition.withLock {
      isDone.withLock { $0 = true }
      condition.broadcast()
    }
    #expect(await eventually { thread.isFinished })
    #expect(!ends.all.isEmpty && !ends.all.contains(false))
  }

  #if os(Linux)
    // MARK: The clock of the system's waits

    /// The clock of the timed wait in which a thread of this process is.
    private enum Clock { case monotonic, realTime }

    /// Whether the system shows the calls of threads.
    private static let showsCalls =
      (try? String(contentsOfFile: "/proc/thread-self/syscall", encoding: .utf8)) ?? "" != ""

    #if arch(arm64)
      private static let futex: UInt64 = 98
    #else
      private static let futex: UInt64 = 202
    #endif

    /// Waits until a thread is in a timed wait of the system, and returns the wait's clock; nil if
    /// the system does not show the calls of threads.
    ///
    /// While a thread is in a call of the system, proc(5) shows its number and its arguments. A
    /// condition waits with futex(2), whose second argument says which clock the time-out has.
    private static func clock(of thread: String) async -> Clock? {
      let path = "/proc/\(thread)/syscall"
      guard showsCalls else { return nil }
      var clock: Clock?
      #expect(
        await eventually {
          guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
          let words = text.split(separator: " ").map { word in
            word.hasPrefix("0x") ? UInt64(word.dropFirst(2), radix: 16) : UInt64(word)
          }
          // A wait without a time-out is one for a lock.
          guard words.count > 4, words[0] == futex, words[4] != 0, let op = words[2]
          else { return false }
          let realTimeFlag: UInt64 = 256
          clock = op & realTimeFlag == 0 ? .monotonic : .realTime
          return true
        })
      return clock
    }

    /// Runs a closure in a thread, and calls another one with the thread's folder in `/proc`.
    private static func inThread(
      _ body: @escaping @Sendable () -> Void, during: (String) async throws -> Void
    ) async throws {
      let folders = Collected<String>()
      let thread = Thread {
        let folder = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        folders.append(folder ?? "")
        body()
      }
      thread.start()
      try #require(await eventually { !folders.all.isEmpty })
      try await during(folders.all[0])
      #expect(await eventually { thread.isFinished })
    }

    @Test(.enabled(if: showsCalls))
    func `The pause before a connection is made again does not follow the system's time`()
      async throws
    {
      let engine = MemoryEngine()
      let condition = SteadyCondition()
      let slot = LinkSlot(engine, promptly: false, condition)
      let isEnded = Mutex(false)
      try await Self.inThread {
        // The pauses become as long as a second, so that one is seen.
        try? slot.run { (_: inout Backoff) throws(RemoteError) in
          throw RemoteError(.disconnected, "")
        } until: {
          isEnded.withLock { $0 }
        }
      } during: { thread in
        #expect(await Self.clock(of: thread) == .monotonic)
        isEnded.withLock { $0 = true }
        condition.withLock { condition.broadcast() }
      }
    }

    @Test(.enabled(if: showsCalls))
    func `Waiting for a publisher does not follow the system's time`() async throws {
      let engine = MemoryEngine()
      let proxy = try Feed.proxy()
      let schema = try WireSchema(of: proxy)
      let core = PublisherCore(
        "sensors", engine, RemotePublisherOptions(), schema: schema.bytes, timeout: .seconds(600))
      try core.open()
      let token = try proxy.record(with: WireEncoder(schema)) { core.append($0) }
      defer { token.cancel() }
      engine.freeze()
      try proxy.send(Feed.number, 1)
      // The publisher's thread waits for the acknowledgement, and another one for the call.
      try await Self.inThread {
        core.run()
      } during: { sender in
        try await Self.inThread {
          try? core.flush(within: .seconds(600))
        } during: { flushing in
          #expect(await Self.clock(of: sender) == .monotonic)
          #expect(await Self.clock(of: flushing) == .monotonic)
          core.abandon()
        }
      }
      // What the engine holds back refers to it.
      engine.thaw(delivering: 0)
    }
  #endif
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ForwardingPresets
import Synchronization
import Testing

@Suite struct ReplyOnceTests {
  private final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private let log = Log()

  @Test func `the first reply counts and the others are told of`() {
    let log = log
    let body: @Sendable (String, Int) -> Void = { log.append("\($0) \($1)") }
    let reply = ReplyOnce(onRepeat: { log.append("again") }, body)
    reply("a", 1)
    let closure = { (text: String, number: Int) in reply(text, number) }
    closure("b", 2)
    #expect(log.all == ["a 1", "again"])
  }

  @Test func `a default is given when the last has let go`() {
    let log = log
    let body: @Sendable (Int, String) -> Void = { log.append("\($0) \($1)") }
    var reply: ReplyOnce<Int, String>? = ReplyOnce(default: { (3, "default") }, body)
    var closure = reply.map { reply in { (number: Int, text: String) in reply(number, text) } }
    reply = nil
    #expect(log.all.isEmpty && closure != nil)
    closure = nil
    #expect(log.all == ["3 default"])
  }

  @Test func `no default where there was a reply, or none was named`() {
    let log = log
    do {
      let reply = ReplyOnce(default: { 3 }, { (number: Int) in log.append("\(number)") })
      reply(1)
      _ = ReplyOnce { log.append("never") }
    }
    #expect(log.all == ["1"])
  }

  @Test func `the closure may be called where it is, and handed on`() {
    let log = log
    let pair = ReplyOnce { (text: String, number: Int) in log.append("\(text) \(number)") }
    pair("a", 1)
    let one = ReplyOnce { (number: Int) in log.append("\(number)") }
    one(2)
    one(3)
    let none = ReplyOnce { log.append("none") }
    none()
    let optional: ((Int) -> Void)?
    do {
      let other = ReplyOnce { (number: Int) in log.append("\(number)") }
      for number in [4, 5] { other(number) }
      let last = ReplyOnce(default: { 7 }, { (number: Int) in log.append("\(number)") })
      optional = { last($0) }
    }
    optional?(6)
    #expect(log.all == ["a 1", "2", "none", "4", "6"])
  }

  @Test func `of many threads one replies`() async {
    let (replies, repeats) = (Counter(), Counter())
    for _ in 0..<50 {
      let reply = ReplyOnce(onRepeat: { repeats.add() }, { (_: Int) in replies.add() })
      await withTaskGroup { group in
        for index in 0..<16 { group.addTask { reply(index) } }
      }
    }
    #expect(replies.value == 50 && repeats.value == 50 * 15)
  }

  private final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
  }
}

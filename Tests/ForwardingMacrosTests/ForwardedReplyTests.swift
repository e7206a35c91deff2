// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Synchronization
  import Testing

  @Forwarded
  protocol Asking: AnyObject {
    @ReplyOnce func ask(_ row: Int, reply: @escaping (String, Int) -> Void)
    @ReplyOnce func either(
      _ done: @escaping @Sendable (Int) -> Void, failed: ((any Error) -> Void)?
    ) -> Bool
    @ReplyOnce(default: (7, "nobody")) func fallBack(_ reply: @escaping (Int, String) -> Void)
    @ReplyOnce(default: -1) func one(_ reply: ((Int) -> Void)?)
    @ReplyOnce func wait(_ reply: @escaping @Sendable () -> Void) async
  }

  private final class Answering: Asking {
    var kept: [(Int, String) -> Void] = []
    var times = 1
    var answers = true
    func ask(_ row: Int, reply: @escaping (String, Int) -> Void) {
      for _ in 0..<times { reply("answer", row) }
    }
    func either(
      _ done: @escaping @Sendable (Int) -> Void, failed: ((any Error) -> Void)?
    ) -> Bool {
      failed?(Failure(1))
      done(2)
      return true
    }
    func fallBack(_ reply: @escaping (Int, String) -> Void) { kept.append(reply) }
    func one(_ reply: ((Int) -> Void)?) {
      if answers { reply?(5) }
    }
    func wait(_ reply: @escaping @Sendable () -> Void) async { reply() }
  }

  /// Replies that may be given once.
  @Suite struct ForwardedReplyTests {
    private let errors = Errors()
    private let proxy: AskingProxy
    private let listeners = [Answering(), Answering()]

    init() throws {
      let errors = errors
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { errors.append($0) }
      proxy = try AskingProxy(configuration: configuration)
      for listener in listeners { try proxy.subscribe(listener) }
    }

    @Test func `the first reply counts, and the others are reported`() {
      var replies: [String] = []
      listeners[0].times = 2
      proxy.ask(3) { replies.append("\($0) \($1)") }
      #expect(replies == ["answer 3"] && errors.codes == [.repeatedReply, .repeatedReply])
      #expect(errors.descriptions[0].contains("\"ask:reply:\" has been replied to already"))
      proxy.ask(4) { replies.append("\($0) \($1)") }
      #expect(replies == ["answer 3", "answer 4"])
    }

    @Test func `two closures of a call share one reply`() {
      let done = Mutex<[Int]>([])
      var failures = 0
      let note: @Sendable (Int) -> Void = { value in done.withLock { $0.append(value) } }
      #expect(proxy.either(note) { _ in failures += 1 })
      #expect(failures == 1 && done.withLock { $0 }.isEmpty && errors.codes.count == 1)
      #expect(proxy.either(note, failed: nil))
      #expect(done.withLock { $0 } == [2])
    }

    @Test func `if nobody replies the default does, when all have let go`() {
      var replies: [String] = []
      proxy.fallBack { replies.append("\($0) \($1)") }
      #expect(replies.isEmpty)
      listeners[0].kept = []
      #expect(replies.isEmpty)
      listeners[1].kept = []
      #expect(replies == ["7 nobody"])
      proxy.fallBack { replies.append("\($0) \($1)") }
      listeners[1].kept[0](1, "late")
      listeners[0].kept = []
      listeners[1].kept = []
      #expect(replies == ["7 nobody", "1 late"])
      proxy.unsubscribeAll()
      proxy.fallBack { replies.append("\($0) \($1)") }
      #expect(replies.last == "7 nobody" && replies.count == 3)
    }

    @Test func `closures that may be nil`() {
      var replies: [Int] = []
      proxy.one { replies.append($0) }
      for listener in listeners { listener.answers = false }
      proxy.one { replies.append($0) }
      proxy.one(nil)
      #expect(replies == [5, -1])
    }

    @Test func `replies of async methods`() async {
      let count = Atomic(0)
      await proxy.wait { count.add(1, ordering: .relaxed) }
      #expect(count.load(ordering: .relaxed) == 1 && errors.codes == [.repeatedReply])
    }
  }
#endif

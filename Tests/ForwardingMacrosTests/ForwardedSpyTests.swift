// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import ForwardingTesting
  import Synchronization
  import Testing

  @Forwarded
  protocol Watched: AnyObject, Sendable {
    func moved(to x: Double, _ isFirst: Bool)
    func named(_ name: String, at point: Point?, list: [Tracked])
    func told(_ object: Tracked, then body: @escaping @Sendable () -> Void)
    func count(_ text: String) -> Int
    @DefaultResult(3) func limit() -> Int
    @DefaultResult("none") func title(_ row: Int) -> String
    func save(_ row: Int) throws
    func swap(_ number: inout Int)
  }

  /// Spies of typed proxies.
  @Suite struct ForwardedSpyTests {
    typealias Keys = WatchedProxy.Keys
    private struct Failure: Error {}

    private let proxy = WatchedProxy()
    private let spy: Spy

    init() throws { spy = try Spy(proxy.proxy) }

    @Test func `calls of a typed proxy are recorded with typed arguments`() throws {
      let left = try Tracked.left {
        let proxy = WatchedProxy()
        let spy = try Spy(proxy.proxy)
        let watched: any Watched = proxy
        watched.moved(to: 1.5, true)
        watched.named("a name that is not small", at: Point(), list: [Tracked(1), Tracked(2)])
        watched.named("b", at: nil, list: [])
        let called = Atomic(0)
        watched.told(Tracked(3)) { called.add(1, ordering: .relaxed) }
        #expect(spy.calls(of: Keys.movedTo).map(\.0) == [1.5])
        #expect(spy.calls(of: Keys.movedTo).map(\.1) == [true])
        let names = spy.calls(of: Keys.namedAtList)
        #expect(names.map(\.0) == ["a name that is not small", "b"])
        #expect(names.map(\.1) == [Point(), nil])
        #expect(names.map { $0.2.map(\.value) } == [[1, 2], []])
        let told = spy.calls(of: Keys.toldThen)
        #expect(told.map(\.0.value) == [3])
        told[0].1()
        #expect(called.load(ordering: .relaxed) == 1)
        spy.verify {
          $0.call(Keys.movedTo, 1.5, true)
          $0.call(Keys.namedAtList)
          $0.call(Keys.namedAtList)
          $0.call(Keys.toldThen)
        }
      }
      #expect(left == 0)
    }

    @Test func `stubs and scripts reply through the protocol`() throws {
      spy.stub(Keys.count) { text in text.count }
      spy.script(Keys.count, returning: 10, 20)
      #expect((0..<3).map { proxy.count("row \($0)") } == [10, 20, 5])
      #expect(spy.calls(of: Keys.count) == ["row 0", "row 1", "row 2"])
      #expect(proxy.limit() == 3)
      spy.verify()
    }

    @Test func `an unexpected call is an issue with its arguments`() throws {
      #expect(proxy.count("a \"text\"") == 0)
      let texts = Mutex<[String]>([])
      withKnownIssue {
        spy.verify()
      } matching: { issue in
        texts.withLock { $0 += issue.comments.map(\.rawValue) }
        return true
      }
      let text = texts.withLock(\.self).first ?? ""
      #expect(text.hasPrefix(#"unexpected call count:("a \"text\"")"#))
    }

    @Test func `arguments are read by a selector, as the first or all`() throws {
      proxy.named("a name that is not small", at: nil, list: [Tracked(1)])
      let named = WatchedProxy.selector(for: .namedAtList)
      #expect(spy.calls(of: named, as: String.self) == ["a name that is not small"])
      let all = spy.calls(of: named, as: String.self, Point?.self, [Tracked].self)
      #expect(all.map(\.1) == [nil] && all.map { $0.2.map(\.value) } == [[1]])
      #expect(spy.calls(of: named).count == 1)
    }

    @Test func `other types than the method's are an issue`() throws {
      proxy.named("a", at: nil, list: [])
      var number = 1
      proxy.swap(&number)
      let texts = Mutex<[String]>([])
      let named = WatchedProxy.selector(for: .namedAtList)
      withKnownIssue {
        #expect(spy.calls(of: named, as: [Int].self).isEmpty)
        #expect(spy.calls(of: named, as: Int.self).isEmpty)
        let more = spy.calls(of: named, as: String.self, Point?.self, [Tracked].self, Int.self)
        #expect(more.count == 0)
        #expect(spy.calls(of: WatchedProxy.selector(for: .swap), as: Int.self).isEmpty)
        #expect(spy.calls(of: "unknown:", as: Int.self).isEmpty)
      } matching: { issue in
        texts.withLock { $0 += issue.comments.map(\.rawValue) }
        return true
      }
      #expect(texts.withLock { $0.count } == 5, "\(texts.withLock(\.self))")
    }

    @Test func `methods without a key get their results from closures`() throws {
      #expect(proxy.title(1) == "none")
      let title = try proxy.on(.title) { (row: Int) in "row \(row)" }
      #expect(proxy.title(2) == "row 2")
      try proxy.save(1)
      let saving = try proxy.on(.save) { (row: Int) in throw Failure() }
      #expect(throws: Failure.self) { try proxy.save(2) }
      #expect(spy.description == "Spy of title:(1), title:(2), save:(1), save:(2)")
      #expect(spy.calls(of: WatchedProxy.selector(for: .title), as: Int.self) == [1, 2])
      #expect(spy.calls(of: WatchedProxy.selector(for: .save), as: Int.self) == [1, 2])
      spy.verify()
      title.cancel()
      saving.cancel()
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import ForwardingTesting
  import Synchronization
  import Testing

  private typealias TakesEscaping = (@escaping () -> Void) -> Void
  private typealias TakesNonescaping = (() -> Void) -> Void

  @Forwarded
  private protocol HigherOrder: AnyObject {
    func pass(_ body: @escaping TakesEscaping)
  }

  /// Closures and signals of typed proxies.
  @Suite struct ForwardedHandlersTests {
    /// What happened, from any thread.
    final class Log: Sendable {
      private let lines = Mutex<[String]>([])
      func note(_ line: String) { lines.withLock { $0.append(line) } }
      func take() -> [String] {
        lines.withLock { lines in
          defer { lines = [] }
          return lines
        }
      }
    }

    let log = Log()
    let delegates = DownloadDelegateProxy()
    let kinds = KindsProxy()

    func error(_ body: () throws -> Void) -> ForwardingError? {
      do { try body() } catch { return error as? ForwardingError }
      return nil
    }

    // MARK: Closures

    @Test func `a closure is a responder of its method until its token dies`() throws {
      let log = log
      do {
        let token = try delegates.on(.downloadDidReceiveOf) {
          (download: Download, bytes: Int64, total: Int64?) in
          log.note("\(download.name) \(bytes)/\(total.map(String.init) ?? "?")")
        }
        #expect(delegates.responds(to: .downloadDidReceiveOf))
        #expect(!delegates.responds(to: .downloadShouldContinueAfter))
        delegates.download(Download("a"), didReceive: 1, of: nil)
        delegates.download(Download("b"), didReceive: 2, of: 3)
        #expect(token.isLive)
      }
      delegates.download(Download("c"), didReceive: 4, of: nil)
      #expect(log.take() == ["a 1/?", "b 2/3"])
      #expect(delegates.count == 0)
    }

    @Test func `a closure gives the result, in the order of subscribers`() throws {
      let (log, listener) = (log, Listener())
      listener.answer = false
      try delegates.subscribe(listener)
      let failure = Failure(3)
      #expect(!delegates.download(Download(), shouldContinueAfter: failure))
      let token = try delegates.on(.downloadShouldContinueAfter, at: .first) {
        (_: Download, error: any Error) -> Bool in
        log.note("\(error)")
        return true
      }
      #expect(delegates.download(Download(), shouldContinueAfter: failure))
      #expect(log.take() == ["Failure(code: 3)"])
      withExtendedLifetime(token) {}
    }

    @Test func `fewer parameters than the method's are the first ones`() throws {
      let log = log
      let none = try delegates.on(.downloadDidReceiveOf) { log.note("none") }
      let one = try delegates.on(.downloadDidReceiveOf) { (download: Download) in
        log.note(download.name)
      }
      delegates.download(Download("a"), didReceive: 1, of: nil)
      #expect(log.take() == ["none", "a"])
      withExtendedLifetime((none, one)) {}
    }

    @Test func `arguments of all kinds come as they were sent`() throws {
      let log = log
      let left = try Tracked.left {
        let tokens = [
          try kinds.on(.fiveCD) { (a: Int8, b: UInt16, c: Bool, d: Int32, e: UInt64) in
            log.note("\(a) \(b) \(c) \(d) \(e)")
          },
          try unsafe kinds.on(.mixedXY) {
            (a: Int, x: Double, b: Int, y: Float, pointer: UnsafeRawPointer?) in
            log.note("\(a) \(x) \(b) \(y) \(UInt(bitPattern: pointer))")
          },
          try kinds.on(.textShape) { (text: String, list: [Tracked], shape: Shape) in
            log.note("\(text) \(list.map(\.value)) \(shape)")
          },
          try kinds.on(.tupleExistential) {
            (tuple: (Tracked, Int), any: Any, existential: any CustomStringConvertible) in
            log.note("\(tuple.0.value) \(tuple.1) \(any) \(existential)")
          },
          try kinds.on(.pairIn) { (pair: Pair<String, Tracked>, dictionary: [String: Int]) in
            log.note("\(pair.left) \(pair.right.value) \(dictionary)")
          },
          try kinds.on(.objects) { (object: AnyObject, maybe: Download?) in
            log.note("\(object is Tracked) \(maybe?.name ?? "nil")")
          },
          try kinds.on(.none) { log.note("none") },
        ]
        kinds.five(-1, 2, c: true, d: 4, 5)
        unsafe kinds.mixed(1, x: 2, 3, y: 4, UnsafeRawPointer(bitPattern: 64))
        kinds.text("text", [Tracked(1), Tracked(2)], shape: .circle(radius: 2))
        kinds.tuple((Tracked(3), 4), [5], existential: 6)
        kinds.pair(Pair(left: "a text that is not small", right: Tracked(7)), in: ["k": 8])
        kinds.objects(Tracked(), nil)
        kinds.objects(Download(), SpecialDownload("special"))
        kinds.none()
        withExtendedLifetime(tokens) {}
      }
      #expect(
        log.take() == [
          "-1 2 true 4 5", "1 2.0 3 4.0 64", "text [1, 2] circle(radius: 2.0)", "3 4 [5] 6",
          "a text that is not small 7 [\"k\": 8]", "true nil", "false special", "none",
        ])
      #expect(left == 0)
    }

    @Test func `results of all kinds go to the caller, and nothing leaks`() throws {
      let left = try Tracked.left {
        let tokens = [
          try kinds.on(.nameOf) { (row: Int) in "row \(row), a text that is not small" },
          try kinds.on(.object) { (row: Int) -> Tracked? in row < 0 ? nil : Tracked(row) },
          try kinds.on(.list) { (row: Int) in (0..<row).map { Tracked($0) } },
          try kinds.on(.number) { Int32(9) },
          try kinds.on(.shape) { (_: Int) in Shape.named("a name that is not small") },
          try kinds.on(.made) { Tracked(4) },
          try kinds.on(.maybe) { (row: Int) -> Int? in row < 0 ? nil : row },
        ]
        #expect(kinds.name(of: 3) == "row 3, a text that is not small")
        #expect(kinds.object(-1) == nil && kinds.object(5)?.value == 5)
        #expect(try kinds.list(3).map(\.value) == [0, 1, 2])
        #expect(kinds.number() == 9)
        #expect(try kinds.shape(0) == .named("a name that is not small"))
        #expect(try kinds.made().value == 4)
        #expect(kinds.maybe(-1) == nil && kinds.maybe(6) == 6)
        withExtendedLifetime(tokens) {}
      }
      #expect(left == 0)
    }

    @Test func `a closure throws what the method throws`() throws {
      let (log, full) = (log, FullListener<Int>())
      let void = try delegates.on(.downloadDidFinishAt) {
        (_: Download, path: String) throws(Failure) in
        log.note(path)
        if path == "bad" { throw Failure(1) }
      }
      try delegates.subscribe(full)
      try delegates.downloadDidFinish(Download(), at: "good")
      #expect(throws: Failure(1)) { try delegates.downloadDidFinish(Download(), at: "bad") }
      #expect(log.take() == ["good", "bad"])
      // It was thrown before the listener's turn.
      #expect(full.log == ["finished at good"])
      let list = try kinds.on(.list) { (row: Int) throws -> [Tracked] in throw Failure(row) }
      #expect(throws: Failure(2)) { _ = try kinds.list(2) }
      // After one that has thrown a closure is not called.
      full.failure = Failure(5)
      let behind = try delegates.on(.downloadDidFinishAt) { log.note("behind") }
      #expect(throws: Failure(5)) { try delegates.downloadDidFinish(Download(), at: "x") }
      #expect(log.take() == ["x"])
      withExtendedLifetime((void, list, behind)) {}
    }

    // MARK: Mistakes

    @Test func `wrong types are refused at registration, both named`() throws {
      let wrong = error {
        _ = try delegates.on(.downloadDidReceiveOf) { (_: Download, _: Int64, total: Int64) in }
      }
      #expect(wrong?.code == .signatureMismatch && wrong?.selector == "download:didReceive:of:")
      #expect(
        wrong?.description
          == """
          the closure for "download:didReceive:of:" has Swift.Int64 as parameter 3, but the method \
          has Swift.Optional<Swift.Int64>
          """)
      let scalar = error {
        _ = try delegates.on(.downloadDidReceiveOf) { (_: Download, bytes: Int32) in }
      }
      #expect(
        scalar?.description
          == """
          the closure for "download:didReceive:of:" has Swift.Int32 as parameter 2, but the method \
          has Int64
          """)
      let value = error { _ = try delegates.on(.downloadDidReceiveOf) { (_: String) in } }
      #expect(
        value?.description.hasSuffix("Swift.String as parameter 1, but the method has a class")
          == true)
      let tooMany = error {
        _ = try kinds.on(.none) { (_: Int) in }
      }
      #expect(
        tooMany?.description
          == "the closure for \"none\" has 1 parameter, but the method has 0")
      let result = error { _ = try kinds.on(.nameOf) { (row: Int) in row } }
      #expect(
        result?.description.contains(
          "gives Swift.Int, but the method gives Swift.String")
          == true)
      let none = error { _ = try kinds.on(.number) { () -> Void in } }
      #expect(none?.description.hasSuffix("gives Void, but the method gives Int32") == true)
      let some = error { _ = try kinds.on(.none) { 1 } }
      #expect(
        some?.description.hasSuffix("gives Swift.Int, but the method gives no result") == true)
      let throwing = error { _ = try kinds.on(.none) { () throws(Failure) in throw Failure(1) } }
      #expect(
        throwing?.description
          == "the closure for \"none\" throws, but the method does not")
      let signal = error { _ = try kinds.signal(for: .number) { 1 } }
      #expect(signal?.description.hasSuffix("give its result with signal(for:of:)") == true)
      #expect(kinds.count == 0 && delegates.count == 0)
    }

    @Test func `an object of another class is reported, not delivered`() throws {
      let (log, errors) = (log, Log())
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { errors.note($0.description) }
      let delegates = try DownloadDelegateProxy(configuration: configuration)
      let token = try delegates.on(.downloadDidReceiveOf) { (download: SpecialDownload) in
        log.note(download.name)
      }
      delegates.download(SpecialDownload("special"), didReceive: 1, of: 1)
      #expect(log.take() == ["special"] && errors.take().isEmpty)
      delegates.download(Download("plain"), didReceive: 1, of: 1)
      #expect(log.take().isEmpty)
      #expect(errors.take().first?.contains("got one of class Download") == true)
      withExtendedLifetime(token) {}
    }

    // MARK: Signals

    @Test func `a signal's elements are made of the arguments`() async throws {
      let signal = try delegates.signal(for: .downloadDidReceiveOf) {
        (download: Download, bytes: Int64, total: Int64?) in
        "\(download.name) \(bytes)/\(total.map(String.init) ?? "?")"
      }
      #expect(delegates.responds(to: .downloadDidReceiveOf))
      var (first, second) = (signal.makeAsyncIterator(), signal.makeAsyncIterator())
      #expect(delegates.count == 1)
      delegates.download(Download("a"), didReceive: 1, of: nil)
      delegates.download(Download("b"), didReceive: 2, of: 3)
      #expect(await first.next() == "a 1/?")
      #expect(await first.next() == "b 2/3")
      #expect(await second.next() == "a 1/?")
    }

    @Test func `a signal may give a result, and throw`() async throws {
      let asks = try delegates.signal(for: .downloadShouldContinueAfter, of: String.self) {
        (emit, download: Download, error: any Error) -> Bool in
        emit("\(download.name): \(error)")
        return true
      }
      let finishes = try delegates.signal(for: .downloadDidFinishAt, of: String.self) {
        (emit, _: Download, path: String) throws(Failure) in
        emit(path)
        throw Failure(6)
      }
      var (ask, finish) = (asks.makeAsyncIterator(), finishes.makeAsyncIterator())
      #expect(delegates.download(Download("a"), shouldContinueAfter: Failure(1)))
      #expect(throws: Failure(6)) { try delegates.downloadDidFinish(Download(), at: "/") }
      #expect(await ask.next() == "a: Failure(code: 1)")
      #expect(await finish.next() == "/")
    }

    @Test func `elements end with the typed proxy`() async throws {
      var proxy: KindsProxy? = KindsProxy()
      weak let tracked = proxy
      var iterator = try proxy!.signal(for: .none) { 1 }.makeAsyncIterator()
      proxy!.none()
      proxy = nil
      #expect(tracked == nil)
      #expect(await iterator.next() == 1)
      #expect(await iterator.next() == nil)
    }

    // MARK: The forward target

    @Test func `what no listener handles goes to the forward target`() throws {
      let (log, target, other) = (log, Listener(), DownloadDelegateProxy())
      target.answer = false
      try delegates.setForwardTarget(target)
      #expect(delegates.forwardTarget === target)
      #expect(delegates.responds(to: .downloadShouldContinueAfter))
      // An optional method that it leaves out.
      #expect(!delegates.responds(to: .downloadDidFinishAt))
      let token = try delegates.on(.downloadDidReceiveOf) { log.note("handled") }
      delegates.download(Download(), didReceive: 1, of: 2)
      #expect(!delegates.download(Download(), shouldContinueAfter: Failure(1)))
      #expect(log.take() == ["handled"] && target.log == ["Failure(code: 1)"])
      token.cancel()
      try other.subscribe(target)
      try delegates.setForwardTarget(other)
      delegates.download(Download("x"), didReceive: 1, of: 2)
      #expect(target.log.last == "x 1/2")
      #expect(error { try other.setForwardTarget(delegates) }?.code == .cycle)
      delegates.removeForwardTarget()
      #expect(delegates.forwardTarget == nil && !delegates.responds(to: .downloadDidReceiveOf))
    }

    @Test func `types with one name are told apart`() throws {
      let proxy = HigherOrderProxy()
      #expect(String(describing: TakesEscaping.self) == String(describing: TakesNonescaping.self))
      let wrong = error {
        _ = try proxy.on(.pass) { (body: @escaping TakesNonescaping) in _ = body }
      }
      #expect(wrong?.code == .signatureMismatch)
      let spy = try unsafe Spy(proxy.proxy)
      proxy.pass { $0() }
      let pass = HigherOrderProxy.selector(for: .pass)
      withKnownIssue { #expect(spy.calls(of: pass, as: TakesNonescaping.self).count == 0) }
      #expect(spy.calls(of: pass, as: TakesEscaping.self).count == 1)
    }
  }
#endif

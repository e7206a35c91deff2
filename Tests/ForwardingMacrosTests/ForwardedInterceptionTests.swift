// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Synchronization
  import Testing

  @Forwarded
  private protocol Intercepted: AnyObject {
    func change(_ text: inout String, by count: Int)
    func wait(_ row: Int) async
    func check(_ row: Int) throws
    func number(_ row: Int) throws -> Int
    func name(_ row: Int) throws -> String
  }

  private final class InterceptedListener: Intercepted {
    var failure: Failure?
    func change(_ text: inout String, by count: Int) { text += "\(count)" }
    func wait(_ row: Int) async {}
    func check(_ row: Int) throws { if let failure { throw failure } }
    func number(_ row: Int) throws -> Int {
      if let failure { throw failure }
      return row
    }
    func name(_ row: Int) throws -> String {
      if let failure { throw failure }
      return "name \(row), a text that is not small"
    }
  }

  /// Interception of methods of typed proxies.
  @Suite struct ForwardedInterceptionTests {
    private final class Log: Sendable {
      private let lines = Mutex<[String]>([])
      func note(_ line: String) { lines.withLock { $0.append(line) } }
      func take() -> [String] {
        lines.withLock { lines in
          defer { lines = [] }
          return lines
        }
      }
    }

    private let log = Log()
    private let delegates = DownloadDelegateProxy()
    private let kinds = KindsProxy()

    private func error(_ body: () throws -> Void) -> ForwardingError? {
      do { try body() } catch { return error as? ForwardingError }
      return nil
    }

    // MARK: Before and after

    @Test func `those before and after see the arguments of each call`() throws {
      let (log, listener) = (log, Listener())
      try delegates.subscribe(listener)
      let before = try delegates.before(.downloadDidReceiveOf) {
        (download: Download, bytes: Int64, total: Int64?) in
        log.note("before \(download.name) \(bytes)/\(total.map(String.init) ?? "?")")
      }
      let fewer = try delegates.after(.downloadDidReceiveOf) { (download: Download) in
        log.note("after \(download.name)")
      }
      let none = try delegates.after(.downloadDidReceiveOf) { log.note("after") }
      delegates.download(Download("a"), didReceive: 1, of: nil)
      #expect(log.take() == ["before a 1/?", "after a", "after"] && listener.log == ["a 1/?"])
      #expect(before.cancel() && !before.isLive)
      delegates.download(Download("b"), didReceive: 2, of: 3)
      #expect(log.take() == ["after b", "after"])
      withExtendedLifetime((fewer, none)) {}
    }

    @Test func `arguments of all kinds are seen, and nothing leaks`() throws {
      let log = log
      let left = try Tracked.left {
        let tokens = [
          try kinds.before(.fiveCD) { (a: Int8, b: UInt16, c: Bool, d: Int32, e: UInt64) in
            log.note("\(a) \(b) \(c) \(d) \(e)")
          },
          try kinds.before(.textShape) { (text: String, list: [Tracked], shape: Shape) in
            log.note("\(text) \(list.map(\.value)) \(shape)")
          },
          try kinds.after(.tupleExistential) {
            (tuple: (Tracked, Int), any: Any, existential: any CustomStringConvertible) in
            log.note("\(tuple.0.value) \(tuple.1) \(any) \(existential)")
          },
          try kinds.after(.objects) { (object: AnyObject, maybe: Download?) in
            log.note("\(object is Tracked) \(maybe?.name ?? "nil")")
          },
          // Of a method with a result that C has no type for.
          try kinds.after(.nameOf) { (row: Int) in log.note("row \(row)") },
        ]
        kinds.five(-1, 2, c: true, d: 4, 5)
        kinds.text("text", [Tracked(1), Tracked(2)], shape: .circle(radius: 2))
        kinds.tuple((Tracked(3), 4), [5], existential: 6)
        kinds.objects(Tracked(), nil)
        let token = try kinds.on(.nameOf) { (row: Int) in "\(row)" }
        #expect(kinds.name(of: 7) == "7")
        withExtendedLifetime((tokens, token)) {}
      }
      #expect(
        log.take() == [
          "-1 2 true 4 5", "text [1, 2] circle(radius: 2.0)", "3 4 [5] 6", "true nil", "row 7",
        ])
      #expect(left == 0)
    }

    @Test func `those after are not called where a listener has thrown`() throws {
      let (log, listener, proxy) = (log, InterceptedListener(), InterceptedProxy())
      try proxy.subscribe(listener, lifetime: .strong)
      let tokens = [
        try proxy.after(.check) { (row: Int) in log.note("check \(row)") },
        try proxy.after(.number) { (row: Int) in log.note("number \(row)") },
        try proxy.after(.name) { (row: Int) in log.note("name \(row)") },
      ]
      try proxy.check(1)
      #expect(try proxy.number(2) == 2)
      #expect(try proxy.name(3).hasPrefix("name 3"))
      #expect(log.take() == ["check 1", "number 2", "name 3"])
      listener.failure = Failure(4)
      #expect(throws: Failure(4)) { try proxy.check(1) }
      #expect(throws: Failure(4)) { try proxy.number(2) }
      #expect(throws: Failure(4)) { try proxy.name(3) }
      #expect(log.take().isEmpty)
      withExtendedLifetime(tokens) {}
    }

    @Test func `an object of another class is reported, and stands in nobody's way`() throws {
      let (log, listener) = (log, Listener())
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { log.note($0.description) }
      let delegates = try DownloadDelegateProxy(configuration: configuration)
      try delegates.subscribe(listener)
      let token = try delegates.before(.downloadDidReceiveOf) { (_: SpecialDownload) in
        log.note("called")
      }
      delegates.download(Download("a"), didReceive: 1, of: nil)
      let lines = log.take()
      #expect(lines.count == 1 && lines[0].contains("got one of class Download"))
      #expect(listener.log == ["a 1/?"])
      withExtendedLifetime(token) {}
    }

    @Test func `interceptions end after some calls`() throws {
      let (log, listener) = (log, Listener())
      try delegates.subscribe(listener)
      let tokens = [
        try delegates.before(.downloadDidReceiveOf, times: 1) { (_: Download) in
          log.note("before")
        },
        try delegates.after(.downloadDidReceiveOf, times: 2) { (_: Download) in log.note("after") },
        try delegates.around(.downloadDidReceiveOf, times: 3) { _, proceed in
          log.note("around")
          try proceed()
        },
        try delegates.instead(.downloadDidReceiveOf, times: 1) {
          (_: Download, _: Int64, _: Int64?) in log.note("instead")
        },
      ]
      for _ in 0..<4 { delegates.download(Download("a"), didReceive: 1, of: nil) }
      #expect(
        log.take() == ["before", "around", "instead", "after", "around", "after", "around"])
      #expect(listener.log == ["a 1/?", "a 1/?", "a 1/?"])
      let refused = error {
        _ = try delegates.before(.downloadDidReceiveOf, times: 0) { (_: Download) in }
      }
      #expect(refused?.code == .invalidLimit)
      withExtendedLifetime(tokens) {}
    }

    // MARK: Instead

    @Test func `one instead of the listeners gives the result`() throws {
      let listener = Listener()
      try delegates.subscribe(listener)
      let token = try delegates.instead(.downloadShouldContinueAfter) {
        (_: Download, error: any Error) -> Bool in (error as? Failure)?.code == 2
      }
      #expect(!delegates.download(Download(), shouldContinueAfter: Failure(1)))
      #expect(delegates.download(Download(), shouldContinueAfter: Failure(2)))
      #expect(listener.log.isEmpty)
      let second = error {
        _ = try delegates.instead(.downloadShouldContinueAfter) {
          (_: Download, _: any Error) in true
        }
      }
      #expect(second?.code == .duplicate)
      let other = try delegates.instead(.downloadShouldContinueAfter, replacing: true) {
        (_: Download, _: any Error) in true
      }
      #expect(!token.isLive)
      #expect(delegates.download(Download(), shouldContinueAfter: Failure(1)))
      other.cancel()
      listener.answer = false
      #expect(!delegates.download(Download(), shouldContinueAfter: Failure(1)))
    }

    @Test func `results of all kinds come from the one instead, and nothing leaks`() throws {
      let left = try Tracked.left {
        let tokens = [
          try kinds.instead(.nameOf) { (row: Int) in "row \(row), a text that is not small" },
          try kinds.instead(.object) { (row: Int) -> Tracked? in row < 0 ? nil : Tracked(row) },
          try kinds.instead(.list) { (row: Int) throws -> [Tracked] in
            if row < 0 { throw Failure(row) }
            return (0..<row).map { Tracked($0) }
          },
          try kinds.instead(.number) { Int32(9) },
          try kinds.instead(.made) { Tracked(4) },
          try kinds.instead(.maybe) { (row: Int) -> Int? in row < 0 ? nil : row },
        ]
        #expect(kinds.name(of: 3) == "row 3, a text that is not small")
        #expect(kinds.object(-1) == nil && kinds.object(5)?.value == 5)
        #expect(try kinds.list(3).map(\.value) == [0, 1, 2])
        #expect(throws: Failure(-1)) { try kinds.list(-1) }
        #expect(kinds.number() == 9)
        #expect(try kinds.made().value == 4)
        #expect(kinds.maybe(-1) == nil && kinds.maybe(6) == 6)
        withExtendedLifetime(tokens) {}
      }
      #expect(left == 0)
    }

    @Test func `one instead of the listeners throws what the method throws`() throws {
      let (log, full) = (log, FullListener<Int>())
      try delegates.subscribe(full)
      let token = try delegates.instead(.downloadDidFinishAt) {
        (_: Download, path: String) throws(Failure) in
        log.note(path)
        if path == "bad" { throw Failure(1) }
      }
      try delegates.downloadDidFinish(Download(), at: "good")
      #expect(throws: Failure(1)) { try delegates.downloadDidFinish(Download(), at: "bad") }
      #expect(log.take() == ["good", "bad"] && full.log.isEmpty)
      withExtendedLifetime(token) {}
    }

    // MARK: Around

    @Test func `one around a method changes arguments and result, or does not go on`() throws {
      let listener = Listener()
      try delegates.subscribe(listener)
      let changing = try delegates.around(.downloadDidReceiveOf) { invocation, proceed in
        let bytes = try invocation.argument(at: 2, as: Int64.self)
        if bytes == 0 { return }
        try invocation.setArgument(bytes * 2, at: 2)
        try proceed()
      }
      delegates.download(Download("a"), didReceive: 0, of: nil)
      delegates.download(Download("a"), didReceive: 4, of: 9)
      #expect(listener.log == ["a 8/9"])
      let negating = try delegates.around(.downloadShouldContinueAfter) { invocation, proceed in
        try proceed()
        try invocation.setResult(!invocation.result(as: Bool.self))
      }
      #expect(!delegates.download(Download(), shouldContinueAfter: Failure(1)))
      let stopping = try kinds.around(.nameOf) { _, _ in }
      #expect(kinds.name(of: 1) == "nobody")
      withExtendedLifetime((changing, negating, stopping)) {}
    }

    @Test func `what one around a method throws goes to the caller of one that throws`() throws {
      let (log, listener) = (log, InterceptedListener())
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { log.note("\($0.code)") }
      let proxy = try InterceptedProxy(configuration: configuration)
      try proxy.subscribe(listener)
      let tokens = try [InterceptedProxy.Requirement.check, .number, .name].map {
        try proxy.around($0) { invocation, proceed in
          let row = try invocation.argument(at: 1, as: Int.self)
          if row == 1 { throw Failure(row) }
          if row == 2 { return }
          try proceed()
          if row == 3 { throw Failure(row) }
        }
      }
      for row in [1, 3] {
        #expect(throws: Failure(row)) { try proxy.check(row) }
        #expect(throws: Failure(row)) { try proxy.number(row) }
        #expect(throws: Failure(row)) { try proxy.name(row) }
      }
      try proxy.check(2)
      #expect(error { _ = try proxy.number(2) }?.code == .noResponder)
      #expect(error { _ = try proxy.name(2) }?.code == .noResponder)
      try proxy.check(4)
      #expect(try proxy.number(4) == 4)
      #expect(try proxy.name(4) == "name 4, a text that is not small")
      listener.failure = Failure(5)
      #expect(throws: Failure(5)) { try proxy.check(4) }
      #expect(throws: Failure(5)) { try proxy.number(4) }
      #expect(throws: Failure(5)) { try proxy.name(4) }
      #expect(log.take().isEmpty)
      withExtendedLifetime(tokens) {}
    }

    @Test func `errors that are collected are so of interceptors too`() throws {
      let listener = InterceptedListener()
      var configuration = DynamicProxy.Configuration()
      configuration.listenerErrors = .collect
      let proxy = try InterceptedProxy(configuration: configuration)
      try proxy.subscribe(listener)
      listener.failure = Failure(1)
      let token = try proxy.around(.check) { _, proceed in
        try proceed()
        throw Failure(2)
      }
      let thrown = #expect(throws: ForwardedErrors.self) { try proxy.check(1) }
      #expect(thrown?.failures.map { ($0.error as? Failure)?.code } == [1, 2])
      withExtendedLifetime(token) {}
    }

    // MARK: Mistakes

    @Test func `wrong types are refused at registration, both named`() throws {
      let wrong = error {
        _ = try delegates.before(.downloadDidReceiveOf) { (_: Download, _: Int32) in }
      }
      #expect(wrong?.code == .signatureMismatch)
      #expect(
        wrong?.description
          == """
          the closure for "download:didReceive:of:" has Swift.Int32 as parameter 2, but the method \
          has Int64
          """)
      let fewer = error {
        _ = try delegates.instead(.downloadDidReceiveOf) { (_: Download) in }
      }
      #expect(
        fewer?.description
          == "the closure for \"download:didReceive:of:\" has 1 parameter, but the method has 3")
      let result = error { _ = try kinds.instead(.nameOf) { (row: Int) in row } }
      #expect(
        result?.description
          == "the closure for \"nameOf:\" gives Swift.Int, but the method gives Swift.String")
      let throwing = error {
        _ = try kinds.instead(.none) { () throws(Failure) in throw Failure(1) }
      }
      #expect(throwing?.description == "the closure for \"none\" throws, but the method does not")
    }

    @Test func `a method that is async is refused`() {
      let proxy = InterceptedProxy()
      let text =
        "the closure for \"wait:\" cannot be: the method is async, which only listeners answer"
      for body in [
        { _ = try proxy.on(.wait) { (_: Int) in } },
        { _ = try proxy.before(.wait) { (_: Int) in } },
        { _ = try proxy.after(.wait) {} },
        { _ = try proxy.instead(.wait) { (_: Int) in } },
        { _ = try proxy.around(.wait) { _, proceed in try proceed() } },
      ] as [() throws -> Void] {
        let error = error(body)
        #expect(error?.code == .signatureMismatch && error?.description == text)
      }
    }

    @Test func `an inout argument is refused by closures, and changed by one around`() throws {
      let proxy = InterceptedProxy()
      let listener = InterceptedListener()
      try proxy.subscribe(listener)
      let text =
        """
        the closure for "change:by:" has Swift.String as parameter 1, but the method has inout \
        Swift.String, which only listeners take
        """
      for body in [
        { _ = try proxy.on(.changeBy) { (_: String, _: Int) in } },
        { _ = try proxy.before(.changeBy) { (_: String) in } },
        { _ = try proxy.instead(.changeBy) { (_: String, _: Int) in } },
        { _ = try proxy.signal(for: .changeBy) { (text: String) in text } },
      ] as [() throws -> Void] {
        let error = error(body)
        #expect(error?.code == .signatureMismatch && error?.description == text)
      }
      let log = log
      let none = try proxy.before(.changeBy) { log.note("before") }
      let around = try proxy.around(.changeBy) { invocation, proceed in
        try invocation.setArgument(invocation.argument(at: 2, as: Int.self) + 1, at: 2)
        try proceed()
        try proceed()
      }
      var value = "a"
      proxy.change(&value, by: 1)
      #expect(value == "a22" && log.take() == ["before"])
      withExtendedLifetime((none, around)) {}
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import MacroProtocols
  import Synchronization
  import Testing

  struct Point: Equatable, Sendable {
    var x = 1.0
    var y = 2.0
  }

  @Forwarded
  protocol Keyed: AnyObject, Sendable {
    func moved(to x: Double, _ isFirst: Bool)
    func moved(by step: Int32)
    func named(_ name: String, at point: Point?, list: [Tracked])
    func tracked(_ object: Tracked, _ maybe: Tracked?) -> Tracked?
    func pointed(_ text: UnsafePointer<CChar>, _ bytes: UnsafeMutableRawPointer?) -> Bool
    @DefaultResult(0) func count(_ text: String) -> Int
    func anything(_ value: Any, _ body: @escaping () -> Void)
    var width: Int { get set }
  }

  private final class KeyedListener: Keyed {
    private let lines = Mutex<[String]>([])
    private let storedWidth = Atomic(5)
    var log: [String] { lines.withLock { $0 } }
    private func note(_ line: String) { lines.withLock { $0.append(line) } }

    func moved(to x: Double, _ isFirst: Bool) { note("to \(x) \(isFirst)") }
    func moved(by step: Int32) { note("by \(step)") }
    func named(_ name: String, at point: Point?, list: [Tracked]) {
      note("\(name) \(point?.y ?? 0) \(list.map(\.value))")
    }
    func tracked(_ object: Tracked, _ maybe: Tracked?) -> Tracked? { maybe ?? object }
    func pointed(_ text: UnsafePointer<CChar>, _ bytes: UnsafeMutableRawPointer?) -> Bool {
      unsafe String(cString: text) == "text" && bytes == nil
    }
    func count(_ text: String) -> Int { text.count }
    func anything(_ value: Any, _ body: @escaping () -> Void) {
      note("\(value)")
      body()
    }
    var width: Int {
      get { storedWidth.load(ordering: .relaxed) }
      set { storedWidth.store(newValue, ordering: .relaxed) }
    }
  }

  /// Method names that are keywords, and types with the names of a proxy's members.
  enum Words {
    struct Keys: Equatable, Sendable { var text = "a text that is not small" }

    @Forwarded
    protocol Reserved: AnyObject, Sendable {
      func `default`(_ keys: Keys)
      func `class`(`in` row: Int)
      func `init`(_ row: Int)
      var `self`: Int { get }
    }
  }

  private final class ReservedListener: Words.Reserved {
    let log = Mutex<[String]>([])
    func `default`(_ keys: Words.Keys) { log.withLock { $0.append(keys.text) } }
    func `class`(in row: Int) { log.withLock { $0.append("class \(row)") } }
    func `init`(_ row: Int) { log.withLock { $0.append("init \(row)") } }
    var `self`: Int { 7 }
  }

  @MainActor @Forwarded
  protocol KeyedScreen: AnyObject {
    func show(_ row: Int, _ text: String)
  }

  /// A subscriber without the protocol.
  private final class Plain: Sendable {
    let log = Mutex<[String]>([])
    func note(_ line: String) { log.withLock { $0.append(line) } }
    var lines: [String] { log.withLock { $0 } }
  }

  /// Writes its arguments behind the receiver, whose memory it does not know.
  private let counted = Atomic(0)
  private func count(_: UnsafeMutableRawPointer?, _ step: Int32) {
    counted.add(Int(step), ordering: .relaxed)
  }

  @Suite struct ForwardedKeysTests {
    typealias Keys = KeyedProxy.Keys
    private let proxy: KeyedProxy
    private let listener = KeyedListener()
    private let plain = Plain()

    /// Untyped subscribers need not have all methods.
    private static var lenient: DynamicProxy.Configuration {
      var configuration = DynamicProxy.Configuration()
      configuration.conformance = .lenient
      return configuration
    }

    init() throws {
      proxy = try KeyedProxy(configuration: Self.lenient)
      try proxy.subscribe(listener)
    }

    @Test func `a key has the selector and the encoding of the table`() throws {
      let table = KeyedProxy.protocolTable
      func expect<Output, each Argument>(
        _ key: Method<Output, repeat each Argument>, _ requirement: KeyedProxy.Requirement,
        _ text: String, _ location: Testing.SourceLocation = #_sourceLocation
      ) throws {
        let declared = table.requirements[requirement.rawValue]
        #expect(key.selector == declared.selector, sourceLocation: location)
        let own = try key.signature.text
        #expect(own == declared.signature.text && own == text, sourceLocation: location)
      }
      try expect(Keys.movedTo, .movedTo, "v@dB")
      try expect(Keys.movedBy, .movedBy, "v@i")
      try expect(Keys.tracked, .tracked, "@@@@")
      try unsafe expect(Keys.pointed, .pointed, "B@*^v")
      try expect(Keys.count, .count, "q@^{Swift.String}")
      try expect(Keys.width, .width, "q@")
      try expect(Keys.setWidth, .setWidth, "v@q")
      let named = try Keys.namedAtList.signature.text
      #expect(named.contains("^{Swift.Optional<") && named.contains("Point>}^{Swift.Array<"))
    }

    @Test func `a send by a key reaches a typed listener`() throws {
      try proxy.proxy.send(Keys.movedTo, 1.5, true)
      try proxy.proxy.send(Keys.movedBy, -3)
      try proxy.proxy.send(Keys.setWidth, 9)
      #expect(listener.log == ["to 1.5 true", "by -3"])
      #expect(try proxy.proxy.send(Keys.width) == 9)
      #expect(try proxy.proxy.send(Keys.count, "four") == 4)
      let answer = unsafe try "text".withCString {
        unsafe try proxy.proxy.send(Keys.pointed, $0, nil)
      }
      #expect(answer)
    }

    @Test func `values that C has no type for are sent and received`() throws {
      let left = try Tracked.left {
        try proxy.proxy.send(Keys.namedAtList, "a name that is not small", Point(), [Tracked(1)])
        try proxy.proxy.send(Keys.namedAtList, "b", nil, [])
        let object = try proxy.proxy.send(Keys.tracked, Tracked(2), nil)
        #expect(object?.value == 2)
        let token = try proxy.proxy.subscribe { builder in
          builder.on(Keys.namedAtList) { [plain] name, point, list in
            plain.note("\(name) \(point?.x ?? 0) \(list.map(\.value))")
          }
        }
        proxy.named("a name that is not small", at: Point(), list: [Tracked(3), Tracked(4)])
        proxy.named("b", at: nil, list: [])
        token.cancel()
      }
      #expect(left == 0)
      #expect(listener.log.prefix(2) == ["a name that is not small 2.0 [1]", "b 0.0 []"])
      #expect(plain.lines == ["a name that is not small 1.0 [3, 4]", "b 0.0 []"])
    }

    @Test func `types without a module in their names`() throws {
      let token = try proxy.proxy.subscribe {
        $0.on(Keys.anything) { [plain] value, body in
          plain.note("untyped \(value)")
          body()
        }
      }
      try proxy.proxy.send(Keys.anything, 1.5, { [plain] in plain.note("called") })
      proxy.anything("a") { [plain] in plain.note("called again") }
      #expect(listener.log == ["1.5", "a"])
      #expect(
        plain.lines == [
          "called", "untyped 1.5", "called", "called again", "untyped a", "called again",
        ])
      token.cancel()
    }

    @Test func `an untyped subscriber by keys gets typed calls`() throws {
      try proxy.proxy.subscribe(plain) {
        $0.on(Keys.movedTo) { plain, x, isFirst in plain.note("to \(x) \(isFirst)") }
        $0.on(Keys.movedBy) { plain, step in plain.note("by \(step)") }
      }
      proxy.moved(to: 0.5, false)
      proxy.moved(by: 7)
      #expect(plain.lines == ["to 0.5 false", "by 7"])
    }

    @Test func `a C function by a key gets typed calls`() throws {
      let token = try proxy.proxy.subscribe {
        unsafe $0.function(
          Keys.movedBy, calling: count as @convention(c) (UnsafeMutableRawPointer?, Int32) -> Void)
      }
      let before = counted.load(ordering: .relaxed)
      proxy.moved(by: 21)
      #expect(counted.load(ordering: .relaxed) - before == 21)
      token.cancel()
    }

    @Test func `a C function pointer by a key reaches a typed listener`() throws {
      let pointer = try proxy.proxy.functionPointer(for: Keys.movedBy)
      let function = unsafe pointer.unsafeCast() as @convention(c) (Int32) -> Void
      function(4)
      withExtendedLifetime(pointer) {}
      #expect(listener.log == ["by 4"])
    }

    @Test func `interceptors by keys`() throws {
      let before = try proxy.proxy.before(Keys.namedAtList) { [plain] name, point, list in
        plain.note("before \(name) \(point?.x ?? 0) \(list.count)")
      }
      let instead = try proxy.proxy.instead(Keys.count) { text in text.count * 100 }
      proxy.named("n", at: Point(), list: [])
      #expect(proxy.count("four") == 400 && plain.lines == ["before n 1.0 0"])
      before.cancel()
      instead.cancel()
      proxy.named("n", at: nil, list: [])
      #expect(proxy.count("four") == 4 && plain.lines.count == 1)
    }

    @Test func `a signal of a key`() async throws {
      let names = try proxy.proxy.signal(for: Keys.namedAtList) { name, _, _ in name }
      var iterator = names.makeAsyncIterator()
      proxy.named("first", at: nil, list: [])
      proxy.named("second", at: nil, list: [])
      #expect(await iterator.next() == "first")
      #expect(await iterator.next() == "second")
    }

    @Test func `all results of a key`() throws {
      let other = KeyedListener()
      try proxy.subscribe(other)
      let answers = try proxy.proxy.collect(Keys.count, "three")
      #expect(answers.map(\.value) == [5, 5])
    }

    @Test func `a key of another module's protocol`() throws {
      let opening = try OpeningProxy(configuration: Self.lenient)
      let log = plain
      let token = try unsafe opening.proxy.subscribe {
        $0.on(OpeningProxy.Keys.openedAt) { count, time in log.note("\(count) \(time)") }
      }
      opening.opened(2, at: 0.5)
      #expect(plain.lines == ["2 0.5"])
      token.cancel()
    }

    @Test func `keys that are named by keywords, and a type that is named Keys`() throws {
      let (proxy, listener) = (Words.ReservedProxy(), ReservedListener())
      try proxy.subscribe(listener)
      try proxy.proxy.send(Words.ReservedProxy.Keys.default, Words.Keys())
      try proxy.proxy.send(Words.ReservedProxy.Keys.classIn, 1)
      try proxy.proxy.send(Words.ReservedProxy.Keys.`init`, 2)
      #expect(try proxy.proxy.send(Words.ReservedProxy.Keys.`self`) == 7)
      #expect(listener.log.withLock { $0 } == ["a text that is not small", "class 1", "init 2"])
    }

    @Test func `keys of an actor's protocol are for all threads`() async throws {
      let key = await Task.detached { KeyedScreenProxy.Keys.show }.value
      #expect(try key.signature.text == "v@q^{Swift.String}")
      try await MainActor.run {
        let proxy = KeyedScreenProxy()
        let plain = plain
        let token = try unsafe proxy.proxy.subscribe {
          $0.on(key) { row, text in plain.note("\(row) \(text)") }
        }
        proxy.show(3, "row")
        token.cancel()
      }
      #expect(plain.lines == ["3 row"])
    }

    @Test func `null in the place of a value is an error`() throws {
      let errors = Errors()
      var configuration = Self.lenient
      configuration.onError = { errors.append($0) }
      let proxy = try KeyedProxy(configuration: configuration)
      let token = try proxy.proxy.subscribe { [plain] in
        $0.on(Keys.count) { text in
          plain.note(text)
          return 1
        }
      }
      // The default result of the method.
      #expect(unsafe try proxy.proxy.send("count:", nil as UnsafeRawPointer?) as Int == 0)
      #expect(plain.lines.isEmpty && errors.descriptions.first?.contains("String") == true)
      token.cancel()
    }

    @Test func `a key of another method's types is refused`() throws {
      let key = Method("count:", ((Substring) -> Int).self)
      let error = #expect(throws: ForwardingError.self) {
        try proxy.proxy.subscribe(plain) { $0.on(key) { _, text in text.count } }
      }
      #expect(error?.code == .signatureMismatch)
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import CForwarding
  import ForwardingMacros
  import Testing

  /// Arguments and results of all kinds. Serialized, since it counts objects.
  @Suite(.serialized) struct ForwardedKindsTests {
    let proxy = KindsProxy()
    let first = Recorder()
    let second = Recorder()

    init() throws {
      try proxy.subscribe(first)
      try proxy.subscribe(second)
      second.row = 2
    }

    // MARK: Encodings

    @Test(arguments: [
      ("fiv", "v@cSBiQ"), ("six::", "v@qqqqqq"), ("doubles", "v@dddddddfd"), ("mixed", "v@qdqf^v"),
      ("none", "v@"), ("pointer", "v@^i*"), ("objects", "v@@@"), ("defaultIn", "i@i"),
      ("number", "i@"), ("made", "@@^{Swift.Optional<Swift.Error>}"), ("object:", "@@q"),
      ("maybe", "B@q^{Swift.Optional<Swift.Optional<Swift.Int>>}"),
      (
        "closure",
        "v@^{(Swift.Int) -> Swift.Int}^{Swift.Optional<@Sendable () -> ()>}"
      ),
      (
        "list",
        "B@q^{Swift.Optional<Swift.Array<ForwardingMacrosTests.Tracked>>}"
          + "^{Swift.Optional<Swift.Error>}"
      ),
    ]) func encodings(_ prefix: String, _ encoding: String) throws {
      let requirement = try #require(
        KindsProxy.protocolTable.requirements.first { $0.selector.name.hasPrefix(prefix) })
      #expect(requirement.signature.text == encoding)
    }

    @Test func `the table has the protocol's name`() {
      #expect(KindsProxy.protocolTable.name == "ForwardingMacrosTests.Kinds")
      #expect(Space.ObserverProxy.protocolTable.name == "ForwardingMacrosTests.Space.Observer")
    }

    // MARK: Arguments

    private func deliver(_ expected: String, _ body: () -> Void) {
      let left = Tracked.left {
        body()
        // As libffi calls, and not the loop.
        fwd_use_libffi(true)
        defer { fwd_use_libffi(false) }
        body()
      }
      #expect(left == 0)
      #expect(first.log == [expected, expected])
      #expect(second.log == [expected, expected])
    }

    @Test func `integers that fill the registers`() {
      deliver("-1 65535 true -3 18446744073709551615") {
        proxy.five(-1, .max, c: true, d: -3, .max)
      }
    }

    @Test func `more integers than registers`() {
      deliver("[1, 2, 3, 4, 5, 6]") { proxy.six(1, 2, 3, 4, 5, 6) }
    }

    @Test func `more numbers than vector registers`() {
      deliver("[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]") {
        proxy.doubles(1, 2, 3, 4, 5, 6, 7, 8, 9)
      }
    }

    @Test func `both kinds of registers`() {
      deliver("1 2.5 -3 4.5 0") { unsafe proxy.mixed(1, x: 2.5, -3, y: 4.5, nil) }
    }

    @Test func `no arguments`() { deliver("none") { proxy.none() } }

    @Test func `strings, arrays and enums`() {
      deliver("a text that is not small [1, 2] circle(radius: 2.0)") {
        proxy.text("a text that is not small", [Tracked(1), Tracked(2)], shape: .circle(radius: 2))
      }
    }

    @Test func `tuples and existentials`() {
      deliver("1 2 [3] four") {
        proxy.tuple((Tracked(1), 2), [3], existential: "four")
      }
    }

    @Test func closures() {
      let tracked = Tracked(22)
      deliver("42") { proxy.closure({ $0 + tracked.value }, other: {}) }
      first.closure({ $0 }, other: nil)
    }

    @Test func `generic structs and dictionaries`() {
      deliver("left 5 [\"key\": 6]") {
        proxy.pair(Pair(left: "left", right: Tracked(5)), in: ["key": 6])
      }
    }

    @Test func pointers() {
      deliver("3 text") {
        var number: Int32 = 3
        unsafe "text".withCString { text in unsafe proxy.pointer(&number, text) }
      }
    }

    @Test func objects() {
      deliver("true special") { proxy.objects(Tracked(), SpecialDownload("special")) }
    }

    @Test func `no object`() { deliver("true nil") { proxy.objects(Tracked(), nil) } }

    // MARK: Results

    @Test func `results of the first responder`() throws {
      let left = try Tracked.left {
        #expect(proxy.name(of: 3) == "row 3 of 1, a text that is not small")
        #expect(proxy.object(4)?.value == 4)
        #expect(proxy.object(-1) == nil)
        let list = try proxy.list(3)
        #expect(list.map(\.value) == [0, 1, 2])
        #expect(proxy.number() == 1)
        #expect(try proxy.shape(1) == .named("a shape with a name that is not small"))
        #expect(try proxy.made().value == 1)
        #expect(proxy.maybe(3) == 3)
        #expect(proxy.maybe(-3) == nil)
        #expect(proxy.optional(8)?.value == 8)
        #expect(proxy.default(in: 4) == 5)
      }
      #expect(left == 0)
    }

    @Test func `results of nobody`() throws {
      let proxy = KindsProxy()
      #expect(proxy.name(of: 3) == "nobody")
      #expect(proxy.object(4) == nil)
      #expect(proxy.number() == 7)
      #expect(proxy.maybe(3) == nil)
      #expect(proxy.default(in: 4) == 0)
      #expect(try proxy.shape(1) == .point)
      let error = try #require(throws: ForwardingError.self) { try proxy.list(3) }
      #expect(error.code == .noResponder && error.selector == "list:")
      #expect(throws: ForwardingError.self) { try proxy.made() }
      // The table has it too.
      let number: Int32 = try unsafe proxy.proxy.send("number")
      #expect(number == 7)
    }

    @Test func `results of nobody where that is ignored`() throws {
      var configuration = DynamicProxy.Configuration()
      configuration.noResponder = .ignore
      let proxy = try KindsProxy(configuration: configuration)
      #expect(proxy.name(of: 3) == "nobody")
      #expect(proxy.object(4) == nil)
      #expect(proxy.number() == 7)
      #expect(throws: ForwardingError.self) { try proxy.made() }
    }

    @Test func `errors instead of results`() throws {
      first.failure = Failure(1)
      let left = Tracked.left {
        #expect(throws: Failure(1)) { try proxy.list(3) }
        #expect(throws: Failure(1)) { try proxy.made() }
        #expect(throws: Failure(1)) { try proxy.shape(3) }
      }
      #expect(left == 0)
    }

    /// No policy of the method does this, but an untyped caller may.
    @Test func `all answers in one place leak nothing`() throws {
      let left = try Tracked.left {
        var list: [Tracked]?
        var error: (any Error)?
        let answers = try unsafe withUnsafeMutablePointer(to: &list) { list in
          try unsafe withUnsafeMutablePointer(to: &error) { error in
            try unsafe proxy.proxy.collect("list:", as: Bool.self, 2, list, error)
          }
        }
        #expect(answers.map(\.value) == [true, true])
        #expect(list?.count == 2 && error == nil)
      }
      #expect(left == 0)
    }

    @Test func `null instead of the place for a result`() throws {
      let left = try Tracked.left {
        let none: UnsafeMutableRawPointer? = nil
        let answer: Bool = try unsafe proxy.proxy.send("list:", 2, none, none)
        #expect(answer)
        first.failure = Failure(1)
        let other: Bool = try unsafe proxy.proxy.send("list:", 2, none, none)
        #expect(!other)
      }
      #expect(left == 0)
    }
  }
#endif

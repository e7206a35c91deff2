// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Testing

  /// What a reactive wrapper of a delegate does, with typed proxies. The numbers
  /// are those of the list of behaviours.
  @Suite struct ProtocolProxyTypedTests {
    let kinds = KindsProxy()

    @Test("1.5.11 better: enums with payload, texts and collections are arguments and elements")
    func types() async throws {
      let signal = try kinds.signal(for: .textShape) {
        (text: String, list: [Tracked], shape: Shape) in (text, list.count, shape)
      }
      var iterator = signal.makeAsyncIterator()
      kinds.text("a", [Tracked()], shape: .circle(radius: 3))
      kinds.text("b", [], shape: .named("a name that is not small"))
      let (first, second) = (await iterator.next(), await iterator.next())
      #expect(first?.0 == "a" && first?.1 == 1 && first?.2 == .circle(radius: 3))
      #expect(second?.0 == "b" && second?.2 == .named("a name that is not small"))
      #expect(throws: ForwardingError.self) {
        _ = try kinds.signal(for: .textShape) { (_: Int, _: [Tracked]) in 0 }
      }
    }

    @Test("1.5.12 better: closures are arguments, and results are of any type")
    func closures() throws {
      let token = try kinds.on(.closureOther) {
        (body: @escaping (Int) -> Int, other: (@Sendable () -> Void)?) in
        if body(20) == 41 { other?() }
      }
      let name = try kinds.on(.nameOf) { (row: Int) in "row \(row)" }
      let calls = Tracked.left {
        // It is called, and keeps what it makes until the end of the test.
        nonisolated(unsafe) var made: [Tracked] = []
        kinds.closure({ 2 * $0 + 1 }, other: { unsafe made.append(Tracked()) })
        #expect(unsafe made.count == 1)
        kinds.closure({ $0 }, other: { unsafe made.append(Tracked()) })
        #expect(unsafe made.count == 1)
        kinds.closure({ 2 * $0 + 1 }, other: nil)
      }
      #expect(calls == 0)
      #expect(kinds.name(of: 2) == "row 2")
      withExtendedLifetime((token, name)) {}
    }
  }
#endif

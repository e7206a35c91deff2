// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import ForwardingPresets
  import Testing

  @Forwarded
  private protocol Scoring: AnyObject {
    func add(_ points: Int)
    /// A result in a register, and one in memory.
    func score(of row: Int) -> Int
    func title(of row: Int) -> String?
    @Optional func finish()
  }

  private final class Scorer: Scoring {
    let name: String
    let points: Int
    private(set) var log: [Int] = []

    init(_ name: String, _ points: Int) {
      self.name = name
      self.points = points
    }

    func add(_ points: Int) { log.append(points) }
    func score(of row: Int) -> Int {
      log.append(row)
      return points
    }
    func title(of row: Int) -> String? { name }
  }

  /// Presets, of typed proxies.
  @Suite struct TypedPresetTests {
    private let first = Scorer("first", 5)
    private let last = Scorer("last", 7)

    private func proxy(_ preset: DynamicProxy.Preset) throws -> ScoringProxy {
      var configuration = DynamicProxy.Configuration(preset)
      configuration.onError = { Issue.record("\($0)") }
      return try ScoringProxy(configuration: configuration)
    }

    @Test("1.2.5, 1.2.11 typed: a stranger's places are the ends; the first responder's result")
    func multiDelegate() throws {
      let delegates = try proxy(.multiDelegate())
      try delegates.subscribe(last, at: .before(first))
      try delegates.subscribe(first, at: .after(Scorer("stranger", 0)))
      #expect(delegates.score(of: 1) == 5)
      #expect(delegates.title(of: 1) == "first")
      #expect(first.log == [1] && last.log == [])
      #expect(delegates.responds(to: .scoreOf) && !delegates.responds(to: .finish))
    }

    @Test("1.3.2, 1.3.6, 1.3.8 typed: all are called, the last one's result; itself is ignored")
    func proxyListener() throws {
      let delegates = try proxy(.proxyListener)
      #expect(delegates.score(of: 0) == 0 && delegates.title(of: 0) == nil)
      let itself = try delegates.subscribe(delegates)
      #expect(!itself.isLive && delegates.count == 0)
      try delegates.subscribe(first)
      try delegates.subscribe(last)
      try delegates.subscribe(first)
      #expect(delegates.score(of: 2) == 7)
      #expect(delegates.title(of: 2) == "last")
      #expect(first.log == [2] && last.log == [2])
      #expect(delegates.responds(to: .finish))
    }

    @Test(
      "1.1.4, 1.4.2 typed: who has subscribed twice is called twice",
      arguments: [DynamicProxy.Preset.delegateMatrioska, .ksDelegateForwarding])
    func duplicates(_ preset: DynamicProxy.Preset) throws {
      let delegates = try proxy(preset)
      try delegates.subscribe(first)
      try delegates.subscribe(first)
      delegates.add(3)
      #expect(first.log == [3, 3])
    }
  }
#endif

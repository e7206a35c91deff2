// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Testing

  @globalActor actor Elsewhere {
    static let shared = Elsewhere()
  }

  /// The macro knows global actors by their names, which end in `Actor`.
  typealias ElsewhereActor = Elsewhere

  @MainActor @Forwarded
  protocol Screen: AnyObject, Sendable {
    func show(_ row: Int, _ isNew: Bool)
    func show(text: String) throws -> Int
    @Optional func hide(_ reason: String) -> Int
    var title: String? { get set }
    nonisolated func note(_ text: String)
    func wait(_ row: Int) async -> Int
  }

  @ElsewhereActor @Forwarded
  protocol Worker: AnyObject {
    func work(_ number: Int)
    @DefaultResult("idle") func state() -> String
  }

  /// Some methods on an actor, others not.
  @Forwarded
  protocol Mixed: AnyObject {
    @MainActor func show(_ row: Int)
    @MainActor func text(_ row: Int) -> String?
    func anywhere(_ row: Int)
  }

  /// Inherits its actor as well.
  @MainActor @Forwarded
  protocol BigScreen: Screen {
    func zoom(_ scale: Double)
  }

  private final class ScreenListener: BigScreen {
    var log: [String] = []
    var title: String?
    func show(_ row: Int, _ isNew: Bool) { log.append("\(row) \(isNew)") }
    func show(text: String) throws -> Int {
      MainActor.assertIsolated()
      return text.count
    }
    func hide(_ reason: String) -> Int { reason.count }
    nonisolated func note(_ text: String) {}
    func wait(_ row: Int) async -> Int {
      await Task.yield()
      MainActor.assertIsolated()
      return row
    }
    func zoom(_ scale: Double) { log.append("zoom \(scale)") }
  }

  @Elsewhere private final class WorkerListener: Worker {
    var sum = 0
    func work(_ number: Int) {
      Elsewhere.shared.assertIsolated()
      sum += number
    }
    func state() -> String { "sum \(sum)" }
  }

  private final class MixedListener: Mixed {
    var log: [String] = []
    func show(_ row: Int) { log.append("show \(row)") }
    func text(_ row: Int) -> String? { "\(row)" }
    func anywhere(_ row: Int) { log.append("anywhere \(row)") }
  }

  /// Protocols and methods of global actors.
  @Suite struct ForwardedIsolationTests {
    @MainActor @Test func `a protocol on the main actor`() async throws {
      let proxy = ScreenProxy()
      let listener = ScreenListener()
      #expect(proxy.hide("a") == 0)
      try proxy.subscribe(listener)
      proxy.show(1, true)
      #expect(try proxy.show(text: "four") == 4)
      #expect(proxy.hide("four") == 4 && proxy.responds(to: .hide))
      proxy.title = "title"
      proxy.note("note")
      #expect(listener.log == ["1 true"] && proxy.title == "title")
      #expect(await proxy.wait(3) == 3)
    }

    @MainActor @Test func `untyped callers on the main actor`() throws {
      let proxy = ScreenProxy()
      let listener = ScreenListener()
      try proxy.subscribe(listener)
      try unsafe proxy.proxy.send("show::", 2, false)
      #expect(listener.log == ["2 false"])
    }

    @MainActor @Test func `an inherited protocol on the main actor`() throws {
      let proxy = BigScreenProxy()
      let listener = ScreenListener()
      try proxy.subscribe(listener)
      proxy.zoom(2)
      proxy.show(1, false)
      #expect(listener.log == ["zoom 2.0", "1 false"])
      #expect(try proxy.show(text: "four") == 4)
    }

    @Elsewhere @Test func `a protocol on another actor`() async throws {
      let proxy = WorkerProxy()
      let listener = WorkerListener()
      #expect(proxy.state() == "idle")
      try proxy.subscribe(listener)
      proxy.work(3)
      #expect(listener.sum == 3 && proxy.state() == "sum 3")
    }

    @Test func `a proxy of an actor may be kept anywhere`() async throws {
      let proxy = await Task { @Elsewhere in WorkerProxy() }.value
      let listener = WorkerListener()
      try await Elsewhere.run { _ = try proxy.subscribe(listener) }
      await proxy.work(4)
      #expect(await listener.sum == 4)
    }

    @MainActor @Test func `single methods on the main actor`() throws {
      let proxy = MixedProxy()
      let listener = MixedListener()
      try proxy.subscribe(listener)
      proxy.show(1)
      proxy.anywhere(2)
      #expect(listener.log == ["show 1", "anywhere 2"] && proxy.text(3) == "3")
    }
  }

  extension Elsewhere {
    @Elsewhere fileprivate static func run(
      _ body: @Elsewhere @Sendable () throws -> Void
    ) rethrows { try body() }
  }
#endif

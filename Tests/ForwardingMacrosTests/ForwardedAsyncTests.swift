// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Synchronization
  import Testing

  @Forwarded
  protocol Loader: AnyObject {
    func begin(_ text: String, pointer: UnsafeRawPointer?) async
    func check(_ row: Int) async throws
    func count(_ row: Int) async -> Int
    func load(_ object: Tracked) async throws -> [Tracked]
    @Optional func finish(_ row: Int) async -> Int
    @DefaultResult("none") var state: String { get async }
    nonisolated(nonsending) func stay(_ row: Int) async -> Int
    func sync(_ row: Int)
  }

  private final class LoaderListener: Loader {
    let name: String
    var log: [String] = []
    var failure: Failure?
    var onBegin: (() -> Void)?

    init(_ name: String) { self.name = name }

    func begin(_ text: String, pointer: UnsafeRawPointer?) async {
      await Task.yield()
      log.append(text)
      onBegin?()
    }
    func check(_ row: Int) async throws {
      await Task.yield()
      log.append("check \(row)")
      if let failure { throw failure }
    }
    func count(_ row: Int) async -> Int {
      await Task.yield()
      return row + 1
    }
    func load(_ object: Tracked) async throws -> [Tracked] {
      if let failure { throw failure }
      return [object, object]
    }
    var state: String {
      get async { name }
    }
    nonisolated(nonsending) func stay(_ row: Int) async -> Int { row * 2 }
    func sync(_ row: Int) { log.append("sync \(row)") }
  }

  private final class FinishingLoader: Loader {
    func begin(_ text: String, pointer: UnsafeRawPointer?) async {}
    func check(_ row: Int) async throws {}
    func count(_ row: Int) async -> Int { 0 }
    func load(_ object: Tracked) async throws -> [Tracked] { [] }
    func finish(_ row: Int) async -> Int { row }
    var state: String { "" }
    nonisolated(nonsending) func stay(_ row: Int) async -> Int { 0 }
    func sync(_ row: Int) {}
  }

  @Forwarded
  protocol SharedLoader: AnyObject, Sendable {
    func load(_ row: Int) async -> Int
    @concurrent func run(_ row: Int) async
  }

  private actor ActorLoader: SharedLoader {
    private(set) var rows: [Int] = []
    func load(_ row: Int) async -> Int {
      rows.append(row)
      return rows.count
    }
    @concurrent nonisolated func run(_ row: Int) async { _ = await load(row) }
  }

  /// Methods that wait, which C cannot forward to.
  @Suite(.serialized) struct ForwardedAsyncTests {
    private let proxy = LoaderProxy()
    private let first = LoaderListener("first")
    private let second = LoaderListener("second")
    private let third = LoaderListener("third")

    private func subscribeAll() throws {
      for listener in [first, second, third] { try proxy.subscribe(listener) }
    }

    @Test func `listeners are called one after the other`() async throws {
      try subscribeAll()
      var order: [String] = []
      for listener in [first, second, third] {
        listener.onBegin = { order.append(listener.name) }
      }
      unsafe await proxy.begin("begun", pointer: nil)
      #expect(order == ["first", "second", "third"])
      #expect([first, second, third].allSatisfy { $0.log == ["begun"] })
      for listener in [first, second, third] { listener.onBegin = nil }
    }

    @Test func `the first responder answers`() async throws {
      #expect(await proxy.count(3) == 0)
      #expect(await proxy.state == "none")
      await #expect(throws: ForwardingError.self) { _ = try await proxy.load(Tracked()) }
      try subscribeAll()
      #expect(await proxy.count(3) == 4)
      #expect(await proxy.state == "first")
      let left = try await Tracked.left { () async throws in
        #expect(try await proxy.load(Tracked(7)).map(\.value) == [7, 7])
      }
      #expect(left == 0)
      first.failure = Failure(1)
      await #expect(throws: Failure(1)) { _ = try await proxy.load(Tracked()) }
      #expect(await proxy.stay(4) == 8)
    }

    @Test func `the first error ends the calls`() async throws {
      try subscribeAll()
      second.failure = Failure(2)
      await #expect(throws: Failure(2)) { try await proxy.check(1) }
      #expect([first, second, third].map(\.log.count) == [1, 1, 0])
    }

    @Test func `who has left meanwhile is not called, who has joined is not yet`() async throws {
      try subscribeAll()
      let late = LoaderListener("late")
      first.onBegin = { [proxy, second] in
        proxy.unsubscribe(second)
        _ = try? proxy.subscribe(late)
      }
      unsafe await proxy.begin("a", pointer: nil)
      #expect(first.log == ["a"] && second.log.isEmpty && third.log == ["a"] && late.log.isEmpty)
      first.onBegin = nil
      unsafe await proxy.begin("b", pointer: nil)
      #expect(late.log == ["b"])
    }

    @Test func `who dies meanwhile is not called, and is not kept alive`() async throws {
      final class Box { var listener: LoaderListener? = LoaderListener("dying") }
      let box = Box()
      try subscribeAll()
      try box.listener.map { _ = try proxy.subscribe($0) }
      weak let dying = box.listener
      first.onBegin = { box.listener = nil }
      unsafe await proxy.begin("a", pointer: nil)
      #expect(dying == nil && third.log == ["a"])
      first.onBegin = nil
    }

    @Test func `who dies in its own call is kept alive for it`() async throws {
      final class Box { var listener: LoaderListener? = LoaderListener("dying") }
      let box = Box()
      var isAlive = false
      try box.listener.map { _ = try proxy.subscribe($0) }
      weak let dying = box.listener
      box.listener?.onBegin = {
        box.listener = nil
        isAlive = dying != nil
      }
      unsafe await proxy.begin("a", pointer: nil)
      #expect(isAlive && dying == nil)
    }

    @Test func `whether someone responds, and no selector in the table`() async throws {
      #expect(!proxy.responds(to: .count) && !proxy.responds(to: .finish))
      try proxy.subscribe(first)
      #expect(proxy.responds(to: .count) && !proxy.responds(to: .finish))
      #expect(await proxy.finish(5) == 0)
      let finishing = FinishingLoader()
      try proxy.subscribe(finishing)
      #expect(proxy.responds(to: .finish))
      #expect(await proxy.finish(5) == 5)
      #expect(LoaderProxy.protocolTable.requirements.map(\.selector.name) == ["sync:"])
      proxy.sync(1)
      #expect(first.log == ["sync 1"])
    }

    @Test func `listeners of a proxy that listens`() async throws {
      let inner = LoaderProxy()
      try inner.subscribe(first)
      try inner.subscribe(second)
      try proxy.subscribe(inner)
      try proxy.subscribe(third)
      first.onBegin = { [inner, second] in inner.unsubscribe(second) }
      unsafe await proxy.begin("a", pointer: nil)
      #expect(first.log == ["a"] && second.log.isEmpty && third.log == ["a"])
      third.onBegin = nil
      first.onBegin = { [proxy, inner] in proxy.unsubscribe(inner) }
      try inner.subscribe(second)
      unsafe await proxy.begin("b", pointer: nil)
      #expect(first.log == ["a", "b"] && second.log.isEmpty && third.log == ["a", "b"])
      first.onBegin = nil
    }

    // MARK: Blocked subscriptions, and those of some calls

    @Test func `who is blocked is not called, and does not respond`() async throws {
      let subscription = try proxy.subscribe(first)
      try proxy.subscribe(second)
      let pause = try subscription.block()
      #expect(pause.isLive == true)
      unsafe await proxy.begin("a", pointer: nil)
      #expect(first.log.isEmpty && second.log == ["a"])
      #expect(await proxy.state == "second")
      pause.cancel()
      unsafe await proxy.begin("b", pointer: nil)
      #expect(first.log == ["b"] && second.log == ["a", "b"])
      proxy.unsubscribe(second)
      let other = try subscription.block()
      #expect(!proxy.responds(to: .count))
      #expect(await proxy.state == "none")
      other.cancel()
    }

    @Test func `who is blocked meanwhile is not called`() async throws {
      try proxy.subscribe(first)
      let subscription = try proxy.subscribe(second)
      var pause: DynamicProxy.Token?
      first.onBegin = { pause = try! subscription.block() }
      unsafe await proxy.begin("a", pointer: nil)
      #expect(first.log == ["a"] && second.log.isEmpty && pause?.isLive == true)
      first.onBegin = nil
    }

    @Test func `calls count for subscriptions of some calls, and questions do not`() async throws {
      let subscription = try proxy.subscribe(first, times: 3)
      try proxy.subscribe(second)
      for _ in 0..<5 { #expect(proxy.responds(to: .count)) }
      // It has no such method.
      _ = await proxy.finish(1)
      unsafe await proxy.begin("a", pointer: nil)
      proxy.sync(1)
      #expect(subscription.isLive == true)
      unsafe await proxy.begin("b", pointer: nil)
      #expect(subscription.isLive == false && proxy.count == 1 && !proxy.contains(first))
      unsafe await proxy.begin("c", pointer: nil)
      #expect(first.log == ["a", "sync 1", "b"] && second.log == ["a", "sync 1", "b", "c"])
    }

    @Test func `who is kept for one call lives until it has returned`() async throws {
      weak var listener: LoaderListener?
      var isAlive = false
      do {
        let made = LoaderListener("once")
        listener = made
        made.onBegin = { isAlive = listener != nil }
        try proxy.subscribe(made, lifetime: .strong, times: 1)
      }
      unsafe await proxy.begin("a", pointer: nil)
      #expect(isAlive && listener == nil && proxy.count == 0)
    }

    @Test func `one listener of two subscriptions has two limits`() async throws {
      var configuration = DynamicProxy.Configuration()
      configuration.duplicates = .allow
      let proxy = try LoaderProxy(configuration: configuration)
      try proxy.subscribe(first, times: 1)
      let other = try proxy.subscribe(first)
      unsafe await proxy.begin("a", pointer: nil)
      let pause = try other.block()
      unsafe await proxy.begin("b", pointer: nil)
      pause.cancel()
      unsafe await proxy.begin("c", pointer: nil)
      #expect(first.log == ["a", "a", "c"])
    }

    @Test func `a call is one delivery to a proxy that listens`() async throws {
      let inner = LoaderProxy()
      try inner.subscribe(first)
      try inner.subscribe(second)
      let once = try proxy.subscribe(inner, times: 1)
      unsafe await proxy.begin("a", pointer: nil)
      #expect(first.log == ["a"] && second.log == ["a"] && once.isLive == false)
      unsafe await proxy.begin("b", pointer: nil)
      #expect(first.log == ["a"] && second.log == ["a"])
      let blocked = try proxy.subscribe(inner)
      var pause = try blocked.block()
      #expect(!proxy.responds(to: .count))
      unsafe await proxy.begin("c", pointer: nil)
      pause.cancel()
      first.onBegin = { pause = try! blocked.block() }
      unsafe await proxy.begin("d", pointer: nil)
      #expect(first.log == ["a", "d"] && second.log == ["a"] && pause.isLive == true)
      first.onBegin = nil
    }

    @Test func `of calls side by side as many are made as the subscription is for`() async throws {
      let proxy = SharedLoaderProxy()
      let loader = ActorLoader()
      try proxy.subscribe(loader, times: 7)
      await withTaskGroup { group in
        for row in 0..<50 { group.addTask { await proxy.run(row) } }
      }
      #expect(await loader.rows.count == 7)
      #expect(proxy.count == 0)
    }

    @Test func `nobody responds, and that is an error`() async throws {
      let errors = Errors()
      var configuration = DynamicProxy.Configuration()
      configuration.noResponder = .fail
      configuration.onError = { errors.append($0) }
      let proxy = try LoaderProxy(configuration: configuration)
      unsafe await proxy.begin("a", pointer: nil)
      await #expect(throws: ForwardingError.self) { try await proxy.check(1) }
      #expect(errors.codes == [.noResponder])
    }

    @MainActor @Test func `from an actor, if the method stays there`() async throws {
      let proxy = LoaderProxy()
      let listener = LoaderListener("main")
      try proxy.subscribe(listener)
      #expect(await proxy.stay(3) == 6)
    }

    @Test func `actors listen`() async throws {
      let proxy = SharedLoaderProxy()
      let loaders = [ActorLoader(), ActorLoader()]
      for loader in loaders { try proxy.subscribe(loader) }
      await withTaskGroup { group in
        for row in 0..<10 { group.addTask { await proxy.run(row) } }
      }
      #expect(await proxy.load(3) == 11)
      #expect(await loaders[1].rows.count == 10)
    }
  }
#endif

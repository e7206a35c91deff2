// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

#if canImport(Observation)
  import Observation
#endif

/// Rows, and names of rows.
private final class Model: Sendable {
  private let state: Lock<[Int64]>
  private let tracked: Population.Tracked?

  init(_ rows: [Int64], _ tracked: Population.Tracked? = nil) {
    state = Lock(rows)
    self.tracked = tracked
  }

  var rows: [Int64] {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }

  var count: Int { rows.count }
}

@Suite struct FeedTests {
  static let table = ProtocolTable.table("DataSource") {
    $0.required("numberOfRows:", "q@:q", default: Int64(-1))
    $0.optional("numberOfSections", "q@:")
    $0.optional("rowAt:section:", "q@:qq", default: Int64(-1))
    $0.optional("reload", "v@:")
  }

  func dataSource() throws -> DynamicProxy { try DynamicProxy(adopting: Self.table) }

  func rows(_ proxy: DynamicProxy, _ section: Int64 = 0) throws -> Int64 {
    try proxy.send("numberOfRows:", section)
  }

  // MARK: Closures

  @Test func `a closure gives the result, with the arguments or without`() throws {
    let proxy = try dataSource()
    let token = try proxy.feed("numberOfRows:") { (section: Int64) -> Int64 in section * 2 }
    #expect(try rows(proxy, 21) == 42)
    #expect(proxy.responds(to: "numberOfRows:"))
    #expect(token.isLive)
    let sections = try proxy.feed("numberOfSections") { Int64(3) }
    #expect(try proxy.send("numberOfSections") == Int64(3))
    let row = try proxy.feed("rowAt:section:") { (row: Int64) -> Int64 in row + 1 }
    #expect(try proxy.send("rowAt:section:", Int64(4), Int64(0)) == Int64(5))
    withExtendedLifetime((sections, row)) {}
  }

  @Test func `a method without a result may be fed: the closure handles it`() throws {
    let (proxy, journal) = (try dataSource(), Journal())
    let token = try proxy.feed("reload") { journal.note("reload") }
    try proxy.send("reload")
    #expect(journal.take() == ["reload"])
    withExtendedLifetime(token) {}
  }

  @Test func `a feed ends with its token, cancelled or dead`() throws {
    let (proxy, population) = (try dataSource(), Population())
    do {
      let captured = population.make()
      let token = try proxy.feed("numberOfRows:") { Int64(population.living) }
      let other = try proxy.feed("numberOfSections") { withExtendedLifetime(captured) { Int64(1) } }
      #expect(try rows(proxy) == 1)
      #expect(other.cancel())
      #expect(!other.cancel())
      #expect(throws: ForwardingError.self) {
        let _: Int64 = try proxy.send("numberOfSections")
      }
      withExtendedLifetime(token) {}
    }
    #expect(try rows(proxy) == -1)
    #expect(population.living == 0)
    #expect(proxy.count == 0)
  }

  @Test func `a second feed of a method is refused, or replaces the first in its place`() throws {
    let (proxy, journal) = (try dataSource(), Journal())
    let first = try proxy.feed("numberOfRows:") { Int64(1) }
    let other = try proxy.subscribe { $0.on("numberOfRows:") { (_: Int64) in Int64(9) } as Void }
    do {
      _ = try proxy.feed("numberOfRows:") { Int64(2) }
      Issue.record("it was not refused")
    } catch {
      #expect(error.code == .duplicate)
      #expect(
        error.description
          == "\"numberOfRows:\" is fed already: end that, or say replacing: true")
    }
    #expect(try rows(proxy) == 1)
    let second = try proxy.feed("numberOfRows:", replacing: true) { Int64(2) }
    #expect(!first.isLive && second.isLive)
    #expect(try rows(proxy) == 2)
    second.cancel()
    #expect(try rows(proxy) == 9)
    // It has ended, so there is none to replace.
    let third = try proxy.feed("numberOfRows:", at: .first) { Int64(3) }
    #expect(try rows(proxy) == 3)
    withExtendedLifetime((other, third, journal)) {}
  }

  @Test func `a feed that is refused leaves the earlier one`() throws {
    let proxy = try dataSource()
    let first = try proxy.feed("numberOfRows:") { Int64(1) }
    let stranger = DynamicProxy.Subscription(reference: ProxyReference(proxy), identifier: .max)
    #expect(throws: ForwardingError.self) {
      _ = try proxy.feed("numberOfRows:", replacing: true, at: .after(stranger)) { Int64(2) }
    }
    #expect(first.isLive)
    #expect(throws: ForwardingError.self) { _ = try proxy.feed("numberOfRows:") { Int64(2) } }
    #expect(try rows(proxy) == 1)
  }

  @Test func `wrong closures are refused at once`() throws {
    let proxy = try dataSource()
    func code(_ body: () throws -> Void) -> ForwardingError.Code? {
      do { try body() } catch { return (error as? ForwardingError)?.code }
      return nil
    }
    #expect(
      code { _ = try proxy.feed("numberOfRows:") { (section: Double) in Int64(0) } }
        == .signatureMismatch)
    #expect(code { _ = try proxy.feed("numberOfRows:") { "no" } } == .signatureMismatch)
    #expect(code { _ = try proxy.feed("numberOfRows:") {} } == .signatureMismatch)
    #expect(
      code { _ = try proxy.feed("numberOfSections") { (a: Int64) in a } } == .signatureMismatch)
    #expect(code { _ = try proxy.feed("numberOfColumns") { Int64(0) } } == .unknownSelector)
    #expect(proxy.count == 0)
  }

  // MARK: Properties

  @Test func `a property is read at each call`() throws {
    let (proxy, model) = (try dataSource(), Model([5, 6, 7]))
    let count = try proxy.feed("numberOfRows:", from: model, \.count)
    let row = try proxy.feed("rowAt:section:", from: model, \.rows) { (rows, row: Int64) in
      rows[Int(row)]
    }
    #expect(try rows(proxy) == 3)
    #expect(try proxy.send("rowAt:section:", Int64(2), Int64(0)) == Int64(7))
    model.rows = [8]
    #expect(try rows(proxy) == 1)
    #expect(try proxy.send("rowAt:section:", Int64(0), Int64(0)) == Int64(8))
    withExtendedLifetime((count, row)) {}
  }

  @Test func `the model is not kept alive, and its death ends the feed`() throws {
    let (proxy, population) = (try dataSource(), Population())
    let token: DynamicProxy.Token
    do {
      let model = Model([1], population.make())
      token = try proxy.feed("numberOfRows:", from: model, \.count)
      #expect(try rows(proxy) == 1)
      withExtendedLifetime(model) {}
    }
    #expect(population.living == 0)
    #expect(!token.isLive)
    #expect(!proxy.responds(to: "numberOfRows:"))
    #expect(try rows(proxy) == -1)
    // A dead feed need not be replaced.
    let next = try proxy.feed("numberOfRows:") { Int64(2) }
    #expect(try rows(proxy) == 2)
    withExtendedLifetime(next) {}
  }

  @Test func `a feed from a model ends with the token, too`() throws {
    let (proxy, model) = (try dataSource(), Model([1]))
    _ = try proxy.feed("numberOfRows:", from: model, \.count)
    #expect(try rows(proxy) == -1)
    withExtendedLifetime(model) {}
  }

  @Test func `a property of another type than the result is refused`() throws {
    let (proxy, model) = (try dataSource(), Model([]))
    do {
      _ = try proxy.feed("numberOfRows:", from: model, \.rows)
      Issue.record("it was not refused")
    } catch {
      #expect(error.code == .signatureMismatch)
      #expect(error.description.contains("'q' (Int64), got Array<Int64>"))
    }
  }

  #if canImport(Observation)
    @Observable final class Observed: @unchecked Sendable {
      // Sendable: used on one thread.
      var count: Int64 = 1
    }

    @Test func `an observable value is read at each call`() throws {
      let (proxy, model) = (try dataSource(), Observed())
      let token = try proxy.feed("numberOfRows:", from: model, \.count)
      #expect(try rows(proxy) == 1)
      model.count = 12
      #expect(try rows(proxy) == 12)
      withExtendedLifetime(token) {}
    }

    @Test func `what a feed reads is tracked by who observes the call`() throws {
      let (proxy, model, changes) = (try dataSource(), Observed(), Box(0))
      let token = try proxy.feed("numberOfRows:", from: model, \.count)
      let first = withObservationTracking {
        (try? rows(proxy)) ?? -2
      } onChange: {
        changes.update { $0 += 1 }
      }
      #expect(first == 1)
      model.count = 3
      #expect(changes.value == 1)
      withExtendedLifetime(token) {}
    }
  #endif

  // MARK: Threads

  @Test func `one of the threads that feed a method at a time is let in`() throws {
    let proxy = try dataSource()
    for _ in 0..<20 {
      let tokens = Box<[DynamicProxy.Token]>([])
      let refused = Box(0)
      onThreads(4) { number in
        do throws(ForwardingError) {
          let token = try proxy.feed("numberOfRows:") { Int64(number) }
          tokens.update { $0.append(token) }
        } catch {
          if error.code == .duplicate { refused.update { $0 += 1 } }
        }
      }
      #expect(tokens.value.count == 1 && refused.value == 3)
      #expect(proxy.count == 1)
    }
  }

  @Test func `of the threads that replace a feed the last one feeds, and none is refused`() throws {
    let proxy = try dataSource()
    let refused = Box(0)
    let tokens = Box<[DynamicProxy.Token]>([])
    onThreads(4) { number in
      for round in 0..<300 {
        do throws(ForwardingError) {
          let token = try proxy.feed("numberOfRows:", replacing: true) {
            Int64(number * 1000 + round)
          }
          tokens.update { $0.append(token) }
        } catch {
          refused.update { $0 += 1 }
        }
      }
    }
    #expect(refused.value == 0)
    #expect(tokens.value.count { $0.isLive } == 1)
    #expect(proxy.count == 1)
    let last = try proxy.feed("numberOfRows:", replacing: true) { Int64(-7) }
    #expect(try rows(proxy) == -7 && proxy.count == 1)
    withExtendedLifetime(last) {}
  }

  @Test func `threads that replace a feed keep its place`() throws {
    let proxy = try dataSource()
    let first = try proxy.feed("numberOfRows:") { Int64(1) }
    let other = try proxy.subscribe { $0.on("numberOfRows:") { (_: Int64) in Int64(9) } as Void }
    let tokens = Box<[DynamicProxy.Token]>([])
    onThreads(4) { _ in
      for _ in 0..<100 {
        guard let token = try? proxy.feed("numberOfRows:", replacing: true, { Int64(2) }) else {
          return
        }
        tokens.update { $0.append(token) }
      }
    }
    #expect(try rows(proxy) == 2)
    withExtendedLifetime((first, other)) {}
  }
}

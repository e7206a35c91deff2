// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// What a thread forwards inside of `withBatch(_:)`.
@Suite struct BatchTests {
  private let journal = Journal()

  /// Every way to forward `ping:`. Each forwards the number that it is given.
  enum Way: CaseIterable {
    case key, name, invocation, frame, functionPointer, chainedProxy

    func forward(_ number: Int32, through proxy: DynamicProxy) throws {
      switch self {
      case .key: try proxy.send(Method("ping:", ((Int32) -> Void).self), number)
      case .name: try proxy.send("ping:", number)
      case .invocation:
        let method = try proxy.method(for: "ping:")
        let invocation = try Invocation("ping:", method.signature)
        try invocation.setArgument(number, at: 2)
        try proxy.forward(invocation)
      case .frame:
        let method = try proxy.method(for: "ping:")
        var number = number
        // SAFETY: the frame is one number of the method's type.
        try unsafe withUnsafeBytes(of: &number) { try unsafe method.forward(frame: $0) }
      case .functionPointer:
        let pointer = try proxy.functionPointer(for: "ping:")
        // SAFETY: the function has this type, and the pointer is kept.
        let call = unsafe pointer.unsafeCast(to: (@convention(c) (Int32) -> Void).self)
        call(number)
        withExtendedLifetime(pointer) {}
      case .chainedProxy:
        let outer = try DynamicProxy.pinging()
        try outer.subscribe(proxy)
        try outer.ping(number)
      }
    }
  }

  @Test(arguments: Way.allCases)
  func `subscribers are those of the beginning, without those that leave`(_ way: Way) throws {
    let proxy = try DynamicProxy.pinging()
    let (a, b, late) = (Listener("a", journal), Listener("b", journal), Listener("late", journal))
    try proxy.subscribe(a)
    let leaving = try proxy.subscribe(b)
    try proxy.withBatch {
      try way.forward(1, through: proxy)
      try proxy.subscribe(late)
      try way.forward(2, through: proxy)
      leaving.cancel()
      try way.forward(3, through: proxy)
    }
    #expect(journal.take() == ["a1", "b1", "a2", "b2", "a3"])
    try way.forward(4, through: proxy)
    #expect(journal.take() == ["a4", "late4"])
    withExtendedLifetime((a, b, late)) {}
  }

  /// Weak subscribers of each kind: a closure, and a C function.
  @Test(arguments: Way.allCases)
  func `weak subscribers live until the end`(_ way: Way) throws {
    let proxy = try DynamicProxy.pinging()
    let population = Population()
    var owners = [population.make(), population.make()]
    for owner in owners {
      try proxy.subscribe(owner) {
        $0.on("ping:") { (_: Population.Tracked, number: Int32) in
          journal.note("\(number)")
        }
      }
    }
    try proxy.withBatch {
      owners = []
      #expect(population.living == 2)
      try way.forward(1, through: proxy)
    }
    #expect(population.living == 0 && journal.take() == ["1", "1"])
    try way.forward(2, through: proxy)
    #expect(journal.take() == [] && proxy.count == 0)
  }

  /// A delivery of its own retains the listener. In a batch, the batch has done so.
  @Test func `no delivery of a batch counts a reference`() throws {
    let proxy = try DynamicProxy.pinging()
    let counts = Box<[UInt]>([])
    let a = Listener("a", journal) { listener in
      let count = _getRetainCount(listener)
      counts.update { $0.append(count) }
    }
    try proxy.subscribe(a)
    try proxy.ping(1)
    try proxy.withBatch {
      try proxy.ping(2)
      try Way.functionPointer.forward(3, through: proxy)
    }
    #expect(counts.value.count == 3 && Set(counts.value).count == 1)
    withExtendedLifetime(a) {}
  }

  @Test func `deliveries that forward again stay in the batch`() throws {
    let proxy = try DynamicProxy.pinging()
    let late = Listener("late", journal)
    let a = Listener("a", journal) { [unowned proxy] listener in
      listener.action.value = nil
      _ = try? proxy.subscribe(late)
      try? proxy.ping(2)
    }
    try proxy.subscribe(a)
    try proxy.withBatch { try proxy.ping(1) }
    #expect(journal.take() == ["a1", "a2"])
    try proxy.ping(3)
    #expect(journal.take() == ["a3", "late3"])
    withExtendedLifetime((a, late)) {}
  }

  @Test func `batches nest, and the innermost of a proxy counts`() throws {
    let (proxy, other) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
    let (a, b, c) = (Listener("a", journal), Listener("b", journal), Listener("c", journal))
    try proxy.subscribe(a)
    try other.subscribe(c)
    try proxy.withBatch {
      try proxy.subscribe(b)
      try proxy.ping(1)
      try other.withBatch {
        try other.ping(2)
        try proxy.ping(3)
        try proxy.withBatch { try proxy.ping(4) }
        try proxy.ping(5)
      }
      try other.ping(6)
    }
    #expect(journal.take() == ["a1", "c2", "a3", "a4", "b4", "a5", "c6"])
    withExtendedLifetime((a, b, c)) {}
  }

  @Test func `an error ends the batch`() throws {
    struct Failure: Error {}
    let proxy = try DynamicProxy.pinging()
    let (a, b) = (Listener("a", journal), Listener("b", journal))
    try proxy.subscribe(a)
    #expect(throws: Failure.self) {
      try proxy.withBatch {
        try proxy.subscribe(b)
        throw Failure()
      }
    }
    try proxy.ping(1)
    #expect(journal.take() == ["a1", "b1"])
    withExtendedLifetime((a, b)) {}
  }

  @Test func `other threads are not in the batch`() throws {
    let proxy = try DynamicProxy.pinging()
    let (a, b) = (Listener("a", journal), Listener("b", journal))
    try proxy.subscribe(a)
    try proxy.withBatch {
      try proxy.subscribe(b)
      onThreads(1) { _ in try? proxy.ping(1) }
      try proxy.ping(2)
    }
    #expect(journal.take() == ["a1", "b1", "a2"])
    withExtendedLifetime((a, b)) {}
  }

  @Test func `results, and who collects them, come from the batch`() throws {
    let proxy = try DynamicProxy.pinging()
    let (a, b) = (Listener("a", journal, score: 1), Listener("b", journal, score: 2))
    try proxy.subscribe(a)
    try proxy.withBatch {
      try proxy.subscribe(b, at: .first)
      #expect(try proxy.send("score:", Int32(1)) as Int32 == 1)
      let answers = try proxy.collect("score:", as: Int32.self, Int32(2))
      #expect(answers.map(\.value) == [1] && answers[0].author === a)
    }
    #expect(try proxy.collect("score:", as: Int32.self, Int32(3)).map(\.value) == [2, 1])
    withExtendedLifetime((a, b)) {}
  }

  @Test func `a batch of nobody reaches nobody`() throws {
    let proxy = try DynamicProxy.pinging()
    let a = Listener("a", journal)
    let count = try proxy.withBatch {
      try proxy.subscribe(a)
      try proxy.ping(1)
      return proxy.count
    }
    #expect(count == 1 && journal.take() == [])
    withExtendedLifetime(a) {}
  }
}

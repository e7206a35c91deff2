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

  /// How the subscribers implement the method, in order.
  enum Kinds: CaseIterable {
    case closures, functions, closureFirst, functionFirst

    var areClosures: [Bool] {
      switch self {
      case .closures: [true, true]
      case .functions: [false, false]
      case .closureFirst: [true, false]
      case .functionFirst: [false, true]
      }
    }
  }

  @Test(arguments: Way.allCases, Kinds.allCases)
  func `weak subscribers live until the end`(_ way: Way, _ kinds: Kinds) throws {
    let proxy = try DynamicProxy.pinging()
    let population = Population()
    var owners = kinds.areClosures.map { _ in population.make() }
    for (owner, isClosure) in zip(owners, kinds.areClosures) {
      try proxy.subscribe(owner) { table in
        if isClosure {
          table.on("ping:") { (owner: Population.Tracked, number: Int32) in owner.note(number) }
        } else {
          let ping: @convention(c) (UnsafeRawPointer, OpaquePointer, Int32) -> Void = {
            receiver, _, number in
            unsafe Unmanaged<Population.Tracked>.fromOpaque(receiver).takeUnretainedValue()
              .note(number)
          }
          unsafe table.function("ping:", "v@:i", calling: ping)
        }
      }
    }
    try proxy.withBatch {
      owners = []
      #expect(population.living == 2)
      try way.forward(1, through: proxy)
    }
    #expect(population.living == 0 && population.takeNotes() == [1, 1])
    try way.forward(2, through: proxy)
    #expect(population.takeNotes() == [] && proxy.count == 0)
  }

  @Test func `methods of many arguments, blocked subscribers, and those for some deliveries`()
    throws
  {
    typealias Many = (Int64, Int64, Int64, Double, Double, Double, Double, Double, Double) -> Void
    let many = Method("many:", Many.self)
    let proxy = try DynamicProxy("Many") { $0.optional(many) }
    let owners = [Bystander(), Bystander(), Bystander(), Bystander()]
    var subscriptions: [DynamicProxy.Subscription] = []
    for (index, owner) in owners.enumerated() {
      let subscription = try proxy.subscribe(owner, times: index == 3 ? 1 : nil) { [journal] in
        $0.on(many) { _, a, b, c, d, e, f, g, h, i in
          journal.note("\(index): \(a + b + c) \(d + e + f + g + h + i)")
        }
      }
      subscriptions.append(subscription)
    }
    try proxy.withBatch {
      let pause = try subscriptions[1].block()
      try proxy.send(many, 1, 2, 3, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
      #expect(journal.take() == ["0: 6 3.0", "2: 6 3.0", "3: 6 3.0"])
      pause.cancel()
      subscriptions[2].cancel()
      try proxy.send(many, 2, 2, 3, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
      #expect(journal.take() == ["0: 7 3.0", "1: 7 3.0"])
    }
    withExtendedLifetime(owners) {}
  }

  @Test func `functions of an owner, and of a callback struct, are in the batch`() throws {
    let proxy = try DynamicProxy.pinging()
    let (a, late) = (Listener("a", journal), Listener("late", journal))
    try proxy.subscribe(a)
    typealias Ping = @convention(c) (Int32) -> Void
    struct Callbacks { var ping: Ping? }
    let owned = try proxy.functionPointer(for: "ping:", owner: a)
    let table = try unsafe proxy.callbackTable(Callbacks.self, owner: a) {
      $0.set(\.ping, to: "ping:")
    }
    try proxy.withBatch {
      try proxy.subscribe(late)
      unsafe owned.unsafeCast(to: Ping.self)(1)
      unsafe table.pointee.ping?(2)
    }
    #expect(journal.take() == ["a1", "a2"])
    unsafe owned.unsafeCast(to: Ping.self)(3)
    #expect(journal.take() == ["a3", "late3"])
    withExtendedLifetime((a, late)) {}
  }

  @Test func `nobody in the batch, and a method with a result, is an error`() throws {
    let proxy = try DynamicProxy.pinging()
    let a = Listener("a", journal, score: 4)
    try proxy.withBatch {
      try proxy.subscribe(a)
      #expect(proxy.responds(to: "score:"))
      let error = #expect(throws: ForwardingError.self) {
        let _: Int32 = try proxy.send("score:", Int32(1))
      }
      #expect(error?.code == .noResponder)
    }
    #expect(try proxy.send("score:", Int32(1)) as Int32 == 4)
    withExtendedLifetime(a) {}
  }

  /// Outside of a batch, each delivery retains the listener. A batch retains it once.
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

  @Test func `a batch passes over subscribers without the method`() throws {
    let proxy = try DynamicProxy.pinging()
    let (a, b) = (Listener("a", journal, score: 1), Listener("b", journal, score: 2))
    let bystander = Bystander()
    try proxy.subscribe(bystander) { $0.on("ping:") { (_: Bystander, _: Int32) in } }
    try proxy.subscribe(a)
    try proxy.subscribe(b)
    try proxy.withBatch {
      let answers = try proxy.collect("score:", as: Int32.self, Int32(1))
      #expect(answers.map(\.value) == [1, 2])
      #expect(answers.map { $0.author === a } == [true, false])
      #expect(answers.map { $0.author === b } == [false, true])
    }
    withExtendedLifetime((a, b, bystander)) {}
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// Fan-outs to lists of more than 2,048 subscribers, which are prefetched. The loops
/// deliver in parts.
@Suite struct LongListTests {
  private static let number = Method("number:", ((Int64) -> Void).self)
  private static let other = Method("other:", ((Int64) -> Void).self)

  /// What a subscriber has for `number:`.
  private enum Kind: CaseIterable {
    case function, closure, nothing
  }

  /// Notes each delivery. The canceller cancels others as it is called.
  private final class Member: @unchecked Sendable {
    let index: Int
    let scene: Scene

    init(_ index: Int, _ scene: Scene) {
      self.index = index
      self.scene = scene
    }

    func take(_ number: Int64) {
      scene.deliveries.append(index * 10 + Int(number))
      if index == scene.canceller {
        for cancelled in scene.cancelled { scene.subscriptions[cancelled].cancel() }
      }
    }
  }

  private final class Scene: @unchecked Sendable {
    let proxy: DynamicProxy
    var deliveries: [Int] = []
    var members: [Member] = []
    var kinds: [Kind] = []
    var subscriptions: [DynamicProxy.Subscription] = []
    /// This member cancels the subscriptions of some others, which come directly after it,
    /// in a later part, and in another segment.
    var canceller = 0
    var cancelled: [Int] = []

    init() throws {
      proxy = try DynamicProxy {
        $0.optional(LongListTests.number)
        $0.optional(LongListTests.other)
      }
    }

    /// Whether a member has the method and is subscribed when the scene begins.
    func isCalled(_ index: Int) -> Bool { kinds[index] != .nothing && index % 97 != 5 }

    /// Releases the members, which keep the scene.
    func end() {
      members.removeAll()
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  private static let function: @convention(c) (UnsafeMutableRawPointer, Int64) -> Void = {
    receiver, number in
    unsafe Unmanaged<Member>.fromOpaque(receiver)._withUnsafeGuaranteedRef { $0.take(number) }
  }

  private static func table(_ kind: Kind) -> FunctionTable {
    FunctionTable(for: Member.self) { table in
      switch kind {
      // SAFETY: the function has the types of the encoding.
      case .function: unsafe table.function("number:", "v@q", calling: function)
      case .closure: table.on(number) { member, number in member.take(number) }
      case .nothing: table.on(other) { _, _ in }
      }
    }
  }

  /// Runs of functions, of closures and of subscribers without the method, some of them
  /// cancelled. The runs are longer and shorter than a part.
  private static func scene(_ lifetime: DynamicProxy.Lifetime) throws -> Scene {
    let scene = try Scene()
    var random = SplitMix(7)
    let tables = Kind.allCases.map(table)
    while scene.members.count < 5000 {
      let kind = Int.random(in: 0..<3, using: &random)
      for _ in 0..<Int.random(in: 1...(kind == 2 ? 3 : 40), using: &random) {
        let member = Member(scene.members.count, scene)
        scene.members.append(member)
        scene.kinds.append(Kind.allCases[kind])
        scene.subscriptions.append(
          try scene.proxy.subscribe(member, table: tables[kind], lifetime: lifetime))
      }
    }
    for index in scene.members.indices where index % 97 == 5 {
      scene.subscriptions[index].cancel()
    }
    let ordered = [100, 101, 120, 2000, 4100].map { from in
      (from..<5000).first { scene.isCalled($0) }!
    }
    scene.canceller = ordered[0]
    scene.cancelled = ordered.dropFirst().filter { $0 != ordered[0] }
    return scene
  }

  /// The deliveries of one message.
  private static func expected(_ scene: Scene, _ number: Int) -> [Int] {
    scene.members.indices.filter {
      scene.isCalled($0) && !scene.cancelled.contains($0)
    }.map { $0 * 10 + number }
  }

  @Test(arguments: [DynamicProxy.Lifetime.weak, .strong])
  func `every subscriber is reached once, in order, unless it is cancelled on the way`(
    _ lifetime: DynamicProxy.Lifetime
  ) throws {
    let scene = try Self.scene(lifetime)
    try scene.proxy.send(Self.number, 1)
    #expect(scene.deliveries == Self.expected(scene, 1))
    scene.deliveries = []
    let pointer = try scene.proxy.functionPointer(for: Self.number)
    // SAFETY: the function has this type, and the pointer is kept.
    unsafe pointer.unsafeCast(to: (@convention(c) (Int64) -> Void).self)(2)
    #expect(scene.deliveries == Self.expected(scene, 2))
    scene.deliveries = []
    try scene.proxy.withBatch {
      for number in 3...4 {
        try scene.proxy.send(Self.number, Int64(number))
        #expect(scene.deliveries == Self.expected(scene, number))
        scene.deliveries = []
      }
    }
    scene.end()
  }

  @Test(arguments: [DynamicProxy.Lifetime.weak, .strong])
  func `a cancellation on the way counts in a batch, too`(_ lifetime: DynamicProxy.Lifetime) throws
  {
    let scene = try Self.scene(lifetime)
    try scene.proxy.withBatch {
      try scene.proxy.send(Self.number, 1)
      #expect(scene.deliveries == Self.expected(scene, 1))
    }
    scene.end()
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// Interception, signals and feeds by method key.
@Suite struct MethodKeyStreamsTests {
  private enum Robot {
    static let move = Method("move:by:", ((Int32, Double) -> Double).self)
    static let halt = Method("halt:because:", ((Int32, String) -> Void).self)
    static let beep = Method("beep:", ((Int32) -> Void).self)
    static let tick = Method("tick", (() -> Void).self)
    static let count = Method("count", (() -> Int).self)
    static let name = Method("name:", ((Int) -> Int32).self)
  }

  private final class Model: Sendable {
    let numbers: [Int32] = [3, 4, 5]
  }

  private func robot() throws -> DynamicProxy {
    try DynamicProxy("Robot") {
      $0.optional(Robot.move)
      $0.optional(Robot.halt)
      $0.optional(Robot.beep)
      $0.optional(Robot.tick)
      $0.optional(Robot.count)
      $0.optional(Robot.name)
    }
  }

  @Test func `interceptors get the arguments`() throws {
    let proxy = try robot()
    let journal = Journal()
    let subscriber = try proxy.subscribe {
      $0.on(Robot.move) { joint, angle in
        journal.note("move \(joint)")
        return angle
      }
    }
    let before = try proxy.before(Robot.move) { joint, angle in
      journal.note("before \(joint) \(angle)")
    }
    let after = try proxy.after(Robot.move) { joint, _ in journal.note("after \(joint)") }
    let around = try proxy.around(Robot.move.selector) { invocation, proceed in
      try invocation.setArgument(0.25, at: 2)
      try proceed()
    }
    #expect(try proxy.send(Robot.move, 1, 0.5) == 0.25)
    #expect(journal.take() == ["before 1 0.5", "move 1", "after 1"])
    let instead = try proxy.instead(Robot.move) { joint, angle in Double(joint) + angle }
    #expect(try proxy.send(Robot.move, 1, 0.5) == 1.25)
    let error = #expect(throws: ForwardingError.self) {
      _ = try proxy.instead(Robot.move) { _, _ in 0 }
    }
    #expect(error?.code == .duplicate)
    let replacement = try proxy.instead(Robot.move, replacing: true) { _, _ in 7 }
    #expect(try proxy.send(Robot.move, 1, 0.5) == 7)
    #expect(!instead.isLive)
    #expect(replacement.cancel() && around.cancel() && before.cancel() && after.cancel())
    #expect(try proxy.send(Robot.move, 1, 0.5) == 0.5)
    withExtendedLifetime(subscriber) {}
  }

  @Test func `a signal has the arguments as elements`() async throws {
    let proxy = try robot()
    let halts = try proxy.signal(for: Robot.halt)
    let beeps = try proxy.signal(for: Robot.beep)
    let ticks = try proxy.signal(for: Robot.tick)
    try proxy.send(Robot.halt, 3, "wall")
    try proxy.send(Robot.beep, 4)
    try proxy.send(Robot.tick)
    for await (joint, reason) in halts {
      #expect(joint == 3 && reason == "wall")
      break
    }
    for await number in beeps {
      #expect(number == 4)
      break
    }
    for await _ in ticks { break }
  }

  @Test func `an optional argument is an optional element`() async throws {
    let named = Method("named:", ((String?) -> Void).self)
    let proxy = try DynamicProxy { $0.optional(named) }
    let names = try proxy.signal(for: named)
    for name in [nil, "a", nil] { try proxy.send(named, name) }
    var count = 0
    var missing = 0
    for await name in names {
      if name == nil { missing += 1 }
      count += 1
      if count == 3 { break }
    }
    #expect(missing == 2)
  }

  @Test func `a signal makes elements, and may answer`() async throws {
    let proxy = try robot()
    let texts = try proxy.signal(for: Robot.halt) { joint, reason in "\(reason) \(joint)" }

    let joints = try proxy.signal(for: Robot.move, of: Int32.self) { emit, joint, angle in
      emit(joint)
      return angle * 2
    }
    try proxy.send(Robot.halt, 3, "wall")
    #expect(try proxy.send(Robot.move, 5, 0.5) == 1)
    var iterator = texts.makeAsyncIterator()
    #expect(await iterator.next() == "wall 3")
    var numbers = joints.makeAsyncIterator()
    #expect(await numbers.next() == 5)
  }

  @Test func `a feed answers`() throws {
    let proxy = try robot()
    let model = Model()
    let closure = try proxy.feed(Robot.move) { joint, angle in Double(joint) * angle }
    #expect(try proxy.send(Robot.move, 4, 0.5) == 2)
    let count = try proxy.feed(Robot.count, from: model, \.numbers.count)
    #expect(try proxy.send(Robot.count) == 3)
    let name = try proxy.feed(Robot.name, from: model, \.numbers) { numbers, index in
      numbers[index]
    }
    #expect(try proxy.send(Robot.name, 1) == 4)
    let error = #expect(throws: ForwardingError.self) { _ = try proxy.feed(Robot.count) { 1 } }
    #expect(error?.code == .duplicate)
    let replacement = try proxy.feed(Robot.count, replacing: true) { 1 }
    #expect(try proxy.send(Robot.count) == 1)
    #expect(closure.cancel() && replacement.cancel() && name.cancel() && !count.isLive)
    #expect(!proxy.responds(to: Robot.count))
  }
}

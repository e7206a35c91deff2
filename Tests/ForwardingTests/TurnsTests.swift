// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// Fan-outs to subscribers of several kinds that take turns: each is called once, in its place.
@Suite struct TurnsTests {
  private class Animal {}
  private final class Dog: Animal {}

  /// The answer is the subscriber's number.
  private static let ask = Method("ask:", ((AnyObject) -> Int32).self)
  private static let tell = Method("tell:", ((AnyObject) -> Void).self)
  private static let other = Method("other", (() -> Void).self)

  private final class Listener: Sendable {
    let number: Int32
    let called: Box<[Int32]>

    init(_ number: Int32, _ called: Box<[Int32]>) {
      self.number = number
      self.called = called
    }

    func note() -> Int32 {
      called.update { $0.append(number) }
      return number
    }
  }

  private typealias Ask = @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Int32
  private typealias Tell = @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Void

  private enum Kind: CaseIterable {
    case closure, anotherClosure, ofDogs, function, nothing

    /// Whether the subscriber has the methods and takes the argument.
    func responds(to argument: AnyObject) -> Bool {
      self != .nothing && (self != .ofDogs || argument is Dog)
    }

    @unsafe private static func listener(_ receiver: UnsafeMutableRawPointer?) -> Listener {
      guard let receiver = unsafe receiver else { fatalError("a delivery without a receiver") }
      return unsafe Unmanaged<Listener>.fromOpaque(receiver).takeUnretainedValue()
    }

    var table: FunctionTable {
      FunctionTable(for: Listener.self) {
        switch self {
        case .closure:
          $0.on(ask) { listener, _ in listener.note() }
          $0.on(tell) { listener, _ in _ = listener.note() }
        case .anotherClosure:
          $0.on(ask) { listener, argument in
            _ = argument
            return listener.note()
          }
          $0.on(tell) { listener, argument in
            _ = argument
            _ = listener.note()
          }
        case .ofDogs:
          $0.on("ask:") { (listener: Listener, _: Dog) in listener.note() }
          $0.on("tell:") { (listener: Listener, _: Dog) in _ = listener.note() }
        case .function:
          // SAFETY: a receiver is a listener that lives during the call.
          let asked: Ask = { receiver, _ in unsafe Kind.listener(receiver).note() }
          let told: Tell = { receiver, _ in _ = unsafe Kind.listener(receiver).note() }
          unsafe $0.function(ask, calling: asked)
          unsafe $0.function(tell, calling: told)
        case .nothing:
          $0.on(other) { _ in }
        }
      }
    }
  }

  /// What a subscription is like when the fan-out comes.
  private enum State: CaseIterable {
    case weak, strong, dead, cancelled, blocked
    var isOpen: Bool { self == .weak || self == .strong }
  }

  private static let policies: [(ResultPolicy, @Sendable (Int32) -> Bool)] = [
    (.callAll(pick: .last), { _ in true }),
    (.until { (answer: Int32) in answer.isMultiple(of: 7) }, { !$0.isMultiple(of: 7) }),
  ]

  @Test(arguments: 0..<60)
  func `each subscriber that takes the argument is called once, in order`(seed: Int) throws {
    var generator = SplitMix(UInt64(seed))
    let (policy, goesOn) = Self.policies[seed % 2]
    var configuration = DynamicProxy.Configuration()
    let errorCount = Box(0)
    configuration.onError = { _ in errorCount.update { $0 += 1 } }
    let proxy = try DynamicProxy(configuration: configuration) {
      $0.optional(Self.ask, result: policy)
      $0.optional(Self.tell)
      $0.optional(Self.other)
    }
    let tables = Kind.allCases.map { ($0, $0.table) }
    let called = Box<[Int32]>([])
    var listeners: [Listener] = []
    var tokens: [DynamicProxy.Token] = []
    var open: [(number: Int32, kind: Kind)] = []
    for number in 1...Int32.random(in: 1...30, using: &generator) {
      let (kind, table) = tables[Int.random(in: 0..<tables.count, using: &generator)]
      let state = State.allCases.randomElement(using: &generator) ?? .weak
      let listener = Listener(number, called)
      let subscription = try proxy.subscribe(
        listener, table: table, lifetime: state == .strong ? .strong : .weak)
      if state != .dead { listeners.append(listener) }
      if state == .cancelled { subscription.cancel() }
      if state == .blocked { tokens.append(try subscription.block()) }
      if state.isOpen { open.append((number, kind)) }
    }
    for argument in [Dog(), Animal(), Dog()] as [AnyObject] {
      let responders = open.filter { $0.kind.responds(to: argument) }.map(\.number)
      try? proxy.send(Self.tell, argument)
      #expect(called.value == responders)
      let refusing = open.filter { $0.kind == .ofDogs && !$0.kind.responds(to: argument) }
      #expect(errorCount.value == refusing.count)
      called.value = []

      let last = responders.firstIndex { !goesOn($0) } ?? responders.count - 1
      let answer = try? proxy.send(Self.ask, argument)
      #expect(called.value == Array(responders.prefix(last + 1)))
      if !responders.isEmpty { #expect(answer == responders[last]) }
      called.value = []
      errorCount.value = 0
    }
    withExtendedLifetime((listeners, tokens)) {}
  }
}

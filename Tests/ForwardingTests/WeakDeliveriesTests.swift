// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// Fan-outs to weak subscribers during which one of them dies, or its subscription ends
/// or is blocked. Special loops deliver to weak subscribers that follow one another, and each
/// of these events ends such a loop.
@Suite struct WeakDeliveriesTests {
  private typealias Subscription = DynamicProxy.Subscription

  private static let one = Method("one:", ((Int64) -> Void).self)
  private static let two = Method("two::", ((Int64, Double) -> Void).self)
  private static let score = Method("score:", ((Int64) -> Int64).self)
  /// So many arguments that some are on the stack.
  private static let many = Method(
    "many::::::::", ((Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64) -> Void).self)

  /// The last result is an object, which the fan-out has to release if another one follows.
  private static let object = Method("object", (() -> Result).self)
  private static let other = Method("other", (() -> Void).self)

  private enum Call: CaseIterable {
    case one, two, score, many, object
  }

  private final class Result: Sendable {
    let number: Int
    let ended: Box<Int>

    init(_ number: Int, _ ended: Box<Int>) {
      self.number = number
      self.ended = ended
    }

    deinit { ended.update { $0 += 1 } }
  }

  /// What the subscribers are like.
  private enum Kind: CaseIterable {
    case functions, closures, inTurns, oneStrong, oneWithSideTable, oneLimited, oneWithoutMethods
  }

  private enum Event: CaseIterable {
    case dies, isCancelled, isBlocked
  }

  /// A delivery, or the end of a member.
  private enum Entry: Equatable {
    case delivered(Int, Subscription?)
    case ended(Int)

    var isDelivery: Bool {
      if case .delivered = self { true } else { false }
    }
  }

  private final class Stage: Sendable {
    let entries = Box<[Entry]>([])
    let event = Box<(@Sendable (Int) -> Void)?>(nil)
    /// What `Subscription.current` was as each member ended.
    let asked = Box<[Int: Subscription?]>([:])
    /// How many results have ended.
    let endedResults = Box(0)
  }

  private final class Member: Sendable {
    let number: Int
    let stage: Stage

    init(_ number: Int, _ stage: Stage) {
      self.number = number
      self.stage = stage
    }

    deinit {
      let current = Subscription.current
      stage.asked.update { [number] in $0[number] = current }
      stage.entries.update { [number] in $0.append(.ended(number)) }
    }

    func deliver(_ arguments: Bool) {
      #expect(arguments)
      let current = Subscription.current
      stage.entries.update { $0.append(.delivered(number, current)) }
      stage.event.value?(number)
    }
  }

  private typealias Receiver = UnsafeMutableRawPointer
  private typealias One = @convention(c) (Receiver?, Int64) -> Void
  private typealias Two = @convention(c) (Receiver?, Int64, Double) -> Void
  private typealias Score = @convention(c) (Receiver?, Int64) -> Int64
  private typealias Many =
    @convention(c) (
      Receiver?, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64
    ) -> Void

  @unsafe private static func member(_ receiver: Receiver?) -> Member {
    guard let receiver = unsafe receiver else { fatalError("a delivery without a receiver") }
    return unsafe Unmanaged<Member>.fromOpaque(receiver).takeUnretainedValue()
  }

  private static let closures = FunctionTable(for: Member.self) {
    $0.on(one) { member, a in member.deliver(a == 7) }
    $0.on(two) { member, a, b in member.deliver(a == 7 && b == 0.5) }
    $0.on(score) { member, a in
      member.deliver(a == 7)
      return Int64(member.number)
    }
    $0.on(object) { member in
      member.deliver(true)
      return Result(member.number, member.stage.endedResults)
    }
    $0.on(many) { member, a, b, c, d, e, f, g, h in
      member.deliver([a, b, c, d, e, f, g, h] == [1, 2, 3, 4, 5, 6, 7, 8])
    }
  }

  private static let functions = FunctionTable(for: Member.self) {
    // SAFETY: a receiver is a member that lives during the call.
    let one: One = { receiver, a in unsafe member(receiver).deliver(a == 7) }
    let two: Two = { receiver, a, b in unsafe member(receiver).deliver(a == 7 && b == 0.5) }
    let score: Score = { receiver, a in
      unsafe member(receiver).deliver(a == 7)
      return unsafe Int64(member(receiver).number)
    }
    let many: Many = { receiver, a, b, c, d, e, f, g, h in
      unsafe member(receiver).deliver([a, b, c, d, e, f, g, h] == [1, 2, 3, 4, 5, 6, 7, 8])
    }
    unsafe $0.function(Self.one, calling: one)
    unsafe $0.function(Self.two, calling: two)
    unsafe $0.function(Self.score, calling: score)
    unsafe $0.function(Self.many, calling: many)
    // A C function would have to return a retained object.
    $0.on(object) { member in
      member.deliver(true)
      return Result(member.number, member.stage.endedResults)
    }
  }

  /// For a member that lacks the methods.
  private static let others = FunctionTable(for: Member.self) { $0.on(other) { _ in } }

  private static let count = 6

  private func makeProxy(_ configuration: DynamicProxy.Configuration = .init()) throws
    -> DynamicProxy
  {
    try DynamicProxy("Weak", configuration: configuration) {
      $0.optional(Self.one)
      $0.optional(Self.two)
      $0.optional(Self.score, result: .callAll(pick: .last))
      $0.optional(Self.many)
      $0.optional(Self.object, result: .callAll(pick: .last))
      $0.optional(Self.other)
    }
  }

  /// Returns the number of the member whose result is the fan-out's.
  private func send(_ call: Call, by proxy: DynamicProxy) throws -> Int? {
    switch call {
    case .one: try proxy.send(Self.one, 7)
    case .two: try proxy.send(Self.two, 7, 0.5)
    case .score: return Int(try proxy.send(Self.score, 7))
    case .object: return try proxy.send(Self.object).number
    case .many: try proxy.send(Self.many, 1, 2, 3, 4, 5, 6, 7, 8)
    }
    return nil
  }

  /// During the delivery to member `during`, something happens to member `index`.
  private func check(_ call: Call, _ kind: Kind, _ event: Event, during: Int, to index: Int) throws
  {
    let proxy = try makeProxy()
    let stage = Stage()
    let members = Box((0..<Self.count).map { Member($0, stage) as Member? })
    // A reference to an object by `weak` moves its counts into a side table.
    weak let tracked = kind == .oneWithSideTable ? members.value[3] : nil
    let strong = kind == .oneStrong ? 2 : nil
    let limited = kind == .oneLimited ? 1 : nil
    let lacking = kind == .oneWithoutMethods ? 4 : nil
    var subscriptions: [Subscription] = []
    var hasClosure: [Bool] = []
    for (number, member) in members.value.enumerated() {
      let isClosure =
        call == .object
        || (kind == .inTurns ? number.isMultiple(of: 2) : kind != .functions)
      hasClosure.append(isClosure)
      let table = isClosure ? Self.closures : Self.functions
      subscriptions.append(
        try proxy.subscribe(
          try #require(member), table: number == lacking ? Self.others : table,
          lifetime: number == strong ? .strong : .weak, times: number == limited ? 1 : nil))
    }
    let blocked = Box<DynamicProxy.Token?>(nil)
    stage.event.value = { [subscriptions] number in
      guard number == during else { return }
      switch event {
      case .dies: members.update { $0[index] = nil }
      case .isCancelled: subscriptions[index].cancel()
      case .isBlocked: blocked.value = try? subscriptions[index].block()
      }
    }
    // The subscription keeps the member alive.
    let dies = event == .dies && index != strong && during != lacking
    let stays = event == .dies && index == strong

    // A member that lacks the methods gets no delivery in which anything could happen.
    let happens = during != lacking
    func isCalled(_ number: Int) -> Bool {
      number != lacking && (number <= during || number != index || stays || !happens)
    }
    var expected: [Entry] = []
    for number in 0..<Self.count where isCalled(number) {
      expected.append(.delivered(number, hasClosure[number] ? subscriptions[number] : nil))
      if dies && number == during { expected.append(.ended(index)) }
    }
    let result = try send(call, by: proxy)
    #expect(stage.entries.value == expected)
    if let result { #expect(result == (0..<Self.count).last { isCalled($0) }) }
    // Its own delivery is over when a member dies after it.
    if dies && index == during && index != lacking {
      #expect(stage.asked.value[index] == .some(nil))
    }

    stage.event.value = nil
    stage.entries.value = []
    _ = try send(call, by: proxy)
    let again = (0..<Self.count).filter {
      $0 != lacking && $0 != limited && ($0 != index || stays || !happens)
    }
    #expect(
      stage.entries.value == again.map { .delivered($0, hasClosure[$0] ? subscriptions[$0] : nil) })
    #expect(Subscription.current == nil)
    if call == .object {
      #expect(stage.endedResults.value == expected.count { $0.isDelivery } + again.count)
    }
    stage.entries.value = []
    withExtendedLifetime((members, blocked, tracked)) {}
  }

  @Test(arguments: Call.allCases)
  private func `what happens to a member during any delivery shows at once`(call: Call) throws {
    for kind in Kind.allCases {
      for event in Event.allCases {
        for during in 0..<Self.count {
          for index in 0..<Self.count {
            try check(call, kind, event, during: during, to: index)
          }
        }
      }
    }
  }

  @Test(arguments: Call.allCases)
  private func `members that have died are no responders`(call: Call) throws {
    for table in [Self.closures, Self.functions] {
      var configuration = DynamicProxy.Configuration()
      configuration.noResponder = .fail
      let proxy = try makeProxy(configuration)
      let stage = Stage()
      var members = (0..<Self.count).map { Member($0, stage) }
      for member in members { try proxy.subscribe(member, table: table) }
      members = []
      #expect(stage.entries.value == (0..<Self.count).map { .ended($0) })
      let error = #expect(throws: ForwardingError.self) { try send(call, by: proxy) }
      #expect(error?.code == .noResponder)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// `collect` by keys that are known to fit: C writes the results to memory of the
/// caller, then to an array.
@Suite struct DynamicProxyCollectingTests {
  private enum Key {
    static let number = Method("number:", ((Int32) -> Int32).self)
    static let wide = Method("wide:", ((Int8) -> Int64).self)
    static let flag = Method("flag:", ((Bool) -> Bool).self)
    static let make = Method("make:", ((Int32) -> Population.Tracked?).self)
    static let fruit = Method("fruit:", ((Int32) -> Fruit).self)
    static let numberDropped = Method("number:", ((Int32) -> Void).self)
    static let makeDropped = Method("make:", ((Int32) -> Void).self)
  }

  private enum Fruit: Int32 {
    case apple = 1
    case pear
  }

  private static func proxy(
    _ configuration: DynamicProxy.Configuration = .init()
  ) throws -> DynamicProxy {
    try DynamicProxy(configuration: configuration) {
      $0.optional(Key.number)
      $0.optional(Key.wide)
      $0.optional(Key.flag)
      $0.optional(Key.make)
      $0.optional(Key.fruit)
    }
  }

  private final class Author: Sendable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
  }

  @Test(arguments: [0, 1, 7, 8, 9, 63, 64, 65, 128, 129, 1000])
  func `results of any number are in order, with their authors`(count: Int) throws {
    let proxy = try Self.proxy()
    let authors = (0..<Int32(count)).map { Author($0) }
    let subscriptions = try authors.map { author in
      try proxy.subscribe(author) {
        $0.on(Key.number) { author, factor in author.number * factor }
        $0.on(Key.flag) { author, flag in flag && author.number % 2 == 0 }
        $0.on(Key.wide) { author, number in Int64(author.number) << 32 | Int64(number) }
      }
    }
    for _ in 0..<2 {
      let answers = try proxy.collect(Key.number, 3)
      #expect(answers.map(\.value) == (0..<Int32(count)).map { 3 * $0 })
      #expect(answers.map(\.subscription) == subscriptions)
      #expect(zip(answers, authors).allSatisfy { $0.author === $1 })
      #expect(try proxy.collect(Key.flag, true).map(\.value) == (0..<count).map { $0 % 2 == 0 })
      #expect(
        try proxy.collect("wide:", as: Int64.self, Int8(7)).map(\.value)
          == (0..<Int64(count)).map { $0 << 32 | 7 })
    }
    if let first = try proxy.collect(Key.number, 1).first {
      #expect(first.subscription.isLive && first.subscription.cancel())
      #expect(try proxy.collect(Key.number, 1).count == count - 1)
    }
  }

  @Test func `answers keep their authors, and nothing else does`() throws {
    let proxy = try Self.proxy()
    var author: Author? = Author(5)
    weak let observed = author
    if let author {
      try proxy.subscribe(author) { $0.on(Key.number) { author, _ in author.number } }
    }
    var answers = try proxy.collect(Key.number, 1)
    author = nil
    #expect(observed != nil && answers.first?.author === observed)
    answers = []
    #expect(observed == nil)
    #expect(try proxy.collect(Key.number, 1).isEmpty)
  }

  @Test(arguments: [1, 8, 9, 100])
  func `objects are neither leaked nor lost`(count: Int) throws {
    let proxy = try Self.proxy()
    let population = Population()
    let tokens = try (0..<count).map { index in
      try proxy.subscribe {
        $0.on(Key.make) { _ in index % 3 == 1 ? nil : population.make() }
      }
    }
    let living = (0..<count).filter { $0 % 3 != 1 }.count
    for _ in 0..<2 {
      var answers = try proxy.collect(Key.make, 1)
      #expect(answers.map { $0.value == nil } == (0..<count).map { $0 % 3 == 1 })
      #expect(population.living == living)
      answers = []
      #expect(population.living == 0)
    }
    withExtendedLifetime(tokens) {}
  }

  @Test(arguments: [3, 30])
  func `a result that is no value is left out, reported and released`(count: Int) throws {
    let errors = Box<[ForwardingError]>([])
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { error in errors.update { $0.append(error) } }
    let proxy = try Self.proxy(configuration)
    let population = Population()
    let tokens = try (0..<count).map { index in
      try proxy.subscribe {
        $0.on("fruit:") { (number: Int32) -> Int32 in number + Int32(index) }
        $0.on("make:") { (_: Int32) -> AnyObject? in
          index == 1 ? Bystander() : population.make()
        }
      }
    }
    for _ in 0..<2 {
      #expect(try proxy.collect(Key.fruit, 0).map(\.value) == [.apple, .pear])
      let codes = errors.value.map(\.code)
      #expect(codes.count == count - 2 && Set(codes) == [.valueNotRepresentable])
      #expect(errors.value.allSatisfy { $0.selector == "fruit:" })
      errors.value = []
      var answers = try proxy.collect(Key.make, 0)
      #expect(answers.count == count - 1 && population.living == count - 1)
      #expect(errors.value.map(\.code) == [.typeMismatch])
      errors.value = []
      answers = []
      #expect(population.living == 0)
    }
    withExtendedLifetime(tokens) {}
  }

  @Test(arguments: [2, 20])
  func `what was gathered before a failure is released`(count: Int) throws {
    struct Refusal: Error {}
    let proxy = try Self.proxy()
    let population = Population()
    var authors = (0..<count).map { _ in Bystander() }
    weak let observed = authors.first
    for author in authors {
      try proxy.subscribe(author) { $0.on(Key.make) { _, _ in population.make() } }
    }
    #expect(try proxy.collect(Key.make, 1).count == count)
    let token = try proxy.around("make:") { _, proceed in
      try proceed()
      throw Refusal()
    }
    #expect(throws: ForwardingError.self) { try proxy.collect(Key.make, 1) }
    #expect(population.living == 0)
    token.cancel()
    #expect(try proxy.collect(Key.make, 1).count == count)
    authors = []
    #expect(observed == nil && population.living == 0)
  }

  @Test func `an interceptor's result has no author, by a known key too`() throws {
    let proxy = try Self.proxy()
    let population = Population()
    let author = Author(4)
    try proxy.subscribe(author) {
      $0.on(Key.number) { author, _ in author.number }
      $0.on(Key.make) { _, _ in population.make() }
    }
    #expect(try proxy.collect(Key.number, 1).map(\.value) == [4])
    #expect(try proxy.collect(Key.make, 1).count == 1)
    let tokens = [
      try proxy.instead(Key.number) { $0 + 10 },
      try proxy.instead(Key.make) { _ in population.make() },
    ]
    let number = try proxy.collect(Key.number, 1)
    #expect(number.map(\.value) == [11] && number.first?.author == nil)
    #expect(number.first?.subscription.isLive == false)
    var made = try proxy.collect(Key.make, 1)
    #expect(made.count == 1 && made.first?.author == nil && population.living == 1)
    made = []
    #expect(population.living == 0)
    withExtendedLifetime((tokens, author)) {}
  }

  @Test func `a key without a result does not collect from a method with one`() throws {
    let proxy = try Self.proxy()
    let population = Population()
    let token = try proxy.subscribe {
      $0.on(Key.number) { $0 }
      $0.on(Key.make) { _ in population.make() }
    }
    // Now the keys are known to fit for sends that drop the result.
    for _ in 0..<2 {
      try proxy.send(Key.numberDropped, 1)
      try proxy.send(Key.makeDropped, 1)
    }
    for key in [Key.numberDropped, Key.makeDropped] {
      #expect {
        try proxy.collect(key, 1)
      } throws: {
        ($0 as? ForwardingError)?.code == .signatureMismatch
      }
    }
    #expect(population.living == 0)
    withExtendedLifetime(token) {}
  }

  @Test func `subscribers may collect while others are collected from`() throws {
    let proxy = try Self.proxy()
    let authors = (0..<20).map { Author($0) }
    weak let weakly = proxy
    for author in authors {
      try proxy.subscribe(author) {
        $0.on(Key.number) { author, depth in
          guard depth > 0, let proxy = weakly else { return author.number }
          let inner = try? proxy.collect(Key.number, depth - 1)
          return (inner ?? []).reduce(0) { $0 + $1.value } + author.number
        }
      }
    }
    let sum = authors.reduce(0) { $0 + $1.number }
    #expect(
      try proxy.collect(Key.number, 1).map(\.value) == authors.map { sum + $0.number })
  }

  @Test func `a forward target answers a known key`() throws {
    let proxy = try Self.proxy()
    let author = Author(6)
    #expect(try proxy.collect(Key.number, 1).isEmpty)
    try proxy.setForwardTarget(author) {
      $0.on(Key.number) { (author: Author, factor) in author.number * factor }
    }
    for _ in 0..<2 {
      let answers = try proxy.collect(Key.number, 2)
      #expect(answers.map(\.value) == [12] && answers.first?.author === author)
    }
  }
}

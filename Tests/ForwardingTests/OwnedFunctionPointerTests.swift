// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

@Suite struct OwnedFunctionPointerTests {
  private typealias Ask = @convention(c) @Sendable (Int32) -> Int32

  private static let ask = Method("ask:", ((Int32) -> Int32).self)

  private func proxy(
    _ errors: Box<[ForwardingError]>, default value: Int32? = nil, onFailure failure: Int32? = nil
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { error in errors.update { $0.append(error) } }
    return try DynamicProxy("Owned", configuration: configuration) {
      switch (value, failure) {
      case (let value?, let failure?):
        $0.optional(Self.ask, default: value, onFailure: failure)
      case (let value?, nil): $0.optional(Self.ask, default: value)
      case (nil, let failure?): $0.optional(Self.ask, onFailure: failure)
      case (nil, nil): $0.optional(Self.ask)
      }
      $0.optional("object", "@@:")
      $0.optional("points:", "{fixture_five=[5q]}@:{fixture_five=[5q]}")
      $0.optional("narrow:", "c@:c")
      $0.optional("complex", "jD@:")
    }
  }

  @Test func `a proxy owns a function that nobody keeps, and it does not keep the proxy`() throws {
    let errors = Box<[ForwardingError]>([])
    weak var tracked: DynamicProxy?
    let ask: Ask
    do {
      let proxy = try proxy(errors)
      tracked = proxy
      let token = try proxy.subscribe { $0.on(Self.ask) { $0 + 1 } }
      ask = unsafe try proxy.functionPointer(for: Self.ask, owner: proxy).unsafeCast()
      #expect(ask(41) == 42)
      withExtendedLifetime(token) {}
    }
    #expect(tracked == nil)
    #expect(errors.value.isEmpty)
    #expect(ask(41) == 0)
    #expect(ask(41) == 0)
    #expect(errors.value.map(\.code) == [.dead, .dead])
    #expect(errors.value.first?.selector == "ask:")
    #expect(
      errors.value.first?.description
        == "a C function pointer for \"ask:\" was called after the death of its proxy")
  }

  @Test(
    "a late call gives the stated result, else the method's for failures, else its default",
    arguments: [
      (3, 2, 1, 3), (nil, 2, 1, 2), (nil, nil, 1, 1), (nil, nil, nil, 0), (3, nil, nil, 3),
    ] as [(Int32?, Int32?, Int32?, Int32)])
  func late(stated: Int32?, failure: Int32?, value: Int32?, expected: Int32) throws {
    let errors = Box<[ForwardingError]>([])
    let ask: Ask
    do {
      let proxy = try proxy(errors, default: value, onFailure: failure)
      if let stated {
        ask = unsafe try proxy.functionPointer(for: Self.ask, onFailure: stated, owner: proxy)
          .unsafeCast()
      } else {
        ask = unsafe try proxy.functionPointer(for: Self.ask, owner: proxy).unsafeCast()
      }
      withExtendedLifetime(proxy) {}
    }
    #expect(ask(1) == expected)
    #expect(errors.value.map(\.code) == [.dead])
  }

  @Test func `another object owns a function, which ends with it`() throws {
    let errors = Box<[ForwardingError]>([])
    let proxy = try proxy(errors)
    let token = try proxy.subscribe { $0.on(Self.ask) { $0 + 1 } }
    var owner: Bystander? = Bystander()
    weak let tracked = owner
    let ask: Ask =
      unsafe try proxy.functionPointer(for: Self.ask, onFailure: -9, owner: owner).unsafeCast()
    #expect(ask(1) == 2)
    owner = nil
    #expect(tracked == nil)
    #expect(ask(1) == -9)
    #expect(
      errors.value.map(\.description) == [
        """
        a C function pointer for "ask:" was called after the death of its owner (Bystander) or of its proxy
        """
      ])
    // Nor does it forward after the function has been buried.
    proxy.ownedFunctions.collect()
    #expect(ask(1) == -9)
    #expect(errors.value.count == 2)
    withExtendedLifetime((proxy, token)) {}
  }

  @Test func `an owner that is being deinitialised gets no function`() throws {
    final class Late: Sendable {
      let body: @Sendable (Late) -> Void
      init(_ body: @escaping @Sendable (Late) -> Void) { self.body = body }
      deinit { body(self) }
    }
    let errors = Box<[ForwardingError]>([])
    let proxy = try proxy(errors)
    let codes = Box<[ForwardingError.Code]>([])
    do {
      let late = Late { late in
        do {
          _ = try proxy.functionPointer(for: Self.ask, owner: late)
        } catch let error as ForwardingError {
          codes.update { $0.append(error.code) }
        } catch {}
      }
      withExtendedLifetime(late) {}
    }
    #expect(codes.value == [.dead])
  }

  // MARK: Deaths

  @Test func `the owner dies inside the callback`() throws {
    let errors = Box<[ForwardingError]>([])
    let proxy = try proxy(errors)
    let owner = Box<Bystander?>(Bystander())
    let function = Box<Int>(0)
    let token = try proxy.subscribe {
      $0.on(Self.ask) { number in
        guard number > 0 else { return 0 }
        owner.value = nil
        proxy.ownedFunctions.collect()
        // A re-entrant call comes too late; the outer one goes on.
        let inner = unsafe unsafeBitCast(function.value, to: Ask.self)
        return number + inner(5)
      }
    }
    let pointer = try proxy.functionPointer(for: Self.ask, onFailure: -1, owner: owner.value)
    unsafe function.value = Int(bitPattern: pointer.unsafePointer)
    let ask: Ask = unsafe pointer.unsafeCast()
    #expect(ask(10) == 9)
    #expect(errors.value.map(\.code) == [.dead])
    #expect(ask(10) == -1)
    withExtendedLifetime(token) {}
  }

  @Test func `the proxy dies inside its own callback, and that of a subscriber`() throws {
    let errors = Box<[ForwardingError]>([])
    let population = Population()
    let holder = Box<DynamicProxy?>(nil)
    weak var tracked: DynamicProxy?
    let ask: Ask
    do {
      let proxy = try proxy(errors)
      tracked = proxy
      let captured = population.make()
      try proxy.subscribe(Bystander(), lifetime: .strong) {
        $0.on(Self.ask) { _, number in
          holder.value = nil
          return withExtendedLifetime(captured) { number + Int32(population.living) }
        }
      }
      ask = unsafe try proxy.functionPointer(for: Self.ask, onFailure: -3, owner: proxy)
        .unsafeCast()
      holder.value = proxy
    }
    // The proxy dies inside the call. Its subscriber lives until the call returns.
    #expect(ask(4) == 5)
    #expect(tracked == nil && population.living == 0)
    #expect(ask(4) == -3)
    #expect(errors.value.map(\.code) == [.dead])
  }

  @Test(
    "a callback that ends the proxy still applies the method's policy",
    arguments: [false, true])
  func policyOfDyingProxy(reduces: Bool) throws {
    // The policy's closure belongs to a table that nothing else keeps.
    let population = Population()
    let captured = population.make()
    let policy =
      reduces
      ? ResultPolicy.reduce(Int32(100)) { (left: Int32, right: Int32) in
        _ = captured
        return left + right
      }
      : ResultPolicy.until { (result: Int32) in
        _ = captured
        return result > 0
      }
    let sum = Method("sum:", ((Int32) -> Int32).self)
    let holder = Box<DynamicProxy?>(nil)
    let function: Ask
    do {
      let proxy = try DynamicProxy { $0.required(sum, result: policy) }
      try proxy.subscribe(Bystander(), lifetime: .strong) {
        $0.on(sum) { _, number in
          holder.value = nil
          return number
        }
      }
      holder.value = proxy
      function = unsafe try proxy.functionPointer(for: sum, owner: proxy).unsafeCast()
    }
    #expect(function(4) == (reduces ? 104 : 4))
    #expect(holder.value == nil)
  }

  @Test(arguments: [false, true])
  func `a callback that ends the proxy is the last one, unless it has asked for the proxy`(
    asks: Bool
  ) throws {
    let tell = Method("tell:", ((Int32) -> Void).self)
    let holder = Box<DynamicProxy?>(nil)
    let calls = Box<[String]>([])
    let function: @convention(c) (Int32) -> Void
    do {
      let proxy = try DynamicProxy { $0.required(tell) }
      for name in ["first", "second"] {
        try proxy.subscribe(Bystander(), lifetime: .strong) {
          $0.on(tell) { _, number in
            let subscription = asks ? DynamicProxy.Subscription.current : nil
            holder.value = nil
            calls.update { $0.append("\(name) \(number)\(subscription?.proxy == nil ? "" : "!")") }
          }
        }
      }
      holder.value = proxy
      function = unsafe try proxy.functionPointer(for: tell, owner: proxy).unsafeCast()
    }
    function(1)
    function(2)
    #expect(calls.value == (asks ? ["first 1!", "second 1!"] : ["first 1"]))
  }

  @Test func `a deinitialiser of the owner and of a subscriber calls the function`() throws {
    final class Connection: Sendable {
      let results: Box<[Int32]>
      let function = Box(0)
      init(_ results: Box<[Int32]>) { self.results = results }
      deinit {
        let ask = unsafe unsafeBitCast(function.value, to: Ask.self)
        results.update { $0.append(ask(1)) }
      }
    }
    let errors = Box<[ForwardingError]>([])
    let results = Box<[Int32]>([])
    do {
      let proxy = try proxy(errors)
      let token = try proxy.subscribe { $0.on(Self.ask) { $0 + 1 } }
      // The owner of one, and a subscriber that the end of the proxy releases.
      let owner = Connection(results)
      let pointer = try proxy.functionPointer(for: Self.ask, onFailure: -4, owner: owner)
      unsafe owner.function.value = Int(bitPattern: pointer.unsafePointer)
      let subscriber = Connection(results)
      let second = try proxy.functionPointer(for: Self.ask, onFailure: -5, owner: proxy)
      unsafe subscriber.function.value = Int(bitPattern: second.unsafePointer)
      try proxy.subscribe(subscriber, lifetime: .strong) {
        $0.on(Self.ask) { _, number in number }
      }
      withExtendedLifetime((owner, token)) {}
    }
    #expect(Set(results.value) == [-4, -5])
    #expect(errors.value.map(\.code) == [.dead, .dead])
  }

  @Test func `threads call while owners and proxies die`() async throws {
    let errors = Box(0)
    for round in 0..<40 {
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { error in
        #expect(error.code == .dead)
        errors.update { $0 += 1 }
      }
      let holder = Box<DynamicProxy?>(
        try DynamicProxy("Threads", configuration: configuration) { $0.optional(Self.ask) })
      let owner = Box<Bystander?>(Bystander())
      try holder.value!.subscribe(Bystander(), lifetime: .strong) {
        $0.on(Self.ask) { _, number in number }
      }
      let byProxy: Ask =
        unsafe try holder.value!.functionPointer(
          for: Self.ask, onFailure: 0, owner: holder.value
        ).unsafeCast()
      let byOwner: Ask =
        unsafe try holder.value!.functionPointer(for: Self.ask, onFailure: 0, owner: owner.value)
        .unsafeCast()
      await withTaskGroup(of: Void.self) { group in
        group.addTask { _ = fixture_call_in_threads(byProxy, 3, 200) }
        group.addTask { _ = fixture_call_in_threads(byOwner, 3, 200) }
        group.addTask {
          if round % 2 == 0 {
            owner.value = nil
            holder.value?.ownedFunctions.collect()
          }
          holder.value = nil
        }
      }
      #expect(byProxy(1) == 0 && byOwner(1) == 0)
    }
    #expect(errors.value >= 80)
  }

  // MARK: Results of late calls

  @Test func `late calls give results of every kind`() throws {
    let errors = Box<[ForwardingError]>([])
    let population = Population()
    let object: @convention(c) () -> UnsafeMutableRawPointer?
    let five: @convention(c) (fixture_five) -> fixture_five
    let narrow: @convention(c) (Int8) -> Int8
    do {
      let proxy = try proxy(errors)
      unsafe object = unsafe try proxy.functionPointer(
        for: "object", onFailure: population.make(), owner: proxy
      ).unsafeCast()
      five = unsafe try proxy.functionPointer(
        for: "points:", onFailure: fixture_five(words: (1, 2, 3, 4, 5)), owner: proxy
      ).unsafeCast()
      narrow = unsafe try proxy.functionPointer(
        for: "narrow:", onFailure: Int8(-7), owner: proxy
      ).unsafeCast()
      // Also while the proxy lives.
      #expect(five(fixture_five()).words.4 == 5)
      #expect(errors.value.map(\.code) == [.noResponder])
      withExtendedLifetime(proxy) {}
    }
    #expect(five(fixture_five()).words.4 == 5)
    #expect(fixture_call_char(narrow, 3) == -7)
    // The tombstone keeps its object; each caller gets a reference.
    #expect(population.living == 1)
    for _ in 0..<3 {
      let made = unsafe Unmanaged<Population.Tracked>.fromOpaque(object()!)
      unsafe made.release()
    }
    #expect(population.living == 1)
    #expect(errors.value.dropFirst().allSatisfy { $0.code == .dead })
    #expect(errors.value.count == 6)
  }

  // MARK: Requests

  @Test func `equal requests of one owner give one function`() throws {
    let errors = Box<[ForwardingError]>([])
    let proxy = try proxy(errors)
    let owner = Bystander()
    func address(_ owner: AnyObject, failure: Int32? = nil) throws -> UnsafeRawPointer {
      if let failure {
        return try unsafe proxy.functionPointer(for: Self.ask, onFailure: failure, owner: owner)
          .unsafePointer
      }
      return try unsafe proxy.functionPointer(for: Self.ask, owner: owner).unsafePointer
    }
    let first = try unsafe address(owner)
    #expect(try unsafe address(owner) == first)
    #expect(try unsafe address(proxy) != first)
    #expect(try unsafe address(owner, failure: 1) != first)
    #expect(try unsafe address(owner, failure: 1) == address(owner, failure: 1))
    #expect(try unsafe address(owner, failure: 2) != address(owner, failure: 1))
    // A thousand requests use one entry of the pool.
    for _ in 0..<3000 { #expect(try unsafe address(owner) == first) }
    withExtendedLifetime(owner) {}
  }

  @Test func `thousands of owners die, and no function is handed out again`() throws {
    let errors = Box<[ForwardingError]>([])
    let proxy = try proxy(errors)
    var addresses: Set<Int> = []
    var last: FunctionPointer?
    for number in 0..<3000 {
      let owner = Bystander()
      let function = try proxy.functionPointer(for: Self.ask, onFailure: -1, owner: owner)
      #expect(unsafe addresses.insert(Int(bitPattern: function.unsafePointer)).inserted)
      if number == 0 { last = function }
      withExtendedLifetime(owner) {}
    }
    #expect(unsafe fixture_call_int(last!.unsafeCast(), 1) == -1)
    #expect(errors.value.map(\.code) == [.dead])
  }
}

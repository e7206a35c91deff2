// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import CTestFixtures
import Testing

@testable import Forwarding

@Suite struct CallbackTableTests {
  private enum Key {
    static let scaled = Method("scaled::", ((Int32, Double) -> Int32).self)
    static let sum = Method(
      "sum:", ((Int64, Int64, Int64, Int64, Int64, Int64, Int64) -> Int64).self)
    static let doubles = Method(
      "doubles:",
      ((Double, Double, Double, Double, Double, Double, Double, Double, Double, Double) -> Double)
        .self)
    static let five = Method("five:n:", ((fixture_five, Int32) -> fixture_five).self)
    static let pair = Method("pair:n:", ((fixture_pair, Int8) -> fixture_pair).self)
    static let ping = Method("ping:", ((Int32) -> Int32).self)
  }

  private struct Parts {
    let proxy: DynamicProxy
    let errors = Box<[ForwardingError]>([])

    init(_ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }) throws {
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { [errors] error in errors.update { $0.append(error) } }
      configure(&configuration)
      let table = try ProtocolTable("Library") {
        $0.optional("scaled::", "i@:id")
        $0.optional(Key.sum)
        $0.optional(Key.doubles)
        $0.optional("five:n:", "{fixture_five=[5q]}@:{fixture_five=[5q]}i")
        $0.optional("pair:n:", "{fixture_pair=di}@:{fixture_pair=di}c")
        $0.optional("notify:", "v@:i")
        $0.optional("value:text:", "d^vd*")
        $0.optional("ping:", "i@:i", default: Int32(-1), onFailure: Int32(-2))
      }
      proxy = try DynamicProxy(adopting: table, configuration: configuration)
    }
  }

  // MARK: Contexts

  @Test(arguments: [false, true])
  func `the context of a callback stands anywhere`(byLibffi: Bool) throws {
    let proxy = try Parts().proxy
    let token = try proxy.subscribe {
      $0.on("scaled::") { (number: Int32, value: Double) -> Int32 in
        Int32(Double(number) + value)
      }
      $0.on(Key.sum) { $0 + $1 + $2 + $3 + $4 + $5 + $6 }
      $0.on(Key.doubles) { $0 + $1 + $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 }
      $0.on("five:n:") { (value: fixture_five, number: Int32) -> fixture_five in
        var value = value
        unsafe withUnsafeMutableBytes(of: &value) { bytes in
          let words = unsafe bytes.bindMemory(to: Int64.self)
          for index in words.indices { unsafe words[index] += Int64(number) }
        }
        return value
      }
      $0.on("pair:n:") { (value: fixture_pair, number: Int8) -> fixture_pair in
        fixture_pair(x: value.x + Double(number), n: value.n + Int32(number))
      }
    }
    let callbacks = try unsafe withLibffi(byLibffi) {
      try unsafe proxy.callbackTable(fixture_callbacks.self, owner: proxy) {
        unsafe $0.set(\.none, to: "scaled::")
        unsafe $0.set(\.first, to: Key.scaled, context: .first)
        unsafe $0.set(\.second, to: "scaled::", context: .at(1))
        unsafe $0.set(\.last, to: Key.scaled, context: .last)
        unsafe $0.set(\.sixth, to: Key.sum, context: .at(5))
        unsafe $0.set(\.seventh, to: Key.sum, context: .at(6))
        unsafe $0.set(\.eighth, to: Key.sum, context: .last)
        unsafe $0.set(\.doubles, to: Key.doubles, context: .at(5))
        unsafe $0.set(\.large, to: "five:n:", context: .first)
        unsafe $0.set(\.large_last, to: "five:n:", context: .last)
        unsafe $0.set(\.pair, to: "pair:n:", context: .at(1))
      }
    }
    unsafe callbacks.pointee.version = 3
    #expect(unsafe fixture_check_callbacks(callbacks) == 0)
    // A copy has the same functions.
    var copy = unsafe callbacks.pointee
    #expect(unsafe copy.version == 3 && copy.size == 0 && copy.user == nil)
    #expect(unsafe fixture_check_callbacks(&copy) == 0)
    withExtendedLifetime(token) {}
  }

  private func withLibffi<Value>(_ forced: Bool, _ body: () throws -> Value) rethrows -> Value {
    if forced { fwd_use_libffi(true) }
    defer { if forced { fwd_use_libffi(false) } }
    return try body()
  }

  // MARK: Members that cannot be set

  @Test func `a member that does not fit names the method and what was expected`() throws {
    let proxy = try Parts().proxy
    func failure(
      _ build: (inout DynamicProxy.CallbackTable<fixture_handlers>) -> Void
    ) -> ForwardingError? {
      #expect(throws: ForwardingError.self) {
        _ = try unsafe proxy.callbackTable(fixture_handlers.self, owner: proxy, build)
      }
    }
    let unknown = unsafe failure { unsafe $0.set(\.on_start, to: "unknown:") }
    #expect(unknown?.code == .unknownSelector)
    // A number of a pointer's size is no function.
    let number = unsafe failure { unsafe $0.set(\.count, to: "notify:") }
    #expect(number?.code == .typeMismatch)
    #expect(
      number?.description
        == "the member for \"notify:\" is Int64, expected a C function pointer")
    let pointer = unsafe failure { unsafe $0.set(\.user, to: "notify:") }
    #expect(pointer?.code == .typeMismatch)
    // Swift imports a pointer to a variadic function so.
    @safe struct Logging: BitwiseCopyable {
      var log: OpaquePointer?
    }
    let variadic = #expect(throws: ForwardingError.self) {
      _ = try unsafe proxy.callbackTable(Logging.self, owner: proxy) {
        unsafe $0.set(\.log, to: "notify:", context: .first)
      }
    }
    #expect(variadic?.code == .typeMismatch)
    #expect(variadic?.description.contains("if it is a variadic function in C") == true)
    let small = unsafe failure { unsafe $0.set(\.version, to: "notify:") }
    #expect(small?.code == .typeMismatch)
    let shape = unsafe failure { unsafe $0.set(\.on_start, to: "notify:") }
    #expect(shape?.code == .typeMismatch && shape?.selector == "notify:")
    #expect(shape?.description.contains("expected 1 parameter, got 2") == true)
    #expect(shape?.description.contains("context: .first") == true)
    let twice = unsafe failure {
      unsafe $0.set(\.on_start, to: "notify:", context: .first)
      unsafe $0.set(\.on_start, to: "notify:", context: .first)
    }
    #expect(twice?.code == .conflict)
    #expect(twice?.description.contains("overlaps the one for \"notify:\" at offset 8") == true)
    let result = unsafe failure {
      unsafe $0.set(\.on_start, to: "notify:", context: .first, onFailure: 1)
    }
    #expect(result?.code == .policyMismatch)
    let types = unsafe failure {
      unsafe $0.set(\.on_start, to: Method("notify:", ((Double) -> Void).self), context: .first)
    }
    #expect(types?.code == .signatureMismatch)
    // The first fault is thrown.
    let first = unsafe failure {
      unsafe $0.set(\.on_start, to: "unknown:")
      unsafe $0.set(\.count, to: "notify:")
    }
    #expect(first?.code == .unknownSelector)
  }

  // MARK: Results

  @Test func `each member has a failure result of its own`() throws {
    struct Callbacks: BitwiseCopyable {
      var a: (@convention(c) (Int32) -> Int32)?
      var b: (@convention(c) (Int32) -> Int32)?
      var c: (@convention(c) (Int32, Double) -> Int32)?
    }
    enum Refusing: Int32 { case one = 1 }
    let parts = try Parts()
    let callbacks = try unsafe parts.proxy.callbackTable(Callbacks.self, owner: parts.proxy) {
      $0.set(\.a, to: "ping:")
      $0.set(\.b, to: "ping:", onFailure: Int32(9))
      $0.set(\.c, to: Key.scaled, onFailure: 5)
    }
    // Nobody responds: the method's default, or no result.
    #expect(unsafe callbacks.pointee.a?(1) == -1)
    #expect(unsafe callbacks.pointee.b?(1) == -1)
    #expect(unsafe callbacks.pointee.c?(1, 1) == 5)
    #expect(parts.errors.value.map(\.code) == [.noResponder])
    // A subscriber that fails: the method's, or the member's.
    let token = try parts.proxy.subscribe {
      $0.on("ping:") { (_: Refusing) -> Int32 in 1 }
      $0.on("scaled::") { (_: Refusing, _: Double) -> Int32 in 1 }
    }
    #expect(unsafe callbacks.pointee.a?(2) == -2)
    #expect(unsafe callbacks.pointee.b?(2) == 9)
    #expect(unsafe callbacks.pointee.c?(2, 1) == 5)
    #expect(unsafe callbacks.pointee.b?(1) == 1)
    #expect(
      parts.errors.value.dropFirst().map(\.code)
        == Array(repeating: .valueNotRepresentable, count: 3))
    withExtendedLifetime((parts, token)) {}
  }

  // MARK: Members that follow the subscribers

  @safe private struct Nullable: BitwiseCopyable {
    var always: (@convention(c) (Int32) -> Int32)?
    var ping: (@convention(c) (Int32) -> Int32)?
    var notify: (@convention(c) (UnsafeMutableRawPointer?, Int32) -> Void)?
  }

  private func nullable(
    _ proxy: DynamicProxy, owner: AnyObject? = nil
  ) throws -> UnsafeMutablePointer<Nullable> {
    try unsafe proxy.callbackTable(owner: owner ?? proxy) {
      $0.set(\.always, to: "ping:")
      $0.set(\.ping, to: "ping:", nullIfUnimplemented: true)
      unsafe $0.set(\.notify, to: "notify:", context: .first, nullIfUnimplemented: true)
    }
  }

  @Test func `a member is null while no subscriber implements its method`() throws {
    let proxy = try Parts().proxy
    let callbacks = try unsafe nullable(proxy)
    func state() -> [Bool] {
      unsafe [
        callbacks.pointee.always != nil, callbacks.pointee.ping != nil,
        callbacks.pointee.notify != nil,
      ]
    }
    #expect(state() == [true, false, false])
    let ping = try proxy.subscribe { $0.on("ping:") { (number: Int32) -> Int32 in number } }
    #expect(state() == [true, true, false])
    #expect(unsafe callbacks.pointee.ping?(4) == 4)
    var bystander: Bystander? = Bystander()
    try proxy.subscribe(bystander!) {
      $0.on("ping:") { (_: Bystander, number: Int32) -> Int32 in number }
      $0.on("notify:") { (_: Bystander, _: Int32) in }
    }
    #expect(state() == [true, true, true])
    ping.cancel()
    #expect(state() == [true, true, true])
    // Nobody tells the proxy of the death; the next fan-out meets the dead.
    bystander = nil
    #expect(state() == [true, true, true])
    #expect(unsafe callbacks.pointee.always?(1) == -1)
    #expect(state() == [true, false, false])
    // Blocking counts, too.
    let again = try proxy.subscribe { $0.on("ping:") { (number: Int32) -> Int32 in number } }
    #expect(state() == [true, true, false])
    let block = try proxy.block("ping:")
    #expect(state() == [true, false, false])
    block.cancel()
    #expect(state() == [true, true, false])
    proxy.unsubscribeAll()
    #expect(state() == [true, false, false])
    withExtendedLifetime(again) {}
  }

  @Test func `a table that is made late has the functions of subscribers`() throws {
    let proxy = try Parts().proxy
    let token = try proxy.subscribe { $0.on("ping:") { (number: Int32) -> Int32 in number } }
    let callbacks = try unsafe nullable(proxy)
    #expect(unsafe callbacks.pointee.ping?(4) == 4 && callbacks.pointee.notify == nil)
    withExtendedLifetime(token) {}
  }

  @Test func `members follow interceptors and a forward target`() throws {
    let proxy = try Parts().proxy
    let callbacks = try unsafe nullable(proxy)
    let instead = try proxy.instead(Key.ping) { number in number + 1 }
    #expect(unsafe callbacks.pointee.ping?(1) == 2)
    instead.cancel()
    #expect(unsafe callbacks.pointee.ping == nil)
    let target = Bystander()
    try proxy.setForwardTarget(target) {
      $0.on("ping:") { (_: Bystander, number: Int32) -> Int32 in number * 2 }
    }
    #expect(unsafe callbacks.pointee.ping?(4) == 8)
    proxy.removeForwardTarget()
    #expect(unsafe callbacks.pointee.ping == nil)
    withExtendedLifetime(target) {}
  }

  @Test func `an observer of capabilities is told as before`() throws {
    let told = Box<[String]>([])
    let proxy = try Parts {
      $0.onCapabilityChange = { selector, responds in
        told.update { $0.append("\(selector) \(responds)") }
      }
    }.proxy
    let callbacks = try unsafe nullable(proxy)
    let token = try proxy.subscribe { $0.on("ping:") { (number: Int32) -> Int32 in number } }
    #expect(unsafe callbacks.pointee.ping != nil)
    token.cancel()
    #expect(unsafe callbacks.pointee.ping == nil)
    #expect(told.value == ["ping: true", "ping: false"])
  }

  @Test func `when the owner or the proxy dies, such members are null`() throws {
    let parts = try Parts()
    var proxy: DynamicProxy? = parts.proxy
    var owner: Bystander? = Bystander()
    let token = try proxy!.subscribe { $0.on("ping:") { (number: Int32) -> Int32 in number } }
    let first = try unsafe nullable(proxy!, owner: owner)
    let second = try unsafe nullable(proxy!)
    #expect(unsafe first.pointee.ping != nil && second.pointee.ping != nil)
    owner = nil
    // Noticed by the next change.
    let other = try proxy!.subscribe { $0.on("notify:") { (_: Int32) in } }
    #expect(unsafe first.pointee.ping == nil && second.pointee.ping != nil)
    #expect(unsafe first.pointee.notify == nil && second.pointee.notify != nil)
    // It may be called all the same.
    #expect(unsafe first.pointee.always?(1) == -2)
    #expect(parts.errors.value.map(\.code) == [.dead])
    do {
      var doomed: DynamicProxy? = try Parts().proxy
      let last = try doomed!.subscribe { $0.on("ping:") { (number: Int32) -> Int32 in number } }
      let callbacks = try unsafe nullable(doomed!)
      #expect(unsafe callbacks.pointee.ping != nil)
      doomed = nil
      #expect(unsafe callbacks.pointee.ping == nil && callbacks.pointee.always != nil)
      #expect(unsafe callbacks.pointee.always?(1) == -2)
      withExtendedLifetime(last) {}
    }
    proxy = nil
    withExtendedLifetime((token, other)) {}
  }

  @Test func `a library reads members while subscribers come and go`() async throws {
    let proxy = try Parts().proxy
    let callbacks = try unsafe nullable(proxy)
    @safe struct Shared: @unchecked Sendable {
      let member: UnsafeRawPointer
      let stops: UnsafeMutablePointer<Int32>
    }
    let stops = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    unsafe stops.initialize(to: 0)
    let shared = unsafe Shared(
      member: UnsafeRawPointer(callbacks) + MemoryLayout<Nullable>.offset(of: \.ping)!,
      stops: stops)
    let reader = Task.detached { unsafe fixture_poll(shared.member, shared.stops) }
    for _ in 0..<2000 {
      let token = try proxy.subscribe { $0.on("ping:") { (number: Int32) -> Int32 in number } }
      #expect(unsafe fixture_load(shared.member) != nil)
      token.cancel()
      #expect(unsafe fixture_load(shared.member) == nil)
    }
    unsafe fixture_stop(stops)
    _ = await reader.value
    unsafe stops.deallocate()
  }

  @Test func `equal functions of one owner are one, and structs differ`() throws {
    let proxy = try Parts().proxy
    let first = try unsafe nullable(proxy)
    let second = try unsafe nullable(proxy)
    #expect(unsafe first != second)
    let same =
      unsafe fixture_load(first) == fixture_load(second)
    #expect(same)
    let owner = Bystander()
    let third = try unsafe nullable(proxy, owner: owner)
    let differs = unsafe fixture_load(first) != fixture_load(third)
    #expect(differs)
    withExtendedLifetime(owner) {}
  }
}

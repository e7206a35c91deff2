// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Forwarding
import ForwardingDelivery
import Testing

/// A Swift value that cannot be moved by its bytes.
struct Weakling: Sendable {
  weak let object: Tracked?
  let number: Int
}

/// A Swift value that is larger than what is copied under the lock.
struct Big: Sendable {
  var text: String
  var rows = [8 of (Int, Int, Int, Int, Int, Int, Int, Int, Int)](
    repeating: (1, 2, 3, 4, 5, 6, 7, 8, 9))
}

/// What values of each kind a message carries.
@Suite struct ValueDeliveryTests {
  /// Methods with arguments that are Swift values by address, as typed proxies have.
  static func proxy(
    _ configuration: DynamicProxy.Configuration = DynamicProxy.Configuration()
  ) throws -> DynamicProxy {
    try DynamicProxy("Values", configuration: configuration) {
      $0.optional("words:list:", "v@:^{Swift.String}^{Swift.Array<Swift.Int>}")
      $0.optional("weak:", "v@:^{\(String(reflecting: Weakling.self))}")
      $0.optional("number:bytes:", "v@:q^v")
      $0.optional("object:", "v@:@")
      $0.optional("text:", "v@:*")
      $0.optional("many:", "v@:" + String(repeating: "*", count: 17))
    }
  }

  @Test func `Swift values behind pointers are copied`() async throws {
    let proxy = try Self.proxy()
    let queue = DispatchQueue(label: "swift values")
    queue.suspend()
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: "words:list:") {
      (log: Log, words: String, list: [Int]) in
      log.texts.append(words)
      log.numbers += list.map(Int64.init)
    }
    for index in 0..<100 {
      try proxy.send("words:list:", String(repeating: "w", count: index), [index, index])
    }
    queue.resume()
    await subscription.drained()
    let texts = (0..<100).map { String(repeating: "w", count: $0) as String? }
    #expect(log.texts == texts)
    let numbers = (0..<Int64(100)).flatMap { number in [number, number] }
    #expect(log.numbers == numbers)
  }

  @Test(arguments: [DynamicProxy.Overflow.unbounded, .dropOldest(limit: 2), .latest])
  func `Values with weak references are copied and ended`(rule: DynamicProxy.Overflow)
    async throws
  {
    let proxy = try Self.proxy()
    let queue = DispatchQueue(label: "weak values")
    queue.suspend()
    let life = Life()
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: "weak:", overflow: rule) {
      (log: Log, value: Weakling) in
      log.numbers.append(Int64(value.number))
      if value.object != nil { log.texts.append("alive") }
    }
    let kept = Tracked(life)
    for number in 0..<9 {
      let brief = Tracked(life)
      try proxy.send("weak:", Weakling(object: brief, number: number))
    }
    #expect(life.live == 1)
    try proxy.send("weak:", Weakling(object: kept, number: 9))
    queue.resume()
    await subscription.drained()
    #expect(log.numbers.last == 9 && log.numbers.count + subscription.droppedCount == 10)
    #expect(log.texts == ["alive"])
  }

  @Test func `No value behind a pointer is an error of the delivery`() async throws {
    let reports = Log()
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { reports.texts.append($0.description) }
    let proxy = try Self.proxy(configuration)
    let queue = DispatchQueue(label: "null values")
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: "words:list:") {
      (log: Log, words: String, list: [Int]) in log.texts.append(words)
    }
    let callback = try proxy.functionPointer(for: "words:list:")
    let call = unsafe callback.unsafeCast(
      to: (@convention(c) (UnsafeRawPointer?, UnsafeRawPointer?) -> Void).self)
    call(nil, nil)
    try proxy.send("words:list:", "fine", [1])
    await subscription.drained()
    #expect(log.texts == ["fine"])
    #expect(reports.texts.count == 1)
  }

  @Test func `A closure that leaves arguments out gets none of their pointers`() async throws {
    let proxy = try Self.proxy()
    let queue = DispatchQueue(label: "fewer")
    queue.suspend()
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: "number:bytes:") {
      (log: Log, number: Int64) in log.numbers.append(number)
    }
    try proxy.subscribe(log, on: queue, to: "words:list:") { (log: Log) in log.texts.append(nil) }
    for number: Int64 in 0..<10 {
      let bytes = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
      try unsafe proxy.send("number:bytes:", number, bytes)
      unsafe bytes.deallocate()
      try proxy.send("words:list:", String(repeating: "x", count: 50), [1])
    }
    queue.resume()
    await subscription.drained()
    #expect(log.numbers == Array(0..<10))
    #expect(log.texts.count == 10)
  }

  @Test func `An object that is being deinitialised is no argument`() async throws {
    final class Parting: Sendable {
      let proxy: DynamicProxy
      let errors: Log
      init(_ proxy: DynamicProxy, _ errors: Log) {
        self.proxy = proxy
        self.errors = errors
      }
      deinit {
        do {
          try proxy.send("object:", self)
        } catch {
          errors.texts.append("\(error)")
        }
      }
    }
    let errors = Log()
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { _ in }
    let proxy = try Self.proxy(configuration)
    let queue = DispatchQueue(label: "parting")
    queue.suspend()
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: "object:") {
      (log: Log, object: Parting) in log.numbers.append(1)
    }
    _ = Parting(proxy, errors)
    queue.resume()
    await subscription.drained()
    #expect(log.numbers.isEmpty)
    #expect(errors.texts.count == 1)
    #expect(errors.texts.first??.contains("parameter 1 of \"object:\"") == true)
    #expect(errors.texts.first??.contains("being deinitialised") == true)
  }

  @Test func `Arguments that are not values of the closure's types are reported`() async throws {
    let errors = Log()
    var configuration = DynamicProxy.Configuration()
    configuration.onError = {
      errors.texts.append("\($0.code) \($0.argumentIndex ?? -1): \($0)")
    }
    let proxy = try Self.proxy(configuration)
    let queue = DispatchQueue(label: "not values")
    let log = Log()
    let subscriptions = [
      try proxy.subscribe(log, on: queue, to: "object:") {
        (log: Log, object: Tracked) in log.numbers.append(1)
      },
      try proxy.subscribe(log, on: queue, to: "text:") {
        (log: Log, text: String) in log.numbers.append(1)
      },
    ]
    try proxy.send("object:", log)
    try proxy.send("object:", nil as AnyObject?)
    let bytes: [UInt8] = [0xff, 0]
    try unsafe bytes.withUnsafeBufferPointer { try unsafe proxy.send("text:", $0.baseAddress!) }
    for subscription in subscriptions { await subscription.drained() }
    #expect(log.numbers.isEmpty)
    #expect(
      errors.texts.compactMap { $0 } == [
        "typeMismatch 2: parameter 1 of \"object:\" must be an object of class Tracked, "
          + "got one of class Log",
        "nullPointer 2: parameter 1 of \"object:\" is null, expected Tracked",
        "valueNotRepresentable 2: parameter 1 of \"text:\" has bytes that are not UTF-8, "
          + "which is no String",
      ])
  }

  @Test func `Strings of any length are copied`() async throws {
    let proxy = try Self.proxy()
    let queue = DispatchQueue(label: "long")
    queue.suspend()
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: "text:") {
      (log: Log, text: String?) in log.numbers.append(Int64(text?.utf8.count ?? -1))
    }
    let lengths = [0, 1, 463, 464, 465, 511, 512, 513, 4095, 4096, 16_383, 16_384, 100_000_000, 3]
    for length in lengths { try proxy.send("text:", String(repeating: "s", count: length)) }
    try proxy.send("text:", String?.none)
    queue.resume()
    await subscription.drained()
    #expect(log.numbers == lengths.map(Int64.init) + [-1])
  }

  @Test func `Too many strings are refused for what they are`() throws {
    let proxy = try Self.proxy()
    let queue = DispatchQueue(label: "many")
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(Log(), on: queue, to: "many:") { (_: Log) in }
    }
    #expect(error?.code == .notMailable)
    #expect(error?.description.contains("at most 16 C strings") == true)
  }
}

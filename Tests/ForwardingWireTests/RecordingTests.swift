// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Forwarding
import ForwardingTesting
import ForwardingWire
import Testing

@Suite struct RecordingTests {
  @Test func `Recording changes neither results nor the order of deliveries`() throws {
    let proxy = try Log.proxy()
    let schema = try Log.schema(of: proxy)
    let seen = Collected<String>()
    let first = try proxy.subscribe {
      $0.on(Log.sum) { number in
        seen.append("first \(number)")
        return number
      }
    }
    let second = try proxy.subscribe {
      $0.on(Log.sum) { number in
        seen.append("second \(number)")
        return number * 10
      }
    }
    let plain = try (0..<5).map { try proxy.send(Log.sum, Int64($0)) }
    let order = seen.all
    let bytes = Bytes(schema)
    let token = try proxy.record(with: WireEncoder(schema)) { bytes.append($0) }
    #expect(token.isLive)
    let recorded = try (0..<5).map { try proxy.send(Log.sum, Int64($0)) }
    #expect(recorded == plain && plain == [0, 11, 22, 33, 44])
    #expect(seen.all == order + order)
    #expect(token.cancel() && !token.isLive)
    let size = bytes.all.count
    _ = try proxy.send(Log.sum, 1)
    #expect(bytes.all.count == size)
    first.cancel()
    second.cancel()
  }

  @Test func `A call that cannot be recorded is reported and delivered`() throws {
    let errors = Collected<ForwardingError>()
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { errors.append($0) }
    let proxy = try DynamicProxy(adopting: Log.table(), configuration: configuration)
    let schema = try Log.schema(of: proxy)
    let bytes = Bytes(schema)
    let spy = try Spy(proxy)
    let token = try proxy.record(with: WireEncoder(schema)) { bytes.append($0) }
    try unsafe [1].withUnsafeBytes { try unsafe proxy.send(Log.write, $0.baseAddress, -1) }
    #expect(unsafe spy.calls(of: Log.write).map(\.1) == [-1])
    #expect(bytes.all == schema.bytes)
    #expect(errors.all.map(\.code) == [.deliveryFailed])
    #expect(
      errors.all.first?.description.contains("argument 0 (\"r^v\") of \"write:count:\"") == true)
    token.cancel()
  }

  @Test func `Strings above the limit are refused`() throws {
    let table = try ProtocolTable("S") { $0.optional("s:", "v@:*") }
    let schema = try WireSchema(of: table)
    let invocation = try Invocation("s:", MethodSignature("v@:*"))
    var bytes: [UInt8] = []
    try invocation.setArgument(String(repeating: "x", count: WireLimits.stringLength - 1), at: 2)
    try WireEncoder(schema).encode(invocation, into: &bytes)
    let size = bytes.count
    #expect(size == 48 + WireLimits.stringLength)
    try invocation.setArgument(String(repeating: "x", count: WireLimits.stringLength), at: 2)
    let error = wireError { try WireEncoder(schema).encode(invocation, into: &bytes) }
    #expect(error?.code == .limitExceeded && bytes.count == size)
  }

  @Test func `A proxy without a method of the schema cannot be recorded`() throws {
    let schema = try WireSchema(of: ProtocolTable("S") { $0.optional("number:", "v@:d") })
    let other = try Log.proxy()
    let error = wireError { _ = try other.record(with: WireEncoder(schema)) { _ in } }
    #expect(error?.code == .methodMismatch && error?.selector == "number:")
    let absent = try WireSchema(of: ProtocolTable("S") { $0.optional("absent:", "v@:d") })
    let missing = wireError { _ = try other.record(with: WireEncoder(absent)) { _ in } }
    #expect(missing?.code == .methodMismatch && missing?.selector == "absent:")
  }

  @Test func `Recording begins and ends while threads forward`() throws {
    let proxy = try Log.proxy()
    let schema = try Log.schema(of: proxy)
    let bytes = Bytes(schema)
    let spy = try Spy(proxy)
    let encoder = WireEncoder(schema, producer: 3)
    let (threads, count) = (3, 3000)
    DispatchQueue.concurrentPerform(iterations: threads + 1) { thread in
      if thread == threads {
        for _ in 0..<50 {
          let token = try? proxy.record(with: encoder) { bytes.append($0) }
          token?.cancel()
        }
      } else {
        for number in 0..<count {
          try? proxy.send(Log.number, Int64(thread) << 32 | Int64(number))
        }
      }
    }
    #expect(spy.calls(of: Log.number).count == threads * count)
    // The records of each thread are in its order, and the numbers have no gap.
    var decoder = WireDecoder(bytes.all, schema: schema)
    var sequences: Set<UInt64> = []
    while let record = try decoder.next() {
      #expect(record.producer == 3)
      sequences.insert(record.sequence)
    }
    #expect(sequences.count == Int(sequences.max() ?? 0))
  }

  @Test func `Records of four threads are complete, each thread's in order`() throws {
    let proxy = try Log.proxy()
    let schema = try Log.schema(of: proxy)
    let bytes = Bytes(schema)
    let token = try proxy.record(with: WireEncoder(schema)) { bytes.append($0) }
    let count: Int64 = 2000
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<count { try? proxy.send(Log.number, Int64(thread) << 32 | number) }
    }
    token.cancel()
    let spy = try Spy(proxy)
    #expect(try schema.replay(bytes.all, to: proxy) == 4 * Int(count))
    var next: [Int64] = [0, 0, 0, 0]
    for number in spy.calls(of: Log.number) {
      let thread = Int(number >> 32)
      #expect(number & 0xFFFF_FFFF == next[thread])
      next[thread] += 1
    }
    #expect(next == [count, count, count, count])
  }

  @Test func `A record can be forwarded again, to another proxy, and from inside of itself`() throws
  {
    let sample = try Sample()
    let other = try Log.proxy()
    let spy = try Spy(other)
    var decoder = WireDecoder(sample.all, schema: sample.schema)
    let record = try #require(try decoder.next())
    try record.forward(to: other)
    try record.forward(to: other)
    #expect(spy.calls(of: Log.tick).map(\.2) == ["a string", "a string"])
    let wrong = try DynamicProxy(
      adopting: ProtocolTable("W") { $0.optional("tick:price:symbol:", "v@:qd") })
    let error = wireError { try record.forward(to: wrong) }
    #expect(error?.code == .methodMismatch)
    #expect(error?.description.contains("\"v@:qd\"") == true)
  }

  @Test func `A record gives the result of its method`() throws {
    let proxy = try Log.proxy()
    let schema = try Log.schema(of: proxy)
    let bytes = Bytes(schema)
    let token = try proxy.record(with: WireEncoder(schema)) { bytes.append($0) }
    _ = try proxy.send(Log.sum, 20)
    try proxy.send(Log.number, 1)
    token.cancel()
    let subscription = try proxy.subscribe { $0.on(Log.sum) { $0 + 1 } }
    var decoder = WireDecoder(bytes.all, schema: schema)
    let asked = try #require(try decoder.next())
    #expect(asked.signature.description == "q@q")
    var results: [Int64] = []
    func take(_ result: RawSpan) {
      results.append(unsafe result.unsafeLoadUnaligned(as: Int64.self))
    }
    try unsafe asked.unsafeForward(to: proxy, result: take)
    #expect(results == [21])
    let other = try DynamicProxy(adopting: ProtocolTable("O") { $0.optional("sum:", "i@:q") })
    let error = wireError { try unsafe asked.unsafeForward(to: other, result: take) }
    #expect(error?.code == .methodMismatch && results == [21])
    #expect(error?.description.contains("\"i@:q\"") == true)
    // Nobody responds, and there is no default.
    subscription.cancel()
    let silent = try DynamicProxy(adopting: ProtocolTable("S") { $0.optional("sum:", "q@:q") })
    let missing = wireError { try unsafe asked.unsafeForward(to: silent, result: take) }
    #expect(missing?.forwardingError?.code == .noResponder && results == [21])
    let void = try #require(try decoder.next())
    var size = -1
    try unsafe void.unsafeForward(to: proxy) { size = $0.byteCount }
    #expect(size == 0)
  }
}

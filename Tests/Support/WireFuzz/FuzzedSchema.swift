// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding
internal import ForwardingWire

/// A proxy with random methods, whose subscriber reads all that pointers point to.
internal struct FuzzedSchema {
  private let proxy: DynamicProxy
  private let schema: WireSchema
  private let methods: [FuzzedMethod]
  let reader = Reader()
  private let tokens: [DynamicProxy.Token]

  init(_ random: inout Random) throws {
    let methods = (0...random.below(4)).map { FuzzedMethod("m\($0):", &random) }
    let proxy = try DynamicProxy(
      adopting: ProtocolTable("Fuzzed") { table in
        for method in methods {
          table.optional(method.name, method.encoding, stating: method.layouts)
        }
      })
    schema = try WireSchema(of: proxy) { builder in
      for method in methods {
        for (index, argument) in method.arguments.enumerated() {
          if let rule = argument.rule(index) { builder.rule(method.name, argument: index, rule) }
        }
      }
    }
    tokens = try methods.map { [reader] method in
      try proxy.around(MethodSelector(validating: method.name)) { invocation, _ in
        try reader.read(invocation, method)
      }
    }
    self.proxy = proxy
    self.methods = methods
  }

  /// A schema record and some records, with the offset of each.
  func makeStream(_ random: inout Random) throws -> (bytes: [UInt8], starts: [Int]) {
    let encoder = WireEncoder(schema, producer: UInt32(random.below(9)))
    var (bytes, starts) = (schema.bytes, [0])
    for _ in 0...random.below(4) {
      starts.append(bytes.count)
      let method = methods[random.below(methods.count)]
      try method.withInvocation(&random) { try encoder.encode($0, into: &bytes) }
    }
    return (bytes, starts)
  }

  func replay(_ bytes: [UInt8]) throws -> Int {
    try replay(WireDecoder(bytes, schema: schema))
  }

  /// Replays records as a journal does: methods that do not fit are errors at their first
  /// invocations.
  ///
  /// - Parameter isFiltered: whether only the first method must fit.
  func replayPieces(_ bytes: [UInt8], isFiltered: Bool) throws -> Int {
    try replay(
      WireDecoder(
        joining: [bytes], schema: schema, methods: isFiltered ? [methods[0].name] : nil))
  }

  private func replay(_ decoder: consuming WireDecoder) throws -> Int {
    var count = 0
    while let record = try decoder.next() {
      try record.forward(to: proxy)
      count += 1
    }
    return count
  }

  /// Whether a method has stated layouts.
  var hasStatedLayouts: Bool { methods.contains { !$0.layouts.isEmpty } }

  /// The records as JSON, read with this schema.
  func json(_ bytes: [UInt8]) throws -> [String] {
    try Self.json(WireDecoder(bytes, schema: schema)) { _ in }
  }

  /// Reads records by their recorded schemas.
  ///
  /// - Parameter body: gets each record as JSON.
  static func show(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
    _ = try json(WireDecoder(showing: bytes), body)
  }

  private static func json(
    _ decoder: consuming WireDecoder, _ body: (String) throws -> Void
  ) throws -> [String] {
    var texts: [String] = []
    while let record = try decoder.next() {
      let text = record.json
      try body(text)
      texts.append(text)
      // Reads the arguments, too.
      guard record.description.hasPrefix(record.selector.name) else {
        throw WireFuzzer.Fault(description: "a record does not begin with its method")
      }
    }
    return texts
  }
}

/// Adds up everything that it is given.
internal final class Reader: @unchecked Sendable {
  // SAFETY: one thread forwards.
  var sum: UInt64 = 0

  func read(_ invocation: Invocation, _ method: FuzzedMethod) throws {
    for (index, argument) in method.arguments.enumerated() {
      let place = index + 2
      switch argument {
      case .number:
        try invocation.withBytes(ofArgumentAt: place) { bytes in
          unsafe bytes.withUnsafeBytes { unsafe add($0) }
        }
      case .string:
        try unsafe readString(invocation.argument(at: place, as: UnsafePointer<CChar>?.self))
      case .counted(let size, _):
        let target = try unsafe invocation.argument(at: place, as: UnsafeRawPointer?.self)
        let count = try invocation.argument(at: place + 1, as: Int32.self)
        unsafe readBuffer(target, Int(count) * size)
      case .count: break
      case .fixed(let size, _, _):
        let target = try unsafe invocation.argument(at: place, as: UnsafeRawPointer?.self)
        unsafe readBuffer(target, size)
      case .value:
        let target = try unsafe invocation.argument(at: place, as: UnsafeRawPointer?.self)
        if let target = unsafe target {
          let words = unsafe target.assumingMemoryBound(to: [Int].self).pointee
          for word in words { sum = sum &* 31 &+ UInt64(bitPattern: Int64(word)) }
        }
      }
    }
  }

  private func add(_ bytes: UnsafeRawBufferPointer) {
    for index in bytes.indices { sum = sum &* 31 &+ UInt64(unsafe bytes[index]) }
  }

  private func readString(_ text: UnsafePointer<CChar>?) {
    guard var at = unsafe text else { return }
    while unsafe at.pointee != 0 {
      sum = sum &* 31 &+ UInt64(unsafe UInt8(bitPattern: at.pointee))
      unsafe at += 1
    }
  }

  private func readBuffer(_ target: UnsafeRawPointer?, _ size: Int) {
    guard let target = unsafe target else { return }
    // Elements are read as C reads them: aligned.
    precondition(Int(bitPattern: target) % 8 == 0)
    unsafe add(UnsafeRawBufferPointer(start: target, count: size))
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingWire
import Foundation

struct Place: TypeEncodable, BitwiseCopyable, Equatable, Sendable {
  var kind: Int8
  var x: Double
  var y: Int32
  static var typeEncoding: String { "{Place=cdi}" }
}

struct Name: Codable, Equatable, Sendable {
  var first: String
  var last: String?
}

/// The methods of the tests.
enum Log {
  static let number = Method("number:", ((Int64) -> Void).self)
  static let tick = Method("tick:price:symbol:", ((Int64, Double, String?) -> Void).self)
  static let place = Method("place:", ((Place) -> Void).self)
  static let sum = Method("sum:", ((Int64) -> Int64).self)
  static let write = unsafe Method("write:count:", ((UnsafeRawPointer?, Int32) -> Void).self)
  static let moved = unsafe Method("moved:", ((UnsafePointer<Place>?) -> Void).self)

  static func table() throws -> ProtocolTable {
    try ProtocolTable("Log") {
      $0.optional(number)
      $0.optional(tick)
      $0.optional(place)
      $0.optional(sum, result: .reduce(Int64(0)) { $0 + $1 })
      $0.optional("write:count:", "v@:r^vi")
      $0.optional("moved:", "v@:r^{Place=cdi}")
      $0.optional("named:", "v@:^{\(String(reflecting: Name.self))}")
      $0.optional("none", "v@:")
    }
  }

  static func rules(_ builder: inout WireSchema.Builder) {
    builder.rule("write:count:", argument: 0, .counted(by: 1))
    builder.rule("moved:", argument: 0, .fixed(count: 1))
    builder.rule("named:", argument: 0, .codable(Name.self))
  }

  static func proxy() throws -> DynamicProxy { try DynamicProxy(adopting: table()) }

  static func schema(of proxy: DynamicProxy) throws -> WireSchema {
    try WireSchema(of: proxy, rules)
  }
}

/// What several threads collect. Not behind a `Mutex`, which the thread sanitizer does not
/// know on Linux.
final class Collected<Element: Sendable>: @unchecked Sendable {
  // SAFETY: the lock protects the elements.
  private let lock = NSLock()
  private var elements: [Element] = []

  var all: [Element] { lock.withLock { elements } }
  func append(_ element: Element) { lock.withLock { elements.append(element) } }
}

/// What several threads append to.
final class Bytes: @unchecked Sendable {
  // SAFETY: the lock protects the bytes.
  private let lock = NSLock()
  private var bytes: [UInt8]

  init(_ schema: WireSchema) { bytes = schema.bytes }

  var all: [UInt8] { lock.withLock { bytes } }

  func append(_ record: RawSpan) {
    lock.withLock {
      unsafe record.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }
  }
}

extension WireSchema {
  /// The records of some bytes behind a schema record, forwarded to a proxy.
  @discardableResult
  func replay(_ bytes: [UInt8], to proxy: DynamicProxy) throws -> Int {
    var decoder = WireDecoder(bytes, schema: self)
    var count = 0
    while let record = try decoder.next() {
      try record.forward(to: proxy)
      count += 1
    }
    return count
  }
}

/// The error that a closure throws.
func wireError(_ body: () throws -> Void) -> WireError? {
  do {
    try body()
    return nil
  } catch {
    return error as? WireError
  }
}

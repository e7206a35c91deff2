// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

/// Sends that make an argument frame: strings, enums, and types that a tuple has elsewhere
/// than a C struct.
@Suite struct FramePlanTests {
  private enum Level: String { case low, high }
  private enum Kind: Int16 {
    case none = -1
    case some = 300
  }
  private struct Flags: OptionSet { let rawValue: UInt64 }
  private enum Layered: RawRepresentable {
    case kind(Kind)
    init?(rawValue: Kind) { self = .kind(rawValue) }
    var rawValue: Kind {
      switch self {
      case .kind(let kind): kind
      }
    }
  }

  private static let mixed = Method(
    "mixed:::::::",
    ((Int8, String, Kind, String?, Flags, Level, Double) -> Int).self)
  private static let twice = Method("twice::", ((String, String) -> Void).self)

  @Test func `each argument arrives as it was sent`() throws {
    #expect(Self.mixed.passing == .frame)
    let proxy = try DynamicProxy { $0.optional(Self.mixed) }
    let lines = Box<[String]>([])
    let token = try proxy.subscribe {
      $0.on(Self.mixed) { small, text, kind, optional, flags, level, number in
        lines.update {
          $0.append(
            "\(small) \(text) \(kind) \(optional ?? "nil") \(flags.rawValue) \(level) \(number)")
        }
        return text.utf8.count
      }
    }
    #expect(
      try proxy.send(Self.mixed, -7, "grün", .some, nil, Flags(rawValue: .max), .high, 0.5) == 5)
    #expect(try proxy.send(Self.mixed, 8, "", .none, "", [], .low, -1) == 0)
    #expect(
      lines.value == [
        "-7 grün some nil 18446744073709551615 high 0.5", "8  none  0 low -1.0",
      ])
    withExtendedLifetime(token) {}
  }

  @Test(
    "texts of any length are copied, each to a place of its own",
    arguments: [0, 1, 15, 16, 1000, 1023, 1024, 1025, 70_000, 3_000_000])
  func lengths(length: Int) throws {
    let proxy = try DynamicProxy { $0.optional(Self.twice) }
    let seen = Box<[String]>([])
    let token = try proxy.subscribe {
      $0.on(Self.twice) { first, second in seen.update { $0 = [first, second] } }
    }
    let texts = [String(repeating: "x", count: length), String(repeating: "ü", count: length / 2)]
    try proxy.send(Self.twice, texts[0], texts[1])
    #expect(seen.value == texts)
    try proxy.send(Self.twice, texts[1], texts[0])
    #expect(seen.value == texts.reversed())
    withExtendedLifetime(token) {}
  }

  @Test func `a NUL is an error, and nobody is called`() throws {
    let proxy = try DynamicProxy { $0.optional(Self.twice) }
    let calls = Box(0)
    let token = try proxy.subscribe { $0.on(Self.twice) { _, _ in calls.update { $0 += 1 } } }
    for arguments in [("a\0", "b"), ("a", "\0")] {
      let error = #expect(throws: ForwardingError.self) {
        try proxy.send(Self.twice, arguments.0, arguments.1)
      }
      #expect(error?.code == .valueNotRepresentable)
    }
    #expect(calls.value == 0)
    try proxy.send(Self.twice, "a", "b")
    #expect(calls.value == 1)
    withExtendedLifetime(token) {}
  }

  /// Gives a longer text each time that it is asked.
  private struct Growing: RawRepresentable {
    let reads = Box(0)
    init() {}
    init?(rawValue: String) {}
    var rawValue: String {
      String(
        repeating: "x",
        count: reads.update {
          $0 += 40
          return $0
        })
    }
  }

  @Test func `a raw value that grows while it is read is not written past its room`() throws {
    let key = Method("grow:then:", ((Growing, String) -> Void).self)
    #expect(key.passing == .frame)
    let proxy = try DynamicProxy { $0.optional("grow:then:", "v@**") }
    let seen = Box<[String]>([])
    let token = try proxy.subscribe {
      $0.on("grow:then:") { (text: String, _: String) in seen.update { $0.append(text) } }
    }
    for _ in 0..<3 { try proxy.send(key, Growing(), "a text behind it") }
    #expect(seen.value.count == 3)
    #expect(seen.value.allSatisfy { !$0.isEmpty && $0.utf8.count % 40 == 0 })
    withExtendedLifetime(token) {}
  }

  @Test func `an enum whose raw value is an enum is written as the innermost value`() throws {
    let key = Method("layered:", ((Layered) -> Void).self)
    let proxy = try DynamicProxy { $0.optional(key) }
    let seen = Box<[Int16]>([])
    let token = try proxy.subscribe {
      $0.on("layered:") { (kind: Int16) in seen.update { $0.append(kind) } }
    }
    try proxy.send(key, .kind(.some))
    try proxy.send(key, .kind(.none))
    #expect(seen.value == [300, -1])
    withExtendedLifetime(token) {}
  }

  @Test func `one key passes its argument as each method has it`() throws {
    let key = Method("name:", ((String) -> Void).self)
    let seen = Box<[String]>([])
    for encoding in ["v@*", "v@^{Swift.String}"] {
      let proxy = try DynamicProxy { $0.optional("name:", encoding) }
      let token = try proxy.subscribe { $0.on(key) { text in seen.update { $0.append(text) } } }
      for _ in 0..<2 { try proxy.send(key, "a text that is not small") }
      withExtendedLifetime(token) {}
    }
    #expect(seen.value == Array(repeating: "a text that is not small", count: 4))
  }

  @Test func `a handler may send the same method with another text`() throws {
    let proxy = try DynamicProxy { $0.optional(Self.twice) }
    let seen = Box<[String]>([])
    let token = try proxy.subscribe {
      $0.on(Self.twice) { [weak proxy] first, second in
        if second.utf8.count < 40 { try? proxy?.send(Self.twice, second, second + first) }
        seen.update { $0.append(first) }
      }
    }
    try proxy.send(Self.twice, "abc", "defgh")
    #expect(seen.value.last == "abc")
    #expect(seen.value.count == 6)
    withExtendedLifetime(token) {}
  }

  @Test func `what is gathered gets the same frame`() throws {
    let key = Method("count:of:", ((String, Kind) -> Int).self)
    let proxy = try DynamicProxy { $0.optional(key) }
    let tokens = try (1...3).map { factor in
      try proxy.subscribe { $0.on(key) { $0.utf8.count * factor + Int($1.rawValue) } }
    }
    #expect(try proxy.collect(key, "four", .some).map(\.value) == [304, 308, 312])
    #expect(throws: ForwardingError.self) { try proxy.collect(key, "\0", .some) }
    withExtendedLifetime(tokens) {}
  }
}

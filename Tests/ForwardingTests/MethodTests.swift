// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What is derived from the types of a method key.
@Suite struct MethodTests {
  private struct Unstated {
    var x = 0.0
  }
  private enum Rawless: TypeEncodable {
    case first, second
    static var typeEncoding: String { "C" }
  }
  private struct Misstated: TypeEncodable {
    var x: Int32 = 0
    static var typeEncoding: String { "{Misstated=q}" }
  }
  private struct Unreadable: TypeEncodable {
    static var typeEncoding: String { "{" }
  }
  private struct Counted: TypeEncodable {
    var object: AnyObject?
    static var typeEncoding: String { "{Counted=^v}" }
  }
  private enum Words: String { case one }
  private struct Listed: RawRepresentable {
    let rawValue: [Int]
  }

  private func fault<Output, each Argument>(
    _ key: Forwarding.Method<Output, repeat each Argument>
  ) -> String? {
    let error = #expect(throws: ForwardingError.self) { try key.signature }
    #expect(error?.code == .noEncoding)
    #expect(error?.selector == key.selector.name)
    return error?.description
  }

  @Test func `a signature is derived from the types`() throws {
    let visit = unsafe Method(
      "visit:status:kind:", ((UnsafePointer<CChar>, UnsafePointer<stat>?, Int32) -> Int32).self)
    #expect(unsafe visit.selector == "visit:status:kind:")
    #expect(try unsafe visit.signature == MethodSignature("i@*^{stat}i"))
    #expect(try unsafe visit.signature.text == "i@r*r^{stat}i")
    #expect(try Method("finished:", ((Int64) -> Void).self).signature.text == "v@q")
    #expect(try Method("finish", (() -> Void).self).signature.text == "v@")
    #expect(try Method("say:", ((Words) -> Void).self).signature.text == "v@r*")
    #expect(try Method("next", (() -> AnyObject?).self).signature.text == "@@")
  }

  @Test func `a stated layout becomes part of the signature`() throws {
    let key = Method("pack::", ((fixture_packed, fixture_packed) -> fixture_flags).self)
    let signature = try key.signature
    #expect(signature.text == "{fixture_flags=b3b20d}@{fixture_packed=ci}{fixture_packed=ci}")
    #expect(signature.arguments[1].layout.size == 5 && signature.frameSize == 10)
  }

  @Test func `a selector as first parameter does not become the method's own`() throws {
    let signature = try Method("perform:", ((MethodSelector) -> Void).self).signature
    #expect(signature.text == "v@::" && signature.firstArgumentIndex == 2)
    #expect(
      try Method("perform::", ((Int32, MethodSelector) -> Void).self).signature.text == "v@i:")
  }

  @Test func `keys of one selector and the same types are one`() {
    let first = Method("ping:", ((Int32) -> Void).self)
    #expect(first.token == Method("ping:", ((Int32) -> Void).self).token)
    #expect(first.token != Method("ping:", ((Int64) -> Void).self).token)
    #expect(first.token != Method("pong:", ((Int32) -> Void).self).token)
    #expect(first.token != Method("ping:", ((Int32) -> Int32).self).token)
    #expect(MemoryLayout.size(ofValue: first) <= 24)
  }

  @Test func `a send passes a tuple of the arguments, or makes a frame of it`() {
    #expect(Method("a", (() -> Void).self).passing == .tuple)
    let mixed = Method("a", ((Bool, Int8, Double, AnyObject?) -> Double).self)
    #expect(mixed.passing == .tuple)
    let pointers = unsafe Method("a", ((UnsafePointer<CChar>, fixture_point) -> Int).self)
    #expect(unsafe pointers.passing == .tuple)
    #expect(Method("a", ((fixture_row_100, Int128) -> Void).self).passing == .tuple)
    #expect(Method("a", ((String, String?, Int8) -> Void).self).passing == .frame)
    #expect(Method("a", ((fixture_color) -> Void).self).passing == .frame)
    #expect(Method("a", (() -> fixture_large).self).passing == .each)
  }

  // MARK: Errors

  @Test func `a type without an encoding is named with its parameter`() {
    #expect(
      fault(Method("log:at:", ((Int32, [Int32]) -> Void).self))
        == "parameter 2 of the method key \"log:at:\" is Array<Int32>: it does not conform to TypeEncodable, expected a Swift type that has an encoding"
    )
    #expect(fault(Method("all", (() -> (Int32, Int32)).self))?.hasPrefix("the result of") == true)
    #expect(
      fault(Method("a:", ((Unstated) -> Void).self))?.contains(
        "Unstated: it does not conform to TypeEncodable") == true)
    #expect(
      fault(Method("a:", ((Rawless) -> Void).self))?.contains(
        "Rawless: it is an enum without a raw type; give it one, such as Int32") == true)
    #expect(
      fault(Method("a:", ((Int32?) -> Void).self))?.contains(
        "only pointers, objects, classes, strings, selectors and C functions can be nil in C")
        == true)
    #expect(
      fault(Method("a:", ((@escaping (Int32) -> Void) -> Void).self))?.contains(
        "C takes only @convention(c) functions") == true)
    #expect(
      fault(Method("a:", ((Listed) -> Void).self))?.contains(
        "Listed: its raw value is Array<Int>") == true)
  }

  @Test func `a result cannot be a String`() {
    #expect(
      fault(Method("name", (() -> String).self))
        == "the method key \"name\": the result of \"name\" is 'r*' (const C string), got String, whose copy as a C string would have no owner; use UnsafePointer<CChar>"
    )
  }

  @Test func `a type that states a wrong encoding is refused`() {
    #expect(
      fault(Method("a:", ((Misstated) -> Void).self))?.contains(
        "Misstated of 4 bytes aligned to 4, whose encoding says 8 bytes aligned to 8") == true)
    #expect(
      fault(Method("a:b:", ((Int32, Unreadable) -> Void).self))?.hasPrefix(
        "parameter 2 of the method key \"a:b:\" is Unreadable: the encoding that it states, \"{\"")
        == true)
    #expect(
      fault(Method("a:", ((Counted) -> Void).self))?.contains("references that Swift counts")
        == true)
  }
}

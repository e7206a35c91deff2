// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct VariadicTests {
  /// What snprintf writes.
  private func format<each Argument>(
    _ encodings: String, _ format: String, _ values: repeat each Argument
  ) throws -> String {
    let signature = try MethodSignature("i^cQ*..." + encodings)
    let room = UnsafeMutablePointer<CChar>.allocate(capacity: 200)
    defer { unsafe room.deallocate() }
    let length: Int32 = try unsafe signature.unsafeCall(
      Library().symbol("snprintf"), room, UInt64(200), format, repeat each values)
    let text = unsafe String(cString: room)
    #expect(text.utf8.count == Int(length))
    return text
  }

  @Test func `numbers and strings`() throws {
    #expect(try format("id*", "%d %.2f %s", Int32(-3), 2.5, "ñ") == "-3 2.50 ñ")
  }

  @Test func `no unnamed arguments`() throws {
    #expect(try format("", "nothing") == "nothing")
  }

  @Test func `unnamed arguments are promoted`() throws {
    let text = try format(
      "fcCsSB", "%.1f %d %d %d %d %d", Float(0.5), Int8(-1), UInt8(255), Int16(-300), UInt16(65535),
      true)
    #expect(text == "0.5 -1 255 -300 65535 1")
  }

  @Test func `more arguments than registers`() throws {
    let text = try format(
      "ddddddddddqqqq", "%g %g %g %g %g %g %g %g %g %g %lld %lld %lld %lld", 1.0, 2.0, 3.0, 4.0,
      5.0,
      6.0, 7.0, 8.0, 9.0, 10.0, Int64(11), Int64(12), Int64(13), Int64.min)
    #expect(text == "1 2 3 4 5 6 7 8 9 10 11 12 13 -9223372036854775808")
  }

  @Test func `the canonical spelling has the dots`() throws {
    #expect(try MethodSignature("i24*0...i8d16").description == "i*...id")
    #expect(try MethodSignature("i*...").description == "i*...")
  }

  @Test func `signatures with different named arguments differ`() throws {
    let signatures = try ["i*id", "i*...id", "i*i...d", "i*id..."].map { try MethodSignature($0) }
    for (left, one) in signatures.enumerated() {
      for (right, other) in signatures.enumerated() {
        #expect((one == other) == (left == right))
        #expect(one.isCompatible(with: other) == (left == right))
      }
    }
    #expect(Set(signatures).count == 4)
    #expect(try signatures[1] == MethodSignature("i*...id"))
  }

  @Test(arguments: [
    ("i...*", "expected a named argument before \"...\" at offset 1"),
    ("...", "expected a type at offset 0"),
    ("i*..", "stands before the unnamed arguments of a variadic function at offset 4"),
    ("i*.d", "stands before the unnamed arguments of a variadic function at offset 3"),
    ("i*...d...", "expected one \"...\" at most at offset 6"),
    ("v@?<v*...>", "expected a type at offset 6"),
  ])
  func `dots in the wrong place`(text: String, reason: String) {
    #expect {
      try MethodSignature(text)
    } throws: { error in
      "\(error)".contains(reason)
    }
  }

  @Test func `there is no variadic function pointer`() throws {
    let signature = try MethodSignature("i*...i")
    #expect {
      _ = try FunctionPointer(signature) { _ in }
    } throws: { error in
      (error as? ForwardingError)?.code == .unsupported && "\(error)".contains("without \"...\"")
    }
  }

  @Test func `an unnamed argument without an address is refused`() throws {
    let signature = try MethodSignature("i*...i")
    let printing = try unsafe Library().symbol("printf")
    var text: UnsafePointer<CChar>?
    unsafe withUnsafeMutableBytes(of: &text) { text in
      // One pointer of two is null, which the array's type does not show.
      let pointers: [UnsafeMutableRawPointer?] = unsafe [text.baseAddress, nil]
      _ = unsafe pointers.withUnsafeBytes { pointers in
        #expect(throws: ForwardingError.self) {
          try unsafe signature.unsafeCall(
            printing,
            argumentPointers: pointers.baseAddress!.assumingMemoryBound(
              to: UnsafeMutableRawPointer.self), result: nil)
        }
      }
    }
  }

  @Test func `an unnamed argument of the wrong type is refused`() throws {
    #expect {
      _ = try format("i", "%d", 2.5)
    } throws: { error in
      "\(error)".contains("parameter 4 of")
    }
  }
}

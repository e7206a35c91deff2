// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// What compilers write into encodings beyond types that C passes by value.
/// Tests/ABI compares layouts and calls with the compilers' own.
@Suite struct CompilerEncodingsTests {
  @Test(
    "an array argument is the pointer that C passes",
    arguments: [
      ("v24@0:8[16C]16", "v@:^C"), ("v24@0:8[16rC]16", "v@:^rC"), ("v@:[3[4i]]", "v@:^[4i]"),
      ("v@:[0i]", "v@:^i"), ("v@:[2@]", "v@:^@"), ("v@:[2{S=b0I3}]", "v@:^{S=b0I3}"),
    ])
  func array(text: String, expected: String) throws {
    let signature = try MethodSignature(text)
    #expect(signature == (try MethodSignature(expected)))
    #expect(signature.description == expected)
    let argument = signature.arguments[2]
    #expect(argument.encoding.kind == .pointer)
    #expect(argument.layout.size == 8 && argument.layout.alignment == 8)
    #expect(signature.frameSize == 8)
    #expect(try signature.withoutReceiver().arguments[0].encoding.kind == .pointer)
  }

  @Test func `an array argument is passed as a pointer`() throws {
    // memcmp(const uint8_t[4], const uint8_t[4], size_t), as if it were declared so.
    let signature = try MethodSignature("i[4rC][4rC]Q")
    #expect(signature.arguments[0].encoding.typeName == "pointer to const UInt8")
    let compare: @convention(c) (UnsafePointer<UInt8>?, UnsafePointer<UInt8>?, UInt64) -> Int32 =
      { left, right, count in
        guard let left = unsafe left, let right = unsafe right else { return -1 }
        return (0..<Int(count)).allSatisfy { unsafe left[$0] == right[$0] } ? 0 : 1
      }
    let bytes: [UInt8] = [1, 2, 3, 4, 1, 2, 4, 3]
    for (count, expected) in [(UInt64(4), Int32(1)), (2, 0)] {
      let result: Int32 = try unsafe bytes.withUnsafeBufferPointer { bytes in
        let left = bytes.baseAddress!
        return try unsafe signature.unsafeCall(compare, left, left + 4, count)
      }
      #expect(result == expected)
    }
  }

  @Test func `an array is no result`() {
    let error = #expect(throws: ForwardingError.self) { try MethodSignature("[4i]@:") }
    #expect(error?.code == .unsupported && error?.offset == 0)
    #expect(error?.description.contains("'^' returns its address") == true)
  }

  @Test func `an array keeps its kind where it is no argument`() throws {
    #expect(try TypeEncoding("[4i]").kind == .array)
    #expect(try MethodSignature("v@:{S=[4i]}").arguments[2].encoding.fields[0].kind == .array)
  }

  @Test(
    "GNU bit-fields have layouts",
    arguments: [
      ("{S=b0I3b3I5}", 4, 4), ("{S=b0i3b3I5b32i0cb64Q40b104B1b105i4}", 16, 8), ("(U=b0i3c)", 4, 4),
      ("{S=cb8I4}", 4, 4), ("{S=b0Q40b64Q40}", 16, 8), ("{S=b0C3b8C7d}", 16, 8),
      (#"{S="a"c""b8I4}"#, 2, 1), ("{S=b0I0}", 0, 1),
    ])
  func bitFields(text: String, size: Int, alignment: Int) throws {
    let layout = try TypeEncoding(text).layout()
    #if arch(x86_64)
      #expect(layout.size == size && layout.alignment == alignment)
    #else
      // Bit-fields without names align their structs elsewhere.
      #expect(layout.size >= size && layout.alignment >= alignment)
    #endif
  }

  @Test(
    "GNU bit-fields that contradict C's layout are refused with the reason",
    arguments: [
      ("{S=b1I3}", 3, "position"), ("{S=cb9I4}", 4, "position"), ("{S=b0I33}", 3, "wider"),
      ("{S=b0I31b31I2}", 8, "position"), ("(U=cb8I3)", 4, "position"), ("{S=b3}", 3, "stated"),
    ])
  func contradicting(text: String, offset: Int, reason: String) throws {
    let error = #expect(throws: ForwardingError.self) { try TypeEncoding(text).layout() }
    #expect(error?.code == .unsupported && error?.offset == offset)
    #expect(error?.description.contains(reason) == true)
    let signature = #expect(throws: ForwardingError.self) { try MethodSignature("v@:\(text)") }
    #expect(signature?.code == .unsupported && signature?.offset == offset + 3)
  }

  @Test func `a stated layout still applies to GNU bit-fields`() throws {
    // struct __attribute__((packed)) { char c; int x : 9; char d; }
    let packed = StatedLayout(
      "P", size: 4, alignment: 1, members: [.offset(0), .bit(8), .offset(3)])
    #expect(try TypeEncoding("{P=cb8i9c}", stating: [packed]).layout().alignment == 1)
  }

  @Test(
    "types that compilers cannot encode are unsupported, with what to do",
    arguments: [
      ("jt", 1, "complex"), ("jT", 1, "complex"), ("j ", 1, "complex"), (" ", 0, "'^v'"),
      ("^ ", 1, "'^v'"), ("![16,16f]", 0, "vector"), ("{S=![16,16f]i}", 3, "vector"),
      ("%", 0, "'*'"), ("|@", 0, "leave it out"),
    ])
  func unsupported(text: String, offset: Int, reason: String) {
    let error = #expect(throws: ForwardingError.self) { try TypeEncoding(text) }
    #expect(error?.code == .unsupported)
    #expect(error?.offset == offset)
    #expect(error?.description.contains(reason) == true)
  }

  @Test(
    "a vector that clang leaves out shows by its offset",
    arguments: [
      ("v36@0:816i32", 6), ("v32@0:816", 6), ("v24@08", 4), ("v52@0:81632i48", 6), ("16@0:8", 0),
    ])
  func droppedVectors(text: String, offset: Int) {
    let error = #expect(throws: ForwardingError.self) { try MethodSignature(text) }
    #expect(error?.code == .unsupported && error?.offset == offset)
    #expect(error?.description.contains("vector") == true)
  }

  @Test(
    "other offsets do not matter",
    arguments: [
      ("v@0:8i16", "v@:i"), ("v8@+8:+12i+16", "v@:i"), ("v16@0:8{E=}16", "v@:{E=}"),
      ("v8@0:4i-8", "v@:i"), ("v20@0:8i16", "v@:i"),
    ])
  func offsets(text: String, expected: String) throws {
    #expect(try MethodSignature(text) == MethodSignature(expected))
  }
}

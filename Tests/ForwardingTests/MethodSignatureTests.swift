// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal
import Testing

@testable import Forwarding

extension MethodSignature {
  // SIZE_MAX.
  private static let noContext = -1

  /// The signature of a C callback without a context pointer.
  internal func withoutReceiver() throws(ForwardingError) -> MethodSignature {
    var callback: OpaquePointer?
    var error = fwd_error()
    // SAFETY: the outputs are local variables.
    let status = unsafe fwd_signature_replace_hidden(handle, Self.noContext, &callback, &error)
    guard status == FWD_OK, let callback = unsafe callback else {
      throw ForwardingError(error, encoding: text)
    }
    // SAFETY: this value takes over the reference.
    return unsafe MethodSignature(owning: callback)
  }
}

@Suite struct MethodSignatureTests {
  @Test func `without its result it has no layout that was stated for the result only`() throws {
    let header = StatedLayout("Header", size: 5, alignment: 1, members: [.offset(0), .offset(1)])
    let whole = try MethodSignature("{Header=ci}@{HeaderList=i}", stating: [header])
    let without = try whole.withoutResult()
    #expect(without.text == "v@{HeaderList=i}" && without.statedLayouts.isEmpty)
    let both = try MethodSignature("{Header=ci}@{Header=ci}", stating: [header])
    #expect(try both.withoutResult().statedLayouts.count == 1)
  }

  @Test func `lays arguments out as the fields of a struct`() throws {
    let signature = try MethodSignature("v@:idc{P=dd}s")
    #expect(signature.arguments.map(\.index) == Array(0..<7))
    #expect(
      signature.arguments.map(\.encoding.kind).prefix(4) == [.object, .selector, .int, .double])
    #expect(signature.arguments.map(\.frameOffset) == [nil, nil, 0, 8, 16, 24, 40])
    #expect(signature.arguments.map(\.layout.size) == [8, 8, 4, 8, 1, 16, 2])
    #expect(signature.frameSize == 48)
    #expect(signature.frameAlignment == 8)
    #expect(signature.result.kind == .void)
    #expect(signature.resultLayout.size == 0)
  }

  @Test(
    "finds the receiver and the selector",
    arguments: [
      ("v@:id", 2), ("v^vi", 1), ("iid", 0), ("v", 0), ("v@", 1), ("v^{S=}:", 2), ("v:i", 0),
      ("vi:", 0), ("v@i:", 1), ("v@?i", 1),
    ])
  func receiver(text: String, first: Int) throws {
    let signature = try MethodSignature(text)
    #expect(signature.firstArgumentIndex == first)
    #expect(signature.arguments.filter { $0.frameOffset == nil }.count == first)
  }

  @Test(
    "gives the shape without the receiver and the selector",
    arguments: [
      ("v@:id", "vid"), ("i^v*", "i*"), ("iid", "iid"), ("v24@0:8i16", "vi"), ("v@:", "v"),
    ])
  func withoutReceiver(text: String, expected: String) throws {
    #expect(try MethodSignature(text).withoutReceiver() == MethodSignature(expected))
  }

  @Test func `skips offsets and keeps the text`() throws {
    let signature = try MethodSignature("v24@0:8i16")
    #expect(signature.text == "v24@0:8i16")
    #expect(signature.description == "v@:i")
    #expect(signature == (try MethodSignature("v@:i")))
    #expect(signature.arguments[2].encoding.text == "i")
  }

  @Test(
    "is equal to what means the same",
    arguments: [
      ("v@:i", "v@:i"), ("v16@0:8", "v@:"), ("{P=dd}@:", "r{P=dd}@:"), ("v@:r*", "v@:*"),
    ])
  func equal(left: String, right: String) throws {
    let (left, right) = (try MethodSignature(left), try MethodSignature(right))
    #expect(left == right)
    #expect(left.hashValue == right.hashValue)
    #expect(left.isCompatible(with: right))
  }

  @Test(
    "differs from what means something else",
    arguments: [("v@:i", "v@:I"), ("v@:i", "v@:ii"), ("i@:", "v@:"), ("v@:", "v@")])
  func different(left: String, right: String) throws {
    let (left, right) = (try MethodSignature(left), try MethodSignature(right))
    #expect(left != right)
    #expect(!left.isCompatible(with: right))
  }

  @Test(
    "tells what can be called as one another",
    arguments: [
      ("v@:^v", "v@:^i", true), ("v@:i", "v^v:i", true), ("v@i", "v@:i", false),
      ("v^vi", "v@i", true), ("*@:", "^c@:", true), ("v@:i", "v@:q", false),
    ])
  func compatible(left: String, right: String, expected: Bool) throws {
    let (left, right) = (try MethodSignature(left), try MethodSignature(right))
    #expect(left.isCompatible(with: right) == expected)
    #expect(right.isCompatible(with: left) == expected)
  }

  @Test(
    "refuses what cannot be read or called",
    arguments: [
      ("", ForwardingError.Code.malformed), ("v@:{", .malformed), ("v@:v", .unsupported),
      ("v@:b3", .unsupported), ("v@:{stat}", .unsupported), ("v@:[4v]", .unsupported),
      ("v@:[9999999999999999999999c]", .overflow), ("v{B=[1000000000c]}", .overflow),
    ])
  func refused(text: String, code: ForwardingError.Code) {
    let error = #expect(throws: ForwardingError.self) { try MethodSignature(text) }
    #expect(error?.code == code, "\(String(describing: error))")
    #expect(error?.encoding == text)
  }

  @Test func `bounds the number of arguments`() throws {
    #expect(try MethodSignature("v" + String(repeating: "i", count: 255)).arguments.count == 255)
    let error = #expect(throws: ForwardingError.self) {
      try MethodSignature("v" + String(repeating: "i", count: 256))
    }
    #expect(error?.code == .overflow)
  }

  @Test func `may be read in many threads at once`() async throws {
    let texts = (0..<20).map { "v@:" + String(repeating: "i", count: $0) }
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          (0..<500).allSatisfy { turn in
            let signature = try? MethodSignature(texts[turn % texts.count])
            return signature?.arguments.count == 2 + turn % texts.count
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}

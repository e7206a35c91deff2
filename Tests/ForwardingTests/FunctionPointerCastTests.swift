// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

/// The check of `FunctionPointer.unsafeCast(to:)`: the function type against the
/// signature.
@Suite struct FunctionPointerCastTests {
  struct Cast: Sendable, CustomTestStringConvertible {
    let encoding: String
    let type: Any.Type
    /// Nil if the cast is sound.
    let reason: String?
    var testDescription: String { "\(encoding) as \(type)" }

    init(_ encoding: String, _ type: Any.Type, _ reason: String? = nil) {
      self.encoding = encoding
      self.type = type
      self.reason = reason
    }
  }

  static let sound = [
    Cast("v", (@convention(c) () -> Void).self),
    Cast("v", (@convention(c) () -> Void)?.self),
    Cast("ii", (@convention(c) (Int32) -> Int32).self),
    Cast("ii", (@convention(c) (UInt32) -> UInt32).self),
    unsafe Cast("v@:id", (@convention(c) (AnyObject?, OpaquePointer?, Int32, Double) -> Void).self),
    unsafe Cast("i^vi", (@convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32).self),
    unsafe Cast("^{stat}*B", (@convention(c) (UnsafePointer<CChar>?, Bool) -> OpaquePointer?).self),
    Cast("v^?", (@convention(c) ((@convention(c) (Int32) -> Int32)?) -> Void).self),
    unsafe Cast("v[16C]", (@convention(c) (UnsafePointer<UInt8>) -> Void).self),
    Cast("{P=dd}{P=dd}", (@convention(c) (fixture_point) -> fixture_point).self),
    Cast("{M=idc}", (@convention(c) () -> fixture_mixed).self),
    Cast("fcsqQ", (@convention(c) (Int8, Int16, Int, UInt) -> Float).self),
  ]

  static let unsound = [
    Cast("ii", (@convention(c) () -> Int32).self, "expected 1 parameter, got 0"),
    unsafe Cast(
      "ii", (@convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32).self,
      "expected 1 parameter, got 2; a proxy's function pointer takes a context pointer only with context: .first, .last or .at"
    ),
    Cast("iid", (@convention(c) (Int32) -> Int32).self, "expected 2 parameters, got 1"),
    Cast(
      "ii", (@convention(c) (Int64) -> Int32).self,
      "parameter 1: expected 'i' (Int32), 4 bytes (integer), got Int64, 8 bytes (integer)"),
    Cast(
      "iq", (@convention(c) (Double) -> Int32).self,
      "parameter 1: expected 'q' (Int64), 8 bytes (integer), got Double, 8 bytes (floating)"),
    Cast(
      "if", (@convention(c) (Int32) -> Int32).self,
      "parameter 1: expected 'f' (Float), 4 bytes (floating), got Int32, 4 bytes (integer)"),
    Cast(
      "iid", (@convention(c) (Int32, Int32) -> Int32).self,
      "parameter 2: expected 'd' (Double), 8 bytes (floating), got Int32, 4 bytes (integer)"),
    Cast(
      "di", (@convention(c) (Int32) -> Float).self,
      "the result: expected 'd' (Double), 8 bytes (floating), got Float, 4 bytes (floating)"),
    Cast("vi", (@convention(c) (Int32) -> Int32).self, "the result: expected 'v' (void), 0 bytes"),
    Cast("ii", (@convention(c) (Int32) -> Void).self, "the result: expected 'i' (Int32), 4 bytes"),
    Cast("v{P=qq}", (@convention(c) (fixture_point) -> Void).self, "parameter 1: expected"),
    Cast("v{P=ffd}", (@convention(c) (fixture_point) -> Void).self, "parameter 1: expected"),
    Cast("v{P=ddd}", (@convention(c) (fixture_point) -> Void).self, "24 bytes (floating)"),
    Cast("v", Int32.self, "is no C function pointer"),
    Cast("v", Int.self, "is no C function pointer"),
    unsafe Cast("v", UnsafeRawPointer.self, "is no C function pointer"),
    Cast("v", (() -> Void).self, "is no C function pointer"),
  ]

  @Test("is sound for the signature's shape", arguments: sound)
  func soundCast(_ cast: Cast) throws {
    let function = try FunctionPointer(MethodSignature(cast.encoding)) { _ in }
    #expect(function.castMismatch(cast.type) == nil)
  }

  @Test("is refused for another shape, and both are named", arguments: unsound)
  func unsoundCast(_ cast: Cast) throws {
    let signature = try MethodSignature(cast.encoding)
    let function = try FunctionPointer(signature) { _ in }
    let message = try #require(function.castMismatch(cast.type))
    #expect(message.contains(try #require(cast.reason)), "\(message)")
    #expect(message.contains("\"\(signature)\"") && message.contains("\(cast.type)"))
  }

  @Test func `a struct that does not show its parts is compared by size`() throws {
    func mismatch(_ encoding: String, _ type: Any.Type) throws -> String? {
      let signature = try MethodSignature(
        encoding, stating: [StatedLayout("fixture_packed", size: 5, alignment: 1)])
      return try FunctionPointer(signature) { _ in }.castMismatch(type)
    }
    typealias Packed = @convention(c) (fixture_packed) -> Int32
    #expect(try mismatch("i{fixture_packed=ci}", Packed.self) == nil)
    #expect(
      try FunctionPointer(MethodSignature("i{fixture_packed=ci}")) { _ in }
        .castMismatch(Packed.self)?.contains("8 bytes") == true)
  }

  @Test func `a cast to another shape ends the program`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let function = try FunctionPointer(try MethodSignature("i^vi")) { _ in }
      let wrong: @convention(c) (Int32) -> Int32 = unsafe function.unsafeCast()
      _ = wrong(1)
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("\"i^vi\", (pointer to void, Int32) -> Int32"))
    #expect(output.contains("expected 2 parameters, got 1"))
  }

  @Test func `the member of a struct of callbacks is checked alike`() throws {
    @safe struct Callbacks: BitwiseCopyable {
      var changed: (@convention(c) (Int32) -> Void)?
      var moved: (@convention(c) (UnsafeMutableRawPointer?, Int32) -> Void)?
    }
    let table = try ProtocolTable("Casts") { $0.optional("changed:", "v^vi") }
    let proxy = try DynamicProxy(adopting: table)
    let error = #expect(throws: ForwardingError.self) {
      _ = try unsafe proxy.callbackTable(Callbacks.self, owner: proxy) {
        unsafe $0.set(\.moved, to: "changed:")
      }
    }
    #expect(error?.code == .typeMismatch)
    #expect(error?.description.contains("expected 1 parameter, got 2") == true)
    let callbacks = try unsafe proxy.callbackTable(Callbacks.self, owner: proxy) {
      $0.set(\.changed, to: "changed:")
      unsafe $0.set(\.moved, to: "changed:", context: .first)
    }
    let filled = unsafe callbacks.pointee.changed != nil && callbacks.pointee.moved != nil
    #expect(filled)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

private let packed = fixture_packed.statedLayouts[0]
private let flags = fixture_flags.statedLayouts[0]

@Suite struct StatedLayoutTests {
  // MARK: Layouts

  @Test func `gives a type the layout that is stated`() throws {
    let type = try TypeEncoding("{fixture_packed=ci}", stating: [packed])
    #expect(try type.layout().size == MemoryLayout<fixture_packed>.size)
    #expect(try type.layout().alignment == MemoryLayout<fixture_packed>.alignment)
    #expect(try type.fields.map { try $0.layout().offset } == [0, 1])
    #expect(try TypeEncoding("[3{fixture_packed=ci}]", stating: [packed]).layout().size == 15)
    let holder = try TypeEncoding("{?=c{fixture_packed}d}", stating: [packed])
    #expect(try holder.fields.map { try $0.layout().offset } == [0, 1, 8])
    // Without a statement, it is that of the fields.
    #expect(try TypeEncoding("{fixture_packed=ci}").layout().size == 8)
    #expect(try TypeEncoding("i", stating: []) == TypeEncoding("i"))
  }

  @Test(
    "finds the places of members",
    arguments: [
      // One behind the other, as usual, and as said.
      ("{S=cis}", StatedLayout("S", size: 7, alignment: 1), [0, 1, 5]),
      ("{S=cis}", StatedLayout("S", size: 16, alignment: 16), [0, 4, 8]),
      (
        "{S=cis}",
        StatedLayout(
          "S", size: 24, alignment: 8, members: [.offset(0), .offset(8), .offset(16)]),
        [0, 8, 16]
      ),
      ("(S=cis)", StatedLayout("S", size: 8, alignment: 8), [0, 0, 0]),
    ])
  func places(text: String, stated: StatedLayout, offsets: [Int]) throws {
    let type = try TypeEncoding(text, stating: [stated])
    #expect(try type.layout().size == stated.size)
    #expect(try type.layout().alignment == stated.alignment)
    #expect(try type.fields.map { try $0.layout().offset } == offsets)
  }

  // MARK: Errors

  @Test(
    "refuses a statement that the type cannot have",
    arguments: [
      ("{S=ci}", StatedLayout("S", size: 4, alignment: 4), 4),
      ("{S=ci}", StatedLayout("S", size: 8, alignment: 3), 0),
      ("{S=ci}", StatedLayout("S", size: 7, alignment: 2), 0),
      ("{S=ci}", StatedLayout("S", size: -8, alignment: 4), 0),
      ("{S=ci}", StatedLayout("S", size: 8, alignment: -4), 0),
      ("{S=ci}", StatedLayout("S", size: 8, alignment: 4, members: [.offset(0)]), 0),
      ("{S=ci}", StatedLayout("S", size: 8, alignment: 4, members: [.offset(0), .offset(-1)]), 4),
      ("{S=ci}", StatedLayout("S", size: 8, alignment: 4, members: [.offset(0), .offset(5)]), 4),
      ("{S=ci}", StatedLayout("S", size: 8, alignment: 4, members: [.offset(4), .offset(4)]), 4),
      ("{S=ci}", StatedLayout("S", size: 8, alignment: 4, members: [.offset(0), .bit(33)]), 4),
      ("{S=ci}", StatedLayout("T", size: 8, alignment: 4), 0),
      ("{S=ci}", StatedLayout("S\0", size: 8, alignment: 4), 0),
      ("{S=ci}", StatedLayout("", size: 8, alignment: 4), 0),
      ("{?=ci}", StatedLayout("?", size: 8, alignment: 4), 0),
    ])
  func wrong(text: String, stated: StatedLayout, offset: Int) {
    let error = #expect(throws: ForwardingError.self) { try TypeEncoding(text, stating: [stated]) }
    #expect(error?.code == .wrongLayout)
    #expect(error?.offset == offset)
    #expect(throws: ForwardingError.self) { try MethodSignature("v" + text, stating: [stated]) }
  }

  @Test func `names a statement that is of no type, or made twice`() {
    let error = #expect(throws: ForwardingError.self) {
      try TypeEncoding("{S=ci}", stating: [StatedLayout("T", size: 8, alignment: 4)])
    }
    #expect(
      error?.description
        == "stated layout of \"T\": expected a type of this name in the encoding")
    let twice = #expect(throws: ForwardingError.self) {
      try MethodSignature("v{fixture_packed=ci}", stating: [packed, packed])
    }
    #expect(
      twice?.description
        == "stated layout of \"fixture_packed\": expected each name at most once")
  }

  @Test(
    "refuses by value what is not known to be passed alike by compilers",
    arguments: [
      ("v{S}", StatedLayout("S", size: 8, alignment: 8), "expected the fields"),
      ("v{S=q}", StatedLayout("S", size: 32, alignment: 32), "at most 16 bytes"),
      ("v{S=b3i}", StatedLayout("S", size: 8, alignment: 4), "offsets to be stated"),
      (
        "v{S=f\"\"b3\"x\"d}",
        StatedLayout("S", size: 16, alignment: 8, members: [.offset(0), .bit(32), .offset(8)]),
        "unnamed bit-field"
      ),
    ])
  func refused(text: String, stated: StatedLayout, reason: String) {
    let error = #expect(throws: ForwardingError.self) {
      try MethodSignature(text, stating: [stated])
    }
    #expect(error?.code == .unsupported)
    #expect(error?.description.contains(reason) == true)
    // Behind a pointer all is well.
    #expect(throws: Never.self) {
      try MethodSignature("v^" + text.dropFirst(), stating: [stated])
    }
  }

  // MARK: Comparison

  @Test func `signatures of one text differ by what is stated`() throws {
    let text = "v^v{fixture_packed=ci}"
    let usual = StatedLayout("fixture_packed", size: 8, alignment: 4)
    let placed = StatedLayout(
      "fixture_packed", size: 5, alignment: 1, members: [.offset(0), .offset(1)])
    let plain = try MethodSignature(text)
    let stated = try MethodSignature(text, stating: [packed])
    #expect(plain != stated && !plain.isCompatible(with: stated))
    #expect(try plain == MethodSignature(text, stating: [usual]))
    let same = try MethodSignature(text, stating: [placed])
    #expect(stated == same && stated.hashValue == same.hashValue)
    #expect(stated.isCompatible(with: same))
    #expect(try stated == MethodSignature(stated.description, stating: [packed]))
    #expect(try stated.withoutReceiver().frameSize == 5)
    #expect(try MethodSignature(text) == plain)
  }

  // MARK: Calls

  @Test func `passes packed structs and bit-fields`() throws {
    let turn = try MethodSignature("{fixture_packed=ci}i{fixture_packed=ci}", stating: [packed])
    let turned: fixture_packed = try unsafe turn.unsafeCall(
      fixture_turn_packed as @convention(c) (Int32, fixture_packed) -> fixture_packed, Int32(3),
      fixture_packed(kind: 7, length: -70000))
    #expect(turned.kind == 10 && turned.length == 70000)

    let weigh = try MethodSignature("d{fixture_flags=b3b20d}f", stating: [flags])
    let weight: Double = try unsafe weigh.unsafeCall(
      fixture_weigh_flags as @convention(c) (fixture_flags, Float) -> Double,
      fixture_flags(kind: 5, count: 1000, weight: 0.25), Float(2))
    #expect(weight == 1007.25)
  }

  @Test func `receives packed structs and bit-fields`() throws {
    let signature = try MethodSignature(
      "{fixture_packed=ci}i{fixture_packed=ci}", stating: [packed])
    let function = try FunctionPointer(signature) { call in
      guard let added = try? call.argument(at: 0, as: Int32.self),
        var value = try? call.argument(at: 1, as: fixture_packed.self)
      else { return }
      value.kind += CChar(added)
      value.length -= added
      try? call.setResult(value)
    }
    // The fixture takes a function of any type, as C's `void (*)(void)`.
    let any = unsafe unsafeBitCast(function.unsafePointer, to: (@convention(c) () -> Void).self)
    let result = fixture_call_packed(any, fixture_packed(kind: 1, length: 100000))
    #expect(result.kind == 3 && result.length == 99998)
    withExtendedLifetime(function) {}
  }

  @Test func `a value of another layout is a mismatch`() throws {
    let signature = try MethodSignature("{fixture_packed=ci}i{fixture_packed=ci}")
    #expect(throws: ForwardingError.self) {
      let _: fixture_packed = try unsafe signature.unsafeCall(
        fixture_turn_packed as @convention(c) (Int32, fixture_packed) -> fixture_packed, Int32(3),
        fixture_packed(kind: 7, length: 1))
    }
  }

  // MARK: Tables

  private static let weigh:
    @convention(c) (UnsafeRawPointer?, OpaquePointer?, fixture_flags, Float) -> Double = {
      _, _, flags, more in fixture_weigh_flags(flags, more)
    }

  private func makeProxy() throws -> DynamicProxy {
    try DynamicProxy {
      $0.required("weigh:more:", "d@:{fixture_flags=b3b20d}f", stating: [flags])
      $0.optional("turn:", "{fixture_packed=ci}@{fixture_packed=ci}", stating: [packed])
    }
  }

  @Test func `a protocol states the layouts for its methods and their functions`() throws {
    let proxy = try makeProxy()
    let owner = Bystander()
    let table = FunctionTable(for: Bystander.self) {
      unsafe $0.function("weigh:more:", "d@:{fixture_flags=b3b20d}f", calling: Self.weigh)
      $0.on("turn:") { (_: Bystander, value: fixture_packed) -> fixture_packed in
        fixture_turn_packed(3, value)
      }
    }
    try proxy.subscribe(owner, table: table)
    let weight: Double = try proxy.send(
      "weigh:more:", fixture_flags(kind: 5, count: 1000, weight: 0.25), Float(2))
    #expect(weight == 1007.25)
    let turned: fixture_packed = try proxy.send("turn:", fixture_packed(kind: 7, length: -70000))
    #expect(turned.kind == 10 && turned.length == 70000)
    let invocation = try Invocation("turn:", proxy.method(for: "turn:").signature)
    #expect(invocation.signature.frameSize == 5)
    withExtendedLifetime(owner) {}
  }

  @Test func `a key states the layouts of its types`() throws {
    let turn = Method("turn:", ((fixture_packed) -> fixture_packed).self)
    let proxy = try DynamicProxy { $0.required(turn) }
    let token = try proxy.subscribe { $0.on(turn) { fixture_turn_packed(1, $0) } }
    let turned = try proxy.send(turn, fixture_packed(kind: 1, length: 2))
    #expect(turned.kind == 2 && turned.length == -2)
    // A table that is written with an encoding goes with it.
    let owner = Bystander()
    let function: @convention(c) (UnsafeRawPointer?, fixture_packed) -> fixture_packed = {
      fixture_turn_packed(2, $1)
    }
    try proxy.subscribe(owner, at: .first) {
      unsafe $0.function("turn:", "{fixture_packed=ci}@{fixture_packed=ci}", calling: function)
    }
    #expect(try proxy.send(turn, fixture_packed(kind: 1, length: 2)).kind == 3)
    withExtendedLifetime((token, owner)) {}
  }

  @Test func `a struct that is known by name only has the stated layout`() throws {
    let opaque = StatedLayout("Large", size: 24, alignment: 8)
    let proxy = try DynamicProxy { $0.required("take:", "v@^{Large}", stating: [opaque]) }
    #expect(try proxy.method(for: "take:").signature.frameSize == 8)
  }

  @Test func `a layout that does not fit names the method`() throws {
    let error = #expect(throws: ForwardingError.self) {
      try ProtocolTable("Holder") {
        $0.required("take:", "v@{P=ci}", stating: [StatedLayout("Q", size: 5, alignment: 1)])
      }
    }
    #expect(error?.code == .wrongLayout && error?.selector == "take:")
    #expect(error?.description.contains("\"take:\" of protocol \"Holder\"") == true)
  }

  @Test func `without a stated layout the function is refused`() throws {
    let proxy = try DynamicProxy { $0.required("take:", "v@{fixture_packed=ci}") }
    let owner = Bystander()
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(owner) {
        $0.on("take:") { (_: Bystander, _: fixture_packed) in }
      }
    }
    #expect(error?.code == .signatureMismatch)
    // One whose layout nobody states.
    let other = try DynamicProxy { $0.required("take:", "v@i") }
    let refused = #expect(throws: ForwardingError.self) {
      try other.subscribe(owner) {
        let function: @convention(c) (UnsafeRawPointer?) -> Void = { _ in }
        unsafe $0.function("take:", "v@{F=b3b20d}", calling: function)
      }
    }
    #expect(refused?.code == .unsupported)
    #expect(refused?.description.contains("the function for \"take:\"") == true)
  }
}

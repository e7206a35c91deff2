// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct TypeEncodingTests {
  // MARK: Parts

  static let kindCases: [(String, TypeEncoding.Kind)] = [
    ("c", .char), ("C", .unsignedChar), ("s", .short), ("S", .unsignedShort), ("i", .int),
    ("I", .unsignedInt), ("l", .long), ("L", .unsignedLong), ("q", .longLong),
    ("Q", .unsignedLongLong), ("t", .int128), ("T", .unsignedInt128), ("B", .bool), ("f", .float),
    ("d", .double), ("D", .longDouble), ("v", .void), ("*", .cString), ("@", .object),
    ("#", .classReference), (":", .selector), ("?", .unknown), ("@?", .block), ("^v", .pointer),
    ("[3i]", .array), ("{P=dd}", .structure), ("(U=id)", .union), ("b3", .bitField),
    ("jf", .complex),
  ]

  @Test("reads every kind of type", arguments: kindCases)
  func kind(text: String, expected: TypeEncoding.Kind) throws {
    #expect(try TypeEncoding(text).kind == expected)
  }

  @Test func `covers every kind but the function inside a block`() throws {
    let tested = Set(Self.kindCases.map(\.1))
    #expect(Set(TypeEncoding.Kind.allCases).subtracting(tested) == [.function])
    let block = try TypeEncoding("@?<v@?i>")
    #expect(block.pointee?.kind == .function)
    #expect(block.pointee?.fields.map(\.kind) == [.void, .block, .int])
  }

  static let qualifierCases = [
    ("r", "r"), ("n", "n"), ("N", "N"), ("o", "o"), ("O", "O"), ("R", "R"), ("V", "V"),
    ("A", "A"), ("rn", "rn"), ("AVnr", "rnVA"), ("", ""),
  ]

  @Test("reads qualifiers", arguments: qualifierCases)
  func qualifiers(prefix: String, expected: String) throws {
    #expect(try TypeEncoding(prefix + "i").qualifiers == expected)
  }

  @Test func `qualifiers of a pointee are its own`() throws {
    let pointer = try TypeEncoding("^ri")
    #expect(pointer.qualifiers == "")
    #expect(pointer.pointee?.qualifiers == "r")
  }

  @Test func `a struct has a name and fields with names`() throws {
    let point = try TypeEncoding(#"{Point="x"d"y"f}"#)
    #expect(point.name == "Point")
    #expect(point.fields.map(\.fieldName) == ["x", "y"])
    #expect(point.fields.map(\.kind) == [.double, .float])
    #expect(point.fieldName == nil)
    #expect(!point.isOpaque)
    #expect(point.pointee == nil && point.element == nil && point.count == nil)
  }

  @Test("an anonymous struct has no name", arguments: ["{?=i}", "{=i}", "(?=i)"])
  func anonymous(text: String) throws {
    #expect(try TypeEncoding(text).name == nil)
  }

  @Test func `objects tell their class or protocol`() throws {
    #expect(try TypeEncoding(#"@"Robot""#).name == "Robot")
    #expect(try TypeEncoding(#"@"<Moving>""#).name == "<Moving>")
    #expect(try TypeEncoding("@").name == nil)
  }

  @Test func `arrays and bit-fields have a count`() throws {
    let array = try TypeEncoding("[12^d]")
    #expect(array.count == 12)
    #expect(array.element?.pointee?.kind == .double)
    #expect(try TypeEncoding("b7").count == 7)
  }

  @Test func `a struct known by name only is opaque`() throws {
    let pointer = try TypeEncoding("^{stat}")
    #expect(pointer.pointee?.isOpaque == true)
    #expect(pointer.pointee?.name == "stat")
    #expect(pointer.pointee?.fields.isEmpty == true)
  }

  @Test func `a part outlives the whole`() throws {
    var whole: TypeEncoding? = try TypeEncoding(#"{Outer="inner"{Inner="a"i"b"d}"other"c}"#)
    let inner = try #require(whole?.fields.first?.fields.last)
    whole = nil
    #expect(inner.fieldName == "b")
    #expect(inner.description == "d")
    #expect(inner.text == "d")
    #expect(try inner.layout().offset == 8)
  }

  // MARK: Layout

  @Test(
    "has the size and alignment of the C type",
    arguments: [
      ("c", 1, 1), ("s", 2, 2), ("i", 4, 4), ("l", 4, 4), ("q", 8, 8), ("t", 16, 16), ("B", 1, 1),
      ("f", 4, 4), ("d", 8, 8), ("v", 0, 1), ("*", 8, 8), ("^v", 8, 8), ("@", 8, 8), ("#", 8, 8),
      (":", 8, 8), ("@?", 8, 8), ("^{stat}", 8, 8), ("{P=dd}", 16, 8), ("{A=cdc}", 24, 8),
      ("{E=}", 0, 1), ("[3s]", 6, 2), ("{N=c{I=cs}}", 6, 2), ("(U=cd)", 8, 8), ("(U=[9c]i)", 12, 4),
      ("jd", 16, 8), ("jf", 8, 4), ("[1000000000c]", 1_000_000_000, 1),
    ])
  func layout(text: String, size: Int, alignment: Int) throws {
    let layout = try TypeEncoding(text).layout()
    #expect(layout.size == size)
    #expect(layout.alignment == alignment)
    #expect(layout.offset == 0)
  }

  @Test func `fields tell their offsets`() throws {
    let offsets = try TypeEncoding("{A=cs{B=cd}c}").fields.map { try $0.layout().offset }
    #expect(offsets == [0, 2, 8, 24])
  }

  @Test(
    "refuses a layout that the encoding does not tell",
    arguments: ["b3", "{stat}", "{A=ib3}", "[4{stat}]", "?"])
  func unknownLayout(text: String) throws {
    let encoding = try TypeEncoding(text)
    let error = #expect(throws: ForwardingError.self) { try encoding.layout() }
    #expect(error?.code == .unsupported)
    #expect(error?.encoding == text)
    #expect(error?.description.contains("^") == true)
  }

  // MARK: Faults

  @Test(
    "says what is wrong and where",
    arguments: [
      ("", ForwardingError.Code.malformed, 0), ("{Point=d", .malformed, 8), ("x", .malformed, 0),
      ("^", .malformed, 1), ("[4i", .malformed, 3), ("[i]", .malformed, 1), ("ii", .malformed, 1),
      ("i}", .malformed, 1), (#"@"Robot"#, .malformed, 7),
      ("[99999999999999999999i]", .overflow, 1), ("é", .malformed, 0), ("i\0", .malformed, 1),
    ])
  func fault(text: String, code: ForwardingError.Code, offset: Int) {
    let error = #expect(throws: ForwardingError.self) { try TypeEncoding(text) }
    #expect(error?.code == code)
    #expect(error?.offset == offset)
    #expect(error?.encoding == text)
    #expect(error?.description.hasPrefix("type encoding ") == true)
  }

  @Test func `puts a caret under the offending byte`() {
    let error = #expect(throws: ForwardingError.self) { try TypeEncoding("{Point=d") }
    let lines = error?.description.split(separator: "\n") ?? []
    #expect(lines.count == 3)
    #expect(lines.first == #"type encoding "{Point=d": expected '}' at offset 8"#)
    if lines.count == 3, let caret = lines[2].firstIndex(of: "^") {
      let column = lines[2].distance(from: lines[2].startIndex, to: caret)
      let start = lines[1].distance(from: lines[1].startIndex, to: lines[1].firstIndex(of: "{")!)
      #expect(column - start == 8)
    }
  }

  @Test func `bounds depth and length`() {
    let deep = String(repeating: "^", count: 1000) + "v"
    #expect(#expect(throws: ForwardingError.self) { try TypeEncoding(deep) }?.code == .tooDeep)
    // One byte over the limit; at the limit it is a name like any other.
    let limit = 1_048_576
    let name = String(repeating: "A", count: limit - 3)
    let accepted = (try? TypeEncoding("{\(name)=}")) != nil
    #expect(accepted)
    let code = #expect(throws: ForwardingError.self) { try TypeEncoding("{\(name)A=}") }?.code
    #expect(code == .overflow)
  }

  // MARK: Spelling

  @Test(
    "prints a canonical spelling, which is read back the same",
    arguments: [
      ("i", "i"), ("[007i]", "[7i]"), ("{=ii}", "{?=ii}"), ("nri", "rni"), ("^{S=i}", "^{S=i}"),
      ("(U=id)", "(U=id)"), ("{stat}", "{stat}"), ("@?", "@?"), (#"@"A""#, #"@"A""#),
    ])
  func canonical(text: String, expected: String) throws {
    let encoding = try TypeEncoding(text)
    #expect(encoding.description == expected)
    #expect(encoding.text == text)
    let again = try TypeEncoding(encoding.description)
    #expect(again.description == expected)
    #expect(again == encoding)
  }

  @Test(
    "says types in words",
    arguments: [
      ("i", "Int32"), ("l", "Int32"), ("q", "Int64"), ("d", "Double"), ("D", "long double"),
      ("v", "void"), ("*", "C string"), ("r*", "const C string"), ("@", "object"),
      (#"@"Robot""#, "object of class Robot"), (#"@"<Moving>""#, "object conforming to <Moving>"),
      ("#", "class"), (":", "selector"), ("^v", "pointer to void"), ("^?", "function pointer"),
      ("^{stat=}", "pointer to struct stat"), ("^^i", "pointer to pointer to Int32"),
      ("^rd", "pointer to const Double"), ("[4i]", "array of 4 Int32"), ("{?=i}", "struct"),
      ("(u=i)", "union u"), ("b1", "bit-field of 1 bit"), ("b3", "bit-field of 3 bits"),
      ("jd", "complex Double"), ("@?", "block"), ("T", "UInt128"),
    ])
  func words(text: String, expected: String) throws {
    #expect(try TypeEncoding(text).typeName == expected)
  }

  // MARK: Comparison

  @Test(
    "is equal to what means the same",
    arguments: [
      ("i", "i"), ("ri", "i"), ("{=dd}", "{?=dd}"), (#"{P="x"d"y"d}"#, "{P=dd}"),
      (#"@"A""#, #"@"B""#), ("^{S=i}", "^r{S=i}"),
    ])
  func equal(left: String, right: String) throws {
    let (left, right) = (try TypeEncoding(left), try TypeEncoding(right))
    #expect(left == right)
    #expect(right == left)
    #expect(left.hashValue == right.hashValue)
  }

  @Test(
    "differs from what means something else",
    arguments: [
      ("i", "I"), ("i", "q"), ("{P=dd}", "{Q=dd}"), ("{P=dd}", "{P=ddd}"), ("^v", "^i"),
      ("[3i]", "[4i]"), ("{P=dd}", "(P=dd)"), ("*", "^c"), ("@", "#"), ("^{S=i}", "^{S=q}"),
    ])
  func different(left: String, right: String) throws {
    #expect(try TypeEncoding(left) != TypeEncoding(right))
  }

  @Test(
    "tells compatible types",
    arguments: [
      ("^v", "^i", true), ("^v", "^{S=i}", true), ("*", "^c", true), ("*", "^v", true),
      ("@", "#", false), ("@", "@?", true), ("i", "i", true), ("i", "I", false), ("i", "^v", false),
      ("^i", "^d", false), ("d", "f", false), ("@", "i", false),
    ])
  func compatible(left: String, right: String, expected: Bool) throws {
    let (left, right) = (try TypeEncoding(left), try TypeEncoding(right))
    #expect(left.isCompatible(with: right) == expected)
    #expect(right.isCompatible(with: left) == expected)
  }
}

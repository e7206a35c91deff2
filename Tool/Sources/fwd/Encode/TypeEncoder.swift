// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CClangIndex
import Forwarding

/// Spells C types as encodings. Clang has an encoder of its own, which leaves
/// vectors and `_BitInt` out, and writes a blank for `_Float16`.
struct TypeEncoder {
  /// Why a type has no encoding.
  struct Problem: Error {
    let text: String
  }

  /// A struct whose layout its encoding does not carry.
  struct Stated {
    let name: String
    let size: Int
    let alignment: Int
    /// The members' first bits, and whether they are bit-fields.
    let members: [(bit: Int, isBitField: Bool)]
    /// The largest alignment among the members; nil if libclang does not tell.
    let memberAlignment: Int?

    var layout: StatedLayout {
      StatedLayout(
        name, size: size, alignment: alignment,
        members: members.map { $0.isBitField ? .bit($0.bit) : .offset($0.bit / 8) },
        memberAlignment: memberAlignment)
    }

    /// As Swift source.
    var swift: String {
      let places = members.map { $0.isBitField ? ".bit(\($0.bit))" : ".offset(\($0.bit / 8))" }
      let ofMembers = memberAlignment.map { ", memberAlignment: \($0)" } ?? ""
      return "StatedLayout(\"\(name)\", size: \(size), alignment: \(alignment), "
        + "members: [\(places.joined(separator: ", "))]\(ofMembers))"
    }
  }

  /// Whether a struct behind a parameter's pointer is spelled with its fields.
  private let spellsPointees: Bool

  init(spellsPointees: Bool = false) { self.spellsPointees = spellsPointees }

  /// What has been written.
  private(set) var text = ""
  private(set) var stated: [Stated] = []

  /// Adds a result, or what is behind a pointer.
  mutating func add(_ type: CType) throws { try add(type, depth: 0) }

  /// Adds a parameter, which is a pointer if it was written as an array or as a
  /// function.
  mutating func add(parameter type: CType) throws {
    let bare = type.canonical
    switch bare.kind {
    case clang_type_array, clang_type_incomplete_array, clang_type_variable_array:
      try add(pointerTo: bare.element, depth: 0)
    case clang_type_function, clang_type_function_no_prototype:
      text += "^?"
    default:
      try add(type, depth: 0)
    }
  }

  private mutating func add(_ type: CType, depth: Int) throws {
    let bare = type.canonical
    if let letter = Self.letter(bare) {
      text += letter
      return
    }
    switch bare.kind {
    case clang_type_pointer: try add(pointerTo: bare.pointee, depth: depth)
    case clang_type_block: text += "@?"
    case clang_type_complex:
      text += "j"
      try add(bare.part, depth: depth)
    case clang_type_atomic:
      text += "A"
      try add(bare.atomicValue, depth: depth)
    case clang_type_enum:
      let number = bare.declaration.enumType
      if number.kind == clang_type_invalid { throw Problem(text: "\(type.spelling) is incomplete") }
      try add(number, depth: depth)
    case clang_type_array, clang_type_incomplete_array:
      text += "[\(max(bare.count, 0))"
      try add(bare.element, depth: depth + 1)
      text += "]"
    case clang_type_record: try add(record: bare, depth: depth)
    case clang_type_function, clang_type_function_no_prototype: text += "?"
    default: throw Problem(text: "\(type.spelling) has no encoding")
    }
  }

  /// The letter of a number, or of void.
  private static func letter(_ type: CType) -> String? {
    switch type.kind {
    case clang_type_void: "v"
    case clang_type_bool: "B"
    case clang_type_char_s, clang_type_schar: "c"
    case clang_type_char_u, clang_type_uchar: "C"
    case clang_type_short: "s"
    case clang_type_ushort, clang_type_char16: "S"
    case clang_type_int, clang_type_wchar: "i"
    case clang_type_uint, clang_type_char32: "I"
    case clang_type_long: type.size == 8 ? "q" : "i"
    case clang_type_ulong: type.size == 8 ? "Q" : "I"
    case clang_type_longlong: "q"
    case clang_type_ulonglong: "Q"
    case clang_type_int128: "t"
    case clang_type_uint128: "T"
    case clang_type_float: "f"
    case clang_type_double: "d"
    case clang_type_long_double: "D"
    default: nil
    }
  }

  // MARK: - Pointers

  private mutating func add(pointerTo type: CType, depth: Int) throws {
    // The library allows no more.
    guard depth < 128 else { throw Problem(text: "its types are nested deeper than 128") }
    if type.isConst { text += "r" }
    let bare = type.canonical
    switch bare.kind {
    case clang_type_char_s, clang_type_schar, clang_type_char_u, clang_type_uchar:
      text += "*"
    case clang_type_record:
      text += "^"
      if spellsPointees && depth == 0, bare.size != nil {
        try add(record: bare, depth: 1)
      } else {
        addName(of: bare)
      }
    case clang_type_array, clang_type_incomplete_array:
      text += "^[\(max(bare.count, 0))"
      try add(pointee: bare.element, depth: depth + 1)
      text += "]"
    default:
      text += "^"
      try add(pointee: type, depth: depth + 1)
    }
  }

  /// Adds what is behind a pointer, of which only that it is there matters.
  private mutating func add(pointee type: CType, depth: Int) throws {
    if type.canonical.kind == clang_type_record {
      addName(of: type.canonical)
      return
    }
    let before = self
    do {
      try add(type, depth: depth)
    } catch is Problem {
      self = before
      text += "v"
    }
  }

  /// Adds a struct behind a pointer. Its fields do not matter to a call, and may
  /// refer to the struct itself.
  private mutating func addName(of type: CType) {
    let isUnion = type.declaration.kind == clang_cursor_union
    text += (isUnion ? "(" : "{") + Self.name(type) + "=" + (isUnion ? ")" : "}")
  }

  // MARK: - Structs and unions

  /// The most bytes of an encoding, which the library would refuse otherwise.
  private static let longestText = 1 << 20

  /// The name of a struct, union or enum, `?` if it has none.
  static func name(_ type: CType) -> String {
    var name = type.canonical.spelling
    for word in ["const ", "volatile ", "struct ", "union ", "enum "] where name.hasPrefix(word) {
      name.removeFirst(word.count)
    }
    // Clang names what has no name after its place: "(unnamed at ...)".
    return name.contains("(") || name.isEmpty ? "?" : name
  }

  private mutating func add(record type: CType, depth: Int) throws {
    guard depth < 100 else { throw Problem(text: "\(type.spelling) is nested too deep") }
    // A few structs that have the one before twice make an encoding of any length.
    guard text.utf8.count <= Self.longestText else {
      throw Problem(text: "a type's encoding is longer than \(Self.longestText) bytes")
    }
    let declaration = type.declaration
    let isUnion = declaration.kind == clang_cursor_union
    let name = Self.name(type)
    guard let size = type.size, let alignment = type.alignment else {
      throw Problem(text: "\(type.spelling) is incomplete: include the header that defines it")
    }
    text += (isUnion ? "(" : "{") + name + "="
    var layout = NaturalLayout(isUnion: isUnion)
    let fields = type.fields
    for field in fields {
      text += "\"\(field.fieldName)\""
      if field.isBitField {
        text += "b\(field.bitWidth)"
        layout.addBitField(at: field.bitOffset)
        continue
      }
      try add(field.type, depth: depth + 1)
      let bare = field.type.canonical
      let isFlexible = bare.kind == clang_type_incomplete_array
      layout.add(
        at: field.bitOffset, size: isFlexible ? 0 : bare.size ?? 0,
        alignment: (isFlexible ? bare.element : bare).alignment ?? 1)
    }
    text += isUnion ? ")" : "}"
    guard !layout.isNatural(size: size, alignment: alignment) else { return }
    guard name != "?" else {
      throw Problem(text: "\(type.spelling) has no name, by which its layout could be stated")
    }
    if stated.contains(where: { $0.name == name }) { return }
    stated.append(
      Stated(
        name: name, size: size, alignment: alignment, members: layout.members,
        memberAlignment: Self.memberAlignment(declaration, fields, layout.alignment, alignment)))
  }

  /// The largest alignment among the members; nil if libclang does not tell.
  private static func memberAlignment(
    _ declaration: Cursor, _ fields: [Cursor], _ natural: Int, _ alignment: Int
  ) -> Int? {
    func has(_ attribute: Int, _ cursor: Cursor) -> Bool {
      cursor.children.contains { $0.kind == attribute }
    }
    if fields.contains(where: { has(Int(clang_cursor_aligned), $0) }) {
      return has(Int(clang_cursor_aligned), declaration) ? nil : alignment
    }
    if has(Int(clang_cursor_packed), declaration) { return 1 }
    return min(natural, alignment)
  }
}

/// Where the members of a struct would be without attributes.
private struct NaturalLayout {
  let isUnion: Bool
  private(set) var members: [(bit: Int, isBitField: Bool)] = []
  private(set) var alignment = 1
  private var end = 0
  private var isMoved = false

  init(isUnion: Bool) { self.isUnion = isUnion }

  mutating func addBitField(at bit: Int) {
    members.append((bit, true))
    // An encoding has no place for where it is.
    isMoved = true
  }

  mutating func add(at bit: Int, size: Int, alignment: Int) {
    members.append((bit, false))
    let start = isUnion ? 0 : (end + alignment - 1) / alignment * alignment
    if start * 8 != bit { isMoved = true }
    end = isUnion ? max(end, size) : bit / 8 + size
    self.alignment = max(self.alignment, alignment)
  }

  func isNatural(size: Int, alignment: Int) -> Bool {
    !isMoved && alignment == self.alignment
      && (end + alignment - 1) / alignment * alignment == size
  }
}

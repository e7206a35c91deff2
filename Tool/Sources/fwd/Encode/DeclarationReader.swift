// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CClangIndex
import Forwarding

/// Finds functions, callbacks and structs in C source.
struct DeclarationReader {
  private(set) var functions: [EncodedFunction] = []
  private(set) var structs: [EncodedStruct] = []
  /// What was given as a type alone, if it is no function.
  private(set) var types: [EncodedType] = []
  /// All names that the source declares.
  private(set) var names: [String] = []
  private var seen: [UInt32: [Cursor]] = [:]
  private let spellsPointees: Bool
  /// Whether names were asked for. Then another name of a typedef is one, too.
  private let hasWanted: Bool
  /// Whether callbacks with the name of a typedef are looked up from the functions that take them.
  private let followsTypedefs: Bool

  /// - Parameters:
  ///   - wanted: the names of what is to be found; empty for all of it.
  ///   - spellsPointees: whether structs behind pointers are spelled with their
  ///     fields.
  ///   - isWhole: whether all of a header is searched, so that its typedefs are found
  ///     anyway.
  ///   - isPart: whether a file, as the source names it, is searched if no names
  ///     are wanted.
  init(
    _ source: Source, wanted: [String], spellsPointees: Bool = false, isWhole: Bool,
    isPart: (String) -> Bool
  ) {
    self.spellsPointees = spellsPointees
    hasWanted = !wanted.isEmpty
    followsTypedefs = !isWhole
    let wanted = Set(wanted)
    for cursor in source.root.children {
      let name = cursor.name
      if name.isEmpty { continue }
      names.append(name)
      if wanted.isEmpty ? isPart(cursor.file) : wanted.contains(name) { add(cursor, name) }
    }
  }

  /// Whether it is the first declaration of its thing.
  private mutating func isNew(_ cursor: Cursor) -> Bool {
    let canonical = cursor.canonical
    let hash = canonical.hash
    if seen[hash, default: []].contains(where: { $0 == canonical }) { return false }
    seen[hash, default: []].append(canonical)
    return true
  }

  private mutating func add(_ cursor: Cursor, _ name: String) {
    switch cursor.kind {
    case Int(clang_cursor_function):
      guard isNew(cursor) else { return }
      guard let function = cursor.type.function else {
        functions.append(EncodedFunction(withoutPrototype: name, cursor.type.canonical))
        return
      }
      add(.function, name, function.type, cursor, symbol: cursor.symbol)
    case Int(clang_cursor_typedef):
      addTypedef(cursor, name)
    case Int(clang_cursor_struct), Int(clang_cursor_union):
      guard cursor.isDefinition, isNew(cursor) else { return }
      addStruct(name, cursor.type)
    case Int(clang_cursor_variable):
      guard let function = cursor.type.function, function.depth == 1, isNew(cursor) else { return }
      add(.callback, name, function.type, cursor)
    default: return
    }
  }

  private mutating func addTypedef(_ cursor: Cursor, _ name: String) {
    let type = cursor.underlyingType
    if name == Source.typeName, type.function == nil {
      // A struct that is defined here has been found already.
      if !structs.contains(where: { $0.name == TypeEncoder.name(type) }) {
        types.append(EncodedType(type))
      }
      return
    }
    if let function = type.function {
      // Another name of a typedef is no other callback.
      if hasWanted || !isNamed(type), isNew(cursor) {
        add(.callback, name, function.type, cursor)
      }
    } else if type.canonical.kind == clang_type_record, type.size != nil {
      // A struct with a name of its own is found by that one.
      let declaration = type.canonical.declaration
      let isOwnName =
        TypeEncoder.name(type) == name || !declaration.name.isEmpty && declaration.isAnonymous
      if isOwnName ? isNew(declaration) : hasWanted {
        addStruct(name, type.canonical)
      }
    }
  }

  /// Adds a function type, and the callbacks among its parameters.
  private mutating func add(
    _ kind: EncodedFunction.Kind, _ name: String, _ type: CType, _ cursor: Cursor,
    offset: Int? = nil, symbol: String? = nil, depth: Int = 0
  ) {
    let types = type.arguments
    let parameters = cursor.parameters
    let isWhole = parameters.count == types.count
    functions.append(
      EncodedFunction(
        kind, name, type, names: isWhole ? parameters.map(\.name) : [], offset: offset,
        symbol: symbol, spellsPointees: spellsPointees))
    guard depth < 4 else { return }
    for (index, parameter) in types.enumerated() {
      guard let function = parameter.function, function.depth > 0 else { continue }
      if isNamed(parameter) {
        // The callbacks of a callback are passed by the library.
        if kind == .function, followsTypedefs { addNamed(parameter, function.type) }
        continue
      }
      let given = isWhole ? parameters[index].name : ""
      add(
        .callback, "\(name)/\(given.isEmpty ? "\(index + 1)" : given)", function.type,
        isWhole ? parameters[index] : cursor, depth: depth + 1)
    }
  }

  /// Adds the callback that a parameter's typedef names. If this is another name of a typedef, adds that one, which
  /// has the names of the parameters.
  private mutating func addNamed(_ parameter: CType, _ function: CType) {
    var declaration = Self.withoutPointers(parameter).declaration
    while true {
      let next = Self.withoutPointers(declaration.underlyingType).declaration
      guard next.kind == clang_cursor_typedef else { break }
      declaration = next
    }
    if isNew(declaration) { add(.callback, declaration.name, function, declaration, depth: 1) }
  }

  /// Whether a typedef names the function type: then it is found by that name.
  private func isNamed(_ type: CType) -> Bool {
    Self.withoutPointers(type).declaration.kind == clang_cursor_typedef
  }

  private static func withoutPointers(_ type: CType) -> CType {
    var type = type
    while type.kind == clang_type_pointer { type = type.pointee }
    return type
  }

  private mutating func addStruct(_ name: String, _ type: CType) {
    structs.append(EncodedStruct(name, type))
    addMembers(name, type, 0)
  }

  /// Adds the function pointers of a struct, and of the structs in it.
  private mutating func addMembers(_ name: String, _ type: CType, _ start: Int, depth: Int = 0) {
    for field in type.fields where !field.isBitField {
      let whole = field.fieldName.isEmpty ? name : "\(name).\(field.fieldName)"
      let offset = start + field.bitOffset / 8
      if let function = field.type.function {
        if function.depth == 1 { add(.member, whole, function.type, field, offset: offset) }
      } else if field.type.canonical.kind == clang_type_record, depth < 4 {
        addMembers(whole, field.type.canonical, offset, depth: depth + 1)
      }
    }
  }
}

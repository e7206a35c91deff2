// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CClangIndex

/// A declaration in C. Valid as long as its source.
@safe struct Cursor {
  let clang: Clang
  let value: clang_cursor

  init(_ clang: Clang, _ value: clang_cursor) {
    self.clang = clang
    self.value = value
  }

  private var functions: clang_index { clang.functions }

  var kind: Int { Int(value.kind) }
  var name: String { unsafe clang.text(functions.getCursorSpelling(value)) }
  /// The name of a field, empty if it has none. libclang names those after their place.
  var fieldName: String {
    let name = name
    return name.contains("(") ? "" : name
  }
  var type: CType { CType(clang, functions.getCursorType(value)) }
  /// The type that a typedef names.
  var underlyingType: CType { CType(clang, functions.getTypedefDeclUnderlyingType(value)) }
  var enumType: CType { CType(clang, functions.getEnumDeclIntegerType(value)) }
  /// The name by which the linker knows a function.
  var symbol: String { unsafe clang.text(functions.Cursor_getMangling(value)) }
  /// The declaration that stands for all of the same thing.
  var canonical: Cursor { Cursor(clang, functions.getCanonicalCursor(value)) }
  var isDefinition: Bool { functions.isCursorDefinition(value) != 0 }
  var isBitField: Bool { functions.Cursor_isBitField(value) != 0 }
  var isAnonymous: Bool { functions.Cursor_isAnonymous(value) != 0 }
  var bitWidth: Int { Int(functions.getFieldDeclBitWidth(value)) }
  /// Where a field begins in its struct, in bits.
  var bitOffset: Int { Int(functions.Cursor_getOffsetOfField(value)) }

  /// The file, as the source names it.
  var file: String { clang.place(of: functions.getCursorLocation(value)).file }

  var children: [Cursor] {
    let visit = Visit(clang)
    withExtendedLifetime(visit) {
      _ = unsafe functions.visitChildren(
        value,
        { cursor, _, context in
          unsafe Unmanaged<Visit>.fromOpaque(context!).takeUnretainedValue().add(cursor)
          // CXChildVisit_Continue
          return 1
        }, Unmanaged.passUnretained(visit).toOpaque())
    }
    return visit.found
  }

  var parameters: [Cursor] { children.filter { $0.kind == clang_cursor_parameter } }

  /// The same for equal cursors.
  var hash: UInt32 { functions.hashCursor(value) }

  static func == (left: Cursor, right: Cursor) -> Bool {
    left.functions.equalCursors(left.value, right.value) != 0
  }
}

/// Collects what libclang visits.
@safe final class Visit {
  private let clang: Clang
  private(set) var found: [Cursor] = []

  init(_ clang: Clang) { self.clang = clang }

  func add(_ cursor: clang_cursor) { found.append(Cursor(clang, cursor)) }
}

/// A type in C. Valid as long as its source.
@safe struct CType {
  let clang: Clang
  private let value: clang_type

  init(_ clang: Clang, _ value: clang_type) {
    self.clang = clang
    self.value = value
  }

  private var functions: clang_index { clang.functions }

  var kind: Int { Int(value.kind) }
  /// The type without typedefs.
  var canonical: CType { CType(clang, functions.getCanonicalType(value)) }
  var spelling: String { unsafe clang.text(functions.getTypeSpelling(value)) }
  var pointee: CType { CType(clang, functions.getPointeeType(value)) }
  var result: CType { CType(clang, functions.getResultType(value)) }
  var isVariadic: Bool { functions.isFunctionTypeVariadic(value) != 0 }
  /// Whether functions of the type are called by the platform's C convention.
  var isCalledAsC: Bool {
    // CXCallingConv: default, C, and System V's on x86-64, which attributes can name.
    [0, 1, 11].contains(functions.getFunctionTypeCallingConv(canonical.value))
  }
  var isConst: Bool { functions.isConstQualifiedType(value) != 0 }
  /// Of an array.
  var element: CType { CType(clang, functions.getArrayElementType(value)) }
  /// Of an array.
  var count: Int { Int(functions.getArraySize(value)) }
  /// Of a complex type.
  var part: CType { CType(clang, functions.getElementType(value)) }
  /// Of an atomic type.
  var atomicValue: CType { CType(clang, functions.Type_getValueType(value)) }
  var declaration: Cursor { Cursor(clang, functions.getTypeDeclaration(value)) }
  /// In bytes; nil if the type is incomplete.
  var size: Int? {
    let size = Int(functions.Type_getSizeOf(value))
    return size < 0 ? nil : size
  }
  var alignment: Int? {
    let alignment = Int(functions.Type_getAlignOf(value))
    return alignment < 0 ? nil : alignment
  }
  /// Whether it is declared as never null.
  var isNonNull: Bool { functions.Type_getNullability(value) == 0 }

  var arguments: [CType] {
    let count = functions.getNumArgTypes(value)
    return (0..<max(count, 0)).map { CType(clang, functions.getArgType(value, UInt32($0))) }
  }

  var fields: [Cursor] {
    let visit = Visit(clang)
    withExtendedLifetime(visit) {
      _ = unsafe functions.Type_visitFields(
        value,
        { cursor, context in
          unsafe Unmanaged<Visit>.fromOpaque(context!).takeUnretainedValue().add(cursor)
          // CXVisit_Continue
          return 1
        }, Unmanaged.passUnretained(visit).toOpaque())
    }
    return visit.found
  }

  /// The type behind the typedefs on the outside, with those inside.
  var desugared: CType {
    var type = self
    while [clang_type_typedef, clang_type_elaborated].contains(type.kind) {
      let declaration = type.declaration
      guard declaration.kind == clang_cursor_typedef else { return type }
      type = declaration.underlyingType
    }
    return type
  }

  /// The function type behind pointers, with the parameters as they were written,
  /// and the number of pointers; nil if there is no prototype.
  var function: (type: CType, depth: Int)? {
    var depth = 0
    var bare = canonical
    while bare.kind == clang_type_pointer {
      bare = bare.pointee.canonical
      depth += 1
    }
    guard bare.kind == clang_type_function else { return nil }
    var written = desugared
    for _ in 0..<depth where written.kind == clang_type_pointer {
      written = written.pointee.desugared
    }
    // What is written may be a `typeof`, which libclang does not look into.
    let isComplete =
      written.kind == clang_type_function && written.arguments.count == bare.arguments.count
    return (isComplete ? written : bare, depth)
  }
}

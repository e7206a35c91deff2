// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CClangIndex
import Forwarding

/// A function type that was found in C, as an encoding.
struct EncodedFunction {
  enum Kind: String {
    /// A function that can be called.
    case function
    /// A function pointer that somebody passes.
    case callback
    /// A function pointer in a struct.
    case member
  }

  struct Parameter {
    /// Empty if the source gives none.
    let name: String
    let type: CType
    let encoding: String
  }

  let kind: Kind
  /// `sqlite3_exec`, `sqlite3_exec/callback` for the type of its parameter,
  /// `FTW.base` for a member.
  let name: String
  let result: CType
  let parameters: [Parameter]
  let isVariadic: Bool
  /// The offset of a member in its struct, in bytes.
  let offset: Int?
  /// The name that the linker knows, if it is another.
  let symbol: String?
  let encoding: EncodingResult

  init(
    _ kind: Kind, _ name: String, _ type: CType, names: [String], offset: Int? = nil,
    symbol: String? = nil, spellsPointees: Bool = false
  ) {
    self.kind = kind
    self.name = name
    self.offset = offset
    self.symbol = symbol == name ? nil : symbol
    result = type.result
    isVariadic = type.isVariadic
    let types = type.arguments
    var parameters: [Parameter] = []
    var encoder = TypeEncoder(spellsPointees: spellsPointees)
    do {
      guard type.isCalledAsC else {
        throw TypeEncoder.Problem(text: "an attribute gives it another calling convention than C's")
      }
      try encoder.add(type.result)
      for (index, type) in types.enumerated() {
        let start = encoder.text.endIndex
        try encoder.add(parameter: type)
        parameters.append(
          Parameter(
            name: index < names.count ? names[index] : "", type: type,
            encoding: String(encoder.text[start...])))
      }
      let text = encoder.text + (type.isVariadic ? "..." : "")
      // The library has the last word on what can be called.
      _ = try MethodSignature(text, stating: encoder.stated.map(\.layout))
      encoding = .success((text, encoder.stated))
    } catch {
      encoding = .failure(error as? TypeEncoder.Problem ?? TypeEncoder.Problem(text: "\(error)"))
    }
    self.parameters = parameters
  }

  /// A function that is declared with an empty list of parameters.
  init(withoutPrototype name: String, _ type: CType) {
    kind = .function
    self.name = name
    result = type.result
    parameters = []
    isVariadic = false
    offset = nil
    symbol = nil
    encoding = .failure(
      TypeEncoder.Problem(text: "it has no prototype: C declares no parameters by (void)"))
  }

  /// The parameters that may be the context that its owner gets back, the
  /// likeliest first: those of type `void *` that come first or last, have no name,
  /// or have a name that says so.
  var contexts: [Int] {
    func likelihood(_ index: Int) -> Int {
      (isNamedAsContext(index) ? 4 : 0)
        + (index == 0 ? 2 : index == parameters.count - 1 ? 1 : 0)
    }
    return parameters.indices.filter { index in
      let bare = parameters[index].type.canonical
      return bare.kind == clang_type_pointer && bare.pointee.canonical.kind == clang_type_void
        && !bare.pointee.isConst && (likelihood(index) > 0 || parameters[index].name.isEmpty)
    }.sorted { likelihood($0) > likelihood($1) }
  }

  /// The parameter that is the context without much doubt, or nil: the first one, or
  /// the only one whose name says so. A struct of functions often has pointers of
  /// that name that are no context, so there only the first one counts. A first one
  /// whose name says that it is memory, such as that of `void free(void *ptr)`, does not.
  var context: Int? {
    guard let likeliest = contexts.first else { return nil }
    if likeliest == 0 { return isNamedAsMemory(0) ? nil : 0 }
    return kind != .member && contexts.filter(isNamedAsContext) == [likeliest] ? likeliest : nil
  }

  private func isNamedAsMemory(_ index: Int) -> Bool {
    let names: Set = ["ptr", "mem", "memory", "block", "buf", "buffer", "address"]
    return names.contains(parameters[index].name.lowercased())
  }

  private func isNamedAsContext(_ index: Int) -> Bool {
    let hints = [
      "context", "ctx", "user", "data", "arg", "opaque", "baton", "closure", "priv", "cookie",
    ]
    let name = parameters[index].name.lowercased()
    return hints.contains { name.contains($0) }
  }
}

/// An encoding, and the layouts that it does not carry; or why there is none.
typealias EncodingResult = Result<
  (text: String, stated: [TypeEncoder.Stated]), TypeEncoder.Problem
>

/// A type that was given alone.
struct EncodedType {
  let name: String
  let size: Int?
  let alignment: Int?
  let encoding: EncodingResult

  init(_ type: CType) {
    name = type.canonical.spelling
    size = type.size
    alignment = type.alignment
    encoding = encode(type)
  }
}

/// Encodes a type, and has the library read the encoding.
private func encode(_ type: CType) -> EncodingResult {
  var encoder = TypeEncoder()
  do {
    try encoder.add(type)
    _ = try TypeEncoding(encoder.text, stating: encoder.stated.map(\.layout)).layout()
    return .success((encoder.text, encoder.stated))
  } catch {
    return .failure(error as? TypeEncoder.Problem ?? TypeEncoder.Problem(text: "\(error)"))
  }
}

/// A struct or union that was found in C.
struct EncodedStruct {
  let name: String
  let size: Int
  let alignment: Int
  let members: [(name: String, bit: Int, isBitField: Bool)]
  let encoding: EncodingResult
  /// Whether it is made to hold callbacks: it has several function pointers, and besides
  /// them only numbers and pointers.
  let isCallbackTable: Bool

  init(_ name: String, _ type: CType) {
    self.name = name
    let fields = type.fields
    isCallbackTable =
      fields.filter { $0.type.function?.depth == 1 }.count > 1
      && fields.allSatisfy {
        let kinds = [clang_type_record, clang_type_array, clang_type_incomplete_array]
        return !$0.isBitField && !kinds.contains($0.type.canonical.kind)
      }
    size = type.size ?? 0
    alignment = type.alignment ?? 1
    members = type.fields.map {
      ($0.fieldName, $0.bitOffset, $0.isBitField)
    }
    encoding = encode(type)
  }
}

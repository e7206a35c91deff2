// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation

extension EncodedDeclarations {
  /// A line for each function, callback, struct and type.
  func text(style: Style) -> String {
    var table = TextTable([.left, .left, .left])
    for type in types {
      let size = type.size.map { "\($0) bytes" } ?? ""
      add("type", type.name, type.encoding, [size], to: &table)
    }
    for function in functions {
      let name = function.name == Source.typeName ? "" : function.name
      add(function.kind.rawValue, name, function.encoding, function.notes, to: &table)
    }
    for structure in structs {
      let notes = ["\(structure.size) bytes, aligned to \(structure.alignment)"]
      add("struct", structure.name, structure.encoding, notes, to: &table)
    }
    return table.lines(indent: 0)
  }

  private func add(
    _ kind: String, _ name: String, _ encoding: EncodingResult, _ notes: [String],
    to table: inout TextTable
  ) {
    switch encoding {
    case .success(let (text, stated)):
      // The notes have no column, since encodings of structs are long.
      let parts = [DisplayText.escaped(text)] + notes.filter { !$0.isEmpty }
      table.add([kind, DisplayText.escaped(name), parts.joined(separator: "  ")])
      for layout in stated { table.add(["", "", layout.swift]) }
    case .failure(let problem):
      // One line: what the library says ends with a drawing.
      let reason = problem.text.prefix { $0 != "\n" }
      table.add([kind, DisplayText.escaped(name), "none: \(DisplayText.escaped(String(reason)))"])
    }
  }
}

extension EncodedFunction {
  /// What a caller must know besides the encoding.
  fileprivate var notes: [String] {
    var notes: [String] = []
    if let offset { notes.append("offset \(offset)") }
    if kind != .function {
      let contexts = contexts.map { index in
        let name = parameters[index].name
        return "parameter \(index + 1)" + (name.isEmpty ? "" : " (\(DisplayText.escaped(name)))")
      }
      if !contexts.isEmpty { notes.append("context: \(contexts.joined(separator: " or "))") }
    }
    if let symbol { notes.append("symbol \(DisplayText.escaped(symbol))") }
    if isVariadic { notes.append("variadic: the types that a call passes follow the dots") }
    return notes
  }
}

// MARK: - JSON

extension EncodedDeclarations {
  /// What `--json` writes.
  private struct Document: Encodable {
    struct Layout: Encodable {
      struct Member: Encodable {
        let offset: Int?
        let bit: Int?
      }

      let name: String
      let size: Int
      let alignment: Int
      let members: [Member]
      let memberAlignment: Int?

      init(_ stated: TypeEncoder.Stated) {
        name = stated.name
        size = stated.size
        alignment = stated.alignment
        members = stated.members.map {
          Member(offset: $0.isBitField ? nil : $0.bit / 8, bit: $0.isBitField ? $0.bit : nil)
        }
        memberAlignment = stated.memberAlignment
      }
    }

    struct Parameter: Encodable {
      let name: String
      let type: String
      let encoding: String
    }

    struct Function: Encodable {
      let kind: String
      let name: String
      let symbol: String?
      let encoding: String?
      let problem: String?
      let statedLayouts: [Layout]
      let parameters: [Parameter]
      let isVariadic: Bool
      let offset: Int?
      let contexts: [Int]
    }

    struct Structure: Encodable {
      struct Member: Encodable {
        let name: String
        let offset: Int?
        let bit: Int?
      }

      let name: String
      let size: Int
      let alignment: Int
      let encoding: String?
      let problem: String?
      let statedLayouts: [Layout]
      let members: [Member]
    }

    struct Alone: Encodable {
      let type: String
      let size: Int?
      let alignment: Int?
      let encoding: String?
      let problem: String?
      let statedLayouts: [Layout]
    }

    let functions: [Function]
    let structs: [Structure]
    let types: [Alone]
  }

  /// All of it as JSON. Parameters count from 0.
  func json() throws -> String {
    let document = Document(
      functions: functions.map { function in
        Document.Function(
          kind: function.kind.rawValue,
          name: function.name == Source.typeName ? "" : function.name, symbol: function.symbol,
          encoding: function.encoding.text, problem: function.encoding.problem,
          statedLayouts: function.encoding.stated.map(Document.Layout.init),
          parameters: function.parameters.map {
            Document.Parameter(name: $0.name, type: $0.type.spelling, encoding: $0.encoding)
          }, isVariadic: function.isVariadic, offset: function.offset, contexts: function.contexts)
      },
      structs: structs.map { structure in
        Document.Structure(
          name: structure.name, size: structure.size, alignment: structure.alignment,
          encoding: structure.encoding.text, problem: structure.encoding.problem,
          statedLayouts: structure.encoding.stated.map(Document.Layout.init),
          members: structure.members.map {
            Document.Structure.Member(
              name: $0.name, offset: $0.isBitField ? nil : $0.bit / 8,
              bit: $0.isBitField ? $0.bit : nil)
          })
      },
      types: types.map {
        Document.Alone(
          type: $0.name, size: $0.size, alignment: $0.alignment, encoding: $0.encoding.text,
          problem: $0.encoding.problem,
          statedLayouts: $0.encoding.stated.map(Document.Layout.init))
      })
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(document), as: UTF8.self)
  }
}

extension EncodingResult {
  var text: String? { try? get().text }
  var stated: [TypeEncoder.Stated] { (try? get().stated) ?? [] }
  var problem: String? {
    if case .failure(let problem) = self { problem.text } else { nil }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

/// One method in a schema record. The article *Wire form* has the bytes.
internal struct SchemaEntry {
  internal let selector: String
  internal let encoding: String
  internal let rules: [Rule]
  internal let layouts: String

  /// A pointer rule.
  internal struct Rule: Equatable {
    var argument: Int
    var rule: WireMethod.Pointer.Rule
    var operand: Int
  }

  /// The length of the fixed part.
  internal static let headSize = 16

  /// The method as a schema record has it: with a length that is a multiple of 8.
  internal static func bytes(
    _ selector: String, _ signature: MethodSignature, _ rules: [Rule]
  ) -> [UInt8] {
    let encoding = signature.description
    let layouts = signature.statedLayouts.map(\.wireText).sorted().joined(separator: "\n")
    var bytes: [UInt8] = []
    bytes.append(little: UInt32(selector.utf8.count))
    bytes.append(little: UInt32(encoding.utf8.count))
    bytes.append(little: UInt32(layouts.utf8.count))
    bytes.append(little: UInt32(rules.count))
    for rule in rules {
      bytes.append(little: UInt16(rule.argument))
      bytes.append(little: UInt16(rule.rule.rawValue))
      bytes.append(little: UInt32(rule.operand))
    }
    bytes += selector.utf8
    bytes += encoding.utf8
    bytes += layouts.utf8
    while bytes.count % 8 != 0 { bytes.append(0) }
    return bytes
  }
}

extension SchemaEntry {
  /// The recorded layouts. Lines that are no layouts are left out, so that the
  /// encoding cannot be read by them.
  internal var statedLayouts: [StatedLayout] {
    layouts.split(separator: "\n").compactMap { StatedLayout(wireText: $0) }
  }
}

extension StatedLayout {
  /// Reads a line. The name comes first and may have blanks.
  fileprivate init?(wireText: Substring) {
    var words = wireText.split(separator: " ", omittingEmptySubsequences: false)
    var members: [Member] = []
    while let word = words.last, let mark = word.first, mark == "@" || mark == ":" {
      guard let number = Int(word.dropFirst()), number >= 0 else { return nil }
      members.append(mark == "@" ? .offset(number) : .bit(number))
      words.removeLast()
    }
    guard words.count >= 4, let size = Int(words[words.count - 3]),
      let alignment = Int(words[words.count - 2]), size >= 0, alignment > 0
    else { return nil }
    self.init(
      words.dropLast(3).joined(separator: " "), size: size, alignment: alignment,
      members: members.isEmpty ? nil : members.reversed(),
      memberAlignment: Int(words[words.count - 1]))
  }

  /// The layout as a schema record has it: the name, the size, the alignment, the
  /// alignment of the members, and each member's offset (`@4`) or first bit (`:3`).
  fileprivate var wireText: String {
    var text = "\(name) \(size) \(alignment)"
    text += memberAlignment.map { " \($0)" } ?? " -"
    for member in members ?? [] {
      switch member {
      case .offset(let bytes): text += " @\(bytes)"
      case .bit(let bits): text += " :\(bits)"
      }
    }
    return text
  }
}

extension [UInt8] {
  internal mutating func append<Value: FixedWidthInteger>(little value: Value) {
    unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe append(contentsOf: $0) }
  }
}
